"""The monitor's pages in a real Chromium, beside a cluster of three brokers: every page, light and dark and on a phone; live; a killed leader."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from functools import partial
from urllib.parse import quote

import pytest
from confluent_kafka import Consumer, Producer

from pykafka_classic.common.zookeeper import Create
from pykafka_classic.edges.blocking_zookeeper import BlockingZooKeeper
from pykafka_classic.edges.child_processes import wait_until
from pykafka_classic.monitor.store.answers import Span
from pykafka_classic.testing.cluster import LocalCluster
from tests.integration.monitor_browser import PHONE, WIDE, Browser, chromium, needs_chromium
from tests.integration.monitor_process import NAME, MonitorProcess, watching

pytestmark = needs_chromium

TOPIC, GROUP, OLD_GROUP = "flights", "radar", "old-radar"
HERE = f"/c/{NAME}"
SEEN_WITHIN_MS = 2_000
# Address and what must stand on it.
PAGES = {
    HERE: ("Dashboard", "3 / 3", "Groups furthest behind", GROUP),
    f"{HERE}/topics": ("Topics", TOPIC, "Create a topic"),
    f"{HERE}/topics?only=offline": ("None of the cluster's",),
    f"{HERE}/topics/{TOPIC}": (TOPIC, "retention.ms", "Elect preferred leaders", GROUP),
    f"{HERE}/topics/{TOPIC}/partitions/0": ("Why is it so?", "leads", "leader epoch 0"),
    f"{HERE}/messages": ("Of which topic?", TOPIC),
    f"{HERE}/topics/{TOPIC}/messages": ('{"carrier": "UA", "n": 29}', "N29", "trace", "Produce a record"),
    f"{HERE}/topics/{TOPIC}/messages?q=%22n%22%3A+17&format=hex": ("22 6e 22 3a 20 31 37", "N17"),
    f"{HERE}/brokers": ("broker 0", "broker 1", "broker 2", "Log directories", "controller"),
    f"{HERE}/brokers/1": ("Broker 1", "log.dirs", "is registered at", "API versions that it serves"),
    f"{HERE}/groups": (GROUP, OLD_GROUP, "zookeeper", "kafka"),
    f"{HERE}/groups/{GROUP}": ("Reset offsets", "Records behind", f"{TOPIC}-"),
    f"{HERE}/groups/{OLD_GROUP}": ("Members in ZooKeeper", "old-member", "Move offsets between ZooKeeper and Kafka"),
    f"{HERE}/zookeeper?path=/brokers/ids/1&command=ls+/brokers": ("standalone", "Ephemeral owner", "(broker 1)", "Watched by", "[ids, seqid, topics]"),
    f"{HERE}/timeline": ("What happened", "old-member joined", "zxid"),
    f"{HERE}/alarms": ("On now", "When they ring"),
    f"{HERE}/sql": ("SQL over topics", "For example"),
    f"{HERE}/screen": (NAME, "All is well", "Furthest behind"),
    "/clusters": (NAME, "connected"),
    "/audit": ("Audit log",),
    "/api": ("openapi.json", "/clusters/{cluster}/topics"),
    "/code?at=controller/election.py": ("def ",),
    "/docs/events.md": ("# What brokers tell of their decisions",),
}


LOOKS = ((WIDE, False), (WIDE, True), (PHONE, False), (PHONE, True))
# What a screen reader needs of a page: landmarks, a heading, names of fields and buttons, headers of tables, ids that are one.
STRUCTURE = """
const all = selector => [...document.querySelectorAll(selector)];
const named = each => each.labels?.length || each.getAttribute('aria-label') || each.type === 'hidden';
return {mains: all('main').length, headings: all('h1').length, language: document.documentElement.lang,
  unnamed: all('input, select, textarea').filter(each => !named(each)).map(each => each.outerHTML),
  silent: all('button, a').filter(each => !each.textContent.trim() && !each.getAttribute('aria-label')).map(each => each.outerHTML),
  headless: all('main table:not(.u-legend)').filter(each => !each.querySelector('th[scope]')).length,
  twice: all('[id]').map(each => each.id).filter((id, place, ids) => ids.indexOf(id) !== place)}
