"""Rules that bind several keys together, checked once after all are read. Each rule is a function; the table at the end is their order.

Source: `validateValues` in 2.8:core/src/main/scala/kafka/server/KafkaConfig.scala.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from pykafka_classic.common.api_version import KAFKA_2_1_IV2, ApiVersion, minimum_for_record_version
from pykafka_classic.common.config_def import ConfigError
from pykafka_classic.common.listeners import SECURITY_PROTOCOLS

if TYPE_CHECKING:
    from pykafka_classic.common.config import KafkaConfig

MEBIBYTE: Final = 1024 * 1024
ZSTD: Final = 4


def check(config: KafkaConfig) -> None:
    """Raise ConfigError for the first rule that a configuration breaks."""
    for rule in RULES:
        rule(config)


def _require(holds: bool, key: str, value: object, allowed: str) -> None:
    if not holds:
        raise ConfigError(key, value, allowed)


def zookeeper_is_named(config: KafkaConfig) -> None:
    """Without ZooKeeper there is no cluster."""
    _require(bool(config.zookeeper_connect), "zookeeper.connect", config.zookeeper_connect, "required: host:port of ZooKeeper, e.g. localhost:2181")


def broker_id_is_in_range(config: KafkaConfig) -> None:
    """People's ids lie below the generated ones."""
    broker_id = config.broker_id
    if config.broker_id_generation_enable:
        allowed = f"-1 (generate one) to reserved.broker.max.id, {config.reserved_broker_max_id}"
        _require(-1 <= broker_id <= config.reserved_broker_max_id, "broker.id", broker_id, allowed)
    else:
        _require(broker_id >= 0, "broker.id", broker_id, "0 or more, as broker.id.generation.enable is false")


def times_of_segments_make_sense(config: KafkaConfig) -> None:
    """Rolling needs an age, retention one or none."""
    _require(config.log_roll_ms_resolved >= 1, "log.roll.ms", config.log_roll_ms_resolved, "1 or more")
    _require(config.log_roll_jitter_ms_resolved >= 0, "log.roll.jitter.ms", config.log_roll_jitter_ms_resolved, "0 or more")
    _require(config.log_retention_ms_resolved != 0, "log.retention.ms", 0, "-1 (for ever), or 1 or more")


def data_has_a_place(config: KafkaConfig) -> None:
    """At least one directory is named."""
    _require(bool(config.log_directories), "log.dirs", config.log_dirs, "at least one directory, in log.dirs or log.dir")


