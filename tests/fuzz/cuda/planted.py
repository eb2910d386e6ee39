"""Whether the soundness run for GPUs can fail: faults are planted, one at a time, to be found.

`python -m tests.fuzz.cuda.planted` runs the share of CI on each fault, in a copy of the sources, until a
sequence comes out wrong; it prints after how many pairs.
"""

from __future__ import annotations

from tests.fuzz.cuda.faults import FAULTS
from tests.fuzz.cuda.share import SHARE_PAIRS
from tests.fuzz.planted_copies import command

if __name__ == "__main__":
    raise SystemExit(command("tests.fuzz.cuda", FAULTS, SHARE_PAIRS, __doc__))
