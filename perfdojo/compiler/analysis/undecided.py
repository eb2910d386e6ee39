"""What analyses raise when a question is too complicated to be decided."""


class Undecided(Exception):
    """The integer sets of a program are too complicated for the budget."""
