"""What a GPU offers to a kernel, and how many of its blocks run on a multiprocessor at a time."""

from __future__ import annotations

from dataclasses import dataclass

from perfdojo.compiler.diagnostics import PerfDojoError

KIB = 1024


@dataclass(frozen=True, slots=True)
class Device:
    """A GPU.

    Attributes:
        architecture: as nvcc's -arch takes it.
        product: the GPU whose number of multiprocessors is given.
        multiprocessors: of that product.
        max_threads, max_warps, max_blocks: that live on a multiprocessor at a time.
        registers: 32-bit ones of a multiprocessor, and the most for a block.
        register_unit: registers are given to a warp in multiples of this.
        partitions: a multiprocessor has so many schedulers, each with its part of the registers.
        shared_per_sm, shared_per_block: bytes; the latter is the most that a block can ask for.
        shared_static: bytes that it gets without asking.
        shared_reserved: bytes that the system takes from each block.
        shared_unit: shared memory is given in multiples of this.
        max_block: threads of a block along x, y and z.
        max_grid: blocks along x, y and z.
        asynchronous_copies: whether it has cp.async.
    """

    architecture: str
    product: str
    multiprocessors: int
    max_threads: int
    max_warps: int
    max_blocks: int
    registers: int
    register_unit: int
    max_registers_per_thread: int
    partitions: int
    shared_per_sm: int
    shared_per_block: int
    shared_static: int
    shared_reserved: int
    shared_unit: int
    max_threads_per_block: int
    max_block: tuple[int, int, int]
    max_grid: tuple[int, int, int]
    warp: int
    asynchronous_copies: bool


def _device(
    architecture: str, product: str, multiprocessors: int, shared_per_sm: int, per_block: int
) -> Device:
    """Fill in what all GPUs of compute capability 8.0 and 9.0 have in common.

    CUDA C++ Programming Guide, "Technical Specifications per Compute Capability" and "Shared Memory" of each
    capability; units of allocation from cuda_occupancy.h, against which tests compare `occupancy`.
    """
    return Device(
        architecture,
        product,
        multiprocessors,
        max_threads=2048,
        max_warps=64,
        max_blocks=32,
        registers=64 * KIB,
        register_unit=256,
        max_registers_per_thread=255,
        partitions=4,
        shared_per_sm=shared_per_sm,
        shared_per_block=per_block,
        shared_static=48 * KIB,
        shared_reserved=KIB,
        shared_unit=128,
        max_threads_per_block=1024,
        max_block=(1024, 1024, 64),
        max_grid=(2**31 - 1, 65535, 65535),
        warp=32,
        asynchronous_copies=True,
    )


SM_80 = _device("sm_80", "A100", 108, 164 * KIB, 163 * KIB)
"""Multiprocessors: NVIDIA A100 Tensor Core GPU Architecture (white paper)."""

SM_90 = _device("sm_90", "H100 SXM5", 132, 228 * KIB, 227 * KIB)
"""Multiprocessors: NVIDIA H100 Tensor Core GPU Architecture (white paper)."""

DEVICES = {d.architecture: d for d in (SM_80, SM_90)}


def device_of(architecture: str) -> Device:
    """Return the description of an architecture.

    Raises:
        PerfDojoError: there is none.
    """
    if architecture not in DEVICES:
        raise PerfDojoError(
            f"no description of a GPU of architecture '{architecture}'", hint=f"known: {', '.join(DEVICES)}"
        )
    return DEVICES[architecture]


def why_refused(
    device: Device, threads: tuple[int, int, int], grid: tuple[int, int, int], shared: int, registers: int = 0
) -> str:
    """Return why a launch fails, one sentence with the numbers, or "".

    Args:
        shared: bytes of a block, static and dynamic.
        registers: of a thread; 0 where nobody knows.
    """
    count = threads[0] * threads[1] * threads[2]
    rules = [
        ("threads in a block", count, device.max_threads_per_block),
        *(
            (f"threads along {x} of a block", n, m)
            for x, n, m in zip("xyz", threads, device.max_block, strict=True)
        ),
        *((f"blocks along {x}", n, m) for x, n, m in zip("xyz", grid, device.max_grid, strict=True)),
        ("bytes of shared memory in a block", shared, device.shared_per_block),
        ("registers in a thread", registers, device.max_registers_per_thread),
        ("registers in a block", _block_registers(device, registers, count), device.registers),
    ]
    for what, has, most in rules:
        if has > most:
            return f"{has} {what}, but {device.architecture} takes {most} at most"
    if min(*threads, *grid) < 1:
        return "a launch of no threads or no blocks"
    return ""


@dataclass(frozen=True, slots=True)
class Occupancy:
    """How full a multiprocessor gets.

    Attributes:
        blocks: that run on it at a time; 0 when a launch fails.
        warps: of these blocks.
        share: part of the warps that it can hold.
        limits: what allows no more: threads (of warps), blocks, registers, shared memory.
        each: blocks that each of these alone would allow; None where it does not matter.
    """

    blocks: int
    warps: int
    share: float
    limits: tuple[str, ...]
    each: tuple[tuple[str, int | None], ...]


def occupancy(
    device: Device, threads: int, registers: int, shared_static: int = 0, shared_dynamic: int = 0
) -> Occupancy:
    """Return how many blocks of `threads` threads run on a multiprocessor at a time.

    Args:
        registers: of a thread, as nvcc reports them.
        shared_static, shared_dynamic: bytes of a block.
    """
    warps = -(-threads // device.warp)
    each = {
        "threads": 0 if threads > device.max_threads_per_block else device.max_warps // max(1, warps),
        "blocks": device.max_blocks,
        "registers": _by_registers(device, warps, registers),
        "shared memory": _by_shared(device, shared_static + shared_dynamic),
    }
    blocks = min(n for n in each.values() if n is not None)
    limits = tuple(name for name, n in each.items() if n == blocks)
    live = blocks * warps
    return Occupancy(blocks, live, live / device.max_warps, limits, tuple(each.items()))


def _round_up(n: int, unit: int) -> int:
    return -(-n // unit) * unit


def _block_registers(device: Device, registers: int, threads: int) -> int:
    """Registers that a block takes; its warps are shared out evenly between the partitions."""
    warps = _round_up(-(-threads // device.warp), device.partitions)
    return _round_up(registers * device.warp, device.register_unit) * warps


def _by_registers(device: Device, warps: int, registers: int) -> int | None:
    if not registers:
        return None
    each = _round_up(registers * device.warp, device.register_unit)
    if registers > device.max_registers_per_thread or (
        each * _round_up(warps, device.partitions) > device.registers
    ):
        return 0
    return device.registers // device.partitions // each * device.partitions // max(1, warps)


def _by_shared(device: Device, shared: int) -> int | None:
    if shared > device.shared_per_block:
        return 0
    return device.shared_per_sm // _round_up(shared + device.shared_reserved, device.shared_unit)
