"""docs/transformations.md lists every transformation as its docstring says it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path

from perfdojo.compiler.transforms import get_transform, transform_names
from perfdojo.compiler.transforms.spelling import usage

PAGE = Path(__file__).parents[2] / "docs" / "transformations.md"
HEAD = """# Transformations

Every move of a schedule, with its legality conditions. [schedules.md](schedules.md) tells how schedules are
written, replayed and made; `perfdojoc --list-transforms` prints how each move is written, and `help MOVE` in
`perfdojoc play` what stands here. A move that is refused says which condition does not hold and why.

{groups}
## How to read it

- `i:N {{ B }}` is a scope i of N iterations with the body B; `{{i}}` is its iteration number, `B({{i}})` a
  body that uses it. A scope behind another one runs behind it. `s: y[{{0}}] = e` is a statement s.
- In the first line of a move capitals stand for names and numbers: NODE is a scope or a statement. Brackets
  stand around what may be left out; those with dots are a list and are written: `[1 0]`. `->` names what is
  made.
- Level is the lowest floating-point level at which some instance is legal; a move whose reductions would
  change their order needs `reassoc` for floats.
- A scope is concurrent where its iterations may run at the same time: `@parallel`, `@grid_x`, `@block_x`,
  `@core`.
- (D) marks conditions about dependences: they are decided exactly, by integer sets, where indices and
  conditions are quasi-affine, and conservatively where data decide.
"""

GROUPS = {
    "loops": "tile_scope peel_scope join_scopes fission_scope reorder swap_siblings collapse_scopes "
    "add_scope drop_scope simplify_conditions",
    "how loops run": "vectorize unroll parallelize sequential",
    "what is computed": "split_reduction hoist outline inline recompute delete_dead contract_fma reciprocal",
    "storage": "create_temporary reuse_dims materialize_dims reuse_buffers expand_buffer reorder_dims "
    "split_dims pad_dims set_space prefetch nontemporal",
    "the rest": "plan",
    "GPUs and Snitch clusters": "grid block warp_reduce async_copy mma core stream frep dma double_buffer",
}
"""The table of contents: what moves are for."""


def _groups() -> str:
    listed = [name for names in GROUPS.values() for name in names.split()]
    assert sorted(listed) == list(transform_names()), "a move belongs in one group"
    rows = ["| for | moves |", "|---|---|"]
    for purpose, names in GROUPS.items():
        rows.append(f"| {purpose} | {' '.join(f'[{n}](#{n})' for n in names.split())} |")
    return "\n".join(rows) + "\n"


def test_page_is_what_the_docstrings_say(golden: Callable[[Path, str], None]) -> None:
    out = [HEAD.format(groups=_groups())]
    for name in transform_names():
        cls = get_transform(name)
        doc = inspect.getdoc(cls) or ""
        also = f"Also called: {', '.join(cls.aliases)}. " if cls.aliases else ""
        text = f"`{usage(cls)}`\n\n{also}Level: {cls.level}.\n\n```\n{doc}\n```\n"
        out.append(f"## {name}\n\n{text}")
    golden(PAGE, "\n".join(out))
