"""The seams that the replica manager needs."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.common.clock import Background, Clock
from pykafka_classic.log.file_system import FileSystem
from pykafka_classic.protocol.network import Network
from pykafka_classic.purgatory.timing_wheel import TimingWheel


@dataclass(frozen=True, slots=True)
class ReplicaServices:
    """Time, other threads, the disk, other brokers, and the one timing wheel."""

    clock: Clock
    background: Background
    file_system: FileSystem
    network: Network
    timer: TimingWheel
