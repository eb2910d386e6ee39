"""A shared library is described by itself, loaded, and called on NumPy arrays that fit."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import perfdojo
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.emitted import Argument, EmittedSource, description_json, description_literals
from perfdojo.loading import Kernel, load_kernel, read_texts
from perfdojo.toolchains.harness import Host
from perfdojo.toolchains.host import shared_library
from perfdojo.toolchains.identity import why_not_here
from perfdojo.toolchains.results import Failure
from tests.toolchains.kernels import ADD, N, kernel, loop, vector

TAKE = kernel(
    loop("{ d[i] = s[k[i]]; n[i] = 2 * n[i]; }", 4),
    (
        vector("s", "in", n=8),
        vector("k", "in", "i32", 4, values=(0, 8)),
        vector("n", "inout", "i32", 4),
        vector("d", "out", n=4),
    ),
    sizes=(("N", 4),),
)


def library(emitted: EmittedSource, host: Host, folder: Path) -> Path:
    made = shared_library(emitted, folder / "k.so", host)
    assert isinstance(made, Path), made
    return made


@pytest.fixture(scope="module")
def take(host: Host, tmp_path_factory: pytest.TempPathFactory) -> Kernel:
    return load_kernel(library(TAKE, host, tmp_path_factory.mktemp("take")))


def inputs() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.arange(8, dtype=np.float32), np.array([7, 0, 3, 3], np.int32), np.arange(4, dtype=np.int32)


def test_a_library_is_loaded_and_called(host: Host, tmp_path: Path) -> None:
    add = perfdojo.load(library(ADD, host, tmp_path))
    assert str(add) == "k(s: f32[1000]) -> d: f32[1000]"
    x = np.arange(N, dtype=np.float32)
    d = add(x)
    assert isinstance(d, np.ndarray)
    assert np.array_equal(d, x + 1)
    out = np.zeros_like(x)
    assert add(x, out) is out
    assert add(d=out, s=out.copy()) is out
    assert np.array_equal(out, x + 2)


def test_a_call_is_checked_once_and_repeated(host: Host, tmp_path: Path) -> None:
    add = perfdojo.load(library(ADD, host, tmp_path))
    x, out = np.arange(N, dtype=np.float32), np.zeros(N, np.float32)
    run = add.on(x, out)
    assert run() is out
    assert np.array_equal(out, x + 1)
    x += 5
    run()
    assert np.array_equal(out, x + 1)
    made = add.on(x)()
    assert isinstance(made, np.ndarray)
    assert np.array_equal(made, x + 1)
    with pytest.raises(PerfDojoError, match="missing"):
        add.on()
    with pytest.raises(PerfDojoError, match="overlap"):
        add.on(x, x)


def test_values_with_limits_are_looked_at_in_each_run(take: Kernel) -> None:
    x, indices, total = inputs()
    run = take.on(x, indices, total)
    run()
    indices[0] = 9
    with pytest.raises(PerfDojoError, match="values from"):
        run()


def test_the_description_is_read_without_loading(host: Host, tmp_path: Path) -> None:
    texts = read_texts(library(TAKE, host, tmp_path))
    assert texts["perfdojo_description"] == description_json(TAKE)
    build = json.loads(texts["perfdojo_build"])
    assert build["cpu"] == host.cpu.model
    assert build["compiler"] == host.compiler.version


def test_all_that_the_description_says_is_known(take: Kernel) -> None:
    assert (take.name, take.target, take.fp, take.sizes) == ("k", "c", "reassoc", {"N": 4})
    assert take.arguments == TAKE.arguments


def test_inout_is_changed_in_place(take: Kernel) -> None:
    s, k, n = inputs()
    d = take(s, k, n)
    assert isinstance(d, np.ndarray)
    assert d.tolist() == [7, 0, 3, 3]
    assert n.tolist() == [0, 2, 4, 6]


def message(take: Kernel, **changes: object) -> str:
    arrays: dict[str, object] = dict(zip("skn", inputs(), strict=True)) | changes
    with pytest.raises(PerfDojoError) as caught:
        take(**{k: v for k, v in arrays.items() if v is not None})  # type: ignore[arg-type]
    return str(caught.value)


def test_arrays_that_do_not_fit_are_refused(take: Kernel) -> None:
    s, _, n = inputs()
    read_only = n.copy()
    read_only.flags.writeable = False
    double = np.zeros(16, np.float32)
    assert message(take, s=None) == (
        "error: argument 's' is missing\n"
        "hint: call it as k(s: f32[8], k: i32[4], n: i32[4]) -> n: i32[4], d: f32[4]"
    )
    assert message(take, s=s.astype(np.float64)) == (
        "error: argument 's' has dtype float64, but the kernel takes float32 (f32)\n"
        "hint: use s.astype('float32')"
    )
    assert message(take, s=s.astype(">f4")).startswith("error: argument 's' has dtype >f4, but the kernel")
    assert message(take, s=s[:7]) == "error: argument 's' has shape (7,), but the kernel takes (8,)"
    assert message(take, s=[1.0]) == "error: argument 's' is a list, not a NumPy array"
    assert message(take, s=double[::2]) == (
        "error: argument 's' is not C-contiguous, it has the strides (8,)\n"
        "hint: use numpy.ascontiguousarray(s)"
    )
    assert message(take, n=read_only) == "error: argument 'n' is written, but the array is read-only"
    assert message(take, k=np.array([0, 1, 8, 2], np.int32)) == (
        "error: argument 'k' holds values from 0 to 8, but the kernel takes 0 to 7"
    )
    assert message(take, k=n, n=n) == (
        "error: arguments 'k' and 'n' overlap in memory, and one of them is written\n"
        "hint: pass a copy of one of them"
    )
    assert message(take, s=s, d=s[4:]).startswith("error: arguments 's' and 'd' overlap")
    assert message(take, dd=s) == "error: kernel k has no argument 'dd'\nhint: did you mean 'd'?"


def test_unaligned_arrays_are_refused(take: Kernel) -> None:
    shifted = np.zeros(33, np.uint8)[1:].view(np.float32)
    assert message(take, s=shifted).startswith(
        "error: argument 's' lies at an address that is not a multiple of 4"
    )


def test_positions_and_names_do_not_mix(take: Kernel) -> None:
    s, k, n = inputs()
    with pytest.raises(PerfDojoError, match="'s' was given twice"):
        take(s, k, n, s=s)
    with pytest.raises(PerfDojoError, match="takes 4 arguments, 5 were given"):
        take(s, k, n, s, s)


def test_two_inputs_may_be_the_same(host: Host, tmp_path: Path) -> None:
    arguments = (vector("a", "in"), vector("b", "in"), vector("d", "out"), vector("e", "out"))
    both = load_kernel(library(kernel(loop("d[i] = a[i] + b[i], e[i] = 0;"), arguments), host, tmp_path))
    x = np.ones(N, np.float32)
    results = both(x, x)
    assert isinstance(results, tuple)
    assert [r[0] for r in results] == [2, 0]


def test_other_layouts_and_alignments_come_from_empty(host: Host, tmp_path: Path) -> None:
    s = Argument("s", "in", "f32", (3, 4), (1, 5), 20)
    d = Argument("d", "out", "f32", (3, 4), (4, 1), 12)
    body = "for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) d[4*i + j] = s[i + 5*j];"
    emitted = kernel(body, (s, d), alignment=128)
    columns = load_kernel(library(emitted, host, tmp_path))
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    with pytest.raises(
        PerfDojoError, match=re.escape("must have the strides (4, 20) in bytes, it has the strides (16, 4)")
    ):
        columns(x)
    laid = columns.empty("s")
    laid[...] = x
    assert laid.ctypes.data % 128 == 0
    assert np.array_equal(columns(laid), x)  # type: ignore[arg-type]


def test_a_temporary_that_cannot_be_had_is_a_memory_error(host: Host, tmp_path: Path) -> None:
    poor = load_kernel(library(kernel("d[0] = s[0]; return 1;"), host, tmp_path))
    with pytest.raises(MemoryError, match="kernel k could not allocate a temporary"):
        poor(np.zeros(N, np.float32))


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, "cannot read"),
        (b"", "is not a shared library"),
        (b"\x7fELF" + bytes(range(256)), "is not a shared library"),
        (b"int x;", "is not a shared library"),
    ],
)
def test_files_that_are_no_libraries(tmp_path: Path, content: bytes | None, text: str) -> None:
    if content is not None:
        (tmp_path / "k.so").write_bytes(content)
    with pytest.raises(PerfDojoError, match=text):
        perfdojo.load(tmp_path / "k.so")


def test_damaged_libraries_raise_nothing_else(host: Host, tmp_path: Path) -> None:
    """Cut at many places, and with bytes of the tables changed: read, or refused."""
    whole = library(ADD, host, tmp_path).read_bytes()
    broken = tmp_path / "broken.so"
    for k in range(0, len(whole), len(whole) // 40):
        broken.write_bytes(whole[:k])
        with pytest.raises(PerfDojoError):
            read_texts(broken)
        broken.write_bytes(whole[:k] + bytes(64) + whole[k + 64 :])
        try:
            read_texts(broken)
        except PerfDojoError:
            continue


def test_a_library_of_somebody_else_is_not_loaded(tmp_path: Path) -> None:
    other = next(Path("/usr/lib").rglob("libm.so.6"), None)
    if other is None:
        pytest.skip("there is no libm.so.6 below /usr/lib")
    shutil.copy(other, tmp_path / "m.so")
    with pytest.raises(PerfDojoError, match="is not a library of perfdojo"):
        perfdojo.load(tmp_path / "m.so")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "is damaged"),
        ("[]", "is damaged"),
        ('{"perfdojo": 2}', "another version"),
        ('{"perfdojo": 1}', "is damaged"),
        (description_json(ADD).replace("f32", "f31"), "is damaged"),
        (description_json(replace(ADD, symbol="other")), "undefined symbol: other"),
    ],
    ids=["empty", "list", "version", "keys", "type", "symbol"],
)
def test_wrong_descriptions_are_refused(host: Host, tmp_path: Path, text: str, complaint: str) -> None:
    quoted = text.replace('"', '\\"')
    source = f'extern const char perfdojo_description[];\nconst char perfdojo_description[] = "{quoted}";\n'
    source += "int k(void);\nint k(void) { return 0; }\n"
    path = library(replace(ADD, files=(("k.c", source),)), host, tmp_path)
    with pytest.raises(PerfDojoError, match=complaint):
        perfdojo.load(path)


def test_a_library_for_another_cpu_is_not_loaded(host: Host, tmp_path: Path) -> None:
    path = library(replace(kernel(loop("d[i] = s[i];"), requires=("avx9",))), host, tmp_path)
    with pytest.raises(PerfDojoError, match="cannot run here: it needs a CPU with avx9"):
        perfdojo.load(path)


def test_builds_say_for_which_machine(host: Host) -> None:
    assert why_not_here({}, (), host.cpu) == ""
    assert "built for vax" in why_not_here({"machine": "vax"}, (), host.cpu)
    assert "avx9" in why_not_here({"features": ["avx9"]}, (), host.cpu)
    assert why_not_here({"features": ["avx9"]}, (), replace(host.cpu, features=frozenset())) == ""


def test_code_that_does_not_compile_leaves_the_old_library(host: Host, tmp_path: Path) -> None:
    path = library(ADD, host, tmp_path)
    failed = shared_library(kernel("d[0] = ;"), path, host)
    assert isinstance(failed, Failure)
    assert perfdojo.load(path)(np.zeros(N, np.float32)) is not None
    assert [p.name for p in tmp_path.iterdir()] == ["k.so"]


def test_literals_are_c_strings_of_the_json() -> None:
    emitted = replace(ADD, kernel='odd "name" ??/ \\')
    literals = description_literals(emitted, width=20)
    inner = "".join(piece[1:-1] for piece in literals)
    assert re.sub(r"\\(.)", r"\1", inner) == description_json(emitted)
    assert "??" not in inner
