#!/bin/sh
# Runs a tool with the Python of this checkout, from any folder and through symbolic links: kafka-run-class.sh NAME [argument]...
checkout=$(dirname "$(dirname "$(readlink -f "$0")")")
python="$checkout/.venv/bin/python"
if [ ! -x "$python" ]; then
    echo "There is no environment in $checkout/.venv yet: run 'make setup' in $checkout first." >&2
    exit 1
fi
# Ctrl-C while Python itself starts would end in a stack trace: it waits until the tool minds it, some hundredths of a second.
held=""
if env --block-signal=INT true 2>/dev/null; then held="env --block-signal=INT"; fi
PYTHONPATH="$checkout${PYTHONPATH:+:$PYTHONPATH}" exec $held "$python" -m pykafka_classic.cli "$@"
