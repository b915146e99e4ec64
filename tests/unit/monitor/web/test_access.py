"""Who gets in, who may write, and what a page of another site cannot do."""

from __future__ import annotations

import base64
from http import HTTPStatus
from pathlib import Path

import pytest

from pykafka_classic.monitor.process import CannotStart
from pykafka_classic.monitor.settings import ClusterSettings, MonitorKeys, MonitorSettings
from pykafka_classic.monitor.web.access import (
    ANYBODY,
    COOKIE,
    SESSION_MS,
    TRIES_MAX,
    Access,
    InvalidPasswordFile,
    PasswordFile,
    Role,
    basic_credentials,
    hash_password,
    password_fits,
    with_user,
)
from pykafka_classic.monitor.web.exchange import FORM, JSON, Refused, Request
from pykafka_classic.monitor.web.pages.frame import _own_address
from pykafka_classic.monitor.web.start import access_of, is_loopback

NOW = 1_000_000


def request(method: str = "POST", path: str = "/c/here/do/create-topic", body: bytes = b"", **headers: str) -> Request:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    cookies = dict([part.split("=", 1) for part in [named.pop("cookie")]]) if "cookie" in named else {}
    return Request(method, path, headers={"host": "localhost:8048", **named}, cookies=cookies, body=body)


def test_the_hash_is_the_one_of_rfc_7914() -> None:
    # Section 12: scrypt("pleaseletmein", "SodiumChloride", N=16384, r=8, p=1, 64), of which a key of 32 bytes is the beginning (PBKDF2's first block).
    key = bytes.fromhex("7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2")
    assert (
        hash_password("pleaseletmein", b"SodiumChloride") == f"scrypt$16384$8$1${base64.b64encode(b'SodiumChloride').decode()}${base64.b64encode(key).decode()}"
    )
    assert password_fits("pleaseletmein", hash_password("pleaseletmein"))
    assert not password_fits("Pleaseletmein", hash_password("pleaseletmein"))


def test_a_password_file_knows_users_with_roles_and_no_passwords() -> None:
    text = with_user(with_user("# operators\n", "alice", "operate", "correct horse"), "bob", "read", "battery staple")
    assert "correct horse" not in text and text.startswith("# operators\n")
    users = PasswordFile.parse(text)
    alice = users.user("alice", "correct horse")
    assert alice is not None and alice.role is Role.OPERATE
    assert users.user("alice", "battery staple") is None and users.user("carol", "") is None
    changed = PasswordFile.parse(with_user(text, "alice", "read", "another horse"))
    assert changed.user("alice", "correct horse") is None and changed.users["alice"][0] is Role.READ


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "nobody is in it"),
        ("alice:admin:x", "read or operate"),
        ("alice:read:plain", "line 1: the hash"),
        ("a b:read:x", "is no name"),
        ("alice:read:scrypt$0$8$1$AAAA$AAAA", "line 1: the hash"),
    ],
)
def test_a_bad_password_file_is_told_by_its_line(text: str, what: str) -> None:
    with pytest.raises(InvalidPasswordFile, match=what):
        PasswordFile.parse(text)


def test_a_short_password_is_refused() -> None:
    with pytest.raises(InvalidPasswordFile, match="at least 8"):
        with_user("", "alice", "read", "short")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "monitor.example.org", ""])
def test_nobody_listens_to_the_world_without_a_password_file(host: str, tmp_path: Path) -> None:
    settings = MonitorSettings((ClusterSettings("here", "localhost:2181"),), MonitorKeys(host=host), tmp_path)
    with pytest.raises(CannotStart, match=r"set passwords\.file"):
        access_of(settings)
    (tmp_path / "users").write_text(with_user("", "alice", "read", "correct horse"))
    found = access_of(MonitorSettings(settings.clusters, MonitorKeys(host=host, passwords_file="users"), tmp_path))
    assert found.passwords is not None and list(found.passwords.users) == ["alice"]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_loopback_needs_none(host: str) -> None:
    assert is_loopback(host)


def test_a_password_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match="Cannot read the password file"):
        access_of(MonitorSettings((), MonitorKeys(passwords_file="none"), tmp_path))


