"""How the broker reaches ZooKeeper."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.common.config_def import ConfigType, Importance, at_least, key

HIGH, MEDIUM, LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
BOOLEAN, INT, STRING, LIST, PASSWORD = ConfigType.BOOLEAN, ConfigType.INT, ConfigType.STRING, ConfigType.LIST, ConfigType.PASSWORD


@dataclass(frozen=True, kw_only=True)
class ZooKeeperKeys:
    """Address, session, and TLS to ZooKeeper."""

    zookeeper_connect: str | None = key(
        STRING, None, HIGH, "The ensemble, host:port,host:port, and after it the /chroot under which the cluster lives. Required."
    )
    zookeeper_session_timeout_ms: int = key(
        INT, 18000, HIGH, "Silence, in ms, after which ZooKeeper declares the broker dead and removes its ephemeral znodes."
    )
    zookeeper_connection_timeout_ms: int | None = key(INT, None, HIGH, "How long to wait for ZooKeeper at start, in ms; unset: the session time-out.")
    zookeeper_sync_time_ms: int = key(INT, 2000, LOW, "How far a ZooKeeper follower may be behind its leader, in ms. Nothing uses it any more.")
    zookeeper_set_acl: bool = key(BOOLEAN, False, HIGH, "Whether znodes are created so that only brokers may write them.")
    zookeeper_max_in_flight_requests: int = key(INT, 10, HIGH, "Requests sent to ZooKeeper before the first answer must come.", at_least(1))
    zookeeper_ssl_client_enable: bool = key(BOOLEAN, False, MEDIUM, "Whether to speak TLS to ZooKeeper.")
    zookeeper_clientCnxnSocket: str | None = key(STRING, None, MEDIUM, "Java class of the client socket; Netty's for TLS.")  # noqa: N815
    zookeeper_ssl_keystore_location: str | None = key(STRING, None, MEDIUM, "File with the broker's key and certificate for ZooKeeper.")
    zookeeper_ssl_keystore_password: str | None = key(PASSWORD, None, MEDIUM, "Password of that file.")
    zookeeper_ssl_keystore_type: str | None = key(STRING, None, MEDIUM, "Form of that file; unset: by its extension.")
    zookeeper_ssl_truststore_location: str | None = key(STRING, None, MEDIUM, "File with the certificates by which ZooKeeper is trusted.")
    zookeeper_ssl_truststore_password: str | None = key(PASSWORD, None, MEDIUM, "Password of that file.")
    zookeeper_ssl_truststore_type: str | None = key(STRING, None, MEDIUM, "Form of that file; unset: by its extension.")
    zookeeper_ssl_protocol: str = key(STRING, "TLSv1.2", LOW, "TLS version to negotiate with ZooKeeper.")
    zookeeper_ssl_enabled_protocols: tuple[str, ...] | None = key(LIST, None, LOW, "TLS versions to allow; unset: the one of zookeeper.ssl.protocol.")
    zookeeper_ssl_cipher_suites: tuple[str, ...] | None = key(LIST, None, LOW, "Cipher suites to allow; unset: the library's.")
    zookeeper_ssl_endpoint_identification_algorithm: str = key(STRING, "HTTPS", LOW, "HTTPS: ZooKeeper's certificate must name its host. Empty: it need not.")
    zookeeper_ssl_crl_enable: bool = key(BOOLEAN, False, LOW, "Whether to look at lists of revoked certificates.")
    zookeeper_ssl_ocsp_enable: bool = key(BOOLEAN, False, LOW, "Whether to ask online if a certificate is revoked.")
