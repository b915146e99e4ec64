"""`/metrics`, in Prometheus's text format (version 0.0.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from pykafka_classic.monitor.web.exchange import Response
from pykafka_classic.monitor.web.pages.dashboard import RECENTLY_MS
from pykafka_classic.monitor.web.routes import ROUTES
from pykafka_classic.monitor.web.view import View, broker_lines
from pykafka_classic.monitor.web.work import Work

TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
HELP: Final[Mapping[str, str]] = {
    "kafka_monitor_connected": "1 while the monitor has a session with the cluster's ZooKeeper.",
    "kafka_broker_up": "1: registered and answering; 0: silent, or gone.",
    "kafka_controller": "Id of the controller; -1: nobody.",
    "kafka_controller_epoch": "Epoch of the controller.",
    "kafka_partitions": "Partitions of all topics.",
    "kafka_partitions_under_replicated": "Partitions of which a replica is not in sync.",
    "kafka_partitions_offline": "Partitions without a leader.",
    "kafka_partitions_not_preferred": "Partitions that another than the preferred replica leads.",
    "kafka_topic_log_end": "Sum of the ends of a topic's logs: records ever taken.",
    "kafka_topic_size_bytes": "Size of a topic's logs on their leaders.",
    "kafka_records_in_per_second": "Records taken per second, over the last 15 s.",
    "kafka_group_lag_records": "Records that a group is behind.",
    "kafka_group_lag_seconds": "Age of the oldest record that a group has not read.",
    "kafka_log_dir_bytes": "Size of the replicas in a log directory.",
    "kafka_alarms_on": "Alarms that are on.",
    "kafka_monitor_live_readers": "Browsers that listen for server-sent events.",
}

Sample = tuple[str, Mapping[str, str], float]


@ROUTES.action("GET", "/metrics")
async def metrics(work: Work) -> Response:
    """All clusters."""
    app = work.app
    views = [app.view_of(name, work.request, work.user) for name in app.monitor.collectors]
    samples = await app.read(lambda: [sample for view in views for sample in samples_of(view)])
    return Response(body=text_of([*samples, ("kafka_monitor_live_readers", {}, app.live.count)]).encode(), content_type=TYPE)


def samples_of(view: View) -> list[Sample]:
    """Of one cluster."""
    own = {"cluster": view.cluster}
    partitions = view.reader.partitions_at(view.cluster)
    controller = view.reader.controller_at(view.cluster)
    (rate,) = view.reader.rates(view.cluster, view.now_ms - RECENTLY_MS, view.now_ms, points=1)
    found: list[Sample] = [
        ("kafka_monitor_connected", own, float(view.present.state == "connected")),
        ("kafka_controller", own, -1 if controller is None or controller.broker is None else controller.broker),
        ("kafka_controller_epoch", own, 0 if controller is None or controller.epoch is None else controller.epoch),
        ("kafka_partitions", own, len(partitions)),
        ("kafka_partitions_under_replicated", own, sum(each.under_replicated for each in partitions)),
        ("kafka_partitions_offline", own, sum(each.offline for each in partitions)),
        ("kafka_partitions_not_preferred", own, sum(not each.offline and each.leader != each.preferred_leader for each in partitions)),
        ("kafka_records_in_per_second", own, rate.records_per_s),
        ("kafka_alarms_on", own, len(view.reader.alarms(view.cluster, only_on=True))),
    ]
    found += [("kafka_broker_up", {**own, "broker": str(each.broker.broker)}, float(each.state == "up")) for each in broker_lines(view)]
    found += _of_topics(view, own)
    for each in view.reader.lag_ranking(view.cluster, limit=10_000):
        labels = {**own, "group": each.group, "store": each.store}
        found.append(("kafka_group_lag_records", labels, each.lag))
        found += [("kafka_group_lag_seconds", labels, each.lag_ms / 1000)] if each.lag_ms is not None else []
    found += [("kafka_log_dir_bytes", {**own, "broker": str(each.broker), "path": each.path}, each.size) for each in view.reader.log_dirs(view.cluster)]
    return found


def _of_topics(view: View, own: Mapping[str, str]) -> list[Sample]:
    ends: dict[str, int] = {}
    sizes: dict[str, int] = {}
    for (topic, _), point in view.reader.ends_at(view.cluster).items():
        ends[topic] = ends.get(topic, 0) + point.log_end
        if point.size >= 0:
            sizes[topic] = sizes.get(topic, 0) + point.size
    of_ends: list[Sample] = [("kafka_topic_log_end", {**own, "topic": topic}, end) for topic, end in ends.items()]
    return [*of_ends, *(("kafka_topic_size_bytes", {**own, "topic": topic}, size) for topic, size in sizes.items())]


def text_of(samples: Iterable[Sample]) -> str:
    """Each name once, with its help, then its samples."""
    by_name: dict[str, list[Sample]] = {}
    for sample in samples:
        by_name.setdefault(sample[0], []).append(sample)
    lines = []
    for name, some in by_name.items():
        lines += [f"# HELP {name} {HELP[name]}", f"# TYPE {name} gauge"]
        lines += [f"{name}{_labels(labels)} {value:g}" if value != int(value) else f"{name}{_labels(labels)} {int(value)}" for _, labels, value in some]
    return "\n".join(lines) + "\n"


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    escaped = (value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") for value in labels.values())
    return "{" + ",".join(f'{name}="{value}"' for name, value in zip(labels, escaped, strict=True)) + "}"
