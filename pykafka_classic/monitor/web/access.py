"""Who may: a password file with roles, sessions, and proof that a write was meant (CSRF). Pure, but for chance and the file that it is given.

The password file has a line for each user, `NAME:ROLE:HASH`, with the roles read (look) and operate (look and change). The hash is
`scrypt$N$R$P$SALT$KEY` (RFC 7914; salt and key in base64), so the file tells nobody a password.

Against cross-site requests a write needs all of: an Origin (where the browser tells one) that is our own; and a token that only our pages know, or, for the
API, a body that says it is JSON, which no other site's page can send without asking us first. Without a password file only loopback names are answered, so that
no foreign name that resolves to this machine (DNS rebinding) gets in.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from pykafka_classic.monitor.web.exchange import JSON, Refused, Request

COOKIE: Final = "monitor_session"
TOKEN_FIELD: Final = "csrf_token"
TOKEN_HEADER: Final = "x-csrf-token"
SESSION_MS: Final = 12 * 3_600_000
SESSIONS_MAX: Final = 10_000
TRIES_MAX: Final = 10  # wrong passwords from one address in a window
TRIES_WINDOW_MS: Final = 60_000
SCRYPT: Final = (1 << 14, 8, 1)  # N, r, p: 16 MiB and some 50 ms
KEY_BYTES: Final = 32
PASSWORD_MIN: Final = 8
SAFE_METHODS: Final = frozenset({"GET", "HEAD"})
_NAME: Final = re.compile(r"[A-Za-z0-9_.@-]{1,64}")
_LOOPBACK: Final = re.compile(r"(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?")


class Role(IntEnum):
    """What somebody may; each also what those before it may."""

    READ = 1
    OPERATE = 2


class InvalidPasswordFile(Exception):
    """The text is for the user."""


@dataclass(frozen=True, slots=True)
class User:
    """Somebody. `name` is empty where nobody has to log in."""

    name: str
    role: Role


ANYBODY: Final = User("", Role.OPERATE)


@dataclass(slots=True)
class Session:
    """A browser."""

    user: User | None
    ends_ms: int
    token: str
    notes: list[tuple[str, str]] = field(default_factory=list)  # (kind, sentence), shown once on the next page


def hash_password(password: str, salt: bytes | None = None) -> str:
    """For the password file. Slow on purpose."""
    salt = secrets.token_bytes(16) if salt is None else salt
    n, r, p = SCRYPT
    key = hashlib.scrypt(password.encode(), salt=salt, n=n, r=r, p=p, dklen=KEY_BYTES)
    return f"scrypt${n}${r}${p}${base64.b64encode(salt).decode()}${base64.b64encode(key).decode()}"


def password_fits(password: str, hashed: str) -> bool:
    """True where the hash was made of this password."""
    _, n, r, p, salt, key = hashed.split("$")
    wanted = base64.b64decode(key)
    found = hashlib.scrypt(password.encode(), salt=base64.b64decode(salt), n=int(n), r=int(r), p=int(p), dklen=len(wanted), maxmem=1 << 27)
    return hmac.compare_digest(found, wanted)


@dataclass(frozen=True, slots=True)
class PasswordFile:
    """Users by name, each with a role and a hash."""

    users: Mapping[str, tuple[Role, str]]

    @staticmethod
    def parse(text: str) -> PasswordFile:
        """Raises InvalidPasswordFile."""
        users: dict[str, tuple[Role, str]] = {}
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            name, _, rest = line.strip().partition(":")
            role, _, hashed = rest.partition(":")
            if not _NAME.fullmatch(name) or name in users:
                raise InvalidPasswordFile(f"line {number}: {name[:64]!r} is no name (letters, digits, _ . @ -), or is there twice.")
            if role not in ROLES:
                raise InvalidPasswordFile(f"line {number}: the role is read or operate, not {role[:40]!r}.")
            _check_hash(hashed, number)
            users[name] = (ROLES[role], hashed)
        if not users:
            raise InvalidPasswordFile("nobody is in it. Add somebody with: kafka-eagle.sh password NAME read|operate FILE")
        return PasswordFile(users)

    def user(self, name: str, password: str) -> User | None:
        """None where the password is wrong, or nobody has this name; both take as long."""
        role, hashed = self.users.get(name, (None, _NOBODY))
        fits = password_fits(password, hashed)
        return User(name, role) if fits and role is not None else None


def with_user(text: str, name: str, role: str, password: str) -> str:
    """The file's text with somebody more, or with a new password or role. Raises InvalidPasswordFile."""
    if len(password) < PASSWORD_MIN:
        raise InvalidPasswordFile(f"a password has at least {PASSWORD_MIN} characters.")
    others = [line for line in text.splitlines() if line.partition(":")[0] != name]
    found = "\n".join([*others, f"{name}:{role}:{hash_password(password)}"]) + "\n"
    PasswordFile.parse(found)
    return found


