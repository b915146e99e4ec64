"""`AdminCore`: all operations of the admin client, as coroutines over the seam of `connections`. Faces: `edges/admin.py` (waits), `edges/twisted_admin.py`."""

from __future__ import annotations

from pykafka_classic.client.admin.cluster import ClusterOperations
from pykafka_classic.client.admin.configs import ConfigOperations
from pykafka_classic.client.admin.connections import BrokerConnections
from pykafka_classic.client.admin.groups import GroupOperations
from pykafka_classic.client.admin.offsets import OffsetOperations
from pykafka_classic.client.admin.replicas import ReplicaOperations
from pykafka_classic.client.admin.requests import AdminSettings, ClusterRequests
from pykafka_classic.client.admin.scram import DrawSalt, ScramOperations
from pykafka_classic.client.admin.topics import TopicOperations


class AdminCore(TopicOperations, ConfigOperations, OffsetOperations, ReplicaOperations, GroupOperations, ClusterOperations, ScramOperations):
    """One admin client. Calls may overlap.

    Raises, from every call: KafkaError, with REQUEST_TIMED_OUT where nobody could be asked in time, UNSUPPORTED_VERSION where the broker is too old; and what
    the broker says of the call as a whole. Errors of single topics, partitions, groups are outcomes, not raised.

    `draw_salt`: the seam for chance, some 20 random bytes for a credential whose salt is not given.
    """

    def __init__(self, connections: BrokerConnections, settings: AdminSettings | None = None, *, draw_salt: DrawSalt) -> None:
        self._requests = ClusterRequests(connections, settings)
        self._draw_salt = draw_salt

    @property
    def requests(self) -> ClusterRequests:
        """For those who ask brokers for what is not here."""
        return self._requests

    def now_ms(self) -> int:
        """Wall-clock time since the epoch, as the connections know it."""
        return self._requests.now_ms()
