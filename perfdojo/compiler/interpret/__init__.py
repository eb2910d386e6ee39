"""The reference: what a program means, executed on NumPy arrays, and in float64 with error bounds."""

from perfdojo.compiler.interpret.bits import first_difference
from perfdojo.compiler.interpret.inputs import KINDS, random_inputs
from perfdojo.compiler.interpret.reference import LEVELS, Bounded, Verdict, compare, reference
from perfdojo.compiler.interpret.run import interpret

__all__ = [
    "KINDS",
    "LEVELS",
    "Bounded",
    "Verdict",
    "compare",
    "first_difference",
    "interpret",
    "random_inputs",
    "reference",
]
