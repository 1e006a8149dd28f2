#!/bin/sh
# Make the virtual environment that every target uses: with uv where it is installed, else with venv.
set -eu
: "${PYTHON:=python3}" "${VENV:=.venv}"

"$PYTHON" - <<'EOF'
import sys
if sys.version_info < (3, 11):
    sys.exit("CodeSynapse needs Python 3.11 or newer; this is %s. Set PYTHON=/path/to/python3.11."
             % sys.version.split()[0])
EOF

echo "Setting up $VENV (once) ..." >&2
if command -v uv >/dev/null 2>&1; then
    uv venv --quiet --allow-existing --python "$("$PYTHON" -c 'import sys; print(sys.executable)')" "$VENV"
    uv pip install --quiet --python "$VENV/bin/python" --constraint tests/constraints.txt --editable '.[dev]'
else
    [ -x "$VENV/bin/python" ] || "$PYTHON" -m venv "$VENV"
    "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check \
        --constraint tests/constraints.txt --editable '.[dev]'
fi