@pytest.mark.parametrize("host", ["evil.example:8048", "localhost.evil.example", "10.0.0.1:8048", ""])
def test_without_passwords_only_loopback_names_are_answered(host: str) -> None:
    with pytest.raises(Refused) as refused:
        Access(None).check_host(request(host=host))
    assert refused.value.status is HTTPStatus.MISDIRECTED_REQUEST
    Access(None).check_host(request(host="127.0.0.1:8048"))
    Access(None).check_host(request(host="[::1]:8048"))


def test_a_form_needs_the_token_of_its_session() -> None:
    access = Access(None)
    session, cookie = access.begin(None, NOW)
    assert session.user is ANYBODY
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
    name = cookie.partition(";")[0].partition("=")[2]
    right = request(body=f"csrf_token={session.token}".encode(), content_type=FORM, cookie=f"{COOKIE}={name}")
    assert access.session(right, NOW) is session
    access.check_write(right, session, with_password=False)
    for body in (b"", b"csrf_token=guess", b"csrf_token=%C3%A9"):
        with pytest.raises(Refused, match="load it anew"):
            access.check_write(request(body=body, content_type=FORM), session, with_password=False)
    with pytest.raises(Refused):
        access.check_write(right, None, with_password=False)
    assert access.session(right, NOW + SESSION_MS) is None


def test_a_page_of_another_site_cannot_write() -> None:
    access = Access(None)
    session, _ = access.begin(None, NOW)
    body = f"csrf_token={session.token}".encode()
    for headers in ({"origin": "http://evil.example"}, {"origin": "null"}, {"sec_fetch_site": "cross-site"}, {"sec_fetch_site": "same-site"}):
        with pytest.raises(Refused):
            access.check_write(request(body=body, content_type=FORM, **headers), session, with_password=False)
    access.check_write(request(body=body, content_type=FORM, origin="http://localhost:8048", sec_fetch_site="same-origin"), session, with_password=False)


def test_the_api_takes_json_only_and_with_passwords_a_password_or_the_token() -> None:
    path = "/api/v1/clusters/here/topics"
    for kind in ("text/plain", FORM, ""):  # what another site's form can send
        with pytest.raises(Refused):
            Access(None).check_write(request(path=path, content_type=kind), None, with_password=False)
    Access(None).check_write(request(path=path, content_type=JSON), None, with_password=False)
    access = Access(PasswordFile.parse(with_user("", "alice", "operate", "correct horse")))
    access.check_write(request(path=path, content_type=JSON), None, with_password=True)
    session, _ = access.begin(None, NOW)
    with pytest.raises(Refused):
        access.check_write(request(path=path, content_type=JSON), session, with_password=False)
    access.check_write(request(path=path, content_type=JSON, x_csrf_token=session.token), session, with_password=False)


def test_guessing_passwords_is_slowed_down() -> None:
    access = Access(PasswordFile.parse(with_user("", "alice", "operate", "correct horse")))
    for number in range(TRIES_MAX):
        access.check_tries("10.0.0.7", NOW + number)
        access.wrong_password("10.0.0.7", NOW + number)
    with pytest.raises(Refused, match="wait a minute"):
        access.check_tries("10.0.0.7", NOW + 100)
    access.check_tries("10.0.0.8", NOW + 100)
    access.check_tries("10.0.0.7", NOW + 61_000)


@pytest.mark.parametrize(
    "told", ["", "Basic", "Basic !!!", "Bearer abc", "Basic " + base64.b64encode(b"nocolon").decode(), "Basic " + base64.b64encode(b"\xff:x").decode()]
)
def test_credentials_that_cannot_be_read_are_none(told: str) -> None:
    assert basic_credentials(request(authorization=told)) is None


def test_credentials() -> None:
    assert basic_credentials(request(authorization="Basic " + base64.b64encode("alice:a:ü".encode()).decode())) == ("alice", "a:ü")


@pytest.mark.parametrize("told", ["//evil.example", "https://evil.example", "/\\evil.example", "/a\nb", ""])
def test_after_logging_in_nobody_is_sent_to_another_site(told: str) -> None:
    assert _own_address(told) == "/"
    assert _own_address("/c/here/topics?only=offline") == "/c/here/topics?only=offline"
