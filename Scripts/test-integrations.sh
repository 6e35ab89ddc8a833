#!/usr/bin/env bash
# Tests the Python package and the examples against a webimage binary, with Spark and Ray on clusters of two workers on
# this machine. Installs what they need into .build/integrations. WEBIMAGE names another binary than the one built here;
# arguments are passed on to pytest. With --prepare alone, only installs.
set -euo pipefail
cd "$(dirname "$0")/.."

environment=$PWD/.build/integrations
python=$environment/bin/python

# Sets WEBIMAGE to the newest build, unless it is set; builds one if there is none.
choose_binary() {
    [ -z "${WEBIMAGE:-}" ] || return 0
    WEBIMAGE=$(ls -t .build/{release,debug}/webimage 2>/dev/null | head -n 1 || true)
    if [ -z "$WEBIMAGE" ]; then
        swift build --product webimage
        WEBIMAGE=.build/debug/webimage
    fi
    WEBIMAGE=$(realpath "$WEBIMAGE")
    export WEBIMAGE
}

# Installs the package and its dependencies again only if what it declares has changed.
install_packages() {
    local installed=$environment/pyproject.toml
    cmp -s Integrations/python/pyproject.toml "$installed" && return 0
    [ -x "$python" ] || python3 -m venv "$environment"
    "$python" -m pip install -q --editable 'Integrations/python[parquet,spark,ray,test,test-readers]'
    cp Integrations/python/pyproject.toml "$installed"
}

Scripts/setup.sh integrations
install_packages
[ "${1:-}" != --prepare ] || exit 0
choose_binary
export PATH=$environment/bin:$PATH
Scripts/wheel.sh "$WEBIMAGE" .build/wheel/test
WEBIMAGE_WHEEL=$(realpath "$(ls -t .build/wheel/test/*.whl | head -n 1)")
export WEBIMAGE_WHEEL
cd Integrations/python
ruff check . ../examples
ruff format --check . ../examples
mypy
# Clusters on a busy machine can exceed a time limit; an error of this package fails again.
python -m pytest "$@" || python -m pytest --last-failed "$@"
