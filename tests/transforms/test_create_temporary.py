"""create_temporary: what each condition refuses, what the copies hold, random programs."""

from __future__ import annotations

import random

import numpy as np
import pytest

from perfdojo.compiler.analysis.accesses import model
from perfdojo.compiler.bind import bind
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.interpret import first_difference, interpret, random_inputs
from perfdojo.compiler.ir import Program
from perfdojo.compiler.schedule import parse_move, prepare
from perfdojo.compiler.text.render import render
from perfdojo.compiler.transforms import get_transform
from perfdojo.compiler.transforms._bordered import bordered_reads
from perfdojo.compiler.transforms._proved import Region, accesses_in
from perfdojo.compiler.transforms.create_temporary import CreateTemporary
from perfdojo.compiler.walk import iterators
from tests.analysis.nests import nests
from tests.fuzz.programs import is_proved
from tests.random_programs.generate import generate
from tests.transforms.states import applied, body, check_state, reason, setting, state

MATMUL = """kernel matmul
in a: f32[24, 20]
in b: f32[20, 32]
out c: f32[24, 32]

i:24 j:32 k:20 c[{0},{1}] += a[{0},{2}] * b[{2},{1}]
"""

CONVOLUTION = """kernel conv
in x: f32[4, 8, 8]
in w: f32[6, 4, 3, 3]
out y: f32[6, 8, 8]

o:6 h:8 v:8 c:4 r:3 s:3 y[{0},{1},{2}] += (LIMITS ? x[{3},{1}+{4}-1,{2}+{5}-1] : 0) * w[{0},{3},{4},{5}]
"""
CONVOLUTION = CONVOLUTION.replace("LIMITS", "{1}+{4} >= 1 and {1}+{4} <= 8 and {2}+{5} >= 1 and {2}+{5} <= 8")

HEAD = """kernel k
in x: f32[8]
in g: i64[8] values(0, 8)
inout z: f32[8]
out y: f32[8]
tmp t: f32[8]

"""


def refused(lines: str, move: str, target: str = "avx2") -> str:
    return reason(state(HEAD + lines), move, setting(target))


# ---------------------------------------------------------------- conditions


