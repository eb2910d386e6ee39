"""Innermost loops are found in gcc's assembly, and estimated; a tool that is missing is named."""

from __future__ import annotations

import shutil

import pytest

from perfdojo.toolchains.loops import innermost_loops, main_loop
from perfdojo.toolchains.mca import NEWEST, OLDEST, Estimate, Model, estimate, find_mca
from perfdojo.toolchains.results import MissingTool

V1 = Model("neoverse-v1", "aarch64", 4)
ASSEMBLY = """\
f:
.LFB0:
	.cfi_startproc
	mov	x3, 0
.L2:
	ldr	q0, [x0]	// a comment
	add	x0, x0, 16
.L3:
// f.c:3: a line of the source
	fmla	v1.4s, v0.4s, v0.4s
	fmla	v2.4s, v0.4s, v0.4s
	cmp	x0, x1
	bne	.L3
	cmp	x0, x2
	bne	.L2
.L4:
	add	x4, x4, 1
	cbz	x4, .L5
	fadd	v1.4s, v2.4s, v1.4s
	cmp	x4, x5
	b.lt	.L4
.L5:
	ret
"""


def has_mca() -> bool:
    return any(shutil.which(f"llvm-mca-{n}") for n in range(OLDEST, NEWEST + 1))


def test_loops_without_others_and_without_branches_are_found() -> None:
    (loop,) = innermost_loops(ASSEMBLY)
    assert loop.label == ".L3"
    assert loop.arithmetic == loop.vectors == 2
    assert loop.lines[0] == "fmla	v1.4s, v0.4s, v0.4s"
    assert loop.lines[-1] == "bne	.L3"
    assert main_loop(ASSEMBLY) == loop
    assert main_loop("f:\n\tret\n") is None
    copy = ".L9:\n\tldr\tq0, [x0], 16\n\tstr\tq0, [x1], 16\n\tcmp\tx0, x2\n\tbne\t.L9\n"
    count = ".L8:\n\tadd\tx0, x0, 1\n\tadd\tx3, x3, 1\n\tadd\tx4, x4, 1\n\tcmp\tx0, x2\n\tbne\t.L8\n"
    assert main_loop(count + copy) == innermost_loops(copy)[0]
    assert main_loop(count + copy + ASSEMBLY) == loop
    products = "".join(f"\tmla\tv{k}.4s, v1.4s, v2.4s\n" for k in range(3, 6))
    integers = f".L7:\n{products}\tcmp\tx0, x2\n\tbne\t.L7\n"
    (found,) = innermost_loops(integers)
    assert found.products == 3
    assert main_loop(integers + ASSEMBLY) == found


@pytest.mark.skipif(not has_mca(), reason="needs llvm-19")
def test_the_model_has_four_pipes_and_a_latency() -> None:
    many = "\n".join(f"	fmla	v{k}.4s, v30.4s, v31.4s" for k in range(16))
    wide, narrow = (
        estimate(innermost_loops(f".L1:\n{body}\n	subs	x0, x0, 1\n	bne	.L1\n")[0], V1)
        for body in (many, "	fmul	v0.4s, v0.4s, v31.4s")
    )
    assert isinstance(wide, Estimate)
    assert isinstance(narrow, Estimate)
    assert 4.0 <= wide.cycles < 4.2
    assert wide.share > 0.95
    # one product waits for the one before: 3 cycles
    assert 2.9 < narrow.cycles < 3.1


@pytest.mark.skipif(not has_mca(), reason="needs llvm-19")
def test_the_busiest_units_are_named() -> None:
    loads = "\n".join(f"	ldr	q{k}, [x0, {16 * k}]" for k in range(9))
    integers = "\n".join(f"	add	v{k}.4s, v30.4s, v31.4s" for k in range(16))
    found = {}
    for name, body in (("loads", loads), ("integers", integers)):
        made = estimate(innermost_loops(f".L1:\n{body}\n	subs	x1, x1, 1\n	bne	.L1\n")[0], V1)
        assert isinstance(made, Estimate)
        assert made.share == 0
        assert made.busy > 0.95
        found[name] = made
    # three loads and four vector operations start each cycle
    assert found["loads"].busiest in ("L01", "L2")
    assert 2.9 < found["loads"].cycles < 3.2
    assert found["integers"].busiest.startswith("V")
    assert 4.0 <= found["integers"].cycles < 4.2


@pytest.mark.skipif(not has_mca(), reason="needs llvm-19")
def test_what_it_does_not_take_is_told() -> None:
    (loop,) = innermost_loops(".L1:\n	nonsense	x0\n	bne	.L1\n")
    assert "does not take the loop" in str(estimate(loop, V1))


def test_a_missing_tool_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(MissingTool, match="llvm-mca"):
        find_mca.__wrapped__()
