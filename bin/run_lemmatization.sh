#!/usr/bin/env bash
# Table 3 of the paper: lemmatization, four languages, ten folds. --help lists the options.
source "$(dirname "${BASH_SOURCE[0]}")/runner.sh"
run_table lemmatization "$@"