@pytest.mark.parametrize(
    ("lines", "move", "why"),
    [
        ("i:8 y[{0}] = x[{0}]", "create_temporary q at i", "0: there is no buffer q"),
        ("i:8 y[{0}] = x[{0}]", "create_temporary x at q", "0: there is no scope or statement q"),
        ("i:8 y[{0}] = x[{0}]", "create_temporary x at i -> y", "0: the name y is taken"),
        (
            "i:8 y[{0}] = x[{0}]",
            "create_temporary x at i in shared",
            "1: target avx2 has no memory space shared",
        ),
        (
            "i:2@frep j:4 y[{0}*4+{1}] = x[{1}]",
            "create_temporary x at j",
            "1: scope i around j is marked @frep",
        ),
        ("i:8 y[{0}] = x[{0}]", "create_temporary z at i", "2: i does not read z"),
        ("i:8 y[{0}] = x[{0}]", "create_temporary x at i writes", "2: i does not write x"),
        ("i:8 z[{0}] += 1\n8 y[{0}] = 0", "create_temporary z at i", "3: i writes z in statement z"),
        (
            "i:8 z[{0}] += 1\n8 y[{0}] = 0",
            "create_temporary z at i writes border",
            "3: a border is read, not written",
        ),
        (
            "i:8 y[{0}] = x[{0}]",
            "create_temporary x at i border",
            "4: a read of x in i is not 'CONDITION ? x[..] : NUMBER'",
        ),
        (
            "i:8 y[{0}] = x[0] > 0 ? x[{0}] : 0",
            "create_temporary x at i border",
            "4: a read of x in i is not 'CONDITION ? x[..] : NUMBER'",
        ),
        (
            "i:8 y[{0}] = z[{0}] > 0 ? x[{0}] : 0",
            "create_temporary x at i border",
            "4: data decide whether i reads x, or what of it",
        ),
        (
            "i:8 y[{0}] = ({0} >= 1 ? x[{0}-1] : 0) + ({0} < 7 ? x[{0}+1] : 1)",
            "create_temporary x at i border",
            "4: the reads of x in i have different borders",
        ),
        (
            "i:8 y[{0}] = ({0} >= 1 ? x[{0}-1] : 0.0) + ({0} < 7 ? x[{0}+1] : -0.0)",
            "create_temporary x at i border",
            "4: the reads of x in i have different borders",
        ),
        (
            "i:8 y[{0}] = ({0} >= 1 ? x[{0}-1] : 0) + ({0} >= 2 ? x[{0}-1] : 0)",
            "create_temporary x at i border",
            "4: a condition around a read of x in i is no bound of its indices",
        ),
        (
            "i:8 y[{0}] = {0} % 2 == 0 ? x[{0}] : 0",
            "create_temporary x at i border",
            "4: a condition around a read of x in i is no bound of its indices",
        ),
        (
            "i:8 y[{0}] = ({0} >= 1 ? x[{0}-1] : 0) if {0} >= 1\n8 y[{0}] = 0",
            "create_temporary x at i border",
            "",
        ),
        (
            "i:8 y[{0}] = ({0} >= 1 ? x[{0}+1] : 0) if {0} < 7\n8 y[{0}] = 0",
            "create_temporary x at i border",
            "4: index 0 of x can leave its bounds; no select keeps it in",
        ),
        (
            "i:8 y[{0}] = ({0} < 9 ? x[{0}+1] : 0) if {0} < 7\n8 y[{0}] = 0",
            "create_temporary x at i border",
            "4: index 0 of x can leave its bounds; no select keeps it in",
        ),
        (
            "i:8 y[{0}] = ({0} >= 1 ? x[{0}-1] : 0) + ({0} < 7 ? x[{0}+1] : 0)",
            "create_temporary x at i border layout [i]",
            "5: i reads x by more than one expression",
        ),
        (
            "i:8 y[{0}] = x[{0}] + x[7-{0}]",
            "create_temporary x at i layout [i]",
            "5: i accesses x by more than one expression",
        ),
        (
            "i:2 j:4 y[{0}*4+{1}] = x[{1}]",
            "create_temporary x at i layout [i j]",
            "5: i accesses x along the scopes [j], not [i j]",
        ),
        (
            "i:2 j:4 y[{0}*4+{1}] = x[{1}]",
            "create_temporary x at i layout [j j]",
            "5: i accesses x along the scopes [j], not [j j]",
        ),
        (
            "8 t[{0}] = 0\ni:8 y[{0}] = {0} > 3 ? x[g[{0}]] : 0",
            "create_temporary x at i layout [i]",
            "5: elements of g decide what of x i accesses, if it does",
        ),
        (
            "i:2 j:4 y[{0}*4+{1}] = x[{0}+{1}] + x[{1}]",
            "create_temporary x at j",
            "6: the accesses to x in j move differently with the scopes around it",
        ),
        (
            "i:8 y[{0}] = {0} > 9 ? x[{0}+10] : 0",
            "create_temporary x at i",
            "6: i accesses nothing of x inside its bounds",
        ),
        ("i:8 y[{0}] = x[max(g[{0}],1)]", "create_temporary x at i", "6: data decide index 0 of x"),
        (
            "i:8 y[{0}] = f32(g[g[{0}]])",
            "create_temporary g at i",
            "6: i accesses g at indices that it holds itself",
        ),
        (
            "8 y[{0}] = 0\ni:8 z[{0}] = 1 if x[{0}] > 0",
            "create_temporary z at i writes",
            "7: no write in i is sure to cover all elements of z that would be copied back",
        ),
        (
            "8 y[{0}] = 0\ni:4 z[{0}*2] = 1\n| z[{0}*2+1] = x[{0}]",
            "create_temporary z at i writes",
            "7: no write in i is sure to cover all elements of z that would be copied back",
        ),
        (
            "8 y[{0}] = 0\ni:2 j:4 z[{0}+{1}] = 1",
            "create_temporary z at i layout [i j] writes",
            "7: no write in i is sure to cover all elements of z that would be copied back",
        ),
        (
            "4 t[{0}] = x[{0}]\ni:8 y[{0}] = {0} < 4 and x[{0}] > 0 ? t[{0}] : 0",
            "create_temporary t at i",
            "8: with the copy t[{0}]: t[4] is read at t_t_0 = 4 before it is written",
        ),
        (
            "i:8 y[{0}] = x[g[{0}]]",
            "create_temporary g at i",
            "8: with the copy x[g_t[{0}]]: the index of dimension 0 can be",
        ),
        (
            "y[0] = 0\n4 y[{0}*2] = 0\n4 y[{0}*2+1] = 0\ni:2@vector j:4 z[0] += x[{0}*4+{1}]",
            "create_temporary z at j writes",
            "8: with the copy 'i' is marked @vector, but iteration 0 reads z[0] and iteration 1 writes it",
        ),
        (
            "i:4@parallel t[0] = x[{0}]\n| y[{0}] = t[0]\n4 y[{0}+4] = 0",
            "create_temporary t at i writes",
            "8: with the copy 'i' is marked @parallel",
        ),
        (
            "i:8@parallel z[{0}] = x[{0}]\n| j:1 y[{0}] = {0} < 1 and {1} < 1 ? z[{1}] : 0",
            "create_temporary z at j layout [j]",
            "8: with the copy 'i' is marked @parallel, but iteration 0 writes z[0] and iteration 1 reads it",
        ),
        (
            "i:8@vector z[{0}] = x[{0}]\n| y[{0}] = {0} < 1 ? z[0] : 0",
            "create_temporary z at y",
            "8: with the copy 'i' is marked @vector, but iteration 0 writes z[0] and iteration 1 reads it",
        ),
    ],
)
def test_refused(lines: str, move: str, why: str) -> None:
    found = refused(lines, move)
    assert found.startswith(why) if why else not found


