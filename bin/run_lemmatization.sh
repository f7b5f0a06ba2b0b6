#!/usr/bin/env bash
# Table 3 of the paper: lemmatization, four languages, ten folds. --help lists the options.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
run_table lemmatization "$@"
