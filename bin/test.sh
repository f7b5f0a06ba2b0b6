#!/usr/bin/env bash
# Check the code with ruff and mypy and run the tests, with --all the slow ones too. Other arguments go to pytest, which
# is then all that runs: bin/test.sh tests/test_data.py -k covered
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

prepare_environment test
cd "$project_root"
if [[ $# -eq 0 || $* == --all ]]; then
    # The processes of the tests would all compile the kernels and the tests.
    unset PYTHONDONTWRITEBYTECODE
    for kernels in transducer nwfst; do "$venv/bin/python" -m tests.compile_kernels "$kernels" >/dev/null 2>&1 & done
    "$venv/bin/ruff" check .
    # The last mypy for Python 3.9 is too old.
    if "$venv/bin/python" -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then "$venv/bin/mypy"; fi
    "$venv/bin/python" -m pytest --collect-only -qq >/dev/null || true
    wait
    # Some of the slow tests wait most of the time, for Slurm or for processes of their own.
    set -- -n $(($# == 0 ? 2 : 3)) --dist worksteal "$@"
fi
exec "$venv/bin/python" -m pytest -rfE "$@"
