#!/usr/bin/env bash
# Trains CA-R on the packaged sample of Turkish nouns and shows what it has learnt.
# Usage: bin/quickstart.sh [--again] [--engine=dynet|native]
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

sample=$project_root/il_morph/sample
results=$project_root/results/quickstart
il_morph=$venv/bin/il-morph

train() { # train [ENGINE]
    say "Training CA-R on $(wc -l <"$sample/turkish-train.tsv") inflected Turkish nouns"
    mkdir -p "$project_root/results"
    "$il_morph" train --model=ca-r ${1:+--engine="$1"} --sigm2017format --dynet-seed=1 --epochs=20 --patience=5 --force \
        "$sample/turkish-train.tsv" "$sample/turkish-dev.tsv" "$results" \
        --test-path="$sample/turkish-test.tsv"
}

show_accuracy() {
    "$venv/bin/python" - "$results/f.stats" <<'PYTHON'
import json, sys

scores = json.load(open(sys.argv[1], encoding="utf-8"))["scores"]
for part in ("dev", "test"):
    print(f"{part + ' accuracy':14} {scores['beam4.' + part]['accuracy']:5.1f} %")
PYTHON
}

show_predictions() { # ✗ and the right form follow a wrong one
    local lines predictions
    lines=$(awk 'NR % 10 == 3' "$sample/turkish-test.tsv")
    predictions=$("$il_morph" predict --actions "$results/f.model" - <<<"$lines")
    printf '\nTen predictions for the test data, with their edits (✗: wrong, and the right form):\n'
    paste <(cat <<<"$predictions") <(cut -f 2 <<<"$lines") |
        awk 'BEGIN { FS = OFS = "\t" } { print $1, $2, $3, $4 ($2 == $5 ? "" : OFS "✗ " $5) }'
}

say_what_next() {
    printf '\nModel, log and predictions are in %s\n' "$results"
    printf 'To use il-morph in this shell:  source %q\n' "$venv/bin/activate"
}

parse_options() {
    again=no engine=''
    while [[ $# -gt 0 ]]; do
        case $1 in
            --again) again=yes ;;
            --engine=dynet | --engine=native) engine=${1#*=} ;;
            -h | --help) sed -n '2,3s/^# //p' "$0" && exit 0 ;;
            *) fail "unknown argument: $1" "Usage: bin/quickstart.sh [--again] [--engine=dynet|native]" ;;
        esac
        shift
    done
}

main() {
    parse_options "$@"
    if [[ $engine == native ]]; then prepare_environment fast; else prepare_environment; fi
    if [[ -f $results/f.stats && $again == no && -z $engine ]]; then
        say "Trained already; showing the results. To train again: bin/quickstart.sh --again"
    else
        train "$engine"
    fi
    show_accuracy
    show_predictions
    say_what_next
}

main "$@"
