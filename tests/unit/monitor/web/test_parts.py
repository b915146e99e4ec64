"""Smaller parts: the audit log, server-sent events to a slow browser, what an ensemble tells, files of static/, links into the code."""

from __future__ import annotations

import json
import re
from importlib import resources
from pathlib import Path

import pytest

from pykafka_classic.monitor.store.answers import ZNodeChange
from pykafka_classic.monitor.store.rows import ChangeKind
from pykafka_classic.monitor.web.assets import Assets
from pykafka_classic.monitor.web.audit import SIZE_MAX, AuditLog, fields_shown
from pykafka_classic.monitor.web.ensemble import Told, addresses, server_of, watchers_in
from pykafka_classic.monitor.web.exchange import Refused, Request
from pykafka_classic.monitor.web.live import Reader
from pykafka_classic.monitor.web.pages.others import _source, _span
from pykafka_classic.monitor.web.secrets_of_nodes import HIDDEN, change_shown, data_shown
from pykafka_classic.monitor.writers import WRITERS

PACKAGE = resources.files("pykafka_classic.monitor.web")


def test_the_audit_log_has_a_line_for_each_write(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.log")
    assert log.latest() == []
    log.append(1_700_000_000_123, {"user": "alice", "outcome": "Topic é is created."})
    log.append(1_700_000_001_000, {"user": "bob", "refused": True})
    with log.path.open("a") as file:
        file.write('{"t": "cut o')  # by a kill
    assert log.path.read_text().splitlines()[0] == '{"t": "2023-11-14T22:13:20.123Z", "user": "alice", "outcome": "Topic é is created."}'
    assert [line["user"] for line in log.latest()] == ["bob", "alice"]


def test_a_long_audit_log_is_rolled(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.log")
    log.path.write_text(json.dumps({"user": "old"}) + "\n" + " " * SIZE_MAX + "\n")
    log.append(0, {"user": "new"})
    assert [line["user"] for line in log.latest(2)] == ["new"] and (tmp_path / "audit.log.1").exists()
    assert log.path.read_text().count("\n") == 1


def test_the_audit_log_holds_no_secrets_and_no_records() -> None:
    told = {"name": "flights", "value": "who knows", "configs": {"sasl.jaas.config": "x", "retention.ms": "5"}, "preview": False, "partition": None}
    assert fields_shown(told) == {"name": "flights", "value": "(9 long)", "configs": {"sasl.jaas.config": "(secret)", "retention.ms": "5"}, "preview": False}


def test_a_slow_browser_is_told_once_when_it_takes_some_again() -> None:
    written: list[bytes] = []
    reader = Reader(written.append)
    reader.tell({"znodes"})
    reader.pause()
    for kind in ("samples", "znodes", "samples"):
        reader.tell({kind})
    reader.beat()
    assert len(written) == 2
    reader.resume()
    assert written[1:] == [b'event: change\ndata: ["znodes"]\n\n', b'event: change\ndata: ["samples", "znodes"]\n\n']
    reader.resume()
    assert len(written) == 3


def test_an_ensemble_is_read_from_its_four_letter_words() -> None:
    # As ZooKeeper 3.9 answers srvr and wchp (zookeeper/server/command/StatCommand.java, WatchCommand.java).
    srvr = (
        "Zookeeper version: 3.9.5-abc, built on 2025-01-01 00:00 UTC\nLatency min/avg/max: 0/3.5/90\nReceived: 10\nSent: 9\nConnections: 6\nOutstanding: 0\n"
        "Zxid: 0x9d\nMode: leader\nNode count: 76\nProposal sizes last/min/max: 48/48/201\n"
    )
    server = server_of(("zk1", 2181), srvr)
    assert (server.mode, server.version, server.nodes, server.zxid, server.latency, server.problem) == ("leader", "3.9.5", "76", "0x9d", "0/3.5/90", "")
    wchp = "/brokers/ids\n\t0x100025c097f0000\n\t0x100025c097f0004\n/brokers/ids/1\n\t0x100025c097f0002\n"
    assert watchers_in(wchp, "/brokers/ids") == ["0x100025c097f0000", "0x100025c097f0004"] and watchers_in(wchp, "/brokers") == []
    assert server_of(("zk1", 2181), "This ZooKeeper instance is not currently serving requests\n").problem.startswith("This ZooKeeper instance")
    assert addresses("zk1:2181,zk2:2182,zk3/kafka/a") == [("zk1", 2181), ("zk2", 2182), ("zk3", 2181)]


def test_files_keep_their_names_for_ever_and_nothing_else_is_served() -> None:
    assets = Assets()
    address = assets.address("monitor.css")
    found = assets.answer(Request("GET", "/static/monitor.css", {"v": [address.partition("=")[2]]}, parts={"file": "monitor.css"}))
    assert "immutable" in found.headers["Cache-Control"] and found.content_type.startswith("text/css")
    for name in ("../app.py", "openapi.json", "..", ""):
        with pytest.raises(Refused):
            assets.answer(Request("GET", "/static/x", parts={"file": name}))


def test_every_vendored_script_has_its_licence() -> None:
    names = {each.name for each in PACKAGE.joinpath("static").iterdir()}
    vendored = {match[1] for name in names if (match := re.fullmatch(r"(\w+)-[\d.]+\.js", name))}
    assert vendored == {"uplot", "idiomorph"} and {f"{name}-LICENSE.txt" for name in vendored} <= names


def test_no_page_has_a_script_or_style_of_its_own_or_needs_the_net() -> None:
    for each in PACKAGE.joinpath("templates").iterdir():
        text = each.read_text(encoding="utf-8")
        assert not re.search(r"<script(?! src)|<style|\sstyle=|\son\w+=|javascript:", text), each.name
        assert not re.search(r"(src|href)=\"(https?:)?//", text), each.name
        assert "|safe" not in text, each.name


def test_every_function_that_the_timeline_links_to_is_shown() -> None:
    for _, writer in WRITERS:
        if writer.code:
            module, _, name = writer.code.partition(":")
            text = _source(module)
            first, last = _span(text, name)
            assert re.search(rf"(def|class) {name.rpartition('.')[2]}\b", "\n".join(text.splitlines()[first - 1 : last])), writer.code


@pytest.mark.parametrize("module", ["../../setup.py", "/etc/passwd", "monitor/web/openapi.json", "monitor/../../x.py", "no/such.py", ""])
def test_nothing_but_our_own_modules_is_shown(module: str) -> None:
    with pytest.raises(Refused):
        _source(module)


@pytest.mark.parametrize("path", ["/config/users/alice", "/config/users/alice/clients/app", "/delegation_token/tokens/x"])
def test_credentials_in_nodes_are_not_shown(path: str) -> None:
    data = b'{"version":1,"config":{"SCRAM-SHA-256":"salt=...,stored_key=...,server_key=..."}}'
    assert data_shown(path, data) == HIDDEN and data_shown(path, None) is None
    change = ZNodeChange(1, path, ChangeKind.WRITTEN, 0, 0, 0, 0, 0, data, data)
    assert (change_shown(change).data, change_shown(change).before) == (HIDDEN, HIDDEN)
    assert data_shown("/config/topics/users", data) == data


def test_an_ensemble_that_is_shut_says_how_to_open_it() -> None:
    assert Told((), ["/a\n\t0x1\n", "/a\n\t0x2\n"], ()).watchers("/a") == (["0x1", "0x2"], "")
    assert Told((), (), [{"/a": [7]}]).watchers("/a") == (["7"], "")
    assert "4lw.commands.whitelist" in Told((), (), ()).watchers("/a")[1]