def cleaners_have_memory(config: KafkaConfig) -> None:
    """Each cleaner thread's share of the dedupe buffer must hold something."""
    size, threads = config.log_cleaner_dedupe_buffer_size, max(config.log_cleaner_threads, 1)
    _require(size // threads > MEBIBYTE, "log.cleaner.dedupe.buffer.size", size, f"more than {MEBIBYTE} for each of log.cleaner.threads, {threads}")


def followers_answer_in_time(config: KafkaConfig) -> None:
    """A fetch that waits longer than the lag allows would throw its own follower out of the ISR."""
    wait = config.replica_fetch_wait_max_ms
    socket_ms, lag_ms = config.replica_socket_timeout_ms, config.replica_lag_time_max_ms
    _require(wait <= socket_ms, "replica.fetch.wait.max.ms", wait, f"at most replica.socket.timeout.ms, {socket_ms}")
    _require(wait <= lag_ms, "replica.fetch.wait.max.ms", wait, f"at most replica.lag.time.max.ms, {lag_ms}")


def offsets_can_be_acknowledged(config: KafkaConfig) -> None:
    """Acks that no number of replicas can give."""
    acks, factor = config.offsets_commit_required_acks, config.offsets_topic_replication_factor
    _require(-1 <= acks <= factor, "offsets.commit.required.acks", acks, f"-1 to offsets.topic.replication.factor, {factor}")


def group_sessions_have_a_range(config: KafkaConfig) -> None:
    """A lower bound above the upper one would refuse every member. Kafka starts all the same."""
    low, high = config.group_min_session_timeout_ms, config.group_max_session_timeout_ms
    _require(low <= high, "group.min.session.timeout.ms", low, f"at most group.max.session.timeout.ms, {high}")


def inter_broker_listener_is_given_once(config: KafkaConfig) -> None:
    """By name or by protocol."""
    both = config.inter_broker_listener_name is not None and "security.inter.broker.protocol" in config.originals
    _require(not both, "inter.broker.listener.name", config.inter_broker_listener_name, "only one of this and security.inter.broker.protocol")
    protocol = config.security_inter_broker_protocol
    _require(protocol in SECURITY_PROTOCOLS, "security.inter.broker.protocol", protocol, f"one of {', '.join(SECURITY_PROTOCOLS)}")
    known = config.security_protocols
    _require(config.inter_broker_listener in known, "inter.broker.listener.name", config.inter_broker_listener, f"one of {', '.join(known)}")


def listeners_fit_together(config: KafkaConfig) -> None:
    """Every advertised name is listened on, and brokers can reach each other by one of them."""
    listening = [each.listener_name for each in config.listener_end_points]
    advertised = [each.listener_name for each in config.advertised_end_points]
    between = config.inter_broker_listener
    _require(between in advertised, "inter.broker.listener.name", between, f"one of advertised.listeners: {', '.join(advertised)}")
    foreign = sorted(set(advertised) - set(listening))
    _require(not foreign, "advertised.listeners", ",".join(foreign), f"names that listeners has: {', '.join(listening)}")
    everywhere = [each.connection_string for each in config.advertised_end_points if each.host == "0.0.0.0"]
    _require(not everywhere, "advertised.listeners", ",".join(everywhere), "an address that others can connect to, not 0.0.0.0")


def control_plane_is_its_own(config: KafkaConfig) -> None:
    """The controller's listener is advertised, and not that of the brokers."""
    name = config.control_plane_listener
    if name is None:
        return
    others = [each.listener_name for each in config.advertised_end_points if each.listener_name != config.inter_broker_listener]
    _require(name in others, "control.plane.listener.name", name, f"an advertised listener other than inter.broker.listener.name: {', '.join(others)}")


def formats_are_not_ahead_of_the_protocol(config: KafkaConfig) -> None:
    """Brokers must be able to fetch what they store."""
    protocol, message_format = config.inter_broker_api_version, ApiVersion.parse(config.log_message_format_version)
    needed = minimum_for_record_version(message_format.record_version).short_version
    fits = protocol.record_version >= message_format.record_version
    allowed = f"a version whose record format inter.broker.protocol.version, {protocol.version}, has; else raise that to {needed} or higher"
    _require(fits, "log.message.format.version", config.log_message_format_version, allowed)
    codec = config.offsets_topic_compression_codec
    _require(codec in range(5), "offsets.topic.compression.codec", codec, "0 (none), 1 (gzip), 2 (snappy), 3 (lz4) or 4 (zstd)")
    _require(codec != ZSTD or protocol >= KAFKA_2_1_IV2, "offsets.topic.compression.codec", codec, "zstd needs inter.broker.protocol.version 2.1 or higher")


def connections_have_room(config: KafkaConfig) -> None:
    """Limits that would refuse everything."""
    queued, request = config.queued_max_request_bytes, config.socket_request_max_bytes
    _require(queued <= 0 or queued >= request, "queued.max.request.bytes", queued, f"at least socket.request.max.bytes, {request}, or not positive")
    per_ip, overrides = config.max_connections_per_ip, config.connections_per_ip_overrides
    _require(bool(per_ip or overrides), "max.connections.per.ip", per_ip, "0 only together with max.connections.per.ip.overrides")
    delay, idle = config.connection_failed_authentication_delay_ms, config.connections_max_idle_ms
    _require(idle < 0 or delay < idle, "connection.failed.authentication.delay.ms", delay, f"less than connections.max.idle.ms, {idle}")


def sasl_between_brokers_is_enabled(config: KafkaConfig) -> None:
    """Brokers must be able to authenticate to each other."""
    if not config.security_protocols[config.inter_broker_listener].startswith("SASL"):
        return
    mechanism, enabled = config.sasl_mechanism_inter_broker_protocol, config.sasl_enabled_mechanisms
    _require(mechanism in enabled, "sasl.mechanism.inter.broker.protocol", mechanism, f"one of sasl.enabled.mechanisms: {', '.join(enabled)}")


RULES: Final[tuple[Callable[[KafkaConfig], None], ...]] = (
    zookeeper_is_named,
    broker_id_is_in_range,
    times_of_segments_make_sense,
    data_has_a_place,
    cleaners_have_memory,
    followers_answer_in_time,
    offsets_can_be_acknowledged,
    group_sessions_have_a_range,
    inter_broker_listener_is_given_once,
    listeners_fit_together,
    control_plane_is_its_own,
    formats_are_not_ahead_of_the_protocol,
    connections_have_room,
    sasl_between_brokers_is_enabled,
)
