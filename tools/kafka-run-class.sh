#!/bin/sh
# Runs one module of pykafka_classic.cli with the Python of this checkout, from any folder and through symbolic links: kafka-run-class.sh MODULE [argument]...
checkout=$(dirname "$(dirname "$(readlink -f "$0")")")
python="$checkout/.venv/bin/python"
if [ ! -x "$python" ]; then
    echo "There is no environment in $checkout/.venv yet: run 'make setup' in $checkout first." >&2
    exit 1
fi
if [ $# -eq 0 ]; then
    echo "USAGE: $0 MODULE [argument]..." >&2
    exit 1
fi
module=$1
shift
PYTHONPATH="$checkout${PYTHONPATH:+:$PYTHONPATH}" exec "$python" -m "pykafka_classic.cli.$module" "$@"
