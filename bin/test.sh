#!/usr/bin/env bash
# Check the code with ruff and mypy and run all tests. Arguments go to pytest, and then tests are all that is run:
# bin/test.sh tests/test_data.py -k covered
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

prepare_environment test
cd "$project_root"
if [[ $# -eq 0 ]]; then
    "$venv/bin/ruff" check .
    "$venv/bin/mypy"
    set -- -n 2
fi
exec "$venv/bin/python" -m pytest -rsfE "$@"
