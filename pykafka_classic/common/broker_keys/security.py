"""Who may do what: TLS, SASL, delegation tokens, the authorizer, and the passwords kept in ZooKeeper.

These keys are read, checked and described. Listener prefixes (`listener.name.NAME.ssl...`) are known too.
"""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.common.config_def import ConfigType, Importance, at_least, key, one_of

HIGH, MEDIUM, LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
INT, LONG, SHORT, DOUBLE = ConfigType.INT, ConfigType.LONG, ConfigType.SHORT, ConfigType.DOUBLE
STRING, LIST, CLASS, PASSWORD = ConfigType.STRING, ConfigType.LIST, ConfigType.CLASS, ConfigType.PASSWORD


@dataclass(frozen=True, kw_only=True)
class AuthorizationKeys:
    """The authorizer, principals, and limits common to all mechanisms."""

    authorizer_class_name: str = key(STRING, "", LOW, "Class that allows or refuses requests; empty: all is allowed.")
    principal_builder_class: str | None = key(CLASS, None, MEDIUM, "Class that names the principal of a connection; unset: by certificate or SASL.")
    connections_max_reauth_ms: int = key(LONG, 0, MEDIUM, "Longest life, in ms, of a SASL session without authenticating again (KIP-368); 0: no limit.")
    sasl_server_max_receive_size: int = key(INT, 524288, MEDIUM, "Longest message, in bytes, before a connection is authenticated.")
    security_providers: str | None = key(STRING, None, LOW, "Java's security provider classes. Read and ignored.")
    delegation_token_master_key: str | None = key(PASSWORD, None, MEDIUM, "Old name of delegation.token.secret.key.")
    delegation_token_secret_key: str | None = key(PASSWORD, None, MEDIUM, "Secret, equal on all brokers, that signs delegation tokens; unset: no tokens.")
    delegation_token_max_lifetime_ms: int = key(LONG, 604800000, MEDIUM, "Life of a token, in ms, however often it is renewed.", at_least(1))
    delegation_token_expiry_time_ms: int = key(LONG, 86400000, MEDIUM, "Life of a token, in ms, until it must be renewed.", at_least(1))
    delegation_token_expiry_check_interval_ms: int = key(LONG, 3600000, LOW, "Time, in ms, between two looks for expired tokens.", at_least(1))
    password_encoder_secret: str | None = key(PASSWORD, None, MEDIUM, "Secret with which passwords in ZooKeeper's broker configs are encrypted.")
    password_encoder_old_secret: str | None = key(PASSWORD, None, MEDIUM, "The secret before it: passwords found under it are encrypted anew at start.")
    password_encoder_keyfactory_algorithm: str | None = key(STRING, None, LOW, "Key derivation; unset: PBKDF2WithHmacSHA512, or SHA1 where that is missing.")
    password_encoder_cipher_algorithm: str = key(STRING, "AES/CBC/PKCS5Padding", LOW, "Cipher for passwords.")
    password_encoder_key_length: int = key(INT, 128, LOW, "Length of the cipher's key, in bits.", at_least(8))
    password_encoder_iterations: int = key(INT, 4096, LOW, "Rounds of the key derivation.", at_least(1024))


