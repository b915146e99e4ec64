"""The real things as child processes: a ZooKeeper server, an ensemble of three, a broker.

ZooKeeper comes from the jars that pyspark brings (the same server class that Kafka's zookeeper-server-start runs); pyspark itself is not imported. What a
server writes to its output goes to a file beside its data. Every command here waits by looking at what a client would see (a ZooKeeper's answer to `srvr`, a
broker's line "started"), never by sleeping.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from pykafka_classic.edges.child_processes import ChildProcess, free_ports, port_taken

JAVA_MIN_VERSION: Final = 8

# What the server's classes refer to, by the beginning of the jar's name.
ZOOKEEPER_JARS: Final = (
    "zookeeper",
    "zookeeper-jute",
    "slf4j-api",
    "log4j-api",
    "log4j-core",
    "log4j-slf4j2-impl",
    "metrics-core",
    "snappy-java",
    "commons-cli",
    "commons-io",
    "audience-annotations",
    "netty-buffer",
    "netty-codec",
    "netty-codec-base",
    "netty-common",
    "netty-handler",
    "netty-resolver",
    "netty-transport",
    "netty-transport-classes-epoll",
    "netty-transport-native-unix-common",
)

# Client compiler only, the archive of ready-made classes, the simplest collector: half a second to start, 80 MB.
JVM_FLAGS: Final = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-XX:+UseSerialGC", "-Dlog4j2.level=INFO", "-Djava.net.preferIPv4Stack=true")

ZOOKEEPER_DEFAULTS: Final = {"tickTime": "2000", "initLimit": "10", "syncLimit": "5", "maxClientCnxns": "0", "admin.enableServer": "false"}

STARTED_LINE: Final = re.compile(r"\[KafkaServer id=\d+\] started")


class JavaMissing(Exception):
    """No Java, or one that is too old; the text says what to do."""


class JarsMissing(Exception):
    """ZooKeeper's jars are not there; the text says what to do."""


@functools.cache
def require_java() -> str:
    """The java command; JavaMissing with one clear sentence where there is none that can run ZooKeeper."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(home, "bin"))) if home else shutil.which("java")
    wanted = f"ZooKeeper needs Java {JAVA_MIN_VERSION} or newer"
    remedy = "install one (Debian and Ubuntu: apt install default-jre-headless) or set JAVA_HOME."
    if java is None:
        raise JavaMissing(f"{wanted}, and there is no `java` {'in JAVA_HOME ' + home if home else 'on the PATH'}: {remedy}")
    answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)
    version = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    if version is None:
        raise JavaMissing(f"{wanted}, and {java} does not say its version ({answer.stderr.strip()[:200]!r}): {remedy}")
    if int(version[1]) < JAVA_MIN_VERSION:
        raise JavaMissing(f"{wanted}, and {java} is version {version[1]}: {remedy}")
    return java


@functools.cache
def zookeeper_class_path() -> str:
    """The jars of ZooKeeper's server; JarsMissing where pyspark is not installed."""
    spec = importlib.util.find_spec("pyspark")
    folder = Path(spec.origin).parent / "jars" if spec and spec.origin else None
    jars = [jar for name in ZOOKEEPER_JARS for jar in sorted(folder.glob(f"{name}-[0-9]*.jar"))] if folder else []
    if not any(jar.name.startswith("zookeeper-") for jar in jars):
        raise JarsMissing(
            "ZooKeeper's server comes with pyspark, which is not installed here: pip install pyspark, or give zookeeper.connect of a running ZooKeeper."
        )
    return os.pathsep.join(str(jar) for jar in jars)


