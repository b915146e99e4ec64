"""`/admin/delete_topics/T`: topic T shall be deleted.

* Kind: persistent, no data (null).
* Writers: a broker that handles DeleteTopics, or a tool; the controller removes it when every replica is gone, or at once where deletion is disabled.
* Watcher: the controller (children of /admin/delete_topics).

Source: DeleteTopicsTopicZNode in 2.8:core/src/main/scala/kafka/zk/ZkData.scala.
"""

from __future__ import annotations

from typing import Final

PATH: Final = "/admin/delete_topics"


def path(topic: str) -> str:
    """The mark on a topic."""
    return f"{PATH}/{topic}"


def topic_of(mark_path: str) -> str | None:
    """The topic that this path marks; None for any other path."""
    parent, _, topic = mark_path.rpartition("/")
    return topic if parent == PATH and topic else None