"""
SOUND = {"mains": 1, "headings": 1, "language": "en", "unnamed": [], "silent": [], "headless": 0, "twice": []}


@pytest.fixture(scope="module")
def watched(cluster: LocalCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LocalCluster, MonitorProcess]]:
    """Three brokers with records, a group of each generation, and a monitor that has seen them."""
    with watching(cluster, tmp_path_factory.mktemp("monitor"), TOPIC) as monitor:
        reader = monitor.reader
        produce(cluster, 30)
        read_some(cluster)
        with BlockingZooKeeper(cluster.zookeeper.address) as zk:
            for path in ("/consumers", f"/consumers/{OLD_GROUP}", *(f"/consumers/{OLD_GROUP}/{each}" for each in ("ids", "offsets", f"offsets/{TOPIC}"))):
                zk.submit(Create(path, b""))
            zk.submit(Create(f"/consumers/{OLD_GROUP}/offsets/{TOPIC}/0", b"3"))
            told = {"version": 1, "subscription": {TOPIC: 1}, "pattern": "static", "timestamp": "1700000000000"}
            zk.submit(Create(f"/consumers/{OLD_GROUP}/ids/old-member", json.dumps(told).encode(), ephemeral=True))
            wait_until(lambda: {(each.group, each.store) for each in reader.lag_ranking(NAME)} >= {(GROUP, "kafka"), (OLD_GROUP, "zookeeper")}, seconds=20)
            wait_until(lambda: reader.config_at(NAME, "topic", TOPIC) is not None, seconds=30)
            yield cluster, monitor


@pytest.fixture(scope="module")
def browser(watched: tuple[LocalCluster, MonitorProcess]) -> Iterator[Browser]:
    """One for all tests of this file."""
    with chromium(watched[1].address) as found:
        yield found


def produce(cluster: LocalCluster, count: int) -> None:
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "linger.ms": 0})
    for number in range(count):
        value = json.dumps({"carrier": "UA", "n": number})
        producer.produce(TOPIC, value, key=f"N{number}", headers=[("trace", b"%04x" % number)], partition=number % 2)
    assert producer.flush(20) == 0


def read_some(cluster: LocalCluster) -> None:
    """A group commits what it has read."""
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": GROUP, "auto.offset.reset": "earliest", "enable.auto.commit": False})
    consumer.subscribe([TOPIC])
    assert len(consumer.consume(10, timeout=30)) == 10
    consumer.commit(asynchronous=False)
    consumer.close()


def test_every_page_says_what_it_should_in_every_look(browser: Browser) -> None:
    for path, expected in PAGES.items():
        text = browser.open(path)
        missing = [each for each in expected if each not in text]
        assert not missing, f"{path} lacks {missing}:\n{text[:3000]}"
        assert browser.run(STRUCTURE) == SOUND, path
        for size, dark in LOOKS:
            browser.size(*size, dark=dark)
            ground, ink = browser.run("const style = getComputedStyle(document.body); return [style.backgroundColor, style.color]")
            assert (luminance(ground) < luminance(ink)) == dark and contrast(ground, ink) > 7, path
            wider = browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert wider <= 0, f"{path} is {wider} px wider than a window of {size[0]}"
            browser.picture(re.sub(r"\W+", "-", path).strip("-") + f"-{size[0]}-{'dark' if dark else 'light'}")
        browser.size(*WIDE)
    assert browser.complaints() == []


def luminance(color: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    channels = [int(each) / 255 for each in re.findall(r"\d+", color)[:3]]
    red, green, blue = (each / 12.92 if each <= 0.03928 else ((each + 0.055) / 1.055) ** 2.4 for each in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """As WCAG 2 defines it; it asks for 4.5, in its strictest class for 7."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_pages_can_be_used_with_the_keyboard(browser: Browser) -> None:
    browser.open(HERE)
    browser.press("Tab")
    assert browser.run("return document.activeElement.textContent") == "Skip to content"
    browser.press("Enter")
    assert browser.run("return document.activeElement.id") == "content"
    outline = browser.run("document.querySelector('.sections a').focus({focusVisible: true}); return getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_the_theme_can_be_chosen_and_stays(browser: Browser) -> None:
    browser.open(HERE)
    browser.run("document.getElementById('theme').click()")
    dark = browser.run("return getComputedStyle(document.body).backgroundColor")
    browser.open(f"{HERE}/topics")
    assert browser.run("return getComputedStyle(document.body).backgroundColor") == dark and luminance(dark) < 0.1
    browser.run("localStorage.clear()")


def test_a_topic_is_made_changed_and_deleted_by_forms(browser: Browser) -> None:
    browser.open(f"{HERE}/topics")
    fill(browser, "#new-topic form", {"name": "made-by-hand", "partitions": "1", "replication_factor": "2", "configs": "retention.ms=600000"})
    browser.wait(lambda: "Topic made-by-hand is created: 1 partition, 2 replicas of each." in browser.text())
    browser.wait(lambda: f"{HERE}/topics/made-by-hand" in browser.driver.current_url)
    browser.wait(lambda: browser.run("return !!document.querySelector('#add')") or browser.open(f"{HERE}/topics/made-by-hand") is None)
    fill(browser, "#add", {"total": "3"})
    browser.wait(lambda: "Topic made-by-hand has 3 partitions now." in browser.text())
    browser.wait(lambda: browser.run("return document.querySelectorAll('tr[id^=p]').length") == 3)  # live, without loading the page anew
    browser.wait(lambda: "600000" in browser.text(), seconds=30)
    fill(browser, "#set-config", {"name": "retention.ms", "value": "many"})
    browser.wait(lambda: "Not a number of type LONG" in browser.text(".note.failed"))
    fill(browser, "#set-config", {"name": "retention.ms", "value": "700000"})
    browser.wait(lambda: "retention.ms is 700000." in browser.text(".note.done"))
    browser.run("window.confirm = () => true")
    fill(browser, "#delete", {})
    browser.wait(lambda: "Topic made-by-hand is being deleted." in browser.text())
    text = browser.open("/audit")
    assert [text.count(each) for each in ("create-topic", "add-partitions", "alter-topic", "delete-topic")] == [1, 1, 2, 1]
    assert browser.run("return [...document.querySelectorAll('main .bad')].map(each => each.textContent)") == ["refused"]
    assert all("404" in each for each in browser.complaints())  # a page of a topic that goes while somebody looks


def test_a_record_is_produced_and_found(browser: Browser) -> None:
    browser.open(f"{HERE}/topics/{TOPIC}/messages")
    fill(browser, "#produce form", {"key": "by hand", "value": "<b>bold & é</b>", "headers": "from=browser"})
    browser.wait(lambda: "The record lies in flights-" in browser.text())
    text = browser.text("table.messages")
    assert "<b>bold & é</b>" in text and "by hand" in text and "browser" in text
    assert browser.run("return document.querySelector('table.messages b')") is None  # shown, not obeyed


def test_offsets_are_reset_and_migrated_after_a_preview(browser: Browser, watched: tuple[LocalCluster, MonitorProcess]) -> None:
    reader = watched[1].reader
    browser.open(f"{HERE}/groups/{GROUP}")
    fill(browser, "#reset", {"to": "offset", "number": "2"})
    browser.wait(lambda: "would be set; nothing was changed" in browser.text())
    assert {each.committed for each in reader.group_lag(NAME, GROUP)} != {2}
    fill(browser, "main form", {})
    browser.wait(lambda: "2 offsets of group radar are set." in browser.text())
    browser.wait(lambda: {each.committed for each in reader.group_lag(NAME, GROUP)} == {2})
    browser.open(f"{HERE}/groups/{OLD_GROUP}")
    fill(browser, "#migrate", {})
    browser.wait(lambda: "has 1 living member" in browser.text(".note.failed"))
    browser.run("document.querySelector('#migrate [name=force]').checked = true")
    fill(browser, "#migrate", {})
    browser.wait(lambda: "1 offset of 1 would be copied from zookeeper to kafka" in browser.text())
    fill(browser, "main form", {})
    browser.wait(lambda: "copied from zookeeper to kafka" in browser.text(".note.done"))
    browser.wait(lambda: {(each.store, each.committed) for each in reader.group_lag(NAME, OLD_GROUP)} == {("zookeeper", 3), ("kafka", 3)})


def test_a_question_in_sql_is_answered(browser: Browser) -> None:
    browser.open(f"{HERE}/sql")
    fill(browser, "#question", {"statement": "select count(distinct _key) as keys, min(_offset) as least from topic flights where _key like 'N%'"})
    browser.wait(lambda: "1 row" in browser.text("#h-rows"), seconds=30)
    assert browser.run("return [...document.querySelectorAll('main td')].map(each => each.textContent)") == ["30", "0"]
    fill(browser, "#question", {"statement": "select nonsense from topic flights"})
    browser.wait(lambda: "nonsense" in browser.text(".note.failed"), seconds=30)


def fill(browser: Browser, form: str, values: dict[str, str]) -> None:
    """Put values into a form's fields and send it, as its button does."""
    browser.run(
        "const form = document.querySelector(arguments[0]);"
        "for (const [name, value] of Object.entries(arguments[1])) { form.elements[name].value = value; }"
        "form.requestSubmit();",
        form,
        values,
    )


def test_charts_are_drawn(browser: Browser) -> None:
    for path, count in ((HERE, 1), (f"{HERE}/topics/{TOPIC}", 1), (f"{HERE}/groups/{GROUP}", 2)):
        browser.open(path)
        wait_until(partial(charts_are, browser, count), seconds=20)
    assert browser.complaints() == []


def charts_are(browser: Browser, count: int) -> bool:
    return bool(browser.run("return document.querySelectorAll('.chart[data-state=drawn] canvas').length") == count)


# When a row first showed each state, by the browser's clock.
NOTE_WHEN = """
const id = arguments[0]; window.seen = {};
const look = () => { for (const word of ['silent', 'gone'])
  if (!(word in window.seen) && document.querySelector(`#${id} .state.${word}`)) { window.seen[word] = Date.now(); } };
new MutationObserver(look).observe(document.querySelector('main'), {subtree: true, childList: true, characterData: true, attributes: true});
"""


def test_a_killed_leader_is_seen_and_explained(browser: Browser, watched: tuple[LocalCluster, MonitorProcess]) -> None:
    cluster, monitor = watched
    reader = monitor.reader
    wait_until(lambda: all(set(each.isr) == {0, 1, 2} and not each.offline for each in reader.partitions_at(NAME, topic=TOPIC)), seconds=30)
    leader = reader.partitions_at(NAME, topic=TOPIC)[0].leader
    browser.open(HERE)
    browser.wait(lambda: browser.text("#live") == "live")
    browser.run(NOTE_WHEN, f"broker-{leader}")
    killed_ms = time.time_ns() // 1_000_000
    cluster.brokers[leader].kill()
    browser.wait(lambda: "silent" in browser.text(f"#broker-{leader}"))
    assert f"Broker {leader} does not answer" in browser.text()
    browser.wait(lambda: "gone" in browser.text(f"#broker-{leader}") and f"{TOPIC}-0" in browser.text("[aria-labelledby=h-trouble]"), seconds=40)
    shown = browser.run("return window.seen")  # gone, were the page loaded anew
    silent = next(each.t_ms for each in reader.broker_events(NAME, Span(killed_ms)) if each.name == "broker-silent")
    gone = next(each.seen_ms for each in reader.znode_changes(NAME, Span(killed_ms)) if each.path == f"/brokers/ids/{leader}")
    # By the clock of this machine, so that a test that looks late does not count: from the kill to the page, and from ZooKeeper's word to the page.
    assert max(shown["silent"] - silent, silent - killed_ms, shown["gone"] - gone) < SEEN_WITHIN_MS, (killed_ms, silent, gone, shown)
    browser.picture("dashboard-killed")
    session = next(each.session for each in reader.brokers_at(NAME) if each.broker == leader)
    browser.open(f"{HERE}/timeline?subject={TOPIC}-0&minutes=5")
    told = ("LeaderAndIsr", f"ISR of {TOPIC}-0 shrunk", f"Broker {leader} left", f"Session {session}")
    browser.wait(lambda: all(each in browser.text() for each in told[1:]))
    browser.wait(lambda: told[0] in browser.text())
    text = browser.text()
    assert re.search(rf"ISR of {TOPIC}-0 is \[\d,\d\] since [\d: -]+: broker {leader} is gone: its session {session} expired", text), text
    steps = [text.index(each, text.index("What happened")) for each in told]
    assert steps == sorted(steps)  # the latest first: what was caused stands above its cause
    browser.picture("timeline-killed")
    replay(browser, leader, killed_ms)
    cluster.restart(leader)
    browser.open(HERE)
    browser.wait(lambda: "up" in browser.text(f"#broker-{leader}") and "all its replicas are in sync" in browser.text(), seconds=40)


def replay(browser: Browser, leader: int, killed_ms: int) -> None:
    """The slider shows the cluster as it was, and as it became."""
    browser.open(f"{HERE}/timeline?minutes=5&since={killed_ms - 60_000}")
    assert "gone" in browser.text("#state")
    slide = "const slider = document.forms.replay.elements.at; slider.value = arguments[0]; slider.dispatchEvent(new Event('input', {bubbles: true}))"
    browser.run(slide, killed_ms - 1_000)
    browser.wait(lambda: "gone" not in browser.text("#state"))
    assert browser.run("return document.querySelector('#state .r.leads').textContent").startswith(str(leader))
    browser.run(slide, killed_ms + 3_600_000)
    browser.wait(lambda: "gone" in browser.text("#state"))


def test_nothing_that_a_cluster_holds_is_taken_for_html(browser: Browser, watched: tuple[LocalCluster, MonitorProcess]) -> None:
    evil = "<script>document.title='taken'</script>"
    with BlockingZooKeeper(watched[0].zookeeper.address) as zk:
        path = f"/consumers/{evil.replace('/', '')}"
        assert zk.submit(Create(path, evil.encode()))[0].ok
    group = path.removeprefix("/consumers/")
    browser.wait(lambda: evil.replace("/", "") in browser.open(f"{HERE}/groups"))
    for address in (f"{HERE}/groups/{quote(group, safe='')}", f"{HERE}/zookeeper?path={quote(path)}", f"{HERE}/topics?q={quote(evil)}"):
        browser.open(address)
        assert browser.driver.title != "taken" and browser.run("return document.querySelectorAll('main script').length") == 0
    assert browser.complaints() == []
