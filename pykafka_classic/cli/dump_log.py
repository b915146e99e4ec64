"""`kafka-dump-log.sh --files a,b [option]...`: what is in the files of a log.

Reading order: this module, `dump_log_records` (.log), `dump_log_indexes` (all other files), `dump_log_decoders` (keys and values), `dump_log_findings`.

The files are printed one after the other to stdout; what does not agree among them is told on stderr at the end, with exit status 0. A file that cannot be read
ends the dump with a sentence and exit status 1; what had been printed by then stands.

Differs from Kafka: that sentence, instead of a stack trace; `--max-bytes` is there, which Kafka has from 3.3 on; a missing .index is not created. Logs of
`--cluster-metadata-decoder` are those of a cluster without ZooKeeper, which there is not here: refused.

Source: facts/tools.md 14; 2.8 DumpLogSegments.scala.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Final, TextIO

from pykafka_classic.__main__ import program_version
from pykafka_classic.cli.command_options import HELP, VERSION, Argument, Option, Options, UsageError, help_text, parse
from pykafka_classic.cli.dump_log_decoders import decode_group_record, decode_transaction_record, decoder_of_classes
from pykafka_classic.cli.dump_log_files import DumpError, java_path
from pykafka_classic.cli.dump_log_findings import Findings
from pykafka_classic.cli.dump_log_indexes import IndexCheck, dump_offset_index, dump_snapshot, dump_time_index, dump_transaction_index
from pykafka_classic.cli.dump_log_records import Decoder, Detail, dump_log
from pykafka_classic.cli.java_texts import java_split
from pykafka_classic.log import names
from pykafka_classic.log.producer_snapshot import CorruptSnapshot

DESCRIPTION: Final = "This tool helps to parse a log file and dump its contents to the console, useful for debugging a seemingly corrupt log segment."
STRING_DECODER: Final = "kafka.serializer.StringDecoder"
INTEGER_MAX: Final = 2**31 - 1
LINES_AT_ONCE: Final = 512

_CLASS: Final = "This class should implement kafka.serializer.Decoder trait. Custom jar should be available in kafka/libs directory."
OPTIONS: Final = (
    Option("print-data-log", "if set, printing the messages content when dumping data logs. Automatically set if any decoder option is specified."),
    Option("verify-index-only", "if set, just verify the index log without printing its content."),
    Option(
        "index-sanity-check",
        "if set, just checks the index sanity without printing its content. "
        "This is the same check that is executed on broker startup to determine if an index needs rebuilding or not.",
    ),
    Option(
        "files",
        "REQUIRED: The comma separated list of data and index log files to be dumped.",
        Argument.REQUIRED,
        described_as="file1, file2, ...",
    ),
    Option("max-message-size", "Size of largest message.", Argument.REQUIRED, "Integer", "size", str(5 * 1024 * 1024)),
    Option(
        "max-bytes",
        "Limit the amount of total batches read in bytes avoiding reading the whole .log file(s).",
        Argument.REQUIRED,
        "Integer",
        "size",
        str(INTEGER_MAX),
    ),
    Option("deep-iteration", "if set, uses deep instead of shallow iteration. Automatically set if print-data-log is enabled."),
    Option("value-decoder-class", f"if set, used to deserialize the messages. {_CLASS}", Argument.OPTIONAL, default=STRING_DECODER),
    Option("key-decoder-class", f"if set, used to deserialize the keys. {_CLASS}", Argument.OPTIONAL, default=STRING_DECODER),
    Option("offsets-decoder", "if set, log data will be parsed as offset data from the __consumer_offsets topic."),
    Option("transaction-log-decoder", "if set, log data will be parsed as transaction metadata from the __transaction_state topic."),
    Option("cluster-metadata-decoder", "if set, log data will be parsed as cluster metadata records."),
    Option("skip-record-metadata", "whether to skip printing metadata for each record."),
)
DECODER_OPTIONS: Final = ("offsets-decoder", "transaction-log-decoder", "cluster-metadata-decoder", "value-decoder-class", "key-decoder-class")


class Dump:
    """One run: what the options ask for, and what did not agree so far."""

    def __init__(self, options: Options) -> None:
        """Raises UsageError."""
        options.require("files")
        self.files = java_split(options.text("files"), ",")
        self.findings = Findings()
        self._check = IndexCheck(
            sanity_only=options.has("index-sanity-check"),
            verify_only=options.has("verify-index-only"),
            message_size_max=options.integer("max-message-size"),
        )
        self._detail = _detail(options)

    def lines(self, path: str) -> Iterator[str]:
        """The lines for one file. Raises DumpError, CorruptSnapshot, OSError."""
        match _suffix(path):
            case names.LOG:
                return dump_log(path, self._detail, self.findings)
            case names.INDEX:
                return dump_offset_index(path, self._check, self.findings)
            case names.TIME_INDEX:
                return dump_time_index(path, self._check, self.findings)
            case names.SNAPSHOT:
                return dump_snapshot(path)
            case names.TXN_INDEX:
                return dump_transaction_index(path)
        raise UnknownFile(f"Ignoring unknown file {path}")


class UnknownFile(Exception):
    """A file of no kind that a log has; the others are dumped all the same."""


def main(arguments: Sequence[str], output: TextIO, errors: TextIO) -> int:
    """Dump the files that the arguments name; the exit status."""
    try:
        options = parse(OPTIONS, arguments)
        if not arguments or options.has(HELP):
            raise UsageError(DESCRIPTION, with_help=True)
        if options.has(VERSION):
            output.write(f"{program_version()}\n")
            return 0
        dump = Dump(options)
    except UsageError as error:
        errors.write(f"{error}\n{help_text(OPTIONS) if error.with_help else ''}")
        return 1
    for name in dump.files:
        path = java_path(name)
        output.write(f"Dumping {path}\n")
        problem = _print_file(dump, path, output)
        if isinstance(problem, UnknownFile | CorruptSnapshot):
            errors.write(f"{problem}\n")
        elif problem is not None:
            output.flush()
            errors.write(f"{_sentence(problem)}\n")
            return 1
    errors.writelines(f"{line}\n" for line in dump.findings.report())
    return 0


def _print_file(dump: Dump, path: str, output: TextIO) -> Exception | None:
    """Print a file's lines; what went wrong, if something did."""
    try:
        _write(dump.lines(path), output)
    except BrokenPipeError:
        raise
    except (DumpError, UnknownFile, CorruptSnapshot, OSError) as error:
        return error
    return None


