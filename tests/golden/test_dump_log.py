"""Our kafka-dump-log prints what Kafka's printed of the same files."""

from __future__ import annotations

import base64
import io
import json
import lzma
import re
import tarfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pykafka_classic.cli import dump_log
from pykafka_classic.cli.command_options import Argument
from tests.golden.log_data import DATA

# What Kafka does and ours does not, by the beginning of the case's name.
ON_PURPOSE = {
    "txnindex version 1": "Kafka prints the first of the two bytes of the version",
    "txnindex missing": "a file that is not there is an error, for this kind too",
    "snapshot of no bytes": "the words of a Java exception",
    "snapshot cut": "the words of a Java exception",
    "snapshot of three bytes": "the words of a Java exception",
    "snapshot count too large": "the words of a Java exception",
    "snapshot negative count": "the words of a Java exception",
    "snapshot count too small": "a snapshot with bytes behind its last producer is refused",
}


class Answer(NamedTuple):
    """What a run of the tool gives."""

    exit: int
    stdout: str
    stderr: str


def dump(*arguments: str) -> Answer:
    """Run ours."""
    output, errors = io.StringIO(newline=""), io.StringIO()
    status = dump_log.main(arguments, output, errors)
    return Answer(status, output.getvalue(), errors.getvalue())


# recorded directories


class Recorded(NamedTuple):
    """What Kafka's tool said of one file."""

    folder: str  # where it ran
    file: str
    options: tuple[str, ...]
    stdout: str


@cache
def dumps() -> dict[str, dict[str, str]]:
    """The recorded texts by scenario and name."""
    found: dict[str, dict[str, str]] = {}
    with tarfile.open(DATA / "dumps.tar.xz") as archive:
        for member in archive:
            scenario, _, name = member.name.removeprefix("./").partition("/dump/")
            found.setdefault(scenario, {})[name] = archive.extractfile(member).read().decode()  # type: ignore[union-attr]
    return found


def recorded(scenario: str) -> Iterator[Recorded]:
    """One by one. Some recordings name the command before each file; the others ran one command over all files."""
    for name, text in dumps()[scenario].items():
        if name == "stderr.txt" or name.endswith("at-the-end.txt"):
            continue
        if not text.startswith("$ "):
            decoder = {"__consumer_offsets": ("--offsets-decoder",), "__transaction_state": ("--transaction-log-decoder",)}
            options = ("--deep-iteration", "--print-data-log", *decoder.get(name.rpartition("-")[0], ()))
            for piece in re.split(r"(?m)^(?=Dumping )", text)[1:]:
                yield Recorded("data", piece.split("\n", 1)[0].removeprefix("Dumping "), options, piece)
            continue
        state, _, partition = name.removesuffix(".txt").rpartition("/")
        for piece in re.split(r"(?m)^\$ kafka-dump-log --files ", text)[1:]:
            command, _, said = piece.partition("\n")
            file, *given = command.split()
            folder = f"{state}/{partition}" if "/" not in file else state
            yield Recorded(folder, file, tuple(given), re.split(r"(?m)^exit 1 ", said)[0])


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All recordings on disk."""
    folder = tmp_path_factory.mktemp("recordings")
    for archive in DATA.glob("*.tar.gz"):
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
    return folder


@pytest.mark.parametrize("scenario", sorted(dumps()))
def test_every_file_of_a_recording_is_printed_as_kafka_printed_it(scenario: str, unpacked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    count = 0
    for folder, file, options, stdout in recorded(scenario):
        monkeypatch.chdir(unpacked / scenario / folder)
        ours = dump("--files", file, *options)
        assert ours.stdout.rstrip() == stdout.rstrip(), (folder, file)
        count += 1
    assert count > 5


def blocks(text: str) -> list[str]:
    """The findings at the end, file by file: their order hangs on where the files lie."""
    return sorted(re.split(r"(?m)^(?=\S)", re.sub(r"(?m)^(?=Indexed offset)", "  ", text))[1:])


def findings(files: list[str], options: tuple[str, ...]) -> str:
    """What is told at the end. A file that ends the dump is left behind, with those before it, as it was when Kafka's words were recorded."""
    while True:
        status, stdout, stderr = dump("--files", ",".join(files), *options)
        if not status:
            return stderr
        files = files[len(re.findall(r"(?m)^Dumping ", stdout)) :]


@pytest.mark.parametrize(
    "state", ["failover/broker-0", "failover/broker-0-killed", "failover/broker-1", "killed/broker-0", "leftovers/broker-0", "leftovers/after"]
)
def test_what_does_not_agree_is_told_at_the_end_of_all_files(state: str, unpacked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(unpacked / state)
    scenario, _, folder = state.partition("/")
    by_options: dict[tuple[str, ...], list[str]] = {}
    for each in recorded(scenario):
        if each.folder == folder:
            by_options.setdefault(each.options, []).append(each.file)
    ours = [findings(files, options) for options, files in by_options.items()]
    told = dumps()[scenario].get(f"{folder}/at-the-end.txt", "")
    theirs = re.sub(r"(?m)^\$ .*\n|^\n", "", told).replace("{DIR}", str(Path.cwd()))
    assert blocks("".join(ours)) == blocks(theirs)


# made-up files


def cases() -> list[dict[str, Any]]:
    """What was asked, and Kafka's answers."""
    with lzma.open(DATA / "dump_log_cases.jsonl.xz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def without_max_bytes(text: str) -> str:
    """A help text without the option that came with 3.3."""
    return re.sub(r"--max-bytes <Integer.*\n.*\n.*\n", "", text)


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["name"])
def test_made_up_files_are_printed_as_kafka_prints_them(case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, data in case["files"].items():
        Path(name).write_bytes(base64.b64decode(data))
    stdout, stderr = (case[name].replace("{DIR}", str(tmp_path)) for name in ("stdout", "stderr"))
    ours = dump(*case["arguments"])
    if case["name"] in ON_PURPOSE:
        assert (ours.stdout, ours.stderr) != (stdout, stderr), "no difference any more"
    elif case["exception"]:
        assert ours.exit == 1
        assert ours.stderr.count("\n") == 1 and ours.stderr.endswith("\n"), "one sentence"
        whole_lines = stdout[: stdout.rfind("\n") + 1]
        assert ours.stdout.startswith(whole_lines) or whole_lines.startswith(ours.stdout)
    else:
        assert (ours.exit, ours.stdout, without_max_bytes(ours.stderr)) == (case["exit"], stdout, stderr)
    assert set(map(str, Path().iterdir())) == set(case["files"]), "a dump leaves no files behind"


def test_the_cases_reach_every_option() -> None:
    used = {word.lstrip("-").partition("=")[0] for case in cases() for word in case["arguments"] if word.startswith("-")}
    with_value = {option.name for option in dump_log.OPTIONS if option.argument is not Argument.NONE}
    assert {option.name for option in dump_log.OPTIONS} - used == {"max-bytes", "cluster-metadata-decoder"}
    assert with_value >= {"files", "max-message-size"}
