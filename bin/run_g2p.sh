#!/usr/bin/env bash
# Grapheme-to-phoneme, SIGMORPHON 2020 (15 languages) or 2021 (low-resource, ten languages).
# Usage: bin/run_g2p.sh 2020|2021 OPTION…; --help after the year lists the options.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
case ${1:-} in
2020 | 2021) ;;
*) fail "say which table first: bin/run_g2p.sh 2020 or bin/run_g2p.sh 2021, then options" ;;
esac
year=$1
shift
run_table "g2p$year" "$@"
