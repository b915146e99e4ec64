"""What the health check says of a command line that makes no sense; brokers, well and gone, are asked in tests/integration/test_launchers.py."""

from __future__ import annotations

import pytest

from pykafka_classic.cli.broker_health import USAGE, main


@pytest.mark.parametrize("arguments", [[], ["localhost"], ["localhost:"], [":9092"], ["localhost:port"], ["a:1", "b:2"]])
def test_anything_but_one_address_is_answered_by_the_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 1
    assert capsys.readouterr().err == f"{USAGE}\n"
