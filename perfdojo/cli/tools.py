"""`perfdojo records ...`, `perfdojo explain`: what earlier searches found, listed, explained, carried on."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perfdojo import __version__
from perfdojo.cli import FINE, WRONG
from perfdojo.cli.options import error_object
from perfdojo.compiler.diagnostics import PerfDojoError, nearest
from perfdojo.toolchains.quantities import cost_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from perfdojo.tuning.records import Records
    from perfdojo.tuning.trial import Trial


def parser() -> argparse.ArgumentParser:
    """Return the parser of `perfdojo`."""
    p = argparse.ArgumentParser(
        prog="perfdojo",
        description="What earlier searches (perfdojoc --tune) found.",
        epilog="'perfdojo records list' names the best trial of each problem, 'perfdojo records show' all; "
        "'perfdojo explain NAME' tells what one is. Exit status: 0 fine, 1 wrong, 2 usage.",
    )
    p.add_argument("--version", action="version", version=f"perfdojo {__version__}")
    parts = p.add_subparsers(dest="part", required=True)
    records = parts.add_parser("records", help="the trials that are kept")
    explain = parts.add_parser(
        "explain",
        help="what a trial is: its steps, its cost, which moves were tried, and why the others were not",
        description="What a trial is, step by step, what it costs beside the planned and the shipped code, "
        "which moves there were, which were tried, and why the others were not.",
    )
    explain.add_argument(
        "record",
        metavar="RECORD",
        help="the name of a trial, as 'perfdojo records list|best|show' print it, or its beginning; "
        "or a kernel: the best trial of the problem that was tuned last",
    )
    explain.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    for part in (records, explain):
        part.add_argument("--file", type=Path, metavar="FILE", help="of records; default: the user's own")
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
        return _explain(o) if o.part == "explain" else _records(o)
    except PerfDojoError as error:
        if getattr(o, "json", False):
            print(json.dumps({"error": error_object(error.message, error.hint)}))
        else:
            print(error, file=sys.stderr)
        return WRONG
    except BrokenPipeError:
        with suppress(OSError):
            sys.stdout.close()
        return FINE


def _opened(o: argparse.Namespace, make: bool = False) -> Records:
    """Return the records; `make`: the file may be a new one."""
    from perfdojo.tuning.machines import records_path
    from perfdojo.tuning.records import Records

    path = o.file or records_path()
    if not make and not path.exists():
        raise PerfDojoError(f"there are no records in {path}", hint="perfdojoc KERNEL --tune makes some")
    return Records(path)


def _explain(o: argparse.Namespace) -> int:
    from perfdojo.cli.explain_record import explain_record

    return explain_record(o, _opened(o))


def _records(o: argparse.Namespace) -> int:
    records = _opened(o, make=o.way == "import")
    if o.way == "export":
        for line in records.dump():
            print(line)
    elif o.way == "import":
        print(f"{records.load(_lines(o.lines))} trials were new")
    else:
        rows, wanted = records.problems(), getattr(o, "kernel", "")
        chosen = [row for row in rows if not wanted or row["kernel"] == wanted]
        if wanted and not chosen:
            known = sorted({row["kernel"] for row in rows})
            hint = nearest(wanted, known) or f"tuned here: {', '.join(known) or 'nothing'}"
            raise PerfDojoError(f"there are no records of a kernel '{wanted}'", hint=hint)
        for row in chosen:
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
    from perfdojo.tuning.lookup import title

    trials, key = records.of_key(row["key"]), row["key"]
    best = records.best_of(key)
    told = f"best {best.name_in(key)}, {_cost(best, row['unit'])}" if best else "none was right"
    print(title(row))
    print(f"  {len(trials)} trials, the last one on {row['day']}; {told}")
    if way == "best" and best:
        print(best.schedule or "  the code as it is planned, without a schedule")
    if way == "show":
        for t in trials:
            what = _cost(t, row["unit"]) if t.cost is not None else f"{t.outcome}: {t.detail}"
            at = time.strftime("%H:%M:%S", time.gmtime(t.at))
            print(f"  {t.name_in(key)}  {t.search:<10} {at}  {what}")


def _cost(t: Trial, unit: str) -> str:
    assert t.cost is not None
    text = cost_text(t.cost, unit)
    return f"over {text}, cut short" if t.cut else text
