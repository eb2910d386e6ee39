"""Translation validation: programs compared on symbolic values, independent of analyses and legality."""

from perfdojo.compiler.validate.sizes import LIMIT, shrunk_sizes
from perfdojo.compiler.validate.validator import Validator, Verdict, validate

__all__ = ["LIMIT", "Validator", "Verdict", "shrunk_sizes", "validate"]
