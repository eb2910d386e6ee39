"""The planner: a program without a schedule gets one. Program -> Program, the meaning kept."""

from perfdojo.compiler.plan.planner import plan

__all__ = ["plan"]
