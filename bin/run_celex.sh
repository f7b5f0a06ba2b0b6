#!/usr/bin/env bash
# Table 2 of the paper: CELEX, four tasks, five folds. --help lists the options.
source "$(dirname "${BASH_SOURCE[0]}")/runner.sh"
run_table celex "$@"
