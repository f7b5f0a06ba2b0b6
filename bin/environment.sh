#!/usr/bin/env bash
# Shell functions that the scripts in this folder source: they set up the project's virtual environment, `.venv` in its
# root. PYTHON=/path/to/python chooses the interpreter.

project_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
venv=$project_root/.venv

say() { printf '%s\n' "$*" >&2; }

fail() {
    say "${0##*/}: error: $1"
    shift
    local line
    for line in "$@"; do say "  $line"; done
    exit 1
}

# Does this interpreter run, have a supported version, and create environments?
python_fits() {
    "$1" -c 'import sys, venv, ensurepip
sys.exit(not (3, 9) <= sys.version_info[:2] <= (3, 13))' >/dev/null 2>&1
}

# Try Python 3.13 last: editdistance has no wheel for it and must be compiled.
find_python() {
    local candidate
    if [[ -n ${PYTHON:-} ]]; then
        python_fits "$PYTHON" || fail "PYTHON=$PYTHON is not a Python from 3.9 to 3.13 with the venv module"
        printf '%s\n' "$PYTHON"
        return
    fi
    for candidate in python3.{12,11,10,9,13} python3 python; do
        if python_fits "$candidate"; then
            printf '%s\n' "$candidate"
            return
        fi
    done
    fail "found no Python from 3.9 to 3.13 that can create virtual environments" \
        "Debian, Ubuntu: sudo apt install python3 python3-venv" \
        "Fedora: sudo dnf install python3.12;  macOS: brew install python@3.12" \
        "Elsewhere: install Python and start again with PYTHON=/path/to/python"
}

environment_works() {
    python_fits "$venv/bin/python" && "$venv/bin/python" -m pip --version >/dev/null 2>&1
}

make_environment() {
    local python
    python=$(find_python)
    say "Creating a virtual environment in $venv with $("$python" --version)"
    "$python" -m venv --clear "$venv" ||
        fail "could not create the virtual environment $venv (the reason is above)"
}

# What an installation depends on. While it stays the same, nothing is installed again.
installation_state() {
    "$venv/bin/python" -c 'import sys; print(sys.version, sys.base_prefix)'
    printf '%s\n' "$project_root"
    cksum <"$project_root/setup.py"
}

# is_installed EXTRAS STATE: an installation with extras also counts as one without.
is_installed() {
    local stamp stamps=("$venv/installed-$1")
    [[ -n $1 ]] || stamps=("$venv"/installed*)
    for stamp in "${stamps[@]}"; do
        [[ ! -f $stamp || $(<"$stamp") != "$2" ]] || return 0
    done
    return 1
}

# install_package EXTRAS: installs the project, editable, and the packages it needs.
install_package() {
    local stamp=$venv/installed${1:+-$1} state
    state=$(installation_state)
    ! is_installed "$1" "$state" || return 0
    say "Installing il-morph and the packages it needs (about a minute)"
    rm -f "$stamp"
    # An older pip takes many minutes to resolve the packages for Python 3.9.
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check 'pip>=25.1' &&
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --use-pep517 --no-compile \
        --editable "$project_root${1:+[$1]}" ||
        fail "pip could not install il-morph (its messages are above)" \
            "pip needs access to a package index." \
            "Python 3.13 also needs a C++ compiler (Debian, Ubuntu: sudo apt install g++ python3-dev)." \
            "Python 3.9 to 3.12 need none; to switch: rm -r '$venv' && PYTHON=python3.12 '$0'"
    # pip would compile on one core, and the tests of all packages. A module that does not compile is none of ours.
    "$venv/bin/python" -W ignore -m compileall -q -j 0 -x '/tests?/' "$venv"/lib/python*/site-packages >/dev/null ||
        true
    printf '%s\n' "$state" >"$stamp"
}

# prepare_environment [EXTRAS]: afterwards "$venv/bin" holds python and il-morph.
prepare_environment() {
    environment_works || make_environment
    install_package "${1:-}"
}

# run_table TABLE OPTION…: runs the installed il-morph, or else the one in the project's environment.
# Data and results are in the project, unless options say otherwise.
run_table() {
    if ! command -v il-morph >/dev/null; then
        prepare_environment
        PATH=$venv/bin:$PATH
    fi
    export IL_MORPH_PROJECT=$project_root
    exec il-morph run "$@"
}
