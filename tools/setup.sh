#!/bin/sh
# Makes .venv in the checkout from the lock files, with hashes. Does nothing when they have not changed since. No root, nothing outside the checkout.
set -eu
cd "$(dirname "$(readlink -f "$0")")/.."
python=${PYTHON:-python3}
stamp=.venv/.made-from

fail() {
    echo "$1" >&2
    exit 1
}

command -v "$python" >/dev/null 2>&1 || fail "Python 3.11 or newer is needed and there is no '$python': install it, or say which one with make PYTHON=/path/to/python3."
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    fail "Python 3.11 or newer is needed and '$python' is $("$python" -c 'import platform; print(platform.python_version())'): say which one to use with make PYTHON=/path/to/python3.11."

java=java
[ -z "${JAVA_HOME:-}" ] || java="$JAVA_HOME/bin/java"
remedy="install one (Debian and Ubuntu: apt install openjdk-17-jre-headless) or set JAVA_HOME."
command -v "$java" >/dev/null 2>&1 || fail "ZooKeeper needs Java 17 or newer and there is no '$java': $remedy"
version=$("$java" -version 2>&1 | sed -n 's/.* version "\(1\.\)\{0,1\}\([0-9]*\).*/\2/p' | head -n 1)
[ "${version:-0}" -ge 17 ] || fail "ZooKeeper needs Java 17 or newer and '$java' is version ${version:-unknown}: $remedy"

pip() {
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation "$@"
}

# Two targets begun at once in a fresh clone: the second waits for the first, and finds .venv made.
if command -v flock >/dev/null 2>&1; then
    exec 9<"tools/${0##*/}"
    flock 9
fi

libraries="$(cat requirements/*.txt "tools/${0##*/}" | cksum) $("$python" -V) $PWD"
entry_points=$(cksum <setup.cfg)
if [ ! -x .venv/bin/python ] || [ "$(sed -n 1p "$stamp" 2>/dev/null)" != "$libraries" ]; then
    echo "Setting up .venv (once; ZooKeeper's server comes with pyspark, a big download)"
    rm -f "$stamp"
    "$python" -m venv --clear .venv
    # pyspark and the data set come as source only; they are built with the setuptools that is installed first, not with whatever is newest.
    for name in build runtime test data; do
        pip --require-hashes -r "requirements/$name.txt"
    done
elif [ "$(sed -n 2p "$stamp")" = "$entry_points" ]; then
    exit 0
fi
pip --editable .
# Ctrl-C while Python itself starts would end in a stack trace: as with the launchers in tools, it is held back until pkc minds it.
cat >.venv/bin/pkc <<'END'
#!/bin/sh
held=""
if env --block-signal=INT true 2>/dev/null; then held="env --block-signal=INT"; fi
exec $held "$(dirname "$(readlink -f "$0")")/python" -P -c 'from pykafka_classic.cli.__main__ import pkc; pkc()' "$@"
END
printf '%s\n%s\n' "$libraries" "$entry_points" >"$stamp"
