"""A recipe of one's own: a few rows at once, so that what they share is loaded once. See docs/recipes.md."""

from __future__ import annotations

import sys

import perfdojo


def rows_at_once(h: perfdojo.Session, *, rows: str, count: int = 4) -> None:
    """rows { columns { B } }  ->  rows_o { columns@vector { rows_i:count@unroll { B } } }"""
    h.apply(f"sequential {rows}")
    h.apply(f"tile_scope {rows} {count} remainder peel")
    columns = h.program.scopes[f"{rows}_i"].node.body[0].name
    h.apply(f"reorder {rows}_i {columns}")
    h.apply(f"unroll {rows}_i")
    h.apply(f"vectorize {columns}")
    h.attempt(f"vectorize {columns}_t")
    h.attempt(f"parallelize {rows}_o")


if __name__ == "__main__":
    session = perfdojo.Session("stencil5", target="avx2", sizes={"H": int(sys.argv[1]), "W": 512})
    session.run(rows_at_once, rows="h")
    print(session.text(), end="")
