#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes the tables, answers and pictures of README and docs that the program gives; the page of keys, the studies and
# the table of fitted figures have tools of their own (keys_page.py, studies.sh, fitted_table.py).
#   tools/pages.sh [PROGRAM]
# Takes half a minute. The build folder of PROGRAM holds the Python package, too.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
program=${1:-build/stepcast}
PYTHONPATH=$(dirname "$program")/python
export PYTHONPATH

tools/accuracy_table.py "$program" docs/accuracy.md
tools/accuracy_table.py "$program" README.md --short
tools/step_kernels.py docs/accuracy.md
tools/rates_tables.py docs/rates.md
tools/page_tables.py "$program"
tools/gallery.py "$program"
