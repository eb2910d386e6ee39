"""Schedules: lists of moves in text that replay from the original kernel."""

from perfdojo.compiler.schedule.prepare import prepare
from perfdojo.compiler.schedule.replay import Replay, State, replay
from perfdojo.compiler.schedule.schedule import Schedule, Step
from perfdojo.compiler.schedule.text import parse_move, parse_schedule, render_schedule

__all__ = (
    "Replay",
    "Schedule",
    "State",
    "Step",
    "parse_move",
    "parse_schedule",
    "prepare",
    "render_schedule",
    "replay",
)
