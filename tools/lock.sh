#!/bin/sh
# Writes requirements/*.txt from requirements/*.in, with hashes and without any index's address. Needs pip-compile (pip install pip-tools) on the PATH.
set -eu
cd "$(dirname "$(readlink -f "$0")")/../requirements"
for name in build runtime broker test; do
    pip-compile --quiet --generate-hashes --allow-unsafe --strip-extras --no-header --annotation-style=line \
        --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --output-file="$name.txt" "$name.in"
done
