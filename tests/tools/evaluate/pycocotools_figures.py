#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The 12 figures of pycocotools for boxes, as a list of JSON.

usage: pycocotools_figures.py TRUTH DETECTIONS
"""

import contextlib
import io
import json
import sys

from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

with contextlib.redirect_stdout(io.StringIO()):
    truth = COCO(sys.argv[1])
    evaluation = COCOeval(truth, truth.loadRes(sys.argv[2]), "bbox")
    evaluation.evaluate()
    evaluation.accumulate()
    evaluation.summarize()
json.dump([float(figure) for figure in evaluation.stats], sys.stdout)
