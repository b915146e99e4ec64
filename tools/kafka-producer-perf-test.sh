#!/bin/sh
exec "$(dirname "$(readlink -f "$0")")/kafka-run-class.sh" producer_perf_test "$@"
