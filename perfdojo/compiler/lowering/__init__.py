"""Bound program -> target IR: what runs in lanes, in registers, in memory."""
