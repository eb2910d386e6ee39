"""Whether the soundness run for Snitch can fail: faults are planted, one at a time, to be found.

`python -m tests.fuzz.snitch.planted` runs the share of CI on each fault, in a copy of the sources,
until a sequence comes out wrong; it prints after how many pairs.
"""

from __future__ import annotations

from tests.fuzz.planted_copies import command
from tests.fuzz.snitch.faults import FAULTS
from tests.fuzz.snitch.share import SHARE_PAIRS

if __name__ == "__main__":
    raise SystemExit(command("tests.fuzz.snitch", FAULTS, SHARE_PAIRS, __doc__))
