#!/usr/bin/env bash
# Table 2 of the paper: CELEX, four tasks, five folds. --help lists the options.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
run_table celex "$@"
