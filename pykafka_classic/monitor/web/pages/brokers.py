"""Brokers: the list with what each holds, and one with its configs, log directories, versions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pykafka_classic.common.errors import KafkaError
from pykafka_classic.monitor.store.answers import LogDir, PartitionState
from pykafka_classic.monitor.web.api import shown_configs
from pykafka_classic.monitor.web.exchange import Response, not_found
from pykafka_classic.monitor.web.pages.whys import why
from pykafka_classic.monitor.web.routes import ROUTES
from pykafka_classic.monitor.web.view import BrokerLine, Page, View, broker_lines
from pykafka_classic.monitor.web.work import Work
from pykafka_classic.protocol.api_keys import ApiKey

SHOWN: Final = 300


@dataclass(frozen=True, slots=True)
class Load:
    """What a broker holds. `skew`: how much more than its share, in percent; None: there is nothing to share."""

    line: BrokerLine
    leads: int
    replicas: int
    preferred: int  # partitions whose preferred leader it is
    size: int
    leads_skew: float | None
    replicas_skew: float | None


@ROUTES.page("/c/{cluster}/brokers")
def brokers(view: View) -> Page:
    """All brokers."""
    partitions = view.reader.partitions_at(view.cluster)
    dirs = view.reader.log_dirs(view.cluster)
    values = {
        "loads": _loads(broker_lines(view), partitions, dirs),
        "dirs": dirs,
        "controller": view.reader.controller_at(view.cluster),
        "controllers": view.reader.controller_history(view.cluster)[:10],
        "not_preferred": sum(not each.offline and each.leader != each.preferred_leader for each in partitions),
    }
    return Page("brokers.html", "Brokers", values)


@ROUTES.action("GET", "/c/{cluster}/brokers/{broker}")
async def broker(work: Work) -> Response:
    """One broker: the store's part of it, and what it serves, asked of itself."""
    told = work.request.parts["broker"]
    if not (told.isascii() and told.isdigit() and len(told) < 11):
        raise not_found(f"A broker has a number, not {told[:40]!r}.")
    number = int(told)
    view = work.view
    values = await work.read(lambda: _one(view, number))
    versions, error = [], ""
    if number in work.collector.view.brokers and number not in work.collector.pulse.silent:
        try:
            outcome = (await work.collector.admin.core.api_versions([number]))[number]
            versions = [] if isinstance(outcome, KafkaError) else [(_name(each.api_key), each.min_version, each.max_version) for each in outcome]
            error = str(outcome) if isinstance(outcome, KafkaError) else ""
        except KafkaError as failure:
            error = str(failure)
    else:
        error = "The broker does not answer."
    return await work.page(Page("broker.html", f"Broker {number}", {**values, "versions": versions, "versions_error": error}))


def _one(view: View, number: int) -> dict[str, object]:
    partitions = view.reader.partitions_at(view.cluster)
    dirs = [each for each in view.reader.log_dirs(view.cluster) if each.broker == number]
    loads = {each.line.broker.broker: each for each in _loads(broker_lines(view), partitions, view.reader.log_dirs(view.cluster))}
    if number not in loads:
        raise not_found(f"Cluster {view.cluster} has never had a broker {number}, as far as is known.")
    config = view.reader.config_at(view.cluster, "broker", str(number))
    held = [each for each in partitions if number in each.replicas]
    return {
        "number": number,
        "load": loads[number],
        "dirs": dirs,
        "held": sorted(held, key=lambda each: (number in each.isr, each.topic, each.partition))[:SHOWN],
        "held_count": len(held),
        "configs": shown_configs(config.entries) if config is not None else [],
        "controller": view.reader.controller_at(view.cluster),
        "why": why(view, f"broker {number}"),
    }


def _loads(lines: list[BrokerLine], partitions: tuple[PartitionState, ...], dirs: tuple[LogDir, ...]) -> list[Load]:
    leads = _counts([each.leader for each in partitions])
    replicas = _counts([broker for each in partitions for broker in each.replicas])
    preferred = _counts([each.preferred_leader for each in partitions])
    sizes: dict[int, int] = {}
    for each in dirs:
        sizes[each.broker] = sizes.get(each.broker, 0) + each.size
    count = max(1, sum(line.state != "gone" for line in lines))
    found = []
    for line in lines:
        number = line.broker.broker
        mine, held = leads.get(number, 0), replicas.get(number, 0)
        skews = _skew(mine, len(partitions) / count), _skew(held, sum(replicas.values()) / count)
        found.append(Load(line, mine, held, preferred.get(number, 0), sizes.get(number, 0), *skews))
    return found


def _skew(mine: int, share: float) -> float | None:
    return 100 * (mine - share) / share if share else None


def _counts(brokers_of: list[int]) -> dict[int, int]:
    found: dict[int, int] = {}
    for each in brokers_of:
        found[each] = found.get(each, 0) + 1
    return found


def _name(key: int) -> str:
    return ApiKey(key).name if key in set(map(int, ApiKey)) else f"API {key}"
