# shellcheck shell=bash
# What bin/run_*.sh share: from the facts in experiments/<table>/ to finished runs, ensembles and the table.
#
# A run is one call of `il-morph train`; its folder is RESULTS/SETTING/MODEL/LANGUAGE[/FOLD]/SEED, and it is
# finished when f.stats is there. A job is a line of FOLDER<tab>COMMAND pairs done in order: one pair, or two
# when the model starts from a trained one (MRT). Finished runs of a job are skipped when it comes to them.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
poll_seconds=0.5

export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

usage() {
    cat <<END
Usage: bin/run_$table.sh [options] [-- TRAIN-OPTIONS]

$(fact title): trains the models, lets them vote and prints ours beside the paper's.
Without options: the whole table with the settings of the paper. Starting again continues.

  --data DIR               the data, laid out as by bin/fetch_data.sh [default: data/$table]
  --results DIR            where runs, ensembles and table go [default: results/$table]
  --setting NAME           of: $(fact settings)
  --models a,b             of: $(all_models)
  --languages x,y          (or --tasks) of experiments/$table/languages.tsv
  --folds 0,1              of: $(fact folds)
  --seeds 1,2              [default: $(fact seeds)]
  --jobs N                 runs at a time [default: the number of cores; with --slurm: no limit]
  --slurm                  submit to Slurm: one job array, and one job for ensembles and table
  --sbatch-options "…"     more options for sbatch, for example "--partition=cpu --mem=4G"
  --dry-run                print the training commands and stop
  --force                  train finished runs again
  -- TRAIN-OPTIONS         go to il-morph train and take precedence
END
}

complain() {
    say "run_$table.sh: error: $*"
    exit 2
}

# --- facts of the table -------------------------------------------------------------------------------------

fact() { # fact NAME
    sed -n "s/^$1: *//p" "$project_root/experiments/$table/facts.txt"
}
rows() { tail -n +2 "$project_root/experiments/$table/$1.tsv"; }
all_models() { rows models | cut -f2 | awk '!seen[$0]++' | paste -sd ' ' -; }

selected() ( # selected FLAG LIST KNOWN: the words of a comma-separated list, all of them known
    flag=$1 list=$2 known=$3
    set -f
    # shellcheck disable=SC2086 # it is to be split
    set -- ${list//,/ }
    [ $# -gt 0 ] || [ -z "$list" ] || complain "$flag: '$list' names nothing; there is: $known"
    for word; do
        case " $known " in *" $word "*) echo "$word" ;; *) complain "$flag: no '$word' here; there is: $known" ;; esac
    done
)

# --- options ------------------------------------------------------------------------------------------------

parse_options() {
    data=$project_root/data/$table results=$project_root/results/$table
    setting='' models='' languages='' folds='' seeds='' jobs='' sbatch_options=''
    slurm=no dry_run=no force=no train_options=()
    while [ $# -gt 0 ]; do
        case $1 in
        --data | --results | --setting | --models | --languages | --tasks | --folds | --seeds | --jobs | --sbatch-options)
            [ $# -gt 1 ] || complain "$1 takes a value"
            set_option "$1" "$2"
            shift 2
            ;;
        --slurm=* | --dry-run=* | --force=* | --help=*) complain "${1%%=*} takes no value" ;;
        --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" ;;
        --slurm) slurm=yes && shift ;;
        --dry-run) dry_run=yes && shift ;;
        --force) force=yes && shift ;;
        -h | --help) usage && exit 0 ;;
        --) shift && train_options=("$@") && break ;;
        *) complain "unknown option $1 (bin/run_$table.sh --help lists them)" ;;
        esac
    done
    check_options
}

