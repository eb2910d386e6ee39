"""Kernels on the eight cores of a simulated Snitch cluster: `python -m benchmarks.snitch_cluster`.

Two kinds: arguments in the TCDM, spread by the recipe `cores`; arguments in main memory, in tiles by the
recipe `tcdm_tiles`, the transfers of the DMA engine counted. The limit is the larger of what the FPUs have to
issue, one instruction a cycle each, and what the engine has to move, 64 bytes a cycle; in a product from main
memory each tile of rows takes the whole other operand in once.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

from perfdojo.compiler.bind import bind
from perfdojo.compiler.ir import Program
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.verify import verify

PRODUCT = """kernel matmul
size N = {n}
in  a: {type}[N, N]
in  b: {type}[N, N]{pad}
out c: {type}[N, N]

N N N c[{{0}},{{1}}] += a[{{0}},{{2}}] * b[{{2}},{{1}}]
"""
AXPY = """kernel axpy
size N = {n}
in  a: {type}[]
in  x: {type}[N]
in  y: {type}[N]
out z: {type}[N]

N z[{{0}}] = a[] * x[{{0}}] + y[{{0}}]
"""
RELU = """kernel relu
size M = {n}
in  x: {type}[M, 64]
out z: {type}[M, 64]

M 64 z[{{0}},{{1}}] = maxnum(x[{{0}},{{1}}], 0)
"""
DOT = """kernel dot
size N = {n}
in  x: {type}[N]
in  y: {type}[N]
out z: {type}[]

N z[] += x[{{0}}] * y[{{0}}]
"""
CORES, BEAT_BYTES = 8, 64


class Case(NamedTuple):
    """A kernel, its size, the recipe; instructions of FPUs and bytes of the DMA that it takes at least."""

    name: str
    text: str
    n: int
    recipe: str
    issues: int
    moved: int = 0
    pad: str = ""
    bar: float = 0.0

    @property
    def limit(self) -> int:
        """Cycles below which it cannot be."""
        return max(self.issues // CORES, self.moved // BEAT_BYTES)

    def program(self) -> Program:
        """Return the bound, verified kernel."""
        text = self.text.format(n=self.n, type="f64", pad=self.pad)
        program = bind(parse(text, f"{self.name}.ir"))
        verify(program)
        return program


def product(n: int, recipe: str, rows: int = 0, pad: str = "", bar: float = 0.0) -> Case:
    """A matrix product; `rows` of a tile, 0 where all lies in the TCDM."""
    moved = 8 * n * n * (2 + n // rows) if rows else 0
    note = ", rows of b padded" if pad else ""
    return Case(f"matmul {n}x{n}x{n}{note}", PRODUCT, n, recipe, n**3, moved, pad, bar)


CASES = (
    product(16, "cores", pad=" pad(0, 8)"),
    product(32, "cores", pad=" pad(0, 8)", bar=0.92),
    product(32, "cores"),
    product(64, "cores", pad=" pad(0, 8)", bar=0.95),
    product(64, "cores"),
    Case("relu 32x64", RELU, 32, "cores", 32 * 64),
    Case("axpy 1024", AXPY, 1024, "cores", 1024),
    Case("dot 1024", DOT, 1024, "cores", 1024),
    product(128, "tcdm_tiles", 64),
    product(256, "tcdm_tiles", 32, bar=0.88),
    Case("relu 512x64", RELU, 512, "tcdm_tiles", 512 * 64, 2 * 8 * 512 * 64),
    Case("axpy 16384", AXPY, 16384, "tcdm_tiles", 16384, 3 * 8 * 16384),
)


class Row(NamedTuple):
    """What was measured; `text` is "" when results were right."""

    case: Case
    cycles: int = 0
    utilisation: float = 0.0
    text: str = ""


def measured(case: Case, check: bool = True) -> Row:
    """Schedule, build, check and measure one kernel."""
    from perfdojo.backends import emit, get_target
    from perfdojo.compiler.interpret import compare, random_inputs, reference
    from perfdojo.compiler.recipes import run_recipe
    from perfdojo.compiler.schedule import History, Scheduled, prepare
    from perfdojo.compiler.transforms.base import Setting
    from perfdojo.toolchains.results import Failure
    from perfdojo.toolchains.snitch.gcc import find_tools
    from perfdojo.toolchains.snitch.measure import measure
    from perfdojo.toolchains.snitch.run import build, run

    program = case.program()
    history = History(prepare(program), Setting(get_target("snitch")))
    run_recipe(history, case.recipe)
    made = emit(program, "snitch", scheduled=Scheduled(history.program, history.text(), ""))
    built = build(made, find_tools())
    if isinstance(built, Failure):
        return Row(case, text=built.text)
    inputs = random_inputs(program, 0, "normal")
    text = ""
    if check:
        ran = run(built, inputs, timeout_s=600)
        verdict = compare(ran.outputs, reference(program, inputs, "reassoc")) if ran.outcome == "ok" else None
        text = ran.text if verdict is None else "" if verdict.passed else verdict.message
    done = measure(built, inputs, timeout_s=600)
    return Row(case, done.cycles, done.utilisation or 0.0, text or done.text)


def line(row: Row) -> str:
    """Return a row of the table."""
    case = row.case
    bar = f"{case.bar:>7.0%}" if case.bar else " " * 7
    share = case.limit / row.cycles if row.cycles else 0.0
    figures = f"{row.cycles:>9}{row.utilisation:>8.1%}{bar}{case.limit:>9}{share:>8.1%}"
    return f"{case.name:<36}{case.recipe:<12}{figures}  {row.text}".rstrip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="part of a name or recipe")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    chosen = [c for c in CASES if given.only in f"{c.name} {c.recipe}"]
    print(f"{'f64':<36}{'recipe':<12}{'cycles':>9}{'FPU':>8}{'bar':>7}{'limit':>9}{'of it':>8}")
    with ProcessPoolExecutor(given.jobs) as pool:
        for row in pool.map(measured, chosen):
            print(line(row), flush=True)


if __name__ == "__main__":
    main()
