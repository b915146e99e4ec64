"""Where the broker listens, and what a connection may cost."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.common.config_def import ConfigType, Importance, at_least, key

HIGH, MEDIUM, LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
INT, LONG, STRING = ConfigType.INT, ConfigType.LONG, ConfigType.STRING
INT_MAX = 2147483647


@dataclass(frozen=True, kw_only=True)
class SocketKeys:
    """Listeners, what clients are told of them, buffers and limits. `common/listeners.py` gives the addresses their meaning."""

    listeners: str | None = key(STRING, None, HIGH, "Where to listen: NAME://host:port,... Empty host: every interface. Unset: host.name and port.")
    advertised_listeners: str | None = key(STRING, None, HIGH, "What clients and brokers are told to connect to; unset: the listeners.")
    listener_security_protocol_map: str = key(
        STRING,
        "PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL",
        LOW,
        "The protocol of each listener name, NAME:PROTOCOL,... Protocols: PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL.",
    )
    inter_broker_listener_name: str | None = key(
        STRING, None, MEDIUM, "Listener that brokers use among themselves; unset: the one of security.inter.broker.protocol."
    )
    security_inter_broker_protocol: str = key(
        STRING, "PLAINTEXT", MEDIUM, "Protocol that brokers use among themselves. Not together with inter.broker.listener.name."
    )
    control_plane_listener_name: str | None = key(STRING, None, HIGH, "Listener for the controller's requests alone; unset: they share that of the brokers.")
    host_name: str = key(STRING, "", HIGH, "Old: host to bind, where listeners is unset.")
    port: int = key(INT, 9092, HIGH, "Old: port to listen on, where listeners is unset.")
    advertised_host_name: str | None = key(STRING, None, HIGH, "Old: host told to clients, where advertised.listeners is unset.")
    advertised_port: int | None = key(INT, None, HIGH, "Old: port told to clients, where advertised.listeners is unset.")
    socket_send_buffer_bytes: int = key(INT, 102400, HIGH, "SO_SNDBUF of each connection, in bytes; -1: the system's choice.")
    socket_receive_buffer_bytes: int = key(INT, 102400, HIGH, "SO_RCVBUF of each connection, in bytes; -1, and where it is not set: the system's choice.")
    socket_request_max_bytes: int = key(INT, 104857600, HIGH, "Longest request, in bytes; a connection that announces more is closed.", at_least(1))
    max_connections_per_ip: int = key(INT, INT_MAX, MEDIUM, "Connections from one address. 0 only together with overrides.", at_least(0))
    max_connections_per_ip_overrides: str = key(STRING, "", MEDIUM, "Other limits for some addresses: host:count,...")
    max_connections: int = key(
        INT, INT_MAX, MEDIUM, "Connections to this broker; over it, one of those idle longest is closed for a new one of the brokers.", at_least(0)
    )
    max_connection_creation_rate: int = key(INT, INT_MAX, MEDIUM, "New connections per second.", at_least(0))
    connections_max_idle_ms: int = key(LONG, 600000, MEDIUM, "Silence, in ms, after which a connection is closed; negative: never.")
    connection_failed_authentication_delay_ms: int = key(INT, 100, LOW, "Pause, in ms, before a connection that failed to authenticate is closed.", at_least(0))
    max_incremental_fetch_session_cache_slots: int = key(INT, 1000, MEDIUM, "Incremental fetch sessions (KIP-227) that the broker remembers.", at_least(0))
    fetch_max_bytes: int = key(
        INT, 57671680, MEDIUM, "Longest answer to a consumer's Fetch, in bytes. One batch is given even if it is longer.", at_least(1024)
    )
