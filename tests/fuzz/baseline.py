"""What the compiler as it is makes of each seed, so that a planted fault costs only what it changes.

A seed in which the function that holds the fault never runs comes out as it does without the fault; so does
the execution of a sequence that is the same, as interpreter and validator share no code with any fault.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import count
from pathlib import Path
from types import CodeType, FrameType
from typing import NamedTuple

from perfdojo.compiler.text.render import render
from tests.fuzz import sequences as fuzz
from tests.fuzz.faults import FAULTS, Fault
from tests.fuzz.programs import lacks
from tests.fuzz.run import executor_of
from tests.native import case

COMPILED = ("c", "avx512")
CHUNK = 50
"""Seeds of one piece of work."""


class Record(NamedTuple):
    """One seed.

    Attributes:
        pairs: that it counts for.
        made: digest of the programs.
        ran: numbers of the faults whose function ran.
    """

    seed: int
    pairs: int
    made: str
    ran: frozenset[int]


def digest(made: fuzz.Sequence) -> str:
    """Return what tells sequences apart: their programs."""
    text = "\n".join(render(p) for p in (made.start, *made.programs))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def source_of(module: str) -> Path:
    """Return the file of a module."""
    found = importlib.util.find_spec(module)
    assert found is not None
    assert found.origin is not None
    return Path(found.origin)


@cache
def _parsed(module: str) -> tuple[str, ast.Module]:
    source = source_of(module).read_text("utf-8")
    return source, ast.parse(source)


def function_of(fault: Fault) -> str:
    """Return the qualified name of the innermost function around a fault; "" when it is in none."""
    source, tree = _parsed(fault.module)
    first = source[: source.index(fault.old)].count("\n") + 1
    last = first + fault.old.strip("\n").count("\n")
    found = ""

    def visit(node: ast.AST, name: str) -> None:
        nonlocal found
        for child in ast.iter_child_nodes(node):
            inner = name
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                if not (child.lineno <= first and last <= (child.end_lineno or 0)):
                    continue
                inner = f"{name}.{child.name}".lstrip(".")
                if isinstance(child, ast.FunctionDef):
                    found = inner
                    inner += ".<locals>"
            visit(child, inner)

    visit(tree, "")
    return found


def baseline(pairs: int, first: int, jobs: int) -> list[Record]:
    """Return the records of enough seeds for so many pairs, in order."""
    found: list[Record] = []
    with ProcessPoolExecutor(jobs) as pool:
        starts = count(first, CHUNK)
        waiting = [pool.submit(_records, next(starts)) for _ in range(jobs + 1)]
        while sum(r.pairs for r in found) < pairs:
            found += waiting.pop(0).result()
            waiting.append(pool.submit(_records, next(starts)))
        pool.shutdown(cancel_futures=True)
    return found


def _records(first: int) -> list[Record]:
    return [record(seed) for seed in range(first, first + CHUNK)]


def record(seed: int) -> Record:
    """Make the sequence of a seed and the code of the compiled ones, and see which functions run."""
    who = executor_of(seed)
    is_compiled = who in COMPILED
    with_code: list[CodeType] = []
    seen: dict[int, frozenset[int]] = {}
    wanted = _functions()

    def call(frame: FrameType, event: str, arg: object) -> None:
        code = frame.f_code
        if id(code) not in seen:
            with_code.append(code)
            seen[id(code)] = wanted.get((code.co_filename, code.co_qualname), frozenset())

    sys.settrace(call)
    try:
        made = fuzz.sequence(seed, target=who if is_compiled else "")
        if made.moves:
            lacks(made.programs[-1])
        if made.moves and is_compiled:
            case(f"k{seed}", made.start, who, made.setting.fp, made.programs[-1])
    finally:
        sys.settrace(None)
    pairs = min(1, len(made.moves)) if is_compiled else len(made.moves)
    return Record(seed, pairs, digest(made), frozenset().union(*seen.values()))


@cache
def _functions() -> dict[tuple[str, str], frozenset[int]]:
    found: dict[tuple[str, str], frozenset[int]] = {}
    for number, fault in enumerate(FAULTS):
        key = str(source_of(fault.module)), function_of(fault)
        found[key] = found.get(key, frozenset()) | {number}
    return found


def everywhere() -> frozenset[int]:
    """Return the faults that lie in no function: tables, which are read everywhere."""
    return frozenset(n for n, fault in enumerate(FAULTS) if not function_of(fault))


def touched(records: Sequence[Record], number: int) -> Iterator[Record]:
    """Yield the seeds that a fault may change."""
    always = number in everywhere()
    yield from (r for r in records if always or number in r.ran)
