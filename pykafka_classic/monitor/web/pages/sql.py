"""SQL over topics: a question runs as a job, whose page tells how far it is and then shows the rows."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from pykafka_classic.common.errors import KafkaError
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.monitor.sql.asking import Asking
from pykafka_classic.monitor.sql.engine import SqlAnswer, answer
from pykafka_classic.monitor.sql.plan import Bounds
from pykafka_classic.monitor.sql.question import NoQuestion, parse
from pykafka_classic.monitor.web.exchange import JSON, Refused, Response, bad_request, not_found, path_of, redirect
from pykafka_classic.monitor.web.fields import NUMBER, TEXT, Field, read_form, read_json
from pykafka_classic.monitor.web.jsonable import encoded
from pykafka_classic.monitor.web.operations.operation import API
from pykafka_classic.monitor.web.routes import ROUTES
from pykafka_classic.monitor.web.view import Page
from pykafka_classic.monitor.web.work import Work

ROWS: Final = 1_000
MEMORY: Final = 128 << 20
RECORDS: Final = 500_000
SECONDS: Final = 30.0
RUNNING_MAX: Final = 2
KEPT_MAX: Final = 20
FIELDS: Final = (
    Field("statement", TEXT, "A SELECT of DuckDB's, in which `topic NAME` stands where a table would.", required=True),
    Field("last", NUMBER, "Only the last so many records of each partition.", default=20_000, least=1, most=RECORDS),
)
EXAMPLES: Final = (
    "select * from topic {topic} limit 20",
    "select _partition, count(*) as records, min(_offset), max(_offset) from topic {topic} group by _partition order by 1",
    "select date_trunc('minute', _timestamp) as minute, count(*) from topic {topic} group by 1 order by 1",
)


@dataclass(slots=True)
class Job:
    """A question under way. `wanted`: so many records at most will be fetched."""

    cluster: str
    statement: str
    last: int
    began_ms: int
    fetched: int = 0
    wanted: int = 0
    ended_ms: int | None = None
    found: SqlAnswer | None = None
    error: str = ""
    done: Promise[None] = field(default_factory=Promise)


class Jobs:
    """The questions of all browsers; the oldest are forgotten."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}

    def begin(self, job: Job) -> str:
        """A name for it. Raises Refused."""
        if sum(each.ended_ms is None for each in self._jobs.values()) >= RUNNING_MAX:
            raise Refused(HTTPStatus.TOO_MANY_REQUESTS, f"{RUNNING_MAX} questions are being answered; ask again in a moment.")
        while len(self._jobs) >= KEPT_MAX:
            del self._jobs[next(name for name, each in self._jobs.items() if each.ended_ms is not None)]
        name = secrets.token_urlsafe(9)
        self._jobs[name] = job
        return name

    def find(self, name: str, cluster: str) -> Job:
        """Raises Refused."""
        found = self._jobs.get(name)
        if found is None or found.cluster != cluster:
            raise not_found("This answer is no longer there: ask again.")
        return found


@ROUTES.action("GET", "/c/{cluster}/sql")
async def form(work: Work) -> Response:
    """An empty form, with examples."""
    return await work.page(await _page(work, None))


@ROUTES.action("POST", "/c/{cluster}/sql")
async def ask(work: Work) -> Response:
    """Begin, and show how far it is."""
    values = read_form(FIELDS, work.request.form())
    try:
        name = _begin(work, values)
    except Refused as refused:
        work.note(str(refused), "failed")
        return redirect(path_of("c", work.cluster, "sql"))
    return redirect(path_of("c", work.cluster, "sql", name))


@ROUTES.action("GET", "/c/{cluster}/sql/{job}")
async def job_page(work: Work) -> Response:
    """How far it is, or the rows."""
    return await work.page(await _page(work, work.app.jobs.find(work.request.parts["job"], work.cluster)))


@ROUTES.action("POST", f"{API}/sql", tag="sql", summary="Ask a question of what lies in topics.", body=FIELDS, answers=SqlAnswer)
async def ask_as_json(work: Work) -> Response:
    """Waits for the answer."""
    job = work.app.jobs.find(_begin(work, read_json(FIELDS, work.request.json())), work.cluster)
    await job.done
    if job.found is None:
        raise bad_request(job.error)
    return Response(body=encoded(job.found), content_type=JSON)


async def _page(work: Work, job: Job | None) -> Page:
    topics = await work.read(lambda: work.app.monitor.reader.topics_at(work.cluster))
    own = [each.topic for each in topics if not each.topic.startswith("__")]
    examples = [each.format(topic=own[0] if own else "NAME") for each in EXAMPLES]
    values = {"job": job, "topics": own, "examples": examples, "last": job.last if job else FIELDS[1].default, "rows_max": ROWS}
    return Page("sql.html", "SQL", values)


def _begin(work: Work, values: dict[str, Any]) -> str:
    job = Job(work.cluster, values["statement"], values["last"], work.app.clock.now_ms())
    name = work.app.jobs.begin(job)
    spawn(_run(work, job)).when_settled(partial(_ended, work, job))
    return name


def _ended(work: Work, job: Job, outcome: Promise[SqlAnswer]) -> None:
    error = outcome.error()
    job.ended_ms = work.app.clock.now_ms()
    if error is None:
        job.found = outcome.result()
    elif isinstance(error, NoQuestion):
        job.error = str(error)
    elif isinstance(error, KafkaError):
        job.error = f"The cluster refused: {error}"
    else:
        job.error = f"The question could not be answered: {error}"
    job.done.resolve(None)


async def _run(work: Work, job: Job) -> SqlAnswer:
    bounds = Bounds(RECORDS, MEMORY, MEMORY, ROWS, SECONDS, job.last)
    question = parse(job.statement)
    with TemporaryDirectory(prefix="monitor-sql-") as folder:
        asking = Asking(work.collector.admin.core, question, bounds)
        await asking.look_up()
        job.wanted = asking.offsets

        def progress(count: int) -> None:
            job.fetched += count

        files = await asking.fetch(Path(folder), progress)
        return await work.app.duck.run(lambda: answer(question, files, bounds))
