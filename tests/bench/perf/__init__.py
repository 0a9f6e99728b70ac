# SPDX-License-Identifier: Apache-2.0
"""What performance.py is made of: models and their inputs, workers of engines, measuring, the table."""
