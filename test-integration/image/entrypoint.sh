#!/bin/sh
# Every ZOO_ variable means what it means to the official "zookeeper" image, so that either image serves the same tests.
set -euf

config=$ZOO_CONF_DIR/zoo.cfg
mkdir -p "$ZOO_CONF_DIR" "$ZOO_DATA_DIR" "$ZOO_DATA_LOG_DIR"

if [ ! -f "$config" ]; then
  {
    echo "dataDir=$ZOO_DATA_DIR"
    echo "dataLogDir=$ZOO_DATA_LOG_DIR"
    echo "tickTime=${ZOO_TICK_TIME:-2000}"
    echo "initLimit=${ZOO_INIT_LIMIT:-5}"
    echo "syncLimit=${ZOO_SYNC_LIMIT:-2}"
    echo "autopurge.snapRetainCount=${ZOO_AUTOPURGE_SNAPRETAINCOUNT:-3}"
    echo "autopurge.purgeInterval=${ZOO_AUTOPURGE_PURGEINTERVAL:-0}"
    echo "maxClientCnxns=${ZOO_MAX_CLIENT_CNXNS:-60}"
    echo "standaloneEnabled=${ZOO_STANDALONE_ENABLED:-true}"
    echo "admin.enableServer=${ZOO_ADMINSERVER_ENABLED:-true}"
    for server in ${ZOO_SERVERS:-server.1=localhost:2888:3888;2181}; do echo "$server"; done
    [ -z "${ZOO_4LW_COMMANDS_WHITELIST:-}" ] || echo "4lw.commands.whitelist=$ZOO_4LW_COMMANDS_WHITELIST"
    for line in ${ZOO_CFG_EXTRA:-}; do echo "$line"; done
  } >"$config"
fi

[ -f "$ZOO_DATA_DIR/myid" ] || echo "${ZOO_MY_ID:-1}" >"$ZOO_DATA_DIR/myid"

# The official image starts zkServer.sh by default; any other command is run as it stands.
[ $# -eq 0 ] || [ "$1" = zkServer.sh ] || exec "$@"

# exec: the JVM is process 1 and gets docker's signals itself.
# Serial collector and first compiler only: three servers share the cores of a small machine.
# No data survives the container anyway. Waiting for a busy disk at each transaction would take seconds: longer than sessions
# live.
# The class path has to be spelled as it was in make-cds.sh, or the archive is ignored.
# shellcheck disable=SC2046,SC2086
exec java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:SharedArchiveFile=/zk.jsa -Xmx"${ZK_SERVER_HEAP:-1000}m" \
  -Dlog4j.configuration="file:/conf/log4j.properties" -Dzookeeper.log.threshold="${ZOO_LOG_LEVEL:-INFO}" \
  -Dzookeeper.forceSync=no \
  -cp "$(set +f && printf %s: /zk/lib/*.jar)" ${JVMFLAGS:-} ${SERVER_JVMFLAGS:-} \
  org.apache.zookeeper.server.quorum.QuorumPeerMain "$config"
