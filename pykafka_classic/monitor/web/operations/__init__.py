"""All that changes a cluster, each declared once: its fields, its address in the API, and the coroutine that does it.

The idea: a form of a page and a JSON body of the API are two ways to write the same thing down. An `Operation` reads both by the same fields, is written to the
audit log before and after it is done, and answers with one sentence, which the form's page shows and the API returns. `preview` operations change nothing with
`preview` true, and then are no writes.

Reading order: operation, then topics, brokers, groups.

Mirrors: kafka-topics.sh, kafka-configs.sh, kafka-consumer-groups.sh, which do the same from a shell.

Differs from Kafka: its tools keep no audit log.
"""

from __future__ import annotations

from pykafka_classic.monitor.web.operations import brokers, groups, topics

__all__ = ["brokers", "groups", "topics"]
