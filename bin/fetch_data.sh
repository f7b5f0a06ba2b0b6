#!/usr/bin/env bash
# Fetches the data of the tables from the public repositories. --help says more.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

checksums=$project_root/experiments/data.sha256

# data set, repository, commit
sources="\
sigmorphon2016 ryancotterell/sigmorphon2016 f397ed1
sigmorphon2017 sigmorphon/conll2017 519bb16
lemmatization ZurichNLP/coling2018-neural-transition-based-morphology 7d9efe7
celex se4u/neural_wfst 9dd8da9
g2p2020 sigmorphon/2020 3d9bb36
g2p2021 sigmorphon/2021-task1 821bcde
segmentation2022 sigmorphon/2022SegmentationST ac161e1
sigmorphon2022 sigmorphon/2022InflectionST e96ceb6"

usage() {
    cat <<END
Usage: bin/fetch_data.sh [--from DIR] [--celex | --no-celex] DEST

Fetches the data of the tables into DEST/sigmorphon2016, DEST/sigmorphon2017, DEST/lemmatization and DEST/celex, and
that of later systems into DEST/g2p2020, DEST/g2p2021, DEST/segmentation2022 and DEST/sigmorphon2022. DEST is usually data. The
script checks every file against experiments/data.sha256 and installs a data set only if all checksums agree. It leaves
existing data sets alone.

  --from DIR   use git clones in DIR (DIR/sigmorphon2016, DIR/conll2017, …) instead of cloning from GitHub
  --celex      fetch CELEX without asking
  --no-celex   do not fetch CELEX

The repositories and commits:
$(awk '{ printf "  %-16s https://github.com/%s at %s\n", $1, $2, $3 }' <<<"$sources")
END
}

parse_options() {
    from='' celex=ask dest=''
    while [ $# -gt 0 ]; do
        case $1 in
        --from)
            [ $# -gt 1 ] || fail "--from takes a folder"
            from=$2
            shift
            ;;
        --from=*) from=${1#*=} ;;
        --celex) celex=yes ;;
        --no-celex) celex=no ;;
        -h | --help) usage && exit 0 ;;
        -*) fail "unknown option $1 (--help lists them)" ;;
        *)
            [ -z "$dest" ] || fail "give one DEST, not two: $dest and $1"
            dest=$1
            ;;
        esac
        shift
    done
    [ -n "$dest" ] || fail "DEST is missing: give a folder for the data (--help says more)"
    [ -z "$from" ] || [ -d "$from" ] || fail "--from: there is no folder $from"
}

may_fetch_celex() {
    local answer=$celex
    say "CELEX belongs to the Linguistic Data Consortium (LDC96L14): you need their licence to use it."
    if [ "$answer" = ask ]; then
        printf 'Do you have the licence, and shall I fetch CELEX? [y/N] ' >&2
        read -r answer || say
    fi
    case $answer in [yY]*) ;; *) say "Continuing without CELEX" && return 1 ;; esac
}

check() { # check FOLDER SET: do the files of a data set in FOLDER have the listed checksums?
    (cd "$1" && grep "  $2/" "$checksums" | sha256 --check) >"$work/check.log" 2>&1
}

complaint() { grep -v ': OK$' "$work/check.log" | head -n 1; }

sha256() {
    if command -v sha256sum >/dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi
}

is_there() { # is_there SET: is it installed, and complete?
    [ -e "$dest/$1" ] || return 1
    check "$dest" "$1" || fail "$dest/$1 exists, but its checksums differ" \
        "$(complaint)" "Move it away and start again."
    say "$dest/$1 exists already"
}

path_in_repository() { # path_in_repository FILE: where the clone has it
    case $1 in
    sigmorphon2016/*) echo "data/${1#*/}" ;;
    sigmorphon2017/task1/*-uncovered-test) echo "answers/${1#*/}" ;;
    sigmorphon2017/*) echo "all/${1#*/}" ;;
    lemmatization/*) echo "data/lemmatization/data/${1#*/}" ;;
    celex/*) echo "res/celex/${1#*/}" ;;
    g2p2020/*) echo "task1/data/${1#*/}" ;;
    g2p2021/* | segmentation2022/*) echo "data/${1#*/}" ;;
    sigmorphon2022/*) path_below "$(dirname "${1#*/}")" "${1##*/}" ;;
    esac
}

path_below() { # path_below FOLDER NAME: the path of the first file of this name in FOLDER of the clone, at any depth
    git -C "$clone" ls-tree -r --name-only "$commit" "$1/" | awk -v folder="$1" -v name="$2" '
        { parts = split($0, part, "/") }
        part[parts] == name && path == "" { path = $0 }
        END { print path == "" ? folder "/" name : path }'
}

clone_of() { # clone_of REPOSITORY COMMIT: sets clone, and commit to one that the clone has
    if [ -n "$from" ]; then
        clone=$from/${1#*/}
        git -C "$clone" rev-parse --git-dir >"$work/git.log" 2>&1 ||
            fail "$clone is not a git clone of $1; nothing was installed" "$(head -n 1 "$work/git.log")"
        git -C "$clone" cat-file -e "$2^{commit}" 2>/dev/null || {
            say "$clone has no commit $2; using what is checked out there, if the checksums agree"
            commit=HEAD
        }
    else
        clone=$work/${1#*/}
        say "Cloning https://github.com/$1"
        GIT_TERMINAL_PROMPT=0 git clone --quiet --no-checkout "https://github.com/$1" "$clone" ||
            fail "could not clone https://github.com/$1 (the reason is above); nothing was installed" \
                "Check your network, or give existing clones with --from DIR."
    fi
}

collect() { # collect SET: copies its files from the clone to $work/new and checks them
    local file path
    say "Checking the $(grep -c "  $1/" "$checksums") files of $1"
    while read -r _ file; do
        path=$(path_in_repository "$file")
        mkdir -p "$work/new/$(dirname "$file")"
        git -C "$clone" cat-file blob "$commit:$path" >"$work/new/$file" 2>"$work/git.log" ||
            fail "$clone has no $path at $commit: the clone is incomplete or the wrong one; nothing was installed" \
                "$(head -n 1 "$work/git.log")"
    done < <(grep "  $1/" "$checksums")
    check "$work/new" "$1" || fail "the data of $1 has changed; nothing was installed" "$(complaint)"
}

make_work_folder() { # inside DEST, so that installing is a rename
    made=no
    [ -d "$dest" ] || made=yes
    if ! mkdir -p "$dest" || ! work=$(mktemp -d "$dest/.fetch.XXXXXX"); then fail "cannot write into $dest"; fi
    trap clean_up EXIT
    trap 'exit 130' INT TERM HUP
}

clean_up() {
    rm -rf "$work"
    [ $made = no ] || rmdir "$dest" 2>/dev/null || true
}

main() {
    local set repository commit wanted=''
    parse_options "$@"
    command -v git >/dev/null || fail "git is not installed"
    make_work_folder
    while read -r set repository commit <&3; do
        if ! is_there "$set" && { [ "$set" != celex ] || may_fetch_celex; }; then
            wanted+="$set $repository $commit"$'\n'
        fi
    done 3<<<"$sources"
    while read -r set repository commit <&3; do
        clone_of "$repository" "$commit"
        collect "$set"
    done 3< <(printf %s "$wanted")
    while read -r set _ <&3; do
        mv "$work/new/$set" "$dest/$set"
        say "$dest/$set is installed"
    done 3< <(printf %s "$wanted")
}

main "$@"
