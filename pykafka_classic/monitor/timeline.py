"""One list of what happened, in order of cause: changes of znodes, events of brokers, members of groups, and when nobody looked. Pure.

    session ended -> ephemeral node gone -> watch -> controller event -> leader elected -> state written with zkVersion and epoch -> LeaderAndIsr sent, applied
    -> log truncated -> high watermark advances

Clocks of machines differ, and one millisecond holds many steps: so time alone is no order. Each line says what it gives ("state of flights-0 written with
version 7") and what it needs; a line stands below those that give what it needs, and otherwise in the order of time. Changes of znodes stand in the order of
their transactions, always.

A line links the znode, the function of ours that decided or wrote (`code`), and a page of docs. `order` does the sorting, `lines_of_*` make lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Any, Final

from pykafka_classic.common.zookeeper import session_name
from pykafka_classic.monitor import event_sentences
from pykafka_classic.monitor.causes import needs_and_gives_of_change, needs_and_gives_of_event
from pykafka_classic.monitor.sentences import Teller
from pykafka_classic.monitor.store.answers import BrokerEvent, Gap, GroupState, ZNodeChange
from pykafka_classic.monitor.store.rows import ChangeKind
from pykafka_classic.monitor.subjects import subjects_of_path
from pykafka_classic.monitor.writers import Writer, writer_of
from pykafka_classic.monitor.znodes import Change, Node
from zk_schema import broker_ids

ZOOKEEPER: Final = "zookeeper"
MONITOR: Final = "monitor"
CAUSE_WITHIN_MS: Final = 30_000  # what was given longer ago is no cause
CLOCKS_DIFFER_MS: Final = 5_000  # what was given so much later, by another machine's clock, may be one
FOLDED_WITHIN_MS: Final = 500
SHOWN: Final = 2
_QUIET: Final = ("/offsets/", "/isr_change_notification", "/config/changes/", "/latest_producer_id_block")


@dataclass(frozen=True, slots=True)
class TimelineLine:
    """Something that happened.

    Attributes:
        id: the same whenever the line is told.
        source: zookeeper, broker 3, monitor: who told it.
        name: kind of event.
        subjects: what it is about: flights-0, topic flights, broker 3, group G, controller.
        alarming: somebody should look.
        path: of the znode; may be empty, as `code` (module.py:function), `page` (of docs/) and `session`.
        zxid: of the transaction; 0: none.
    """

    id: str
    t_ms: int
    source: str
    name: str
    sentence: str
    subjects: tuple[str, ...] = ()
    alarming: bool = False
    path: str = ""
    code: str = ""
    page: str = ""
    zxid: int = 0
    session: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    gives: tuple[str, ...] = ()


def timeline(changes: Iterable[ZNodeChange], events: Iterable[BrokerEvent], groups: Iterable[GroupState] = (), gaps: Iterable[Gap] = ()) -> list[TimelineLine]:
    """All lines, the earliest first. The arguments may come in any order."""
    told = sorted(events, key=lambda event: (event.t_ms, event.id))
    stopped = frozenset(str(event.facts.get("session")) for event in told if event.name == "broker-stopping")
    of_changes = lines_of_changes(sorted(changes, key=lambda change: change.id), stopped)
    return order([*of_changes, *map(line_of_event, told), *_lines_of_groups(groups, told), *map(_line_of_gap, gaps)])


def lines_of_changes(changes: Sequence[ZNodeChange], stopped_sessions: frozenset[str] = frozenset()) -> Iterator[TimelineLine]:
    """Lines of changes that are given in their order; a line more for each session that ended. Commits of offsets and notifications are left out."""
    teller = Teller({})
    ended: set[int] = set()
    owners = _owners(changes)
    for change in changes:
        if any(part in change.path for part in _QUIET):
            continue
        if change.kind is ChangeKind.REMOVED and change.owner and change.owner not in ended:
            ended.add(change.owner)
            yield _line_of_session(change, owners[change.owner], was_closed=change.session in stopped_sessions)
        yield from _lines_of_change(change, teller)


def _owners(changes: Iterable[ZNodeChange]) -> dict[int, tuple[str, ...]]:
    """Of sessions that ended: what its nodes are about; the broker first, where it was one's."""
    found: dict[int, tuple[str, ...]] = {}
    for change in changes:
        if change.kind is ChangeKind.REMOVED and change.owner:
            subjects = subjects_of_path(change.path)
            before = found.get(change.owner, ())
            is_broker = change.path.startswith(f"{broker_ids.PATH}/")
            found[change.owner] = tuple(dict.fromkeys((*subjects, *before) if is_broker else (*before, *subjects)))
    return found


