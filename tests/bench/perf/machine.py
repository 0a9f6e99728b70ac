# SPDX-License-Identifier: Apache-2.0
"""What this machine is, for the heads of tables."""
import os
import platform
from pathlib import Path

ISA = ["avx2", "fma", "f16c", "avx_vnni", "avx512f", "avx512vl", "avx512_vnni", "avx512_bf16", "avx512_fp16",
       "amx_tile", "amx_int8", "amx_bf16", "asimddp", "i8mm", "bf16", "sve"]


def describe_machine():
    """Name, instruction sets and number of cores."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        lines = []
    facts = dict(reversed([[part.strip() for part in line.split(":", 1)] for line in lines if ":" in line]))
    flags = set((facts.get("flags") or facts.get("Features") or "").split())
    name = facts.get("model name", platform.machine())
    if "cpu family" in facts:
        name += f" (family {facts['cpu family']}, model {facts['model']})"
    return f"Machine: {name}, {os.cpu_count()} cores; of the instruction sets that matter here it has " \
           f"{', '.join(flag for flag in ISA if flag in flags) or 'none'}."
