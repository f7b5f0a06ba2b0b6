#!/usr/bin/env bash
# Table 1 of the paper: SIGMORPHON 2016. --help lists the options.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
run_table sigmorphon2016 "$@"