def _write(lines: Iterable[str], output: TextIO) -> None:
    """Write lines, many at once; those before an error too."""
    pending: list[str] = []
    try:
        for line in lines:
            pending.append(line)
            if len(pending) >= LINES_AT_ONCE:
                output.write("\n".join(pending) + "\n")
                pending.clear()
    finally:
        if pending:
            output.write("\n".join(pending) + "\n")


def _detail(options: Options) -> Detail:
    """What of a .log is printed. Raises UsageError."""
    prints = options.has("print-data-log") or any(map(options.has, DECODER_OPTIONS))
    bytes_max = options.integer("max-bytes")
    return Detail(
        deep=prints or options.has("deep-iteration"),
        metadata=not options.has("skip-record-metadata"),
        decoder=_decoder(options) if prints else None,
        bytes_max=None if bytes_max == INTEGER_MAX else bytes_max,
    )


def _decoder(options: Options) -> Decoder:
    if options.has("offsets-decoder"):
        return decode_group_record
    if options.has("transaction-log-decoder"):
        return decode_transaction_record
    if options.has("cluster-metadata-decoder"):
        raise UsageError("The option cluster-metadata-decoder is for logs of a cluster without ZooKeeper, which these brokers do not write.")
    try:
        return decoder_of_classes(options.text("key-decoder-class"), options.text("value-decoder-class"))
    except ValueError as error:
        raise UsageError(str(error)) from error


def _suffix(path: str) -> str:
    name = Path(path).name
    if "." not in name:
        raise DumpError(f"The name of the file '{path}' has no suffix to tell its kind by.")
    return name[name.rindex(".") :]


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}" if error.filename is not None else str(error)
    return str(error)


def run() -> None:
    """The console command. A reader that has seen enough (`| head`) ends it quietly."""
    assert isinstance(sys.stdout, TextIOWrapper), "a process has a real one"
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    try:
        status = main(sys.argv[1:], sys.stdout, sys.stderr)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 0
    sys.exit(status)


if __name__ == "__main__":
    run()
