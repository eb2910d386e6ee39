"""Rewrites of bound programs, one a file: pure functions Program -> Program that keep the meaning.

Each docstring has a picture, before -> after, and numbered conditions. The structural ones are checked here
(ValueError); those about dependences are marked (D) and asked of `plan.legal` by the caller.
"""
