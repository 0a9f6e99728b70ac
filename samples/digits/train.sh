#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Retrains the bundled digit classifier: makes the virtual environment build/venv-train if need be
# and runs train.py in it. Called by hand; its arguments go to train.py (see train.py --help).
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
venv="$(cd "$here/../.." && pwd)/build/venv-train"

if [ ! -x "$venv/bin/pip" ]; then
    echo "Making $venv"
    if ! python3 -m venv "$venv"; then
        echo "train.sh: python3 cannot make a virtual environment; on Debian: apt-get install python3-venv" >&2
        exit 1
    fi
fi
echo "Installing the packages of requirements.txt (TensorFlow is about 600 MB; quick if they are there)"
"$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"

exec "$venv/bin/python" "$here/train.py" "$@"
