"""`why`: the answer in words to a subject as the timeline writes it: flights-0, broker 3, group G."""

from __future__ import annotations

from pykafka_classic.monitor.web.formats import moment
from pykafka_classic.monitor.web.view import View
from pykafka_classic.monitor.why import Answer, Unknown, Why

BROKER, GROUP = "broker ", "group "


def why(view: View, subject: str, t_ms: int | None = None) -> Answer | None:
    """None where nothing is known of it."""
    asked = Why(view.reader, view.cluster, moment, t_ms)
    try:
        if subject.startswith(BROKER) and subject.removeprefix(BROKER).isdecimal():
            return asked.broker(int(subject.removeprefix(BROKER)))
        if subject.startswith(GROUP):
            return asked.group(subject.removeprefix(GROUP))
        topic, dash, number = subject.rpartition("-")
        return asked.partition(topic, int(number)) if dash and number.isascii() and number.isdecimal() and len(number) < 10 else None
    except Unknown:
        return None
