"""Groups of every foreign consumer with every assignor that it has: librdkafka, kafka-python, Java (2.8.2 and 4.0 in one group), sarama; dynamic and static.

All groups go through one story at the same time (group_story.py), each test then looks at one group. Members: one, three; the first sleeps beyond its session
and comes back; the last is killed; the first leaves politely. Who owned what when is printed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from pykafka_classic.edges.processes import require_java
from pykafka_classic.testing.cluster import LocalCluster
from tests.integration.conftest import KEEP, assert_no_stack_traces
from tests.integration.foreign import create_topic, eventually
from tests.integration.group_story import PARTITIONS, TOPIC, Group, Member, Story

HERE: Final = Path(__file__).parent
FETCH_S: Final = 600
HEAP: Final = ("-Xmx96m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto")
JAVA_RELEASES: Final = ("2.8.2", "4.0.0")
JAVA_ASSIGNORS: Final = {"range": "Range", "roundrobin": "RoundRobin", "sticky": "Sticky", "cooperative-sticky": "CooperativeSticky"}
JAVA_PROPERTIES: Final = "heartbeat.interval.ms=300\nfetch.max.wait.ms=100\n"

CASES: Final = [
    *(("librdkafka", strategy, False) for strategy in ("range", "roundrobin", "cooperative-sticky")),
    ("librdkafka", "range", True),
    *(("kafka-python", strategy, False) for strategy in ("range", "roundrobin", "sticky", "cooperative-sticky")),
    *(("sarama", strategy, False) for strategy in ("range", "roundrobin", "sticky")),
    ("sarama", "range", True),
    *(("java", strategy, False) for strategy in JAVA_ASSIGNORS),
    ("java", "range", True),
]


def name_of(case: tuple[str, str, bool]) -> str:
    client, strategy, static = case
    return f"{client}-{strategy}{'-static' if static else ''}"


def java_class_path(release: str) -> str | None:
    """The jars of a release; None where they cannot be had."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pykafka_classic" / f"kafka-members-{release}"
    if not (cache / "complete").exists():
        if shutil.which("mvn") is None:
            return None
        cache.mkdir(parents=True, exist_ok=True)
        settings = [f"-Dkafka.version={release}", f"-DoutputDirectory={cache}"]
        command = ["mvn", "-q", "-B", "-f", str(HERE / "java" / "members-pom.xml"), "dependency:copy-dependencies", *settings]
        if subprocess.run(command, capture_output=True, text=True, timeout=FETCH_S, check=False).returncode != 0:
            return None
        (cache / "complete").touch()
    return f"{cache}/*"


def sarama_member(directory: Path) -> str | None:
    """The Go program, built; None where it cannot be."""
    if shutil.which("go") is None:
        return None
    program, source = directory / "sarama-member", HERE / "sarama"
    environment = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-buildvcs=false -mod=readonly"}
    for command in (["go", "mod", "download"], ["go", "build", "-o", str(program), "./group"]):
        if subprocess.run(command, cwd=source, env=environment, capture_output=True, timeout=FETCH_S, check=False).returncode != 0:
            return None
    return str(program)