def test_a_written_index_is_refused() -> None:
    program = state(
        "kernel k\nin x: f32[8]\ninout p: i32[8]\nout y: f32[8]\n\n"
        "i:8 y[{0}] = x[min(max(p[{0}], 0), 7)]\n| p[{0}] = 0\n"
    )
    why = "5: i writes p, which decides what of x it accesses"
    assert reason(program, "create_temporary x at i layout [i]") == why


# ---------------------------------------------------------------- what is copied


def test_panels_of_a_matmul_are_packed_in_one_move_each() -> None:
    program = applied(state(MATMUL), "tile_scope i 6", "tile_scope j 16")
    offered = [str(m) for m in CreateTemporary.candidates(program, setting())]
    moves = ["create_temporary b at i_o layout [j_o k j_i]", "create_temporary a at i_o layout [i_o k i_i]"]
    assert set(moves) <= set(offered)
    packed = body(applied(program, *moves))
    assert "b_t_j_o:2 b_t_k:20 b_t_j_i:16 b_t[{0},{1},{2}] = b[{1},{0} * 16 + {2}]" in packed
    assert "a_t_i_o:4 a_t_k:20 a_t_i_i:6 a_t[{0},{1},{2}] = a[{0} * 6 + {2},{1}]" in packed
    assert "+= a_t[{0},{4},{1}] * b_t[{2},{4},{3}]" in packed


def test_a_tile_is_kept_in_a_copy_that_starts_with_the_elements() -> None:
    program = applied(state(MATMUL), "tile_scope j 16", "create_temporary c at k writes")
    assert "c_t[0,0] = c[{0},{1} * 16 + {2}]" in body(program)
    program = applied(state(MATMUL), "tile_scope j 16", "create_temporary c at j_i writes")
    assert "c_start: c_t[0,{2}] = 0.0" in body(program)
    assert "c_t[0,{2}] = c[" not in body(program)


