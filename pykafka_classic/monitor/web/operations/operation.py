"""`operation`: makes two routes of a coroutine, one for a form and one for JSON, with the same fields, the same audit, the same errors."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final, TypeVar

from pykafka_classic.client.group_offsets.values import GroupIsAlive, OffsetsUnavailable
from pykafka_classic.common.errors import KafkaError
from pykafka_classic.common.zookeeper import SessionExpired
from pykafka_classic.monitor.web.access import Role
from pykafka_classic.monitor.web.audit import fields_shown
from pykafka_classic.monitor.web.exchange import JSON, Refused, Response, redirect
from pykafka_classic.monitor.web.fields import Field, read_form, read_json
from pykafka_classic.monitor.web.jsonable import encoded
from pykafka_classic.monitor.web.routes import ROUTES, Kind, Route
from pykafka_classic.monitor.web.work import Work

T = TypeVar("T")

API: Final = "/api/v1/clusters/{cluster}"
FORMS: Final = "/c/{cluster}/do"
BACK: Final = "back"  # a form's field: the page to go to afterwards


@dataclass(frozen=True, slots=True)
class Done:
    """What an operation answers. `back`: the page that shows it; `details`: more, for programs and for previews."""

    sentence: str
    back: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)


Doer = Callable[[Work, Mapping[str, Any]], Coroutine[Any, Any, Done]]


@dataclass(frozen=True, slots=True)
class Address:
    """Where an operation is in the API, after the cluster."""

    method: str
    pattern: str
    tag: str


def operation(name: str, address: Address, summary: str, fields: Sequence[Field] = ()) -> Callable[[Doer], Doer]:
    """Decorates the coroutine function that does it."""

    def decorate(do: Doer) -> Doer:
        async def by_form(work: Work) -> Response:
            form = work.request.form()
            back = _own(form.get(BACK, ""), work)
            try:
                done = await _audited(name, do, work, read_form(fields, form))
            except Refused as refused:
                work.note(str(refused), "failed")
                return redirect(back)
            work.note(done.sentence)
            return redirect(done.back or back)

        async def by_json(work: Work) -> Response:
            given = work.request.json() if fields else {}
            done = await _audited(name, do, work, read_json(fields, given))
            return Response(body=encoded(Outcome(done.sentence, done.details)), content_type=JSON)

        pattern = f"{API}{address.pattern}"
        ROUTES.add(Route("POST", f"{FORMS}/{name}{_parts(address.pattern)}", Kind.ACTION, by_form, Role.OPERATE))
        ROUTES.add(Route(address.method, pattern, Kind.ACTION, by_json, Role.OPERATE, summary, body=fields, answers=Outcome, tag=address.tag))
        return do

    return decorate


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was done, in a sentence; `details` as the operation's description tells."""

    done: str
    details: Mapping[str, Any]


async def _audited(name: str, do: Doer, work: Work, values: Mapping[str, Any]) -> Done:
    """Do it, and write down who tried what and what came of it. Raises Refused."""
    app = work.app
    line = {
        "user": work.user.name,
        "from": work.request.client,
        "cluster": work.cluster,
        "operation": name,
        "with": fields_shown({**{part: told for part, told in work.request.parts.items() if part != "cluster"}, **values}),
    }
    try:
        done = await attempt(do, work, values)
    except Refused as refused:
        refusal = {**line, "outcome": str(refused), "refused": True}
        await app.scribe.run(lambda: app.audit.append(app.clock.now_ms(), refusal))
        raise
    if not values.get("preview"):
        await app.scribe.run(lambda: app.audit.append(app.clock.now_ms(), {**line, "outcome": done.sentence}))
    return done


async def attempt(do: Doer, work: Work, values: Mapping[str, Any]) -> Done:
    """Do it, without a line in the audit log. Raises Refused."""
    return await refusing(do(work, values))


async def refusing(doing: Coroutine[Any, Any, T]) -> T:
    """What comes of it; what the cluster refuses is a Refused, with the cluster's words."""
    try:
        return await doing
    except KafkaError as error:
        raise Refused(HTTPStatus.CONFLICT, f"The cluster refused: {error}") from error
    except (GroupIsAlive, OffsetsUnavailable) as error:
        raise Refused(HTTPStatus.CONFLICT, f"{str(error)[:1].upper()}{str(error)[1:]}") from error
    except SessionExpired as error:
        raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, "The session with ZooKeeper has ended; try again in a moment.") from error


def _parts(pattern: str) -> str:
    """The braces of a pattern, in their order: what a form's address needs of it."""
    return "".join(f"/{part}" for part in pattern.split("/") if part.startswith("{"))


def _own(told: str, work: Work) -> str:
    """A form may send people back to pages of its own cluster only."""
    base = f"/c/{work.request.path.split('/')[2]}"
    return told if (told == base or told.startswith(f"{base}/")) and told.isprintable() and "\\" not in told else base
