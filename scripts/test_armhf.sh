#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up, cross-builds for 32-bit Arm (ARMv7 with NEON) and runs all tests under qemu-user, on any machine with Debian 12.
#
# usage: scripts/test_armhf.sh [CTEST OPTION...]
#   QEMU_CPU in the environment is the processor, of those that `qemu-arm -cpu help` lists, e.g. cortex-a15
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/help.sh"
exec "$(dirname "${BASH_SOURCE[0]}")/test.sh" armhf "$@"
