"""Brokers: their dynamic configs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pykafka_classic.client.admin.configs import ConfigChange, ConfigResource
from pykafka_classic.monitor.web.exchange import not_found
from pykafka_classic.monitor.web.operations.alter import DELETE, alter_op
from pykafka_classic.monitor.web.operations.operation import Address, Done, operation
from pykafka_classic.monitor.web.operations.topics import CONFIG_FIELDS
from pykafka_classic.monitor.web.work import Work


@operation("alter-broker", Address("POST", "/brokers/{broker}/configs", "brokers"), "Set a dynamic config of a broker, or take it back.", CONFIG_FIELDS)
async def alter_broker(work: Work, values: Mapping[str, Any]) -> Done:
    """See the summary."""
    name = work.request.parts["broker"]
    if not (name.isascii() and name.isdigit()) or int(name) not in work.collector.view.brokers:
        raise not_found(f"No broker {name[:40]} is registered.")
    change = ConfigChange(values["name"], values["value"], alter_op(values["value"]))
    (await work.collector.admin.core.incremental_alter_configs({ConfigResource.broker(int(name)): [change]})).check()
    return Done(f"Broker {name}: {change.name} is {'back to its default' if change.operation is DELETE else change.value}.")
