#!/bin/sh
# As the official image's: a configuration from ZOO_* variables, then the server in the foreground.
set -eu
{
    echo "dataDir=/data"
    echo "dataLogDir=/datalog"
    echo "tickTime=${ZOO_TICK_TIME:-2000}"
    echo "initLimit=${ZOO_INIT_LIMIT:-5}"
    echo "syncLimit=${ZOO_SYNC_LIMIT:-2}"
    echo "autopurge.snapRetainCount=${ZOO_AUTOPURGE_SNAPRETAINCOUNT:-3}"
    echo "autopurge.purgeInterval=${ZOO_AUTOPURGE_PURGEINTERVAL:-0}"
    echo "maxClientCnxns=${ZOO_MAX_CLIENT_CNXNS:-60}"
    echo "standaloneEnabled=${ZOO_STANDALONE_ENABLED:-true}"
    echo "admin.enableServer=${ZOO_ADMINSERVER_ENABLED:-true}"
    [ -n "${ZOO_SERVERS:-}" ] || echo "clientPort=2181"
    for server in ${ZOO_SERVERS:-}; do echo "$server"; done
} >/conf/zoo.cfg
echo "${ZOO_MY_ID:-1}" >/data/myid
exec java -Xmx256m -cp "/conf:/etc/zookeeper/conf:/usr/share/java/*" org.apache.zookeeper.server.quorum.QuorumPeerMain /conf/zoo.cfg
