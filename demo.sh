#!/usr/bin/env bash
# The README's first command: sets up all and runs the main job on softmax 64 x 512.
# Where the CPU has no AVX-512, that target is checked by emulation and not timed; then AVX2 or C is timed too.
set -euo pipefail
cd "$(dirname "$0")"
./setup.sh
.venv/bin/perfdojoc perfdojo/kernels/softmax.ir --target avx512
if ! grep -qw avx512f /proc/cpuinfo; then
  .venv/bin/perfdojoc perfdojo/kernels/softmax.ir --target host
fi
