"""Builds are cached by content, kept when they fail, and safe when many do the same."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from perfdojo.toolchains import builds
from perfdojo.toolchains.builds import Artifact, BuildRequest, build_files, error_lines, prune
from perfdojo.toolchains.gcc import accepts, find_compiler, known_architectures
from perfdojo.toolchains.harness import Host
from perfdojo.toolchains.places import Places, find_places
from perfdojo.toolchains.process import Limits, run
from perfdojo.toolchains.results import Failure, MissingTool

HELLO = BuildRequest("hello", "executable", (("hello.c", "int main(void) { return 7; }\n"),))


@pytest.fixture
def fresh(host: Host, tmp_path: Path) -> Host:
    """The host with an empty cache."""
    return replace(host, places=Places(tmp_path, tmp_path))


def build(request: BuildRequest, host: Host) -> Artifact | Failure:
    return build_files(request, host.compiler, host.cpu, host.places)


def built(request: BuildRequest, host: Host) -> Artifact:
    made = build(request, host)
    assert isinstance(made, Artifact), made
    return made


def test_a_program_is_built_and_then_found(fresh: Host) -> None:
    first = built(HELLO, fresh)
    assert run([str(first.path)]).code == 7
    assert not first.cached
    second = built(replace(HELLO, name="other"), fresh)
    assert second.cached
    assert second.path == first.path


def test_what_changes_the_result_changes_the_entry(fresh: Host) -> None:
    files = (("hello.c", "int main(void) { return 8; }\n"),)
    others = [replace(HELLO, files=files), replace(HELLO, flags=("-O1",)), replace(HELLO, kind="assembly")]
    paths = {built(r, fresh).path for r in [HELLO, *others]}
    assert len(paths) == 4


def test_native_code_belongs_to_its_processor(fresh: Host) -> None:
    native = replace(HELLO, flags=("-march=native",))
    other = replace(fresh, cpu=replace(fresh.cpu, model="another"))
    assert built(native, fresh).path != built(native, other).path
    assert built(HELLO, fresh).path == built(HELLO, other).path


def test_many_builds_of_the_same_give_one_entry(fresh: Host) -> None:
    with ThreadPoolExecutor(4) as pool:
        paths = {a.path for a in pool.map(lambda _: built(HELLO, fresh), range(4))}
    assert len(paths) == 1
    entries = list((fresh.places.cache / "builds").glob("*/*"))
    assert entries == [paths.pop().parent]


def test_a_failed_build_keeps_source_and_message(fresh: Host) -> None:
    text = "int main(void) { return undeclared_name; }\n"
    failed = build(replace(HELLO, files=(("wrong.c", text),)), fresh)
    assert isinstance(failed, Failure)
    assert failed.outcome == "compile-error"
    assert "undeclared_name" in failed.lines[0]
    assert failed.lines[0].startswith("wrong.c:1:")
    assert failed.folder.name.startswith("hello-")
    assert (failed.folder / "wrong.c").read_text() == text
    assert "undeclared_name" in (failed.folder / "message.txt").read_text()


def test_of_failed_builds_the_latest_are_kept(fresh: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builds, "KEEP_FAILED", 3)
    folders = []
    for n in range(5):
        failed = build(replace(HELLO, files=(("wrong.c", f"no C {n}"),)), fresh)
        assert isinstance(failed, Failure)
        folders.append(failed.folder)
    assert [f.exists() for f in folders] == [False, False, True, True, True]


def test_a_compiler_that_crashes_is_named_and_what_it_made_is_not_kept(fresh: Host, tmp_path: Path) -> None:
    compiler = tmp_path / "crashes"
    compiler.write_text("#!/bin/sh\nhead -c 1000000 /dev/zero > program\nkill -SEGV $$\n")
    compiler.chmod(0o755)
    failed = build(HELLO, replace(fresh, compiler=replace(fresh.compiler, path=compiler)))
    assert isinstance(failed, Failure)
    assert (failed.outcome, failed.text) == ("compile-error", "crashes crashes on the code of hello: SIGSEGV")
    assert not (failed.folder / "program").exists()
    assert not list((fresh.places.cache / "builds").glob("*/*"))


def test_a_compiler_that_takes_too_long_is_a_timeout(fresh: Host) -> None:
    limits = Limits(wall_s=0.001)
    failed = build_files(HELLO, fresh.compiler, fresh.cpu, fresh.places, limits)
    assert isinstance(failed, Failure)
    assert failed.outcome == "timeout"


def test_a_missing_symbol_is_a_compile_error(fresh: Host) -> None:
    failed = build(replace(HELLO, files=(("a.c", "int f(void); int main(void) { return f(); }"),)), fresh)
    assert isinstance(failed, Failure)
    assert "undefined reference" in failed.lines[0]


def test_headers_in_front_replace_those_of_the_system(fresh: Host) -> None:
    files = (("a.c", "#include <immintrin.h>\nint main(void) { return ANSWER; }\n"),)
    request = replace(HELLO, files=files, before=(("immintrin.h", "#define ANSWER 42\n"),))
    assert run([str(built(request, fresh).path)]).code == 42


def test_missing_headers_of_the_c_library_name_their_package(fresh: Host) -> None:
    request = replace(
        HELLO, files=(("a.c", "#include <stdlib.h>\nint main(void){return 0;}"),), flags=("-nostdinc", "-I.")
    )
    with pytest.raises(MissingTool) as caught:
        build(request, fresh)
    assert caught.value.package == "libc6-dev"


def test_a_file_name_with_a_folder_is_our_error(fresh: Host) -> None:
    with pytest.raises(ValueError, match="folder"):
        build(replace(HELLO, files=(("../a.c", ""),)), fresh)


def test_pruning_deletes_what_was_not_used_for_longest(fresh: Host) -> None:
    old, new = built(HELLO, fresh).path.parent, built(replace(HELLO, flags=("-O1",)), fresh).path.parent
    long_ago = time.time() - 1e6
    os.utime(old, (long_ago, long_ago))
    assert prune(fresh.places, keep_bytes=0) == 1
    assert not old.exists()
    assert new.exists()
    assert prune(fresh.places, keep_bytes=0, keep_seconds=0) == 1


def test_without_gcc_the_package_is_named(no_path: None) -> None:
    with pytest.raises(MissingTool) as caught:
        find_compiler()
    assert str(caught.value) == (
        "error: gcc is not installed or not in PATH\nhint: on Debian and Ubuntu: apt-get install gcc"
    )


def test_a_program_that_is_no_compiler_is_refused(tmp_path: Path) -> None:
    fake = tmp_path / "gcc"
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o755)
    with pytest.raises(MissingTool, match="a working"):
        find_compiler(str(fake))


def test_gcc_says_what_it_can_do(host: Host) -> None:
    assert accepts(host.compiler, "-O2")
    assert not accepts(host.compiler, "-mno-such-thing")
    names = known_architectures(host.compiler)
    assert "native" in names or not host.compiler.machine.startswith("x86_64")


def test_error_lines_are_the_first_ones_that_name_an_error() -> None:
    message = ["in function", "a.c:1: warning: b", *(f"a.c:{k}: error: c" for k in range(9))]
    assert error_lines(message, 2) == ("a.c:0: error: c", "a.c:1: error: c")
    assert error_lines(["", "killed"]) == ("killed",)


def test_a_cache_that_cannot_be_written_is_replaced_with_a_note(tmp_path: Path) -> None:
    def refuse_cache(folder: Path) -> str:
        return "Read-only file system" if folder.name == "cache" else ""

    places = find_places(tmp_path / "cache", tmp_path / "data", refuse_cache)
    assert places.data == tmp_path / "data"
    assert places.cache != tmp_path / "cache"
    assert places.cache.is_dir()
    assert places.notes == (
        f"the cache folder {tmp_path / 'cache'} cannot be written to (Read-only file system); "
        f"using {places.cache}",
    )


def test_a_file_in_place_of_the_cache_folder_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("")
    places = find_places(tmp_path / "cache", tmp_path / "data")
    assert "cannot be written to" in places.notes[0]
