# SPDX-License-Identifier: Apache-2.0
"""Programs as a user has them, who installed them: peers are measured as pip installed them."""
import shutil
from pathlib import Path


def copy_as_installed(exe, folder):
    """A copy of the program, and of the libraries in ../lib, where it looks for them. How much of a library is resident
    depends on how its file came to be: of the same bytes 3 MB more were seen where the build's linker had written them
    (not always; why is not known), and users have copies."""
    program = folder / "bin" / exe.name
    program.parent.mkdir(parents=True)
    shutil.copy(exe, program)
    libraries = folder / "lib"
    libraries.mkdir()
    for library in Path(exe.resolve().parent.parent / "lib").glob("libtenon.so.*"):
        shutil.copy(library, libraries / library.name, follow_symlinks=False)
    return program
