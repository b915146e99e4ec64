"""More releases of Apache Kafka beside our brokers, and every inter.broker.protocol.version at which something changed; about twenty minutes.

    python -m pytest tests/chaos/mixed_clusters.py         (make faults)

The stories are those of tests/integration/test_mixed_clusters.py. Releases before 0.11 know no idempotent producer, so duplicates may occur there.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.apache import OURS
from tests.integration.mixed_story import join_and_change_places


@pytest.mark.parametrize(("peer", "protocol"), [("0.10.2.2", "0.10.2"), ("1.1.1", "0.10.2"), ("1.1.1", "1.1"), ("2.4.1", "2.0"), ("2.4.1", "2.4")])
@pytest.mark.parametrize("ours_first", [True, False], ids=["ours first", "theirs first"])
def test_an_older_release_and_ours_take_over_from_each_other(tmp_path: Path, peer: str, protocol: str, ours_first: bool) -> None:
    kinds = [OURS, peer] if ours_first else [peer, OURS]
    join_and_change_places(tmp_path, kinds, protocol, idempotent=not protocol.startswith("0.10"), twice=True)


@pytest.mark.parametrize("protocol", ["0.10.2", "0.11.0", "1.0", "2.1", "2.2", "2.3", "2.6", "2.7-IV0", "2.7-IV1", "2.7", "2.8-IV0"])
def test_ours_and_the_reference_agree_at_every_protocol_version(tmp_path: Path, protocol: str) -> None:
    join_and_change_places(tmp_path, [OURS, "2.8.2"], protocol, idempotent=not protocol.startswith("0.10"), twice=True)