def test_a_convolution_loses_its_tests() -> None:
    program = state(CONVOLUTION)
    offered = [str(m) for m in CreateTemporary.candidates(program, setting())]
    moves = ["create_temporary x at o border", "create_temporary w at o layout [c r s o]"]
    assert set(moves) <= set(offered)
    after = body(applied(program, *moves))
    assert "y[{0},{1},{2}] += x_t[{3},{1} + {4},{2} + {5}] * w_t[{3},{4},{5},{0}]" in after


def test_a_masked_tail_is_copied_under_its_bounds() -> None:
    text = "kernel k\nin x: f32[12]\nout y: f32[12]\n\ni:12 r:2 y[{0}] += x[{0}]\n"
    program = applied(state(text), "tile_scope i 5 remainder mask")
    read = applied(program, "create_temporary x at i_i")
    assert "x_t[{1}] = x[{0} * 5 + {1}] if {0} * 5 + {1} < 12" in body(read)
    written = applied(program, "create_temporary y at i_i writes")
    assert "y_t_out: y[{0} * 5 + {1}] = y_t[{1}] if {0} * 5 + {1} < 12" in body(written)


def test_strides_are_taken_out() -> None:
    program = state("kernel k\nin x: f32[8]\nout y: f32[2, 4]\n\nn:2 i:4 y[{0},{1}] = x[{1}*2+1]\n")
    assert "x_t_0:4 x_t[{0}] = x[{0} * 2 + 1]" in body(applied(program, "create_temporary x at n"))


def test_shared_storage_is_one_element_of_the_copy() -> None:
    text = (
        "kernel k\nin x: f32[4, 3]\nout y: f32[4, 3]\ntmp t: f32[4, 3] reuse(0)\n\n"
        "i:4 j:3 t[{0},{1}] = x[{0},{1}]\n| j_2:3 y[{0},{1}] = t[{0},{1}] + t[3-{0},{1}]\n"
    )
    after = applied(state(text), "create_temporary t at j_2")
    assert "t_t[{1}] = t[0,{1}]" in body(after)
    assert "y[{0},{1}] = t_t[{1}] + t_t[{1}]" in body(after)


def test_a_copy_is_offered_only_where_what_it_holds_changes() -> None:
    offered = [m for m in CreateTemporary.candidates(state(MATMUL), setting()) if m.buffer == "b"]
    assert {m.at for m in offered} == {"i", "k"}


# ---------------------------------------------------------------- random programs


def random_move(program: Program, rng: random.Random) -> CreateTemporary | None:
    """Return a move with arguments that need not be on a menu, for a buffer that its node accesses."""
    nodes: dict[str, Region] = {**program.scopes, **program.statements}
    if not nodes:
        return None
    at = rng.choice(list(nodes))
    accesses = accesses_in(model(program), nodes[at])
    buffer = rng.choice(accesses).load.buffer
    accesses = [a for a in accesses if a.load.buffer == buffer]
    writes = any(a.writes for a in accesses)
    border = not writes and rng.random() < 0.4
    layout = None
    if rng.random() < 0.4:
        reads = bordered_reads(model(program), accesses) if border else None
        used = iterators(reads[0].select if reads else accesses[0].load)
        order = [s.name for s in accesses[0].scopes[len(nodes[at].around) :] if s.name in used]
        layout = tuple(rng.sample(order, len(order)))
    return CreateTemporary(buffer, at, layout, writes, border)


def random_state(seed: int, rng: random.Random) -> Program:
    if seed % 3 == 0:
        found = nests(seed)
        if is_proved(found):
            return prepare(found)
    program = prepare(bind(generate(seed)))
    tile = get_transform("tile_scope")
    moves = list(tile.candidates(program, setting()))
    after = rng.choice(moves).rewrite(program) if moves and seed % 2 else program
    return after if is_proved(after) else program