ROLES: Final = {"read": Role.READ, "operate": Role.OPERATE}
_NOBODY: Final = hash_password("", b"nobody has this password")


def _check_hash(hashed: str, number: int) -> None:
    try:
        password_fits("", hashed)
    except (ValueError, binascii.Error) as error:
        raise InvalidPasswordFile(f"line {number}: the hash is no scrypt$N$R$P$SALT$KEY: {error}.") from error


class Access:
    """Sessions, and what requests may.

    Args:
        passwords: None: whoever reaches us may everything, and only by a loopback name.
    """

    def __init__(self, passwords: PasswordFile | None) -> None:
        self.passwords = passwords
        self._sessions: dict[str, Session] = {}
        self._tries: dict[str, list[int]] = {}

    def session(self, request: Request, now_ms: int) -> Session | None:
        """The browser's session; None where it has none, or an old one."""
        found = self._sessions.get(request.cookies.get(COOKIE, ""))
        return found if found is not None and found.ends_ms > now_ms else None

    def begin(self, user: User | None, now_ms: int) -> tuple[Session, str]:
        """A new session, and the cookie for it. With passwords `user` is who has logged in."""
        self._forget_old(now_ms)
        name = secrets.token_urlsafe(24)
        session = Session(ANYBODY if self.passwords is None else user, now_ms + SESSION_MS, secrets.token_urlsafe(24))
        self._sessions[name] = session
        return session, f"{COOKIE}={name}; Path=/; HttpOnly; SameSite=Strict; Max-Age={SESSION_MS // 1000}"

    def end(self, request: Request) -> str:
        """Log out; the cookie that takes the other's place."""
        self._sessions.pop(request.cookies.get(COOKIE, ""), None)
        return f"{COOKIE}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0"

    def check_tries(self, client: str, now_ms: int) -> None:
        """Raise Refused where somebody guesses passwords."""
        recent = [each for each in self._tries.get(client, ()) if each > now_ms - TRIES_WINDOW_MS]
        if len(recent) >= TRIES_MAX:
            raise Refused(HTTPStatus.TOO_MANY_REQUESTS, "Too many wrong passwords: wait a minute.")
        self._tries[client] = recent

    def wrong_password(self, client: str, now_ms: int) -> None:
        """Count it."""
        self._tries.setdefault(client, []).append(now_ms)

    def check_host(self, request: Request) -> None:
        """Raise Refused where no password stands between us and a foreign page that calls this machine by a name of its own."""
        host = request.headers.get("host", "")
        if self.passwords is None and not _LOOPBACK.fullmatch(host):
            raise Refused(HTTPStatus.MISDIRECTED_REQUEST, f"This monitor answers to localhost and 127.0.0.1 only, not to {host[:80]!r}.")

    def check_write(self, request: Request, session: Session | None, *, with_password: bool) -> None:
        """Raise Refused where a write may not be what its user wanted. `with_password`: it came with one (Basic), not with a session."""
        if request.method in SAFE_METHODS:
            return
        origin = request.headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != request.headers.get("host", ""):
            raise Refused(HTTPStatus.FORBIDDEN, f"This came from a page of {origin[:80]}, not from one of ours.")
        if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            raise Refused(HTTPStatus.FORBIDDEN, "This came from a page of another site.")
        is_json = request.headers.get("content-type", "").partition(";")[0].strip().lower() == JSON
        if request.is_api and is_json and (with_password or self.passwords is None):
            return
        told = request.headers.get(TOKEN_HEADER)
        if told is None and not request.is_api:
            told = request.form().get(TOKEN_FIELD)
        if session is None or told is None or not hmac.compare_digest(told.encode(), session.token.encode()):
            raise Refused(HTTPStatus.FORBIDDEN, _no_token(request))

    def _forget_old(self, now_ms: int) -> None:
        if len(self._sessions) >= SESSIONS_MAX:
            self._sessions = {name: each for name, each in self._sessions.items() if each.ends_ms > now_ms}
        while len(self._sessions) >= SESSIONS_MAX:
            del self._sessions[next(iter(self._sessions))]


def basic_credentials(request: Request) -> tuple[str, str] | None:
    """Name and password of an Authorization header; None where there is none that can be read."""
    scheme, _, told = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        name, colon, password = base64.b64decode(told.strip(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return (name, password) if colon else None


def _no_token(request: Request) -> str:
    if request.is_api:
        return f"A write through the API comes as {JSON}, with a password (Basic) or a session's {TOKEN_HEADER}."
    return "The page is older than your session: load it anew and send the form again."
