"""What was measured as a Markdown table, as JSON, and in a few figures."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.peers.measure import Ratio, Row
from benchmarks.peers.registry import SYSTEMS, System

OURS, FROM_C, DEFAULT = "scheduled", "scheduled-c", "default"
NEAR_LIMIT = 0.85


@dataclass(frozen=True, slots=True)
class Run:
    """A whole run.

    Attributes:
        machine: processor, compiler, threads, load, in words.
        versions: of each system that took part, by name.
        absent: why the others did not, by name.
    """

    machine: str
    threads: int
    versions: Mapping[str, str]
    absent: Mapping[str, str]
    rows: Sequence[Row]

    @property
    def systems(self) -> list[System]:
        """Return those that took part, in the order of their table."""
        return [s for s in SYSTEMS if s.name in self.versions]

    @property
    def peers(self) -> list[str]:
        return [s.name for s in self.systems if s.role == "peer"]


def geometric_mean(values: Collection[float]) -> float:
    """Return the geometric mean; nan for none."""
    logs = [math.log(v) for v in values]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


# ---------------------------------------------------------------- Markdown


def head(run: Run) -> str:
    """Return the first two lines of the table."""
    columns = ["kernel", "limit, us", *(s.title for s in run.systems), "best peer", "best peer / ours"]
    return f"| {' | '.join(columns)} |\n|---{'|---:' * (len(columns) - 3)}|---|---:|"


def line(run: Run, row: Row) -> str:
    """Return the line of a kernel."""
    best = row.fastest(run.peers)
    times = (_time(row.time(s.name), row.cells[s.name].note) for s in run.systems)
    title = next((s.title for s in run.systems if s.name == best), "")
    ratio = _ratio(row.ratio(best, OURS)) if best else ""
    limit = f"{_time(row.limit.seconds)} {row.limit.bound}"
    return f"| {' | '.join([row.benchmark.name, limit, *times, title, ratio])} |"


def _time(seconds: float | None, note: str = "") -> str:
    return "" if seconds is None else f"{1e6 * seconds:.4g}{'*' if note else ''}"


def _ratio(r: Ratio | None) -> str:
    if r is None:
        return ""
    return f"{r.value:.2f}" + (f" ({r.interval[0]:.2f} to {r.interval[1]:.2f})" if r.interval else "")


def gaps(run: Run) -> list[str]:
    """Return why cells are empty or marked, a line for each reason."""
    titles = {s.name: s.title for s in SYSTEMS}
    found: dict[tuple[str, str], list[str]] = {}
    for row in run.rows:
        for name, cell in row.cells.items():
            note = "" if name == FROM_C else cell.note  # that of the same code called from Python
            for why in filter(None, (cell.gap, note)):
                found.setdefault((name, why), []).append(row.benchmark.name)
    lines = [f"{titles[name]} did not run: {why}" for name, why in run.absent.items()]
    return lines + [f"{titles[name]}, {_few(rows)}: {why}" for (name, why), rows in found.items()]


def _few(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 3 else _kernels(len(names))


def markdown(run: Run) -> str:
    """Return the whole page: machine, table, figures, gaps, versions."""
    versions = [f"* {s.title}: {run.versions[s.name]}" for s in run.systems]
    table = "\n".join([head(run), *(line(run, r) for r in run.rows)])
    lists = ["\n".join(f"* {t}" for t in texts) for texts in (summary(run), gaps(run)) if texts]
    return "\n\n".join([run.machine, table, *lists, "\n".join(versions)]) + "\n"


# ---------------------------------------------------------------- figures


def summary(run: Run) -> list[str]:
    """Return the sentences below the table."""
    lines = []
    for ours in (OURS, FROM_C, DEFAULT):
        known = {r.benchmark.name: v for r in run.rows if (v := _over(r, r.fastest(run.peers), ours))}
        if known:
            worst = min(known, key=known.__getitem__)
            lines.append(
                f"{_title(ours)}, over the best peer of each kernel: {_mean(known.values())} "
                f"in {worst}; faster on {sum(v > 1 for v in known.values())} of {len(known)}"
            )
    for ours in (OURS, FROM_C, DEFAULT):
        shares = [share for r in run.rows if (share := r.share(ours)) is not None]
        if shares:
            near = sum(share >= NEAR_LIMIT for share in shares)
            lines.append(
                f"{_title(ours)}: {near} of {len(shares)} kernels at {NEAR_LIMIT:.0%} of the limit or more"
            )
    for s in run.systems:
        if s.name not in (OURS, FROM_C):
            over = {n: _all_over(run, s.name, n) for n in (OURS, FROM_C)}
            texts = [f"{_title(n)}, {_mean(ratios)}" for n, ratios in over.items() if ratios]
            count = len(over[OURS])
            lines += [f"over {s.title}, {_kernels(count)}: {'; '.join(texts)}"] if texts else []
    return lines


def _mean(ratios: Collection[float]) -> str:
    return f"geometric mean {geometric_mean(ratios):.2f}, smallest {min(ratios):.2f}"


def _kernels(count: int) -> str:
    return "1 kernel" if count == 1 else f"{count} kernels"


def _title(name: str) -> str:
    return next(s.title for s in SYSTEMS if s.name == name)


def _all_over(run: Run, name: str, ours: str) -> list[float]:
    return [v for r in run.rows if (v := _over(r, name, ours)) is not None]


def _over(row: Row, name: str | None, ours: str) -> float | None:
    ratio = row.ratio(name, ours) if name else None
    return ratio.value if ratio else None


def as_json(run: Run) -> dict[str, Any]:
    """Return all that was measured, seconds of every round with it."""
    return {
        "machine": run.machine,
        "threads": run.threads,
        "systems": {s.name: s.title for s in run.systems},
        "versions": dict(run.versions),
        "absent": dict(run.absent),
        "summary": summary(run),
        "kernels": [_kernel(run, r) for r in run.rows],
    }


def _kernel(run: Run, row: Row) -> dict[str, Any]:
    best = row.fastest(run.peers)
    ratio = row.ratio(best, OURS) if best else None
    return {
        "name": row.benchmark.name,
        "flops": row.benchmark.flops,
        "bytes": row.benchmark.read_bytes + row.benchmark.write_bytes,
        "limit_s": row.limit.seconds,
        "bound": row.limit.bound,
        "best_peer": best,
        "ratio": ratio and ratio.value,
        "ratio_interval": ratio and ratio.interval,
        "systems": {name: {**asdict(cell), "median_s": cell.time} for name, cell in row.cells.items()},
    }