set_option() {
    [ -n "$2" ] || [ "$1" = --sbatch-options ] || complain "$1 takes a value"
    case $1 in
    --data | --results) case $2 in /*) ;; *) set -- "$1" "$PWD/$2" ;; esac ;;
    --tasks) set -- --languages "$2" ;;
    --sbatch-options) set -- --sbatch_options "$2" ;;
    esac
    printf -v "${1#--}" '%s' "$2"
}

check_options() {
    local known_languages
    format=$(fact format) train_file=$(fact train) dev_file=$(fact dev) test_file=$(fact test)
    known_languages=$(rows languages | cut -f1 | paste -sd ' ' -)
    setting=$(selected --setting "${setting:-$(fact settings)}" "$(fact settings)") || exit
    models=$(selected --models "$models" "$(all_models)") || exit
    languages=$(selected --languages "${languages:-$known_languages}" "$known_languages") || exit
    folds=$(selected --folds "${folds:-$(fact folds)}" "$(fact folds)") || exit
    seeds=${seeds:-$(fact seeds)}
    seeds=${seeds//,/ }
    [[ $seeds == *[0-9]* && $seeds != *[!0-9\ ]* ]] ||
        complain "--seeds takes whole numbers with commas between, not '$seeds'"
    { [[ $jobs != *[!0-9]* ]] && [ "${jobs:-1}" -ge 1 ] 2>/dev/null; } ||
        complain "--jobs takes a whole number from 1 up, not '$jobs'"
}

# --- from facts to jobs -------------------------------------------------------------------------------------
# Thousands of times in a loop, so without a process each: these functions leave their result in a variable.

list_jobs() { # the unfinished jobs of the selection, a line each; seed 1 of everything first: early tables are broad
    local one_setting seed fold language row start_row
    for one_setting in $setting; do
        for seed in $seeds; do
            while read -r row; do
                start_row=$(model_row "$one_setting" "$(cut -f4 <<<"$row")")
                for fold in ${folds:--}; do
                    for language in $languages; do list_job; done
                done
            done < <(selected_models "$one_setting")
        done
    done
}

model_row() { rows models | awk -F '\t' -v setting="$1" -v model="$2" '$1 == setting && $2 == model'; }

selected_models() { # the rows of models.tsv that --models names, or else those in the paper's table
    rows models | awk -F '\t' -v setting="$1" -v names=" ${models//$'\n'/ } " \
        '$1 == setting && (names == "  " ? $3 != "-" : index(names, " " $2 " "))'
}

list_job() {
    local folder pair start_pair=''
    make_pair "$row"
    [ "$force" = yes ] || [ ! -e "$folder/f.stats" ] || return 0
    [ "$force" = no ] || [ "$dry_run" = yes ] || rm -f "$folder/f.stats"
    if [ -n "$start_row" ]; then
        make_pair "$start_row"
        [ -e "$folder/f.stats" ] || start_pair=$pair$'\t'
        make_pair "$row"
    fi
    printf '%s\n' "$start_pair$pair"
}

make_pair() { # make_pair ROW: sets folder and pair for this model and the language, fold and seed of the loop
    local model start epochs patience options option command=(il-morph train) path
    IFS=$'\t' read -r _ model _ start epochs patience options <<<"$1"
    for option in $options $format --epochs="$epochs" --patience="$patience" --dynet-seed="$seed"; do
        is_overridden "$option" || command+=("$option")
    done
    if [ "$start" != - ]; then
        set_folder "$start"
        command+=(--reload-path="$folder/f.model")
    fi
    command+=(${train_options[@]+"${train_options[@]}"})
    set_path "$test_file" && command+=(--test-path="$path")
    set_path "$train_file" && command+=("$path")
    set_path "$dev_file" && command+=("$path")
    set_folder "$model" && command+=("$folder")
    printf -v pair '%q ' "${command[@]}"
    pair=$folder$'\t'${pair% }
}

is_overridden() { # is_overridden --flag=value: the flag, or another aligner, is among the TRAIN-OPTIONS
    local given
    for given in ${train_options[@]+"${train_options[@]}"}; do
        [ "${given%%=*}" != "${1%%=*}" ] || return 0
        [[ $given != --align-* || $1 != --align-* ]] || return 0
    done
    return 1
}

set_folder() { # set_folder MODEL: sets folder
    folder=$results/$one_setting/$1/$language
    [ "$fold" = - ] || folder=$folder/$fold
    folder=$folder/$seed
}

set_path() { # set_path PATTERN: sets path
    path=${1//LANGUAGE/$language}
    path=${path//SETTING/$one_setting}
    path=$data/${path//FOLD/$fold}
}

# --- doing jobs ---------------------------------------------------------------------------------------------

do_job() { # do_job LINE: the runs of a job that are not finished yet, in order
    local pairs
    IFS=$'\t' read -r -a pairs <<<"$1"
    set -- "${pairs[@]}"
    while [ $# -gt 0 ]; do
        do_run "$1" "$2" || return
        shift 2
    done
}

do_run() ( # do_run FOLDER COMMAND, under a lock: nobody else trains there at the same time
    mkdir -p "$1" || exit
    if command -v flock >/dev/null; then
        exec 9>"$1/lock" && flock 9 || exit # it lives as long as the training, whatever becomes of this shell
    else
        owner=$1/owner
        lock_without_flock
    fi
    [ ! -e "$1/f.stats" ] || exit 0
    rm -f "$1"/f.* "$1"/.f.*
    code_version >"$1/commit"
    eval "$2" >"$1/train.log" 2>&1 </dev/null
)

lock_without_flock() { # $owner is a link whose target is the process that has the lock, for as long as it lives
    local me other
    me=$(exec sh -c 'echo $PPID') # bash 3 has no BASHPID
    until ln -s "$me" "$owner" 2>/dev/null || [ "$(readlink "$owner")" = "$me" ]; do
        # When several take over from a dead process, the last one has it: hence the second before looking again.
        other=$(readlink "$owner") && ! kill -0 "$other" 2>/dev/null && ln -sfn "$me" "$owner" || true
        sleep 1
    done
    trap 'rm -f "$owner"' EXIT
}

code_version() { # the commit of the project, marked when the package differs from it; unknown when other code runs
    local commit
    if ! runs_this_project || ! commit=$(git -C "$project_root" rev-parse --short HEAD 2>/dev/null); then
        echo unknown
    elif git -C "$project_root" diff --quiet HEAD -- il_morph; then
        echo "$commit"
    else
        echo "$commit-changed"
    fi
}

runs_this_project() { # il-morph imports the package of this project, and not an installed copy or another version
    local python
    python=$(dirname "$(command -v il-morph)")/python3
    [ -e "$project_root/.git" ] && [ -x "$python" ] && [ "$project_root/il_morph" = "$(cd / && "$python" -c \
        'import os, il_morph; print(os.path.dirname(os.path.realpath(il_morph.__file__)))' 2>/dev/null)" ]
}

do_jobs_here() { # some at a time; what failed is told at the end
    local line lines=() next=0 running=() failed=() finished=0 started=$SECONDS progress=''
    while IFS= read -r line; do lines+=("$line"); done <<<"$job_list"
    jobs=${jobs:-$(getconf _NPROCESSORS_ONLN)}
    set -m # each job is a process group of its own, which can be ended as a whole
    trap 'end_jobs' INT TERM HUP
    while [ "$next" -lt ${#lines[@]} ] || [ ${#running[@]} -gt 0 ]; do
        start_jobs
        show_progress
        sleep $poll_seconds
        collect_jobs
    done
    trap - INT TERM HUP
    show_progress
    [ ! -t 2 ] || echo >&2
    tell_failed
}

start_jobs() {
    while [ "$next" -lt ${#lines[@]} ] && [ ${#running[@]} -lt "$jobs" ]; do
        do_job "${lines[next]}" &
        running+=("$!:$next")
        next=$((next + 1))
    done
}

collect_jobs() {
    local job code still=()
    for job in "${running[@]}"; do
        if kill -0 "${job%:*}" 2>/dev/null; then
            still+=("$job")
        elif wait "${job%:*}"; then
            finished=$((finished + 1))
        else
            code=$?
            failed+=("$code:${job#*:}")
        fi
    done
    running=(${still[@]+"${still[@]}"})
}

end_jobs() {
    local job
    trap '' INT TERM HUP
    for job in ${running[@]+"${running[@]}"}; do kill -TERM -- "-${job%:*}"; done 2>/dev/null
    wait 2>/dev/null
    say "stopped; the same command continues"
    exit 130
}

show_progress() { # one line, on a terminal in place; elsewhere a new one when something has changed
    local over=$((finished + ${#failed[@]})) line left='?'
    [ $over -eq 0 ] || left=$(duration $(((SECONDS - started) * (${#lines[@]} - over) / over)))
    line="$finished of ${#lines[@]} done, ${#running[@]} running, ${#failed[@]} failed"
    [ -t 2 ] || [ "$line" != "$progress" ] || return 0
    progress=$line
    [ ! -t 2 ] || printf '\r\033[K' >&2
    printf '%s, %s left' "$line" "$left" >&2
    [ -t 2 ] || echo >&2
}

duration() { # duration SECONDS
    if [ "$1" -lt 100 ]; then echo "$1 s"; elif [ "$1" -lt 6000 ]; then echo "$(($1 / 60)) min"; else echo "$(($1 / 3600)) h"; fi
}

tell_failed() {
    local job
    for job in ${failed[@]+"${failed[@]}"}; do
        say "failed with exit code ${job%%:*}, see $(unfinished_run "${lines[${job#*:}]}")/train.log"
    done
    [ ${#failed[@]} -eq 0 ]
}

unfinished_run() { # unfinished_run LINE: the folder of the first run of a job that is not finished
    local pairs
    IFS=$'\t' read -r -a pairs <<<"$1"
    set -- "${pairs[@]}"
    while [ $# -gt 0 ]; do
        [ -e "$1/f.stats" ] || { echo "$1" && return; }
        shift 2
    done
}

# --- Slurm --------------------------------------------------------------------------------------------------

quoted() {
    local words
    printf -v words '%q ' "$@"
    echo "${words% }"
}

submit_jobs() { # one array, and a job after it for ensembles and table
    local list more limit='' tasks array last
    command -v sbatch >/dev/null || complain "--slurm needs sbatch, the command of Slurm, and it is not here"
    list=$results/slurm/$(date +%Y%m%d-%H%M%S)-$$.jobs
    mkdir -p "$results/slurm"
    echo "$job_list" >"$list"
    read -r -a more <<<"$sbatch_options"
    tasks=$(wc -l <"$list")
    limit=$(scontrol show config | awk '$1 == "MaxArraySize" { print $3 }') || true
    limit=${limit:-1001} # Slurm's default
    [ "$tasks" -le "$limit" ] || tasks=$limit
    more+=(--parsable --job-name="il-morph-$table" --ntasks=1 --cpus-per-task=1)
    array=$(sbatch "${more[@]}" --array="0-$((tasks - 1))${jobs:+%$jobs}" --output="$results/slurm/%A_%a.out" \
        --wrap="exec bash $(quoted "$project_root/bin/runner.sh" do_task "$table" "$list" "$tasks")")
    echo "job array ${array%%;*}: $tasks tasks, $(wc -l <"$list") jobs"
    last=$(sbatch "${more[@]}" --dependency="afterany:${array%%;*}" --output="$results/slurm/%j-table.out" \
        --wrap="exec bash $(quoted "$project_root/bin/runner.sh" finish_task "$table" "$list" "$data" "$results")")
    echo "job ${last%%;*}: ensembles and table, to $results/table.txt"
}

do_task() { # do_task TABLE LIST TASKS: every TASKS-th job of the list, from that of this array task on
    local line number=0 code=0
    table=$1
    use_il_morph
    while IFS= read -r line; do
        [ $((number % $3)) -ne "$SLURM_ARRAY_TASK_ID" ] || do_job "$line" || code=1
        number=$((number + 1))
    done <"$2"
    return $code
}

finish_task() { # finish_task TABLE LIST DATA RESULTS
    local line folder code=0
    table=$1 data=$3 results=$4 format=$(fact format) test_file=$(fact test)
    use_il_morph
    while IFS= read -r line; do
        folder=$(unfinished_run "$line")
        [ -z "$folder" ] || { say "not finished, see $folder/train.log" && code=1; }
    done <"$2"
    finish_table && return $code
}

# --- the table ----------------------------------------------------------------------------------------------

finish_table() { # ensembles where the paper has them, then ours beside the paper's
    [ "$(fact report)" != ensemble ] || make_ensembles || return
    il-morph table "$table" "$results" >"$results/table.txt" && cat "$results/table.txt"
}

make_ensembles() { # for each setting, model and language: the votes of all finished seeds and of the paper's, in RESULTS/…/1+2+3/
    local group one_setting language fold=- path finished papers
    papers=$(fact seeds)
    for group in "$results"/*/*/*/; do
        group=${group%/}
        finished=$(finished_seeds "$group" | xargs)
        language=${group##*/}
        one_setting=${group#"$results"/}
        one_setting=${one_setting%%/*}
        set_path "$test_file"
        vote "$group" "$path" "$finished" || return
        ! all_among "$papers" "$finished" || vote "$group" "$path" "$papers" || return
    done
}

finished_seeds() { # finished_seeds GROUP
    local seed
    for seed in "$1"/*/f.beam4.test.predictions; do
        seed=$(basename "$(dirname "$seed")")
        case $seed in *[!0-9]*) ;; *) [ ! -e "$1/$seed/f.stats" ] || echo "$seed" ;; esac
    done | sort -n
}

