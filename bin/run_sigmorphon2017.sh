#!/usr/bin/env bash
# Table 4 of the paper: SIGMORPHON 2017, low and medium setting. --help lists the options.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
run_table sigmorphon2017 "$@"
