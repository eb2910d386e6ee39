"""Two-pass softmax: each row is read for its maximum, then for its exponentials, which stay in the cache."""

from __future__ import annotations

from perfdojo.compiler.recipes._rows import rows_in_cache
from perfdojo.compiler.recipes.reduce import ACCUMULATORS
from perfdojo.compiler.schedule import History


def two_pass_softmax(h: History, *, accumulators: int = ACCUMULATORS) -> None:
    """Do row by row what a softmax does in passes over the whole array; reductions get accumulators in lanes.

        B N m[{0}] max= x[{0},{1}]                        B@parallel N@vector m max= x[{0},{1}]
        B N e[{0},{1}] = exp(x[{0},{1}] - m[{0}])         | N@vector e[{1}] = exp(x[{0},{1}] - m)
        | | a[{0}] += e[{0},{1}]                     ->   | | a += e[{1}]
        B N y[{0},{1}] = e[{0},{1}] / a[{0}]              | N@vector y[{0},{1}] = e[{1}] / a

    What goes through memory is x once and y once; e is one row, written and read again in the cache. The
    online form, which rescales a sum while the maximum grows, needs exp(p - m) * exp(x - p) = exp(x - m),
    which does not hold in floating point: no move makes it. Kernel `online_softmax` states it.

    Args:
        accumulators: vectors of them for each reduction; 0: the target chooses.
    """
    rows_in_cache(h, accumulators)
