#!/bin/sh
# Runs the tests of the Spark source with other releases of PySpark, those that docs/spark.md names: tools/spark_releases.sh 4.1.4 4.2.1
# Each gets an environment of its own, .venv-pyspark-RELEASE, which has that PySpark and takes everything else from .venv. Made once, by a download of 450 MB.
set -eu
cd "$(dirname "$(readlink -f "$0")")/.."

for release in "$@"; do
    folder=.venv-pyspark-$release
    if [ ! -e "$folder/made" ]; then
        echo "Making $folder (once)"
        rm -rf "$folder"
        .venv/bin/python -m venv --without-pip "$folder"
        .venv/bin/python -m pip --python "$folder/bin/python" install --quiet --disable-pip-version-check --no-deps "pyspark==$release"
        libraries=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
        echo "$libraries" >"$("$folder/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/everything-else.pth"
        touch "$folder/made"
    fi
    "$folder/bin/python" -c 'import pyspark; print("PySpark", pyspark.__version__)'
    # Older releases leave sockets to the garbage collector.
    "$folder/bin/python" -m pytest -q -W ignore::ResourceWarning -W ignore::pytest.PytestUnraisableExceptionWarning tests/spark tests/spark_executor
done