all_among() { # all_among WORDS OTHERS
    local word
    for word in $1; do [[ " $2 " == *" $word "* ]] || return; done
}

vote() { # vote GROUP GOLD SEEDS, of two seeds or more
    local seed predictions=()
    for seed in $3; do predictions+=("$1/$seed/f.beam4.test.predictions"); done
    [ ${#predictions[@]} -lt 2 ] || make_ensemble "$1/${3// /+}" "$2" "${predictions[@]}"
}

make_ensemble() { # make_ensemble FOLDER GOLD PREDICTIONS…, unless it is there and newer than they
    local folder=$1 gold=$2 output=$1/f.beam4.test.predictions evaluation=$1/f.beam4.test.eval file new=no
    shift 2
    for file in "$@"; do [ "$evaluation" -nt "$file" ] || new=yes; done
    [ $new = yes ] || return 0
    mkdir -p "$folder" && rm -f "$folder"/f.*
    # shellcheck disable=SC2086 # the format is one flag or none
    il-morph ensemble $format "$output" "$@" && il-morph evaluate $format "$gold" "$output" >"$evaluation.new" &&
        mv "$evaluation.new" "$evaluation"
}

# --- everything ---------------------------------------------------------------------------------------------

use_il_morph() { # the installed il-morph, or else that of the project's own environment
    if ! command -v il-morph >/dev/null; then
        prepare_environment
        PATH=$venv/bin:$PATH
    fi
}

run_table() { # run_table TABLE OPTION…
    local job_list code=0
    table=$1
    shift
    parse_options "$@"
    if [ "$dry_run" = no ]; then
        check_data
        use_il_morph
        mkdir -p "$results"
    fi
    job_list=$(list_jobs)
    if [ "$dry_run" = yes ]; then
        print_commands
    elif [ -z "$job_list" ]; then
        say "all of these runs are finished"
        finish_table
    elif [ "$slurm" = yes ]; then
        submit_jobs
    else
        do_jobs_here || code=1
        finish_table && return $code
    fi
}

check_data() { # every file of the selection is there
    local one_setting fold language pattern path
    for one_setting in $setting; do
        for fold in ${folds:--}; do
            for language in $languages; do
                for pattern in "$train_file" "$dev_file" "$test_file"; do
                    set_path "$pattern"
                    [ -r "$path" ] || complain "cannot read $path; --data names the data folder, bin/fetch_data.sh fetches it"
                done
            done
        done
    done
}

print_commands() { # the command of each run once
    [ -z "$job_list" ] || tr '\t' '\n' <<<"$job_list" | awk 'NR % 2 == 0 && !seen[$0]++'
}

# Slurm's jobs come in here: bash runner.sh do_task …
[ "${BASH_SOURCE[0]}" != "$0" ] || "$@"
