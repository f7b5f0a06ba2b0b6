#!/usr/bin/env bash
# Morpheme segmentation, SIGMORPHON 2022: Czech and Mongolian words. --help lists the options.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
run_table segmentation2022 "$@"
