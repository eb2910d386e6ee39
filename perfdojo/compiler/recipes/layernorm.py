"""Layernorm: mean, variance and result of a row while it is in the cache."""

from __future__ import annotations

from perfdojo.compiler.recipes._rows import rows_in_cache
from perfdojo.compiler.recipes.reduce import ACCUMULATORS
from perfdojo.compiler.schedule import History


def layernorm(h: History, *, accumulators: int = ACCUMULATORS) -> None:
    """Do row by row what a normalisation does in passes; reductions get accumulators in lanes.

        B N s[{0}] += x[{0},{1}]                          B@parallel N@vector s += x[{0},{1}]
        B N d[{0},{1}] = x[{0},{1}] - s[{0}] / N          | N@vector d[{1}] = x[{0},{1}] - s / N
        | | q[{0}] += d[{0},{1}] * d[{0},{1}]        ->   | | q += d[{1}] * d[{1}]
        B N y[{0},{1}] = d[{0},{1}] * rsqrt(q[{0}])       | N@vector y[{0},{1}] = d[{1}] * rsqrt(q)

    What goes through memory is x once and y once. It serves rmsnorm and others of this kind, too.

    Args:
        accumulators: vectors of them for each reduction; 0: the target chooses.
    """
    rows_in_cache(h, accumulators)