def _line_of_session(change: ZNodeChange, subjects: tuple[str, ...], *, was_closed: bool) -> TimelineLine:
    whose = next(iter(subjects), "")
    how = "was closed by its owner" if was_closed else "has ended: it expired, or its owner closed it"
    return TimelineLine(
        f"s{change.id}",
        change.t_ms,
        ZOOKEEPER,
        "session-ended",
        f"Session {change.session}{f' of {whose}' if whose else ''} {how}",
        subjects,
        alarming=not was_closed,
        page="zookeeper.md",
        zxid=change.zxid,
        session=change.session,
        gives=(f"ended {change.session}",),
    )


def _lines_of_change(change: ZNodeChange, teller: Teller) -> Iterator[TimelineLine]:
    before = None if change.kind is ChangeKind.CREATED else Node(change.before, mzxid=1)
    after = None if change.kind is ChangeKind.REMOVED else Node(change.data, ephemeral_owner=change.owner, mzxid=change.zxid)
    if before is not None and after is None:
        before = Node(change.data, ephemeral_owner=change.owner)
    told = teller.tell(Change(change.path, before, after)) if _can_be_told(before, after) else []
    writer, (needs, gives) = writer_of(change.path), needs_and_gives_of_change(change)
    if not told:
        yield _plain_line(change, writer, needs, gives)
    for number, event in enumerate(told):
        yield TimelineLine(
            f"z{change.id}.{number}",
            change.t_ms,
            ZOOKEEPER,
            event.name,
            f"{event.sentence} ({_of_node(change)})",
            subjects_of_path(change.path),
            event.alarming,
            change.path,
            writer.code,
            writer.page,
            change.zxid,
            change.session,
            event.facts,
            needs,
            gives,
        )


def _can_be_told(before: Node | None, after: Node | None) -> bool:
    return not (before is not None and after is not None and before.data == after.data)


def _plain_line(change: ZNodeChange, writer: Writer, needs: tuple[str, ...], gives: tuple[str, ...]) -> TimelineLine:
    verb = {ChangeKind.CREATED: "was created", ChangeKind.WRITTEN: "was written", ChangeKind.REMOVED: "is gone", ChangeKind.FOUND: "is there"}[change.kind]
    return TimelineLine(
        f"z{change.id}",
        change.t_ms,
        ZOOKEEPER,
        f"znode-{change.kind.name.lower()}",
        f"{change.path} {verb} ({_of_node(change)})",
        subjects_of_path(change.path),
        path=change.path,
        code=writer.code,
        page=writer.page,
        zxid=change.zxid,
        session=change.session,
        needs=needs,
        gives=gives,
    )


def _of_node(change: ZNodeChange) -> str:
    session = f", session {session_name(change.owner)}" if change.owner else ""
    version = "" if change.kind is ChangeKind.REMOVED else f"version {change.version}, "
    return f"{version}zxid 0x{change.zxid:x}{session}"


def line_of_event(event: BrokerEvent) -> TimelineLine:
    """What a broker told."""
    kind = event_sentences.kind_of(event)
    needs, gives = needs_and_gives_of_event(event)
    source = MONITOR if event.name in event_sentences.OF_THE_MONITOR else f"broker {event.broker}"
    session = str(event.facts.get("session", ""))
    path = str(event.facts.get("path", ""))
    return TimelineLine(
        f"e{event.id}",
        event.t_ms,
        source,
        event.name,
        event_sentences.sentence_of(event),
        tuple(dict.fromkeys((event.subject, source))),
        event.name in event_sentences.ALARMING,
        path,
        kind.places[0] if kind is not None else "",
        kind.page if kind is not None else "",
        event.zxid,
        session,
        event.facts,
        needs,
        gives,
    )


def _lines_of_groups(groups: Iterable[GroupState], told: Sequence[BrokerEvent]) -> Iterator[TimelineLine]:
    """Where coordinators tell nothing themselves (Apache's), what they answered when they were asked."""
    speaking = {event.subject for event in told}
    for group in groups:
        subject = f"group {group.group}"
        if subject not in speaking:
            members = f"{len(group.members)} member{'' if len(group.members) == 1 else 's'}"
            sentence = f"Group {group.group} is {group.state}, with {members} (coordinator: broker {group.coordinator})"
            yield TimelineLine(f"g{group.group}.{group.since_ms}", group.since_ms, MONITOR, "group-state", sentence, (subject,), page="groups.md")


