"""Schedules: lists of moves in text that replay from the original kernel."""

from perfdojo.compiler.schedule.prepare import prepare
from perfdojo.compiler.schedule.replay import LevelError, Replay, State, StepError, replay
from perfdojo.compiler.schedule.schedule import Schedule, Scheduled, Step
from perfdojo.compiler.schedule.session import History
from perfdojo.compiler.schedule.text import parse_move, parse_schedule, render_schedule

__all__ = (
    "History",
    "LevelError",
    "Replay",
    "Schedule",
    "Scheduled",
    "State",
    "Step",
    "StepError",
    "parse_move",
    "parse_schedule",
    "prepare",
    "render_schedule",
    "replay",
)
