"""Attention: two contractions in register tiles from packed panels, and a softmax of rows between them."""

from __future__ import annotations

from perfdojo.compiler.recipes._contractions import contractions
from perfdojo.compiler.recipes._rows import rows_in_cache
from perfdojo.compiler.recipes.matmul import KC, MC, contract
from perfdojo.compiler.recipes.reduce import ACCUMULATORS
from perfdojo.compiler.schedule import History


def attention(h: History, *, kc: int = KC, mc: int = MC, accumulators: int = ACCUMULATORS) -> None:
    """Make each contraction of a kernel a packed matmul, then do the rest row by row.

        S S D s[{0},{1}] += q[{0},{2}] * k[{1},{2}]       matmul, of k packed along rows
        S S   m[{0}] max= s[{0},{1}]; ..             ->   rows in the cache, in lanes
        S D S z[{0},{1}] += e[{0},{2}] * v[{2},{1}]       matmul

    Scores are kept whole, as the softmax needs all of a row; see `two_pass_softmax` for why no move makes the
    online form.

    Args:
        kc, mc: steps and rows of a block of the contractions, as in `matmul`; 0: all.
        accumulators: vectors of them for each reduction of the softmax; 0: the target chooses.
    """
    for name in contractions(h):
        contract(h, name, mr=0, nr=0, kc=kc, mc=mc)
    rows_in_cache(h, accumulators)
