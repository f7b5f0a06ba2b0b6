#!/usr/bin/env bash
# Run all tests. Arguments go to pytest: bin/test.sh tests/test_data.py -k covered
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

prepare_environment test
cd "$project_root"
exec "$venv/bin/python" -m pytest -rs "$@"
