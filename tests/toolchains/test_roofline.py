"""The arithmetic of limits on figures made by hand, and one real measurement of a small part."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from perfdojo.toolchains.builds import Artifact
from perfdojo.toolchains.cpu import Cache
from perfdojo.toolchains.harness import Host
from perfdojo.toolchains.places import Places
from perfdojo.toolchains.process import Limits, run
from perfdojo.toolchains.results import Failure
from perfdojo.toolchains.roofline import (
    Rate,
    Roofline,
    Stream,
    find_roofline,
    limit_of,
    load_roofline,
    roofline_program,
    store_roofline,
    stored_path,
    working_sets,
)
from tests.toolchains.kernels import ADD, kernel, vector

K, M = 1 << 10, 1 << 20

RATES = (
    Rate(1, "f32", 4, 4e9),
    Rate(1, "f32", 32, 64e9),
    Rate(4, "f32", 32, 200e9),
    Rate(1, "f64", 32, 32e9),
    Rate(1, "i32", 32, 50e9),
)
STREAMS = tuple(
    Stream(threads, access, size, threads * speed * 1e9)
    for threads in (1, 4)
    for access, near, far in (("write", 50, 5), ("copy", 80, 8), ("triad", 90, 9), ("read", 100, 10))
    for size, speed in ((32 * K, near), (128 * M, far))
)
DIRECT = tuple(Stream(1, "write-direct", size, 20e9) for size in (32 * K, 128 * M))
MADE = Roofline("made", RATES, STREAMS + DIRECT)


def test_the_peak_is_that_of_the_widest_vectors() -> None:
    assert MADE.peak("f32", 1) == 64e9
    assert MADE.peak("f64", 1) == 32e9


def test_types_that_are_not_measured_take_the_rate_of_another() -> None:
    assert MADE.peak("bf16", 1) == MADE.peak("f32", 1)
    assert MADE.peak("i64", 1) == MADE.peak("i8", 1) == 50e9


def test_threads_in_between_are_bounded_by_both_neighbours() -> None:
    assert [MADE.peak("f32", t) / 1e9 for t in (1, 2, 3, 4, 8)] == [64, 128, 192, 200, 200]


def test_more_threads_are_never_slower() -> None:
    disturbed = replace(MADE, rates=(Rate(1, "f32", 32, 64e9), Rate(4, "f32", 32, 30e9)))
    assert disturbed.peak("f32", 4) == 64e9


@pytest.mark.parametrize(
    ("footprint", "share", "gb"),
    [
        (32 * K, 1.0, 100),
        (1, 1.0, 100),
        (128 * M, 1.0, 10),
        (math.inf, 1.0, 10),
        (2 * M, 1.0, 55),
        (32 * K, 0.0, 50),
        (128 * M, 0.0, 20),
        (32 * K, 0.25, 2 / (1 / 50 + 1 / 80)),
    ],
)
def test_bandwidth_follows_footprint_and_share(footprint: float, share: float, gb: float) -> None:
    """2 MiB is the middle of 32 KiB and 128 MiB in the logarithm; 20 GB/s is that of direct stores."""
    assert MADE.bandwidth(footprint, share, 1) == pytest.approx(gb * 1e9)


def test_the_limit_is_the_slower_of_both() -> None:
    compute = MADE.limit(64e9, 1e6, 1.0, 1e6, 1, "f32")
    assert (compute.seconds, compute.bound) == (1.0, "compute")
    assert compute.text == "64 G f32 operations/s"
    memory = MADE.limit(1, 10e9, 1.0, 8 * 2**30, 1, "f32")
    assert (memory.seconds, memory.bound) == (1.0, "memory")
    assert memory.text == "8 GiB at 10 GB/s"


def test_working_sets_lie_within_and_beyond_each_cache() -> None:
    caches = [Cache(1, 32 * K, 1), Cache(2, 512 * K, 1), Cache(3, 32 * M, 4)]
    assert working_sets(caches, 1) == (16 * K, 32 * K, 256 * K, 512 * K, 8 * M, 16 * M, 32 * M, 128 * M)
    assert working_sets(caches, 4)[:2] == (64 * K, 128 * K)
    assert working_sets(caches, 4)[-2:] == (32 * M, 128 * M)
    assert max(working_sets([], 1)) == 64 * M
    assert max(working_sets([Cache(3, 600 * M, 1)], 1)) == 1 << 30


def test_what_is_kept_is_found_again(host: Host, tmp_path: Path) -> None:
    places = Places(tmp_path, tmp_path)
    assert load_roofline(host.cpu, places) is None
    path = store_roofline(MADE, host.cpu, places)
    assert load_roofline(host.cpu, places) == MADE
    assert find_roofline(replace(host, places=places)) == MADE
    assert load_roofline(replace(host.cpu, model="another"), places) is None
    for text in ("", "[]", "{}", json.dumps({"version": 0}), '{"version": 1, "model": "x"}'):
        path.write_text(text)
        assert load_roofline(host.cpu, places) is None


def test_the_limit_of_a_kernel(host: Host, tmp_path: Path) -> None:
    host = replace(host, places=Places(tmp_path, tmp_path))
    store_roofline(MADE, host.cpu, host.places)
    emitted = replace(ADD, flops=64_000, bytes=8000)
    hot, cold = limit_of(host, emitted), limit_of(host, replace(emitted, flops=0), cache="cold")
    assert hot is not None
    assert (hot.seconds, hot.bound) == (1e-6, "compute")
    assert cold is not None
    assert cold.seconds == pytest.approx(8000 / 8e9)  # half of the bytes are read, as in a copy


def test_the_type_of_a_kernel_is_its_fastest_float(host: Host, tmp_path: Path) -> None:
    host = replace(host, places=Places(tmp_path, tmp_path))
    store_roofline(MADE, host.cpu, host.places)
    arguments = (vector("i", "in", "i32"), vector("x", "in", "f64"), vector("y", "out", "f32"))
    limit = limit_of(host, kernel("", arguments, flops=64_000_000, bytes=8))
    assert limit is not None
    assert limit.text == "64 G f32 operations/s"


def test_the_program_measures(host: Host) -> None:
    made = roofline_program(host)
    assert isinstance(made, Artifact), made
    assert made.warnings == ""
    done = run([str(made.path), str(host.cpu.processors[0]), "16384"], Limits(wall_s=30))
    assert done.outcome == "ok", done
    found = json.loads(done.stdout)
    assert found["threads"] == 1
    widths = {r["width"]: r["per_second"] for r in found["rates"] if r["type"] == "f32"}
    assert widths[16] > widths[4] > 1e8
    assert {s["access"] for s in found["streams"]} >= {"read", "write", "copy", "triad"}
    assert all(s["per_second"] > 1e8 for s in found["streams"])
    assert all(0 < s["bytes"] <= 16384 for s in found["streams"])


def test_a_program_that_fails_gives_a_failure(host: Host) -> None:
    nobody = replace(host, cpu=replace(host.cpu, processors=(), cores=0))
    failed = find_roofline(nobody)
    assert isinstance(failed, Failure)
    assert failed.text.startswith("the roofline program gave no figures: ")
    assert limit_of(nobody, ADD) is None
    assert not stored_path(nobody.cpu, nobody.places).exists()
