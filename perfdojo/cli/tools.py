"""`perfdojo records ...`: what earlier searches found, listed, shown, carried from machine to machine."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perfdojo import __version__
from perfdojo.cli import FINE, WRONG
from perfdojo.cli.report import quantity
from perfdojo.compiler.diagnostics import PerfDojoError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from perfdojo.tuning.records import Records
    from perfdojo.tuning.trial import Trial


def parser() -> argparse.ArgumentParser:
    """Return the parser of `perfdojo`."""
    p = argparse.ArgumentParser(
        prog="perfdojo", description="What earlier searches (perfdojoc --tune) found."
    )
    p.add_argument("--version", action="version", version=f"perfdojo {__version__}")
    parts = p.add_subparsers(dest="part", required=True)
    records = parts.add_parser("records", help="the trials that are kept")
    records.add_argument("--file", type=Path, metavar="FILE", help="of records; default: the user's own")
    ways = records.add_subparsers(dest="way", required=True)
    ways.add_parser("list", help="each problem: kernel, sizes, target, trials, best")
    for name, text in (("best", "the best schedule of each problem"), ("show", "all trials of each problem")):
        way = ways.add_parser(name, help=text)
        way.add_argument("kernel", nargs="?", default="", help="only of this kernel")
    ways.add_parser("export", help="print all as lines of JSON, for people and git")
    ways.add_parser("import", help="add such lines").add_argument("lines", help="a file, or - for stdin")
    return p


def main(argv: Sequence[str] | None = None) -> int:
    """Run `perfdojo` and return its exit status: 0 fine, 1 wrong, 2 usage."""
    o = parser().parse_args(argv)
    try:
        return _records(o)
    except PerfDojoError as error:
        print(error, file=sys.stderr)
        return WRONG
    except BrokenPipeError:
        with suppress(OSError):
            sys.stdout.close()
        return FINE


def _records(o: argparse.Namespace) -> int:
    from perfdojo.tuning.machines import records_path
    from perfdojo.tuning.records import Records

    path = o.file or records_path()
    if o.way != "import" and not path.exists():
        raise PerfDojoError(f"there are no records in {path}", hint="perfdojoc KERNEL --tune makes some")
    records = Records(path)
    if o.way == "export":
        for line in records.dump():
            print(line)
    elif o.way == "import":
        print(f"{records.load(_lines(o.lines))} trials were new")
    else:
        for row in records.problems():
            if not getattr(o, "kernel", "") or row["kernel"] == o.kernel:
                _show(o.way, row, records)
    return FINE


def _lines(name: str) -> list[str]:
    if name == "-":
        return sys.stdin.read().splitlines()
    try:
        return Path(name).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise PerfDojoError(f"cannot read {name}: {error}") from None


def _show(way: str, row: Mapping[str, Any], records: Records) -> None:
    trials = records.of_key(row["key"])
    right = [t for t in trials if t.cost is not None and not t.cut]
    best = min(right, key=lambda t: t.cost or 0.0, default=None)
    sizes = " ".join(f"{n}={v}" for n, v in row["sizes"].items())
    cost = _cost(best, row["unit"]) if best else "none was right"
    facts = ", ".join(v for _, v in row["machine"])
    print(f"{row['kernel']} {sizes} · {row['target']} · {row['fp']} · {row['threads']} thread(s) · {facts}")
    print(f"  {len(trials)} trials, the last one on {row['day']}; best {cost}")
    if way == "best" and best:
        print(best.schedule or "  the code as it is planned, without a schedule")
    if way == "show":
        for t in trials:
            what = _cost(t, row["unit"]) if t.cost is not None else f"{t.outcome}: {t.detail}"
            print(f"  {t.name}  {t.search:<10} {time.strftime('%H:%M:%S', time.gmtime(t.at))}  {what}")


def _cost(t: Trial, unit: str) -> str:
    assert t.cost is not None
    text = quantity(t.cost, "s") if unit == "s" else f"{t.cost:.0f} {unit}"
    return f"over {text}, cut short" if t.cut else text
