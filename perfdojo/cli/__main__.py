"""`python -m perfdojo.cli` is `perfdojoc`."""

import sys

from perfdojo.cli import main

sys.exit(main())
