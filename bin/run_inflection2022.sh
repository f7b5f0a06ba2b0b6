#!/usr/bin/env bash
# Inflection, SIGMORPHON 2022: 33 languages with small training sets, or three languages with 100 to 1,000 lines.
# Usage: bin/run_inflection2022.sh small|sizes OPTION…; --help after the first word lists the options.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
case ${1:-} in
small | sizes) ;;
*) fail "say which table first: bin/run_inflection2022.sh small or bin/run_inflection2022.sh sizes, then options" ;;
esac
part=$1
shift
run_table "inflection2022$part" "$@"
