"""The one exception of this package."""

from __future__ import annotations


class MalformedZNode(ValueError):
    """A znode's data (or a znode's name) is not what its family prescribes.

    Raised by every `decode`, and by nothing else; whoever reads the node decides whether to ignore it (Kafka logs and goes on, mostly) or to give up.
    """

    def __init__(self, family: str, why: str) -> None:
        super().__init__(f"Malformed data in {family}: {why}")
        self.family = family  # the path, or its pattern: /brokers/ids/N
        self.why = why
