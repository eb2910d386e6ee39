"""Nests whose elements depend on each other in all directions, and a value whose source changes."""

from __future__ import annotations

from tests.fuzz.writer import Buffer, Writer


def sweep(w: Writer) -> None:
    """A perfect nest in which elements of one buffer depend on each other in all directions."""
    rng = w.rng
    b = w.declare("inout", rng.choice((1, 2, 2)), rng.choice(("f32", "f32", "i32")))
    i, k, j = w.fresh("i"), w.fresh("k"), w.fresh("j")
    deep = rng.random() < 0.25

    def at(dr: int, dc: int) -> str:
        column = f"{{{k}}} + {dc}" if b.rank == 2 or rng.random() < 0.7 else f"{{{i}}} + {{{k}}} + {dc}"
        column += f" + {{{j}}}" if deep else ""
        return f"{b.name}[{f'{{{i}}} + {dr},' if b.rank == 2 else ''}{column}]"

    def near() -> str:
        if rng.random() < 0.4:  # a neighbour in both directions
            return at(*rng.choice(((0, 0), (2, 2), (0, 2), (2, 0))))
        return at(rng.randint(0, 2), rng.randint(0, 2))

    rows, columns = w.rows + 1, max(1, b.extent - 2)
    if b.rank == 2:
        w.header[-1] = f"inout {b.name}: {b.dtype}[{rows + 2}, {columns + 3}]"
    else:
        w.header[-1] = f"inout {b.name}: {b.dtype}[{rows + columns + 3}]"
    order = [f"{i}:{rows}", f"{k}:{columns}"]
    if rng.random() < 0.5:
        order.reverse()
    order += [f"{j}:2"] if deep else []
    order[-1] += rng.choice(("", w.mark, w.mark))
    target = at(1, 1)
    sign = rng.choice(("=", "=", "=", "+=", "max="))
    terms = [near() for _ in range(rng.choice((1, 1, 2)))] if sign == "=" else [f"{w.known[-1].name}"]
    same = [x for x in w.known if x.dtype == b.dtype]

    def given() -> str:
        return w.load(rng.choice(same), f"{{{i}}} % {w.rows}", k, columns)

    is_input = sign != "=" or rng.random() < 0.45
    if is_input:
        terms = [given()]
    scale = " * 0.5" if b.dtype == "f32" else " + 3"
    w.lines.append(f"{' '.join(order)} {target} {sign} {' - '.join(terms)}{scale}")
    chance, bars = rng.random(), "| " * len(order)
    if sign != "=" and chance < 0.4:
        w.lines.append(f"{bars}{target} {sign} {given()}")
    elif is_input and chance < 0.85:
        c = w.declare("inout", 1, b.dtype)
        shape, index = rng.choice(((f"{columns}", f"{{{k}}}"), (f"{rows}, {columns}", f"{{{i}}},{{{k}}}")))
        w.header[-1] = f"inout {c.name}: {b.dtype}[{shape}]"
        w.lines.append(f"{bars}{c.name}[{index}] = {near()}{scale}")
    elif chance < 0.9:
        again = rng.choice((near(), target))
        value = near() if rng.random() < 0.7 else "1"
        w.lines.append(f"{bars}{again} {rng.choice(('=', sign, '+='))} {value}")


def sums(w: Writer) -> None:
    """Two reductions into the same elements: in one nest, in parts of a scope, or one behind the other."""
    rng, rows, n = w.rng, w.rows, w.columns
    dtype = rng.choice(("f32", "f32", "f32", "i32"))
    y = w.declare("inout", rng.choice((0, 1, 1)), dtype)
    y.extent = max(n, rows)
    w.header[-1] = f"inout {y.name}: {dtype}[{y.extent if y.rank else ''}]"
    by_row = rng.random() < 0.5
    first = rng.choice(("+=", "+=", "+=", "max=", "min=", "*="))
    second = first if rng.random() < 0.7 else rng.choice(("+=", "max=", "="))
    i, k = w.fresh("i"), w.fresh("k")
    mark = rng.choice(("", "", "@vector"))

    def line(sign: str) -> str:
        index = f"{{{i if by_row else k}}}" if y.rank else ""
        guard = rng.choice(("", "", "", f" if {{{k}}} != {rng.randrange(n)}", f" if {{{i}}} - {{{k}}} < 1"))
        value = w.value(f"{{{i}}}", k, n, Buffer("", dtype, 1, n), "+=")
        return f"{y.name}[{index}] {sign} {value}{guard}"

    swapped = rng.random() < 0.3
    scopes = [f"{k}:{n}", f"{i}:{rows}"] if swapped else [f"{i}:{rows}", f"{k}:{n}"]
    w.lines.append(f"{' '.join(scopes)}{mark} {line(first)}")
    how = rng.choice(("nest", "parts", "behind"))
    if how == "nest":
        w.lines.append(f"| | {line(second)}")
        return
    i, k = (
        (w.fresh("i") if how == "behind" or swapped else i),
        (w.fresh("k") if how == "behind" or not swapped else k),
    )
    scopes = [f"{k}:{n}", f"{i}:{rows}"] if swapped else [f"{i}:{rows}", f"{k}:{n}"]
    inner = scopes[1] if how == "parts" else " ".join(scopes)
    w.lines.append(f"{'| ' if how == 'parts' else ''}{inner} {line(second)}")


