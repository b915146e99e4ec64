"""Tells of alarms outside: a webhook, and e-mail. docs/monitor.md has the forms.

Each notice is sent in a thread of the reactor's pool, tried again a few times, and then given up with a line in the log: the store has the alarm anyway.
"""

from __future__ import annotations

import json
import logging
import smtplib
import urllib.request
from collections.abc import Callable
from email.message import EmailMessage
from typing import Any, Final

from pykafka_classic.edges.reactor import Reactor
from pykafka_classic.monitor.settings import MonitorKeys
from pykafka_classic.monitor.store.rows import AlarmCleared, AlarmRaised

log = logging.getLogger("kafka.monitor.Alarms")

TIMEOUT_S: Final = 10.0
PAUSES_S: Final = (2.0, 10.0, 60.0)  # before the second, third and fourth try
WAITING_MAX: Final = 200  # notices under way; more are dropped, with a line in the log
SMTP_PORT: Final = 25
VERSION: Final = 1


def as_json(alarm: AlarmRaised | AlarmCleared) -> dict[str, Any]:
    """The body of a webhook's call."""
    told: dict[str, Any] = {"version": VERSION, "cluster": alarm.cluster, "rule": alarm.rule, "subject": alarm.subject, "time_ms": alarm.t_ms}
    if isinstance(alarm, AlarmRaised):
        return told | {"status": "raised", "sentence": alarm.sentence, "value": alarm.value}
    return told | {"status": "cleared"}


def as_letter(alarm: AlarmRaised | AlarmCleared, keys: MonitorKeys) -> EmailMessage:
    """The same as an e-mail: a sentence for people, the JSON below it for programs."""
    letter = EmailMessage()
    raised = isinstance(alarm, AlarmRaised)
    letter["Subject"] = f"[kafka {alarm.cluster}] {'ALARM' if raised else 'over'}: {alarm.rule}, {alarm.subject}"
    letter["From"] = keys.alarm_email_from
    letter["To"] = ", ".join(keys.alarm_email_to)
    sentence = alarm.sentence if isinstance(alarm, AlarmRaised) else f"The alarm {alarm.rule} about {alarm.subject} is over"
    letter.set_content(f"{sentence}.\n\n{json.dumps(as_json(alarm))}\n")
    return letter


class Notifier:
    """Sends notices where the configuration says."""

    def __init__(self, reactor: Reactor, keys: MonitorKeys) -> None:
        self._reactor = reactor
        self._keys = keys
        self._waiting = 0
        self._stopped = False

    def tell(self, alarm: AlarmRaised | AlarmCleared) -> None:
        """Send it to all who want it."""
        if self._keys.alarm_webhook_url:
            self._send(f"webhook {self._keys.alarm_webhook_url}", lambda: post(self._keys.alarm_webhook_url, as_json(alarm)))
        if self._keys.alarm_email_to:
            self._send(f"mail server {self._keys.alarm_email_smtp}", lambda: mail(as_letter(alarm, self._keys), self._keys))

    def stop(self) -> None:
        """Try nothing again."""
        self._stopped = True

    def _send(self, where: str, send: Callable[[], None]) -> None:
        if self._waiting >= WAITING_MAX:
            log.error("A notice to %s is dropped: %d wait already", where, self._waiting)
            return
        self._waiting += 1
        self._reactor.callInThread(self._try, where, send, 0)

    def _try(self, where: str, send: Callable[[], None], tries: int) -> None:
        """In a thread of the pool."""
        error: Exception | None = None
        try:
            send()
        except Exception as failure:  # noqa: BLE001  # whatever it is: the monitor goes on, and the log tells
            error = failure
        self._reactor.callFromThread(self._tried, where, send, tries, error)

    def _tried(self, where: str, send: Callable[[], None], tries: int, error: Exception | None) -> None:
        if error is not None and tries < len(PAUSES_S) and not self._stopped:
            log.warning("A notice to %s failed: %s; trying again in %g s", where, error, PAUSES_S[tries])
            self._reactor.callLater(PAUSES_S[tries], self._reactor.callInThread, self._try, where, send, tries + 1)
            return
        self._waiting -= 1
        if error is not None:
            log.error("A notice to %s is given up: %s", where, error)


def post(url: str, body: dict[str, Any]) -> None:
    """POST a JSON body. Raises OSError (URLError, HTTPError) where it is not answered with success; ValueError for what is no http address."""
    if not url.startswith(("http://", "https://")):
        raise ValueError(f"{url} is no http:// or https:// address")
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"}, method="POST")  # looked at above
    with urllib.request.urlopen(request, timeout=TIMEOUT_S):  # as above
        return


def mail(letter: EmailMessage, keys: MonitorKeys) -> None:
    """Send a letter. Raises OSError, smtplib.SMTPException."""
    host, _, port = keys.alarm_email_smtp.partition(":")
    with smtplib.SMTP(host, int(port or SMTP_PORT), timeout=TIMEOUT_S) as server:
        if keys.alarm_email_username:
            server.starttls()
            server.login(keys.alarm_email_username, keys.alarm_email_password)
        server.send_message(letter)