class Commands:
    """How each client's members are started; a client that this machine lacks has no groups."""

    def __init__(self, bootstrap: str, directory: Path) -> None:
        self._bootstrap = bootstrap
        self._directory = directory
        self._sarama = sarama_member(directory)
        found = [java_class_path(release) for release in JAVA_RELEASES]
        self._java = [each for each in found if each is not None] if None not in found else []
        (directory / "java.properties").write_text(JAVA_PROPERTIES)

    def group(self, case: tuple[str, str, bool]) -> Group | None:
        client, strategy, static = case
        name = name_of(case)
        size = 2 if client == "java" else 3  # a JVM is heavy
        commands = [self._command(client, strategy, name, number, f"instance-{number}" if static else None) for number in range(size)]
        if not all(commands):
            return None
        return Group(name, [Member(command, self._directory / f"{name}-{number}.log") for number, command in enumerate(commands)], static)

    def _command(self, client: str, strategy: str, group: str, number: int, instance: str | None) -> list[str]:
        usual = [self._bootstrap, TOPIC, group, strategy, *([instance] if instance else [])]
        match client:
            case "librdkafka" | "kafka-python":
                return [sys.executable, str(HERE / "members" / f"{client.replace('-', '_')}_member.py"), *usual]
            case "sarama":
                return [self._sarama, *usual] if self._sarama else []
            case _:
                return self._java_command(strategy, group, self._java[number % 2], instance) if self._java else []

    def _java_command(self, strategy: str, group: str, class_path: str, instance: str | None) -> list[str]:
        options = {
            "--bootstrap-server": self._bootstrap,
            "--topic": TOPIC,
            "--group-id": group,
            "--session-timeout": "6000",
            "--assignment-strategy": f"org.apache.kafka.clients.consumer.{JAVA_ASSIGNORS[strategy]}Assignor",
            "--consumer.config": str(self._directory / "java.properties"),
            **({"--group-instance-id": instance} if instance else {}),
        }
        arguments = [word for option in options.items() for word in option]
        return [require_java(), *HEAP, "-cp", class_path, "org.apache.kafka.tools.VerifiableConsumer", "--verbose", *arguments]


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    directory = tmp_path_factory.mktemp("clients")
    with LocalCluster(directory, brokers=1, overrides=KEEP) as cluster:
        create_topic(cluster.bootstrap, TOPIC, partitions=PARTITIONS, replicas=1)
        commands = Commands(cluster.bootstrap, directory)
        told = Story(cluster, [group for case in CASES if (group := commands.group(case)) is not None])
        try:
            play(told)
            yield told
        finally:
            for group in told.groups:
                for member in group.members:
                    if member.running:
                        member.kill()
    assert_no_stack_traces(cluster)


def play(story: Story) -> None:
    """See the module."""
    story.start(lambda group: group.members[:1])
    story.send_settled("one member")
    story.start(lambda group: group.members[1:])
    story.send_amid_changes()
    story.send_settled("all members")
    bounce_static_members(story)
    story.gone(lambda group: group.members[:1], Member.pause)
    story.send_amid_changes()
    story.send_settled("the first one sleeps", asleep=True)
    for group in story.groups:
        group.members[0].resume()
        group.running.insert(0, group.members[0])
    story.send_amid_changes()
    story.send_settled("the first one is awake")
    story.gone(lambda group: group.members[-1:], Member.kill)
    story.send_amid_changes()
    story.send_settled("the last one was killed")
    story.gone(lambda group: group.members[:1], Member.stop)
    story.send_settled("the first one has left")
    print("\n" + "\n".join(sorted(story.table, key=lambda line: line[38:])))


def bounce_static_members(story: Story) -> None:
    """A static member that comes back within its session takes its place again, and the others notice nothing."""
    static = [group for group in story.groups if group.is_static]
    changes = [[member.changes for member in group.members[:-1]] for group in static]
    for group in static:
        group.members[-1].stop()
        group.members[-1].start()
    for group in static:
        eventually(lambda group=group: story._is_settled(group), f"{group.name}: all are there again")  # type: ignore[misc]
    assert [[member.changes for member in group.members[:-1]] for group in static] == changes


@pytest.fixture
def group(story: Story, request: pytest.FixtureRequest) -> Group:
    found = [each for each in story.groups if each.name == name_of(request.param)]
    if not found:
        pytest.skip(f"the members of {name_of(request.param)} cannot be had here")
    return found[0]


@pytest.mark.parametrize("group", CASES, indirect=True, ids=name_of)
def test_each_record_is_read_and_in_steady_state_by_one_member(story: Story, group: Group) -> None:
    read = group.read
    assert not story.once - set(read) and not story.at_least_once - set(read), "left out"
    assert {value: count for value, count in read.items() if count > 1 and value in story.once} == {}, "read twice in steady state"
    assert [member.skipped for member in group.members if member.skipped] == [], "order broken"