def _line_of_gap(gap: Gap) -> TimelineLine:
    sentence = f"No monitor looked for {event_sentences.seconds(gap.to_ms - gap.from_ms)}: of what happened until now only the outcome was seen"
    return TimelineLine(f"m{gap.to_ms}", gap.to_ms, MONITOR, "gap", sentence)


# the order


def order(lines: Sequence[TimelineLine]) -> list[TimelineLine]:
    """By time, but below all that a line needs; znodes' changes in the order of their transactions."""
    before = _what_comes_before(lines)
    after: dict[int, list[int]] = {}
    missing = [len(some) for some in before]
    for place, some in enumerate(before):
        for cause in some:
            after.setdefault(cause, []).append(place)
    ready = [(_by_time(lines[place]), place) for place, count in enumerate(missing) if count == 0]
    heapify(ready)
    found: list[TimelineLine] = []
    waiting = set(range(len(lines)))
    while waiting:
        # Causes that go in a circle cannot be (a clock or a number is wrong): then time decides.
        place = heappop(ready)[1] if ready else min(waiting, key=lambda each: _by_time(lines[each]))
        if place not in waiting:
            continue
        waiting.discard(place)
        found.append(lines[place])
        for following in after.get(place, ()):
            missing[following] -= 1
            if missing[following] == 0:
                heappush(ready, (_by_time(lines[following]), following))
    return found


def with_causes(lines: Sequence[TimelineLine], subject: str) -> list[TimelineLine]:
    """Of ordered lines those about a subject, and those that led to them."""
    needed = _causes(lines)
    wanted: set[int] = set()
    waiting = [place for place, line in enumerate(lines) if subject in line.subjects]
    while waiting:
        place = waiting.pop()
        if place not in wanted:
            wanted.add(place)
            waiting += needed[place]
    return [line for place, line in enumerate(lines) if place in wanted]


def _by_time(line: TimelineLine) -> tuple[int, int, str]:
    return (line.t_ms, line.zxid, line.id)


def _what_comes_before(lines: Sequence[TimelineLine]) -> list[set[int]]:
    before = _causes(lines)
    of_znodes = sorted((place for place, line in enumerate(lines) if line.source == ZOOKEEPER and line.zxid), key=lambda place: lines[place].zxid)
    for earlier, later in pairwise(of_znodes):
        if lines[earlier].zxid < lines[later].zxid:
            before[later].add(earlier)
    return before


def _causes(lines: Sequence[TimelineLine]) -> list[set[int]]:
    """Of each line those that gave what it needs."""
    givers: dict[str, list[int]] = {}
    for place, line in enumerate(lines):
        for key in line.gives:
            givers.setdefault(key, []).append(place)
    before: list[set[int]] = []
    for place, line in enumerate(lines):
        before.append({cause for key in line.needs for cause in _nearest([each for each in givers.get(key, ()) if each != place], line.t_ms, lines)})
    return before


def _nearest(givers: Sequence[int], t_ms: int, lines: Sequence[TimelineLine]) -> list[int]:
    """The latest before this time, if it is not too long ago; else the first after it, if clocks may differ so much. A change may have several lines."""
    earlier = [each for each in givers if 0 <= t_ms - lines[each].t_ms <= CAUSE_WITHIN_MS]
    later = [each for each in givers if 0 < lines[each].t_ms - t_ms <= CLOCKS_DIFFER_MS]
    if not earlier and not later:
        return []
    chosen_ms = max(lines[each].t_ms for each in earlier) if earlier else min(lines[each].t_ms for each in later)
    return [each for each in (*earlier, *later) if lines[each].t_ms == chosen_ms]


def folded(lines: Iterable[TimelineLine]) -> list[TimelineLine]:
    """The same without repetition: where one step is told of many partitions at once, the first two stand there, and how many more there were."""
    found: list[TimelineLine] = []
    kept: dict[tuple[str, str, str], list[int]] = {}
    more: dict[int, list[TimelineLine]] = {}
    for line in lines:
        key = (line.source, line.name, str(line.facts.get("to", "")))
        places = [place for place in kept.get(key, ()) if line.t_ms - found[place].t_ms <= FOLDED_WITHIN_MS]
        if len(places) < SHOWN:
            kept[key] = [*places, len(found)]
            found.append(line)
        else:
            more.setdefault(places[-1], []).append(line)
    for place, others in more.items():
        line = found[place]
        subjects = tuple(dict.fromkeys((*line.subjects, *(subject for other in others for subject in other.subjects))))
        found[place] = replace(line, sentence=f"{line.sentence}; {len(others)} more like this", subjects=subjects)
    return found
