#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by the other scripts: where the first argument is -h or --help, prints the comment at the head of the script
# and ends it.
if [[ ${1-} == -h || ${1-} == --help ]]; then
    awk 'NR > 2 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$0"
    exit 0
fi
