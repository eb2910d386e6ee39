"""Every transformation on one small program: its candidates, and what some moves make of it or why not.

`<name>.ir` is the program; each of its lines `#! MOVE` is shown, `#! MOVE ; MOVE` one after the other. A line
`#@ TARGET FP` sets what it is made for (avx2 reassoc without).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from perfdojo.compiler.schedule import parse_move
from perfdojo.compiler.transforms import get_transform, transform_names
from perfdojo.compiler.transforms.spelling import usage
from tests.transforms.states import body, check_state, setting, state

HERE = Path(__file__).parent


@pytest.mark.parametrize("name", transform_names())
def test_moves(name: str, golden: Callable[[Path, str], None]) -> None:
    text = (HERE / f"{name}.ir").read_text("utf-8")
    words = next((line[2:].split() for line in text.splitlines() if line.startswith("#@")), [])
    at = setting(*words)  # type: ignore[arg-type]
    program = state(text)
    out = [usage(get_transform(name)), "", body(program), "", "candidates"]
    out += [f"  {move}" for move in get_transform(name).candidates(program, at)]
    for line in text.splitlines():
        if not line.startswith("#!"):
            continue
        now = program
        for move in line[2:].split(";"):
            out += ["", f"! {move.strip()}"]
            found = parse_move(move.strip()).why_not(now, at)
            if found is not None:
                out.append(f"condition {found.condition}: {found.reason}")
                out += [f"hint: {found.hint}"] if found.hint else []
                break
            now = parse_move(move.strip()).apply(now, at)
            check_state(now)
            out.append(body(now))
    golden(HERE / f"{name}.golden", "\n".join(out) + "\n")
