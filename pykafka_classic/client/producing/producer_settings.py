"""How a producer is set: Kafka's keys as Python names, with Kafka 2.8's defaults.

Source: 2.8:clients/src/main/java/org/apache/kafka/clients/producer/ProducerConfig.java.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pykafka_classic.client.client_errors import InvalidSetting
from pykafka_classic.client.client_settings import ClientSettings
from pykafka_classic.client.producing.partitioners import Partitioner, partitioner_of
from pykafka_classic.records.compression import CompressionType

ALL_REPLICAS: Final = -1
_ACKS: Final = {"all": ALL_REPLICAS, "-1": ALL_REPLICAS, "0": 0, "1": 1}
DELIVERY_TIMEOUT_MS: Final = 120_000
IDEMPOTENT_IN_FLIGHT_MAX: Final = 5  # batches that a leader remembers


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerSettings(ClientSettings):
    """Times in ms, sizes in bytes. InvalidSetting for a value, or for two that contradict each other."""

    acks: int | str | None = None  # 0, 1 or all; None: 1, or all with idempotence
    enable_idempotence: bool = False
    transactional_id: str | None = None  # with one, idempotence is on
    transaction_timeout_ms: int = 60_000  # a transaction that takes longer is aborted by its coordinator
    compression_type: str = "none"
    linger_ms: int = 0
    batch_size: int = 16_384
    buffer_memory: int = 33_554_432
    max_request_size: int = 1_048_576
    max_block_ms: int = 60_000
    max_in_flight_requests_per_connection: int = 5
    retries: int = 2_147_483_647
    delivery_timeout_ms: int = 0  # 0, where it is not given: two minutes, or as long as lingering and one request take if that is more
    partitioner: str | Partitioner = "default"

    def __post_init__(self) -> None:
        """Refuse what cannot work."""
        ClientSettings.__post_init__(self)
        if self.transactional_id is not None:
            if not self.transactional_id:
                raise InvalidSetting("transactional.id is empty")
            object.__setattr__(self, "enable_idempotence", True)
        if self.acks is not None and str(self.acks) not in _ACKS:
            raise InvalidSetting(f"acks is {self.acks!r}, not 0, 1 or all")
        try:
            CompressionType.of(self.compression_type)
        except ValueError:
            codecs = ", ".join(each.label for each in CompressionType)
            raise InvalidSetting(f"compression.type is {self.compression_type!r}, not one of {codecs}") from None
        partitioner_of(self.partitioner)
        if self.batch_size < 0 or self.buffer_memory < 1 or self.max_request_size < 1 or self.max_in_flight_requests_per_connection < 1 or self.retries < 0:
            raise InvalidSetting("batch.size, buffer.memory, max.request.size, max.in.flight.requests.per.connection and retries cannot be negative or nothing")
        if not self.delivery_timeout_ms:
            object.__setattr__(self, "delivery_timeout_ms", max(DELIVERY_TIMEOUT_MS, self.linger_ms + self.request_timeout_ms))
        if self.delivery_timeout_ms < self.linger_ms + self.request_timeout_ms:
            raise InvalidSetting("delivery.timeout.ms is less than linger.ms + request.timeout.ms: no request could ever be waited for")
        if self.enable_idempotence:
            self._check_idempotence()

    def _check_idempotence(self) -> None:
        if self.required_acks != ALL_REPLICAS:
            raise InvalidSetting("enable.idempotence needs acks=all: a leader alone could forget what it has acknowledged")
        if not self.retries:
            raise InvalidSetting("enable.idempotence without retries means nothing")
        if self.max_in_flight_requests_per_connection > IDEMPOTENT_IN_FLIGHT_MAX:
            raise InvalidSetting(f"enable.idempotence allows {IDEMPOTENT_IN_FLIGHT_MAX} requests in flight: a leader remembers no more batches")

    @property
    def required_acks(self) -> int:
        """0, 1 or -1."""
        if self.acks is None:
            return ALL_REPLICAS if self.enable_idempotence else 1
        return _ACKS[str(self.acks)]

    @property
    def codec(self) -> CompressionType:
        """The codec."""
        return CompressionType.of(self.compression_type)
