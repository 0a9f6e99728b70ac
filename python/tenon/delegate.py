# SPDX-License-Identifier: Apache-2.0
"""Where the delegate for TensorFlow Lite is. This module loads no library."""

from __future__ import annotations

import os

from . import errors

NAME = "libtenonDelegate.so"


def delegate_path() -> str:
    """The path of ``libtenonDelegate.so``, by which TensorFlow Lite's interpreter has Tenon run what it can of a model:

        load_delegate(tenon.delegate_path(), {"backends": "CpuAcc,CpuRef"})

    The folder is that of the library: in the package, or the folder of ``TENON_LIBRARY`` where that is set.

    Raises:
        NotFoundError: There is no such file.
    """
    library = os.environ.get("TENON_LIBRARY")
    folder = os.path.dirname(library) if library else os.path.join(os.path.dirname(__file__), "lib")
    if library and not folder:
        raise errors.NotFoundError(
            f"TENON_LIBRARY is '{library}', a name without a folder: set it to the full path of a library beside which "
            f"there is {NAME}"
        )
    path = os.path.join(os.path.abspath(folder), NAME)
    if not os.path.isfile(path):
        remedy = "build the target tenon_delegate, which there is for 64-bit Linux" if library else "install the wheel"
        raise errors.NotFoundError(f"there is no '{path}', the delegate for TensorFlow Lite: {remedy}")
    return path
