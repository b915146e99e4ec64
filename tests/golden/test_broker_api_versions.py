"""What kafka-broker-api-versions prints of a broker that serves all that one with ZooKeeper can: the recorded case, line by line."""

from __future__ import annotations

import json
from pathlib import Path

from pykafka_classic.cli.broker_api_versions import described
from pykafka_classic.client.admin.cluster import ApiVersionRange
from pykafka_classic.protocol.api_keys import zk_broker_apis

RECORDED = Path(__file__).parent / "data" / "cli" / "kafka-log-dirs.json"


def printed_by_apaches() -> str:
    (case,) = (case for case in json.loads(RECORDED.read_text())["cases"] if case["name"] == "api versions")
    text: str = case["stdout"]
    return text.partition("(\n")[2].removesuffix("\n)\n")


def test_a_line_for_each_api() -> None:
    served = [ApiVersionRange(int(key), *versions) for key, versions in reversed(zk_broker_apis().items())]
    assert described(served).removeprefix("\n") == printed_by_apaches()


def test_what_is_not_served_not_known_or_of_another_time_is_marked() -> None:
    served = [ApiVersionRange(0, 50, 60), ApiVersionRange(18, 0, 3), ApiVersionRange(999, 0, 1)]
    lines = [line.strip(",\t") for line in described(served).splitlines()]
    assert "Produce(0): 50 to 60 [unusable: node too new]" in lines
    assert "Fetch(1): UNSUPPORTED" in lines
    assert "ApiVersions(18): 0 to 3 [usable: 3]" in lines
    assert lines[-1] == "UNKNOWN(999): 0 to 1"
