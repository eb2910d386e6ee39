#!/usr/bin/env bash
# Sets up what a fresh Debian machine lacks: gcc, one for RISC-V, and python3-venv from Debian, the package in .venv. Usage: setup.sh [extra]
set -euo pipefail
cd "$(dirname "$0")"
need=()
wanted=()
echo '#include <stdlib.h>' | gcc -E - >/dev/null 2>&1 || need+=(gcc libc6-dev)
command -v riscv64-unknown-elf-gcc >/dev/null || need+=(gcc-riscv64-unknown-elf)
command -v make >/dev/null || need+=(make)
python3 -c 'import ensurepip, venv' 2>/dev/null || need+=(python3 python3-venv)
if [ "${1:-}" = dev ]; then
  # the tests run CUDA code in an emulation
  command -v g++ >/dev/null || need+=(g++)
fi
if [ "${1:-}" = dev ] && [ "$(uname -m)" != aarch64 ]; then
  # the tests run code for Arm, and count on a model of its cores where there is one
  command -v aarch64-linux-gnu-gcc >/dev/null || need+=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross)
  command -v qemu-aarch64 >/dev/null || need+=(qemu-user)
  # and for RISC-V with vectors, and look at models of processors, where the distribution has these
  command -v clang-19 >/dev/null && command -v riscv64-linux-gnu-gcc >/dev/null || wanted+=(clang-19 gcc-riscv64-linux-gnu libc6-dev-riscv64-cross)
  command -v llvm-mca-19 >/dev/null || wanted+=(llvm-19)
fi
if [ $((${#need[@]} + ${#wanted[@]})) -gt 0 ]; then
  sudo=$([ "$(id -u)" = 0 ] || command -v sudo || true)
  if [ "$(id -u)" != 0 ] && [ -z "$sudo" ]; then
    [ ${#need[@]} = 0 ] || { echo "setup.sh: run as root: apt-get install ${need[*]}" >&2; exit 3; }
    echo "setup.sh: some tests are skipped without: apt-get install ${wanted[*]}" >&2
    wanted=()
  else
    echo "installing from Debian: ${need[*]} ${wanted[*]}" >&2
    $sudo apt-get update -qq
  fi
  install="$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends"
  [ ${#need[@]} = 0 ] || $install "${need[@]}" >/dev/null
  [ ${#wanted[@]} = 0 ] || $install "${wanted[@]}" >/dev/null 2>&1 || echo "not found: ${wanted[*]}; some tests are skipped" >&2
fi
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  echo "setup.sh: $(python3 --version) is too old: perfdojo needs Python 3.11 (Debian 12, Ubuntu 24.04)" >&2
  exit 3
fi
extra=${1:-}
stamp=.venv/installed${extra:+-$extra}
if [ ! -f "$stamp" ] || [ pyproject.toml -nt "$stamp" ]; then
  .venv/bin/python -m pip --version >/dev/null 2>&1 || python3 -m venv .venv
  .venv/bin/python -m pip install -q -e ".${extra:+[$extra]}"
  touch "$stamp"
fi
