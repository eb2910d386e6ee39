"""A function on buffers called through ctypes, or in a loop in C that takes the time."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.baseline import built_library
from benchmarks.buffers import Array
from perfdojo.toolchains.harness import Host

LOOP = """#define _POSIX_C_SOURCE 199309L
#include <time.h>
double elapsed(int (*kernel)(void **), void **arguments, long calls) {
  struct timespec a, b;
  clock_gettime(CLOCK_MONOTONIC, &a);
  for (long i = 0; i < calls; i++) kernel(arguments);
  clock_gettime(CLOCK_MONOTONIC, &b);
  return (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
}
"""


def loop_in_c(
    kernel: Any, buffers: Sequence[Array], host: Host
) -> tuple[Callable[[], object], Callable[[int], float]]:
    """Return a call of `kernel` from Python, and one that runs it so often from C and tells the seconds."""
    pointers = (ctypes.c_void_p * len(buffers))(*(b.ctypes.data for b in buffers))
    elapsed = ctypes.CDLL(str(built_library("elapsed", (("elapsed.c", LOOP),), ("-O2",), host).path)).elapsed
    elapsed.restype = ctypes.c_double
    return lambda: kernel(pointers), lambda calls: float(elapsed(kernel, pointers, ctypes.c_long(calls)))
