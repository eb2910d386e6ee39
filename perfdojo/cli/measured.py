"""A measurement in the result and on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfdojo.cli.report import percent
from perfdojo.toolchains.quantities import quantity

if TYPE_CHECKING:
    from perfdojo.cli.job import Job
    from perfdojo.toolchains.results import Measurement

SETTLED = 0.02
"""Half the confidence interval of a median, as a part of it, above which the report says so."""


def tell_measurement(job: Job, m: Measurement) -> None:
    """Leave the figures of a time that was measured, and show them."""
    job.result.time = {
        "median_s": m.median_s,
        "min_s": m.min_s,
        "samples": len(m.samples_s),
        "spread": m.spread,
        "interval_s": list(m.interval_s) if m.interval_s else None,
        "threads": m.threads,
        "cache": m.cache,
        "notes": list(m.notes),
    }
    half = (m.interval_s[1] - m.interval_s[0]) / 2 / m.median_s if m.interval_s else m.spread
    threads = f"{m.threads} thread" + ("s" if m.threads > 1 else "")
    job.screen.line(
        "time",
        f"{quantity(m.median_s, 's')} median ± {percent(half)}, {quantity(m.min_s, 's')} minimum, "
        f"{len(m.samples_s)} samples ({threads}, {m.cache} cache)",
        "ok" if half <= SETTLED else "note",
    )
    if half > SETTLED:
        job.screen.line("", "not settled within the budget: --budget gives it more seconds", "note")
    for note in m.notes:
        job.screen.line("", note, "note")
