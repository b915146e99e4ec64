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
            return _with_silence(view, int(subject.removeprefix(BROKER)), asked.broker(int(subject.removeprefix(BROKER))), t_ms)
        if subject.startswith(GROUP):
            return asked.group(subject.removeprefix(GROUP))
        topic, dash, number = subject.rpartition("-")
        return asked.partition(topic, int(number)) if dash and number.isascii() and number.isdecimal() and len(number) < 10 else None
    except Unknown:
        return None


def _with_silence(view: View, broker: int, answer: Answer, t_ms: int | None) -> Answer:
    """A broker that is registered and does not answer: the store's history does not know that it is well no longer."""
    since = view.present.silent.get(broker)
    if t_ms is not None or since is None:
        return answer
    sentence = f"Broker {broker} takes no connections since {moment(since)}, but its session with ZooKeeper lives until it times out."
    return Answer((sentence, *answer.sentences), False, since, answer.subjects)
