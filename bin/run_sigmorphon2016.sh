#!/usr/bin/env bash
# Table 1 of the paper: SIGMORPHON 2016. --help lists the options.
source "$(dirname "${BASH_SOURCE[0]}")/runner.sh"
run_table sigmorphon2016 "$@"
