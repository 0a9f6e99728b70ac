# SPDX-License-Identifier: Apache-2.0
"""``python -m tenon`` and ``tenon-run``: the program ExecuteNetwork with the same arguments."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys


def main() -> int:
    """Becomes the package's ExecuteNetwork, or, where the package has none, the one on the search path."""
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "ExecuteNetwork")
    if not os.path.isfile(program):
        found = shutil.which("ExecuteNetwork")
        if found is None:
            print(
                f"tenon: there is no {program}, and no ExecuteNetwork on the search path; install the wheel of tenon",
                file=sys.stderr,
            )
            return 1
        program = found
    arguments = [program, *sys.argv[1:]]
    if os.name == "nt":  # where execv() returns to the shell at once
        return subprocess.call(arguments)
    os.execv(program, arguments)


if __name__ == "__main__":
    sys.exit(main())
