# SPDX-License-Identifier: Apache-2.0
"""Programs as a user has them, who installed them: peers are measured as pip installed them."""
import filecmp
import os
import shutil


def copy_as_installed(exe, folder):
    """A copy of the program, and of the libraries in ../lib, where it looks for them. How much of a library is resident
    depends on how its file came to be: of the same bytes 3 MB more were seen where the build's linker had written them
    (not always; why is not known), and users have copies."""
    program = folder / "bin" / exe.name
    program.parent.mkdir(parents=True)
    shutil.copy(exe, program)
    libraries = folder / "lib"
    libraries.mkdir()
    for library in [*libraries_of(exe), *delegate_beside(exe).parent.glob("libtenonDelegate.so*")]:
        shutil.copy(library, libraries / library.name, follow_symlinks=False)
    return program


def delegate_beside(program):
    """Tenon's delegate for TFLite, of the build that the program is of."""
    return program.resolve().parent.parent / "lib/libtenonDelegate.so"


def libraries_of(program):
    """Tenon's libraries beside the program, as builds and installations have them; a static build has none."""
    return sorted((program.resolve().parent.parent / "lib").glob("libtenon.so.*"))


def find_delegate(parser, arguments):
    """Sets arguments.delegate where it is not given: to Tenon's delegate for TFLite of the build that --exe is of."""
    if arguments.delegate is None:
        if arguments.exe is None:
            parser.error("--delegate is missing: the path of libtenonDelegate.so")
        arguments.delegate = delegate_beside(arguments.exe)
    if not arguments.delegate.is_file():
        parser.error(f"--delegate {arguments.delegate}: there is no such file; build the target tenon_delegate")
    arguments.delegate = arguments.delegate.absolute()


def environment_of(program):
    """The environment in which the program runs with the libraries beside it, wherever the one that linked it lay: of
    a build that was moved, the path in the program may lead to another build."""
    libraries = libraries_of(program)
    if not libraries:
        return None
    paths = [str(libraries[0].parent), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    return {**os.environ, "LD_LIBRARY_PATH": os.pathsep.join(paths)}


def are_same_build(one, other):
    """Whether two programs and the libraries beside them are the same bytes."""
    files = [[program, *libraries_of(program)] for program in (one, other)]
    return len(files[0]) == len(files[1]) and all(filecmp.cmp(a, b, shallow=False) for a, b in zip(*files))
