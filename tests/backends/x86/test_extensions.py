"""Extensions of AVX-512: where code uses them, how they are chosen and refused, schedules that get them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from perfdojo.backends import emit, get_target
from perfdojo.compiler.bind import bind
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.schedule import StepError, parse_schedule, replay
from perfdojo.compiler.transforms.base import Setting
from perfdojo.finding import choose_target
from perfdojo.toolchains.cpu import read_cpu
from tests.backends.direct import checked, disagreements
from tests.backends.x86.test_dots import BOTH, product
from tests.kernels.library import program
from tests.native import case

MOVES = """\
schedule matmul_i8 on avx512
fission_scope n at k -> cols
fission_scope m at cols -> rows
tile_scope rows 12 -> ro ri
tile_scope cols 32 -> co ci
tile_scope k 4 -> ko ki
reorder ri co
reorder ro co
create_temporary b at ro layout [ko ci ki] -> bp
reorder ci ko
reorder ri ko
unroll ri
unroll ki
vectorize ci
end
"""


def test_extensions_are_used_where_they_are_asked_for_only() -> None:
    bytes_, halves = (checked(product(t, t, s), M=12) for t, s in (("i8", "i32"), ("bf16", "f32")))
    for target, fp, source, used in (
        ("avx512", "fast", bytes_, ""),
        ("avx512:bf16", "fast", bytes_, ""),
        ("avx512:vnni", "strict", bytes_, "avx512_vnni"),
        ("avx512", "fast", halves, ""),
        ("avx512:vnni", "fast", halves, ""),
        ("avx512:bf16", "reassoc", halves, ""),
        ("avx512:bf16", "fast", halves, "avx512_bf16"),
    ):
        made = emit(source, target, fp=fp)  # type: ignore[arg-type]
        more = set(made.requires) - set(get_target("avx512").features)
        assert more == ({used} if used else set()), (target, fp)
        assert any(f.startswith(("-mavx512vnni", "-mavx512bf16")) for f in made.flags) == bool(used)
        assert made.tensor == ("pairs" if used == "avx512_bf16" else "")
        assert f"--target {target.replace(':', ' --isa ')} " in made.files[0][1]


def test_the_host_is_told_to_use_what_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    base = get_target("avx512").features
    for extra, wanted in (
        ((), "avx512"),
        (("avx512_bf16", "avx512_vnni"), BOTH),
        (("avx512_vnni",), "avx512:vnni"),
    ):
        cpu = replace(read_cpu(), features=frozenset((*base, *extra)))
        monkeypatch.setattr("perfdojo.toolchains.cpu.read_cpu", lambda cpu=cpu: cpu)
        monkeypatch.setattr("perfdojo.backends.host_targets", lambda: ("avx2", "avx512", "c"))
        assert choose_target("host") == wanted
        assert choose_target("avx512") == "avx512"
    assert choose_target("avx512:vnni") == "avx512:vnni"


def test_extensions_that_there_are_not_are_refused() -> None:
    with pytest.raises(PerfDojoError, match="no extension 'vni' of AVX-512") as caught:
        get_target("avx512:vni")
    assert "vnni" in caught.value.hint
    with pytest.raises(PerfDojoError, match="named twice"):
        get_target("avx512:vnni,vnni")


def test_a_schedule_gets_them_by_moves() -> None:
    bound = bind(program("matmul_i8"), {"M": 24, "N": 64, "K": 64})
    made = replay(bound, parse_schedule(MOVES), Setting(get_target("avx512:vnni"), "strict")).program
    found = case("k", bound, "avx512:vnni", "strict", made)
    assert found.emitted.files[0][1].count("dpbusd") == 12 * 2 + 2
    assert not disagreements([found])
    with pytest.raises(StepError, match="no gather"):
        replay(bound, parse_schedule(MOVES), Setting(get_target("avx512"), "strict"))
