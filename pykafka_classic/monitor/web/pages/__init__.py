"""The pages, one module for each section; importing this package fills the table of routes.

The idea: a page is a function from what is stored to a template's values, and says nothing of HTML; what it cannot read from the store (messages, a node of
ZooKeeper at this moment) it is an action, which asks first.

Reading order: dashboard, then any.

Mirrors: the sections of Kafka Eagle.

Differs from Kafka: it has no pages.
"""

from __future__ import annotations

from pykafka_classic.monitor.web import api, charts, metrics, operations
from pykafka_classic.monitor.web.pages import brokers, dashboard, frame, groups, messages, others, sql, timeline, topics, zookeeper
from pykafka_classic.monitor.web.routes import ROUTES

__all__ = ["ROUTES", "api", "brokers", "charts", "dashboard", "frame", "groups", "messages", "metrics", "operations", "others"]
__all__ += ["sql", "timeline", "topics", "zookeeper"]