class ZooKeeperProcess(ChildProcess):
    """One ZooKeeper server. `directory` holds its configuration, data and log; a later start on the same directory finds its data again.

    Args:
        properties: zookeeper.properties (Kafka's name for zoo.cfg); what is absent has the values of ZOOKEEPER_DEFAULTS. `clientPort` absent: a free port.
        server_id: its number in an ensemble.
        jvm: more flags for java.
    """

    def __init__(self, directory: Path, properties: Mapping[str, str] | None = None, *, server_id: int | None = None, jvm: Sequence[str] = ()) -> None:
        self.directory = directory
        self._properties = {**ZOOKEEPER_DEFAULTS, "clientPortAddress": "127.0.0.1", "dataDir": str(directory / "data"), **(properties or {})}
        if "clientPort" not in self._properties:
            self._properties["clientPort"] = str(free_ports(1)[0])
        self._server_id = server_id
        command = [
            require_java(),
            *JVM_FLAGS,
            *jvm,
            "-cp",
            zookeeper_class_path(),
            "org.apache.zookeeper.server.quorum.QuorumPeerMain",
            str(directory / "zookeeper.properties"),
        ]
        super().__init__(command, log_path=directory / "zookeeper.log")

    @property
    def host(self) -> str:
        """Where clients connect."""
        return self._properties["clientPortAddress"]

    @property
    def port(self) -> int:
        """Where clients connect."""
        return int(self._properties["clientPort"])

    @property
    def address(self) -> str:
        """For `zookeeper.connect`."""
        return f"{self.host}:{self.port}"

    def start(self) -> None:
        """Write the configuration and start; OSError with a sentence where the port is taken."""
        taken = port_taken(self.port, self.host)
        if taken:
            raise OSError(taken)
        data = Path(self._properties["dataDir"])
        data.mkdir(parents=True, exist_ok=True)
        (self.directory / "zookeeper.properties").write_text("".join(f"{key}={value}\n" for key, value in self._properties.items()))
        if self._server_id is not None:
            (data / "myid").write_text(f"{self._server_id}\n")
        super().start()

    def wait_serving(self, *, seconds: float = 30.0) -> None:
        """Wait until it serves sessions (in an ensemble: until there is a quorum)."""
        self.wait_ready(lambda: self.mode() != "", seconds=seconds)

    def mode(self) -> str:
        """standalone, leader or follower; empty while it does not serve."""
        found = re.search(r"^Mode: (\w+)", self.four_letter_word("srvr"), re.MULTILINE)
        return found[1] if found else ""

    def four_letter_word(self, word: str) -> str:
        """ZooKeeper's answer to an administrator's word; empty where it does not answer."""
        try:
            with socket.create_connection((self.host, self.port), timeout=2.0) as connection:
                connection.sendall(word.encode())
                return b"".join(iter(lambda: connection.recv(65536), b"")).decode(errors="replace")
        except OSError:
            return ""


class ZooKeeperEnsemble:
    """Several ZooKeeper servers that elect a leader; `servers` may be killed and started one by one."""

    def __init__(self, directory: Path, properties: Mapping[str, str] | None = None, *, size: int = 3) -> None:
        ports = free_ports(3 * size)
        peers = {f"server.{number + 1}": f"127.0.0.1:{ports[3 * number + 1]}:{ports[3 * number + 2]}" for number in range(size)}
        self.servers = [
            ZooKeeperProcess(directory / f"zookeeper-{number + 1}", {**(properties or {}), **peers, "clientPort": str(ports[3 * number])}, server_id=number + 1)
            for number in range(size)
        ]

    @property
    def address(self) -> str:
        """For `zookeeper.connect`."""
        return ",".join(server.address for server in self.servers)

    def start(self) -> None:
        """Start all."""
        for server in self.servers:
            server.start()

    def wait_serving(self, *, seconds: float = 60.0) -> None:
        """Wait until all serve."""
        for server in self.servers:
            server.wait_serving(seconds=seconds)

    def leader(self) -> ZooKeeperProcess:
        """The server that leads now; LookupError where none does."""
        for server in self.servers:
            if server.running and server.mode() == "leader":
                return server
        raise LookupError("no leader now")

    def stop(self) -> None:
        """Stop those that run."""
        for server in self.servers:
            if server.running:
                server.kill()


class BrokerProcess(ChildProcess):
    """One broker: `python -m pykafka_classic server.properties`. `directory` holds its configuration and its log; where the data is, `log.dirs` says.

    Args:
        overrides: `--override key=value`, which win over the properties.
    """

    def __init__(
        self, directory: Path, properties: Mapping[str, str], *, overrides: Mapping[str, str] | None = None, environment: Mapping[str, str] | None = None
    ) -> None:
        self.directory = directory
        self._properties = dict(properties)
        path = directory / "server.properties"
        options = [part for key, value in (overrides or {}).items() for part in ("--override", f"{key}={value}")]
        super().__init__([sys.executable, "-m", "pykafka_classic", str(path), *options], log_path=directory / "server.log", environment=environment)

    def start(self) -> None:
        """Write server.properties and start."""
        self.directory.mkdir(parents=True, exist_ok=True)
        (self.directory / "server.properties").write_text("".join(f"{key}={value}\n" for key, value in self._properties.items()))
        super().start()

    def wait_started(self, *, seconds: float = 60.0) -> None:
        """Wait until it serves requests; StartFailed with the last lines of its log."""
        self.wait_ready(lambda: STARTED_LINE.search(self.output()) is not None, seconds=seconds)
