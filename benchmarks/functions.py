"""Vector functions of f32 against glibc's libmvec and the scalar functions of its libm, in one run.

    python benchmarks/functions.py

Each reads 4096 arguments of its usual range from the first-level cache and writes 4096 results. The three are
timed in turn, 10,000 times; the figures are the fastest of each. Needs gcc and a processor with AVX2.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from perfdojo.backends import avx2
from perfdojo.backends.emission import emit
from perfdojo.compiler.bind import bind
from perfdojo.compiler.elementary.describe import VECTOR_FUNCTIONS, describe
from perfdojo.compiler.text.parse import parse

ELEMENTS = 4096
ROUNDS = 10_000
RANGES = {"exp": (-20, 20), "log": (0.001, 1000), "tanh": (-4, 4), "erf": (-3, 3), "sigmoid": (-10, 10)}
PEERS = {name: f"{name}f" for name in VECTOR_FUNCTIONS if name != "sigmoid"}

HARNESS = """
#include <immintrin.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { N = %(elements)d };
static float x[N] __attribute__((aligned(64))), y[N] __attribute__((aligned(64)));

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}
%(loops)s
int main(void) {
  void (*const run[])(void) = {%(names)s};
  double best[%(count)d];
  for (int i = 0; i < N; i++) {
    const float part = (float)((i * 2654435761u) >> 8) / 16777216.0f;
    x[i] = %(low)sf + (%(high)sf - %(low)sf) * part;
  }
  for (int k = 0; k < %(count)d; k++) best[k] = INFINITY;
  for (int round = 0; round < %(rounds)d; round++) {
    for (int k = 0; k < %(count)d; k++) {
      const double start = now();
      run[k]();
      __asm__ volatile("" ::: "memory");
      const double time = (now() - start) / N;
      best[k] = time < best[k] ? time : best[k];
    }
  }
  for (int k = 0; k < %(count)d; k++) printf("%%f\\n", best[k]);
  return 0;
}
"""

LIBMVEC = """
__m256 _ZGVdN8v_%(peer)s(__m256);
static void libmvec(void) {
  for (int i = 0; i < N; i += 8) _mm256_store_ps(y + i, _ZGVdN8v_%(peer)s(_mm256_load_ps(x + i)));
}
__attribute__((optimize("no-tree-vectorize"))) static void libm(void) {
  for (int i = 0; i < N; i++) y[i] = %(peer)s(x[i]);
}
"""


def measure(name: str, folder: Path) -> list[float]:
    """Return ns per element of our function, libmvec's and libm's, the last two where they exist."""
    head = f"kernel f\nsize N = {ELEMENTS}\nin x: f32[N]\nout y: f32[N]\n"
    kernel = f"{head}N@vector y[{{0}}] = {name}(x[{{0}}])\n"
    emitted = emit(bind(parse(kernel, name), {}), avx2.TARGET, "strict", vectors=avx2.vector_printer())
    for file, text in emitted.files:
        (folder / file).write_text(text, encoding="utf-8")
    loops = f'#include "{emitted.files[0][0]}"\nstatic void ours(void) {{ {emitted.symbol}(x, y); }}\n'
    names = ["ours"]
    if name in PEERS:
        loops += LIBMVEC % {"peer": PEERS[name]}
        names += ["libmvec", "libm"]
    low, high = (float(v) for v in RANGES[name])
    numbers = {"elements": ELEMENTS, "rounds": ROUNDS, "low": low, "high": high, "count": len(names)}
    source = folder / "harness.c"
    source.write_text(HARNESS % {**numbers, "loops": loops, "names": ", ".join(names)}, encoding="utf-8")
    binary = folder / "harness"
    flags = ["-O2", "-march=native", "-ffp-contract=off", "-fno-math-errno"]
    subprocess.run(["gcc", *flags, source, "-o", binary, "-lmvec", "-lm"], check=True)
    ran = subprocess.run([binary], check=True, capture_output=True, text=True)
    return [float(line) for line in ran.stdout.split()]


def main() -> int:
    """Print the table."""
    print("ns per element        ours  libmvec     libm   libmvec / ours   instructions")
    for name in VECTOR_FUNCTIONS:
        with tempfile.TemporaryDirectory() as folder:
            times = measure(name, Path(folder))
        shown = "".join(f"{t:9.3f}" for t in times)
        ratio = f"{times[1] / times[0]:.2f}" if len(times) > 1 else ""
        print(f"{name:16}{shown:28}{ratio:>17}{describe(name).instructions:15}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