@dataclass(frozen=True, kw_only=True)
class SslKeys:
    """TLS of listeners and between brokers."""

    ssl_protocol: str = key(STRING, "TLSv1.3", MEDIUM, "TLS version of the context.")
    ssl_provider: str | None = key(STRING, None, MEDIUM, "Java's TLS provider. Read and ignored.")
    ssl_enabled_protocols: tuple[str, ...] = key(LIST, ("TLSv1.2", "TLSv1.3"), MEDIUM, "TLS versions that connections may use.")
    ssl_cipher_suites: tuple[str, ...] = key(LIST, (), MEDIUM, "Cipher suites that connections may use; empty: the library's.")
    ssl_client_auth: str = key(STRING, "none", MEDIUM, "Whether clients must show a certificate.", one_of("required", "requested", "none"))
    ssl_principal_mapping_rules: str = key(
        STRING, "DEFAULT", LOW, "How a certificate's subject becomes a principal: RULE:pattern/replacement/[LU],... or DEFAULT."
    )
    ssl_keystore_type: str = key(STRING, "JKS", MEDIUM, "Form of the key store: JKS, PKCS12 or PEM.")
    ssl_keystore_location: str | None = key(STRING, None, MEDIUM, "File with the broker's key and certificate.")
    ssl_keystore_password: str | None = key(PASSWORD, None, MEDIUM, "Password of that file.")
    ssl_key_password: str | None = key(PASSWORD, None, MEDIUM, "Password of the key in it.")
    ssl_keystore_key: str | None = key(PASSWORD, None, MEDIUM, "The key itself, in PEM.")
    ssl_keystore_certificate_chain: str | None = key(PASSWORD, None, MEDIUM, "The certificates themselves, in PEM.")
    ssl_truststore_type: str = key(STRING, "JKS", MEDIUM, "Form of the trust store: JKS, PKCS12 or PEM.")
    ssl_truststore_location: str | None = key(STRING, None, MEDIUM, "File with the certificates that are trusted.")
    ssl_truststore_password: str | None = key(PASSWORD, None, MEDIUM, "Password of that file.")
    ssl_truststore_certificates: str | None = key(PASSWORD, None, MEDIUM, "The trusted certificates themselves, in PEM.")
    ssl_keymanager_algorithm: str = key(STRING, "SunX509", MEDIUM, "Java's key manager. Read and ignored.")
    ssl_trustmanager_algorithm: str = key(STRING, "PKIX", MEDIUM, "Java's trust manager. Read and ignored.")
    ssl_endpoint_identification_algorithm: str = key(STRING, "https", LOW, "https: a certificate must name the host connected to. Empty: it need not.")
    ssl_secure_random_implementation: str | None = key(STRING, None, LOW, "Java's source of randomness. Read and ignored.")
    ssl_engine_factory_class: str | None = key(CLASS, None, LOW, "Class that makes TLS engines.")


@dataclass(frozen=True, kw_only=True)
class SaslKeys:
    """SASL mechanisms of listeners and between brokers."""

    sasl_enabled_mechanisms: tuple[str, ...] = key(LIST, ("GSSAPI",), MEDIUM, "Mechanisms that clients may choose from.")
    sasl_mechanism_inter_broker_protocol: str = key(STRING, "GSSAPI", MEDIUM, "Mechanism that brokers use among themselves.")
    sasl_jaas_config: str | None = key(PASSWORD, None, MEDIUM, "Login of a listener and mechanism, in the form of a JAAS entry.")
    sasl_server_callback_handler_class: str | None = key(CLASS, None, MEDIUM, "Class that checks what clients present.")
    sasl_client_callback_handler_class: str | None = key(CLASS, None, MEDIUM, "Class that presents the broker's own credentials.")
    sasl_login_class: str | None = key(CLASS, None, MEDIUM, "Class that logs in.")
    sasl_login_callback_handler_class: str | None = key(CLASS, None, MEDIUM, "Class that answers the questions of a login.")
    sasl_kerberos_service_name: str | None = key(STRING, None, MEDIUM, "Kerberos principal under which brokers run.")
    sasl_kerberos_kinit_cmd: str = key(STRING, "/usr/bin/kinit", MEDIUM, "Path of Kerberos's kinit.")
    sasl_kerberos_ticket_renew_window_factor: float = key(DOUBLE, 0.8, MEDIUM, "Part of a ticket's life, 0 to 1, after which it is renewed.")
    sasl_kerberos_ticket_renew_jitter: float = key(DOUBLE, 0.05, MEDIUM, "Random part added to that, 0 to 1.")
    sasl_kerberos_min_time_before_relogin: int = key(LONG, 60000, MEDIUM, "Shortest time, in ms, between two logins.")
    sasl_kerberos_principal_to_local_rules: tuple[str, ...] = key(LIST, ("DEFAULT",), MEDIUM, "How Kerberos principals become short names.")
    sasl_login_refresh_window_factor: float = key(DOUBLE, 0.8, MEDIUM, "Part of a credential's life, 0.5 to 1, after which it is refreshed.")
    sasl_login_refresh_window_jitter: float = key(DOUBLE, 0.05, MEDIUM, "Random part added to that, 0 to 0.25.")
    sasl_login_refresh_min_period_seconds: int = key(SHORT, 60, MEDIUM, "Shortest time, in seconds, between two refreshes.")
    sasl_login_refresh_buffer_seconds: int = key(SHORT, 300, MEDIUM, "Time, in seconds, to leave before a credential expires.")