@pytest.mark.parametrize("part", [0, 1, *(pytest.param(n, marks=pytest.mark.slow) for n in range(2, 20))])
def test_random_copies_keep_every_bit(part: int) -> None:
    made = 0
    for seed in range(part * 20, part * 20 + 20):
        rng = random.Random(f"copy {seed}")
        program = random_state(seed, rng)
        at = setting()
        offered = list(CreateTemporary.candidates(program, at))
        moves = rng.sample(offered, min(2, len(offered)))
        moves += [m for m in (random_move(program, rng) for _ in range(4)) if m is not None]
        inputs = random_inputs(program, seed, ("normal", "special", "cancel")[seed % 3])
        with np.errstate(all="ignore"):
            wanted = interpret(program, inputs)
            for n, move in enumerate(moves):
                found = move.why_not(program, at)
                assert found is None or n >= 2 or move not in offered, f"{move}: {found}"
                if found is not None:
                    continue
                made += 1
                after = move.rewrite(program)
                try:
                    check_state(after)
                    wrong = first_difference(interpret(after, inputs), wanted)
                except PerfDojoError as error:
                    wrong = error.message
                assert not wrong, f"seed {seed}, {move}: {wrong}\n{render(program)}\n{render(after)}"
    assert made > 60


def bordered_text(rng: random.Random) -> str:
    """Return a program of reads behind bounds, most of which can become one copy with a border."""
    n, m, wide = rng.randint(2, 6), rng.randint(1, 3), rng.randint(3, 8)
    border = rng.choice(("0", "-0.0", "inf", "1.5"))
    terms = []
    for _ in range(rng.randint(1, 3)):
        step, shift = rng.choice((1, 1, 2, -1)), rng.randint(-3, 4)
        index = f"{{0}}*{step}+{{1}}+({shift})"
        low, high = rng.choice((0, 0, 0, 1)), wide - rng.choice((0, 0, 0, 1))
        tests = [f"{index} >= {low}", f"{index} < {high}"]
        if rng.random() < 0.1:
            tests.append("{1} > 0")
        rng.shuffle(tests)
        read = f"x[{index}]"
        if rng.random() < 0.3:
            words = [f"not ({t})" for t in tests]
            terms.append(f"({' or '.join(words)} ? {border} : {read})")
        else:
            terms.append(f"({' and '.join(tests)} ? {read} : {border})")
    head = f"kernel k\nin x: f32[{wide}]\nout y: f32[{n}]\n\n"
    return f"{head}n:{n} m:{m} y[{{0}}] max= {' + '.join(terms)}\n"


def test_random_borders_keep_every_bit() -> None:
    made = 0
    for seed in range(60):
        rng = random.Random(f"border {seed}")
        program = state(bordered_text(rng))
        inputs = random_inputs(program, seed, "special")
        for at in ("n", "m"):
            for layout in (None, *(() if at == "m" else (("n", "m"), ("m", "n"))), ("m",)):
                move = CreateTemporary("x", at, layout, border=True)
                if move.why_not(program, setting()) is not None:
                    continue
                made += 1
                after = move.rewrite(program)
                check_state(after)
                with np.errstate(all="ignore"):
                    wrong = first_difference(interpret(after, inputs), interpret(program, inputs))
                assert not wrong, f"seed {seed}, {move}: {wrong}\n{render(program)}\n{render(after)}"
    assert made > 100


def test_the_names_are_part_of_the_text() -> None:
    move = parse_move("create_temporary c at k writes layout [i j] in stack -> tile")
    assert move == CreateTemporary("c", "k", ("i", "j"), writes=True, space="stack", names=("tile",))
    assert str(move) == "create_temporary c at k layout [i j] writes in stack -> tile"


def test_a_statement_that_reads_one_element_and_writes_others_does_not_fill_the_copy() -> None:
    program = state(
        "kernel k\nin d: f32[3]\nout y: f32[3]\ntmp u: f32[5]\n\nu[0] = 0\n"
        "i:3 j:2 u[{1} + {0}] = d[{0}] + u[{0}]\n3 y[{0}] = u[{0}]\n"
    )
    assert reason(program, "create_temporary u at j writes").startswith("8: with the copy u[{0} + {1}]: u[1]")
