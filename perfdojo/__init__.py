"""perfdojo: one ML kernel in a few lines of loops, out as verified and timed source code."""

__version__ = "0.1.0"
