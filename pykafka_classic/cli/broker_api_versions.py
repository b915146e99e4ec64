"""`kafka-broker-api-versions.sh --bootstrap-server HOST:PORT`: which requests each broker serves, and in which versions.

Source: facts/tools.md 19; 2.8 BrokerApiVersionsCommand.scala, NodeApiVersions.java.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from pykafka_classic.cli.command import OK, Console, Tool, run_tool
from pykafka_classic.cli.command_options import Argument, Option, Options

if TYPE_CHECKING:
    from pykafka_classic.client.admin.cluster import ApiVersionRange

BOOTSTRAP: Final = "bootstrap-server"

OPTIONS: Final = (
    Option("command-config", "File of properties for the connection to brokers.", Argument.REQUIRED, described_as="command config property file"),
    Option(BOOTSTRAP, "REQUIRED: the brokers to ask, host:port,host:port.", Argument.REQUIRED, described_as="server(s) to use for bootstrapping"),
)


def body(options: Options, console: Console) -> int:
    """Do what the command line says."""
    from pykafka_classic.cli.broker_session import open_admin
    from pykafka_classic.common.errors import KafkaError
    from pykafka_classic.common.java_errors import as_java

    options.require(BOOTSTRAP)
    with open_admin(options.text(BOOTSTRAP), options.value("command-config")) as admin:
        nodes = admin.describe_cluster().nodes
        outcomes = admin.api_versions([node.id for node in nodes])
    for node in nodes:
        told = outcomes[node.id]
        console.say(f"{node} -> ERROR: {as_java(told)}" if isinstance(told, KafkaError) else f"{node} -> ({described(told)}\n)")
    return OK


def described(served: Iterable[ApiVersionRange]) -> str:
    """A line for each API, by key; those that a broker with ZooKeeper could serve and this one does not as UNSUPPORTED."""
    from pykafka_classic.protocol.api_keys import ApiKey, zk_broker_apis

    lines = {int(key): f"{key.camel_name}({int(key)}): UNSUPPORTED" for key in zk_broker_apis()}
    known = {int(key) for key in ApiKey}
    for each in served:
        versions = str(each.min_version) if each.min_version == each.max_version else f"{each.min_version} to {each.max_version}"
        lines[each.api_key] = (
            f"{ApiKey(each.api_key).camel_name}({each.api_key}): {versions}{_usable(each)}"
            if each.api_key in known
            else (f"UNKNOWN({each.api_key}): {versions}")
        )
    return ",".join(f"\n\t{lines[key]}" for key in sorted(lines))


def _usable(each: ApiVersionRange) -> str:
    from pykafka_classic.protocol.api_keys import ApiKey, spec_of

    spec = spec_of(ApiKey(each.api_key))
    if spec.max_version < each.min_version:
        return " [unusable: node too new]"
    if each.max_version < spec.min_version:
        return " [unusable: node too old]"
    return f" [usable: {min(spec.max_version, each.max_version)}]"


TOOL: Final = Tool("kafka-broker-api-versions", "This tool helps to retrieve broker version information.", OPTIONS, body)


def run() -> None:
    """The console command."""
    run_tool(TOOL)


if __name__ == "__main__":
    run()