def chain(w: Writer) -> None:
    """One buffer is computed from another one, which then changes, before it is read."""
    rng, rows, n = w.rng, w.rows, w.columns
    dtype = "f32"
    source = w.declare("inout", rng.choice((1, 2)), dtype)
    offset = rng.choice((0, 0, 1, 2))
    rank = rng.choice((0, 1, 1, 2))
    t = Buffer(w.fresh("t"), dtype, rank, n + offset)
    shape = {0: "", 1: f"{n + offset}", 2: f"{rows}, {n + offset}"}[rank]
    note = rng.choice(("", "", " reuse(0)")) if rank == 1 else ""
    w.header.append(f"tmp {t.name}: {dtype}[{shape}]{note}")
    y = w.declare("inout", 2, dtype)
    i, together = w.fresh("i"), rng.random() < 0.5
    kept = rng.random() < 0.5
    moved = rng.choice((offset, offset, 0)) if rank else offset
    if moved < offset:  # what no row writes is read
        rows_, at_ = (f"zr:{rows} ", "{zr},") if rank == 2 else ("", "")
        w.lines.append(f"{rows_}z:{n + offset} {t.name}[{at_}{{z}}] = 0.5")
    marks = ["", w.mark] if together or rng.random() < 0.5 else [w.mark, ""]

    def line(target: str, value: str, k: str, sign: str = "=", guard: str = "") -> None:
        scope = f"{k}:{n}{marks[1]} " if k else ""
        row = i if together else w.fresh("i")
        text = f"{scope}{target} {sign} {value}{guard}".replace("ROW", row)
        opens = not together or not any(f"{i}:{rows}" in x for x in w.lines)
        w.lines.append(f"{row}:{rows}{marks[0]} {text}" if opens else f"| {text}")

    def at(b: Buffer, k: str, moved: int = 0) -> str:
        column = f"{{{k}}} + {moved}" if k else str(moved)
        return f"{b.name}[{ {0: '', 1: column, 2: '{ROW},' + column}[b.rank] }]"

    def changed() -> None:
        k = w.fresh("k")
        line(
            at(source, k, rng.choice((0, 0, source.extent - n))),
            f"{w.known[0].name}[{{{k}}}] * 0.5",
            k,
        )

    k = w.fresh("k") if rank else ""
    value = w.value("{ROW}", k, n, Buffer("", dtype, 1, n), "=")
    guard = f" if {{ROW}} < {rows}" if rng.random() < 0.2 else ""
    if k and rng.random() < 0.3:
        value = w.window(source, "{ROW}", k, n) or value
    if not kept:
        changed()
    line(at(t, k, offset), f"{at(source, k or '', 0)} * 3.0 + {value}", k, guard=guard)
    if kept:
        changed()
    k = w.fresh("k")
    line(at(y, k), f"{at(t, k, moved) if rank else t.name + '[]'} + {at(source, k)}", k)
    if rng.random() < 0.4:
        changed()


def carried(w: Writer) -> None:
    """Two temporaries of one kind in a row: one is for the row alone, the other one for the next row."""
    rng, rows, n = w.rng, w.rows, w.columns
    shape, at = rng.choice((("", ""), (f"{n}", "{K}"), (f"{n}", "{K}")))
    a, b = w.fresh("t"), w.fresh("t")
    w.header += [f"tmp {a}: f32[{shape}]", f"tmp {b}: f32[{shape}]"]
    y = w.declare("inout", 2, "f32")
    i, column = w.fresh("i"), w.fresh("k")
    together = bool(at) and rng.random() < 0.7

    def line(target: str, value: str, guard: str = "") -> str:
        k = column if together else w.fresh("k")
        scope = f"{k}:{n} " if "{K}" in target + value and not together else ""
        return f"{scope}{target} = {value}{guard}".replace("{K}", f"{{{k}}}")

    def given() -> str:
        column = "{K}" if at else rng.randrange(n)
        return f"{w.known[1].name}[{{{i}}},{column}] {rng.choice(('* 0.5', '+ 1.0', ''))}"

    result = f"{y.name}[{{{i}}},{{K}}]"
    alone = [line(f"{a}[{at}]", given()), line(result, f"{a}[{at}] * 3.0 - {result}")]
    next_row = [
        line(f"{b}[{at}]", given(), f" if {{{i}}} < 1"),
        line(result, f"{b}[{at}] - {result}"),
        line(f"{b}[{at}]", given()),
    ]
    lines = [*alone, *next_row] if rng.random() < 0.3 else [*next_row, *alone]
    opened, bars = (f"{i}:{rows} {column}:{n}", "| |") if together else (f"{i}:{rows}", "|")
    w.lines += [f"{opened} {lines[0]}", *(f"{bars} {one}" for one in lines[1:])]


def diagonal(w: Writer) -> None:
    """Rows write a diagonal, or every second element, and read what they did not write."""
    rng, rows, n = w.rng, w.rows, w.columns
    b = w.fresh("y")
    w.header.append(f"inout {b}: f32[{n},{2 * n}]")
    y = w.declare("inout", 2, "f32")
    i, k, j = w.fresh("i"), w.fresh("k"), w.fresh("k")
    at = rng.choice(
        (
            f"{{{k}}},{{{k}}}",
            f"0,2 * {{{k}}}",
            f"{n - 1} - {{{k}}},{{{k}}}",
            f"{{{k}}},(2 * {{{k}}} + 1) % {n}",
        )
    )
    w.lines.append(
        f"{i}:{rows} {k}:{n} {b}[{at}] {rng.choice(('=', '+='))} {w.known[1].name}[{{{i}}},{{{k}}}]"
    )
    w.lines.append(f"| {j}:{n} {y.name}[{{{i}}},{{{j}}}] = {b}[{rng.choice(('0', f'{{{j}}}'))},{{{j}}}]")
