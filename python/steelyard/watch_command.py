# SPDX-License-Identifier: Apache-2.0
"""`steelyard watch`: runs a Python program that needs no edit, and reports on it when it ends."""

from __future__ import annotations

import argparse
import os
import runpy
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from steelyard.errors import SteelyardError, UsageError
from steelyard.watching import LEVELS, Watch, WatchReport, watch

FORMATS = ("text", "json", "csv")


def main(words: Sequence[str]) -> int:
    """Returns the exit status: of the program, or 1 or 2 where it could not be watched."""
    asked = _parser().parse_args(words)
    try:
        if asked.read is not None:
            _write(WatchReport(Path(asked.read).read_bytes(), asked.read), asked)
            return 0
        if not asked.program:
            _parser().error("name the program to watch, or a record with --read")
        return _watched(asked)
    except (SteelyardError, OSError) as error:
        print(f"steelyard: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="steelyard watch",
        usage="%(prog)s [options] PROGRAM.py [ARGUMENT...]\n"
        "       %(prog)s [options] -m MODULE [ARGUMENT...]\n"
        "       %(prog)s --read RECORD",
        description="Runs a PyTorch program and tells what its modules took and held.",
        allow_abbrev=False,
    )
    parser.add_argument("--level", choices=LEVELS, default="light", help="ops: operators, too")
    parser.add_argument("--record", metavar="FILE", help="write the record there as it grows")
    parser.add_argument("--read", metavar="RECORD", help="report on a record; nothing runs")
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.add_argument("-o", "--output", metavar="FILE", help="else standard error")
    parser.add_argument("--depth", type=int, default=2, metavar="N", help="levels of modules")
    parser.add_argument("--top", type=int, default=10, metavar="N", help="operators")
    parser.add_argument("-m", "--module", action="store_true", help="PROGRAM is a module's name")
    parser.add_argument("program", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def _watched(asked: argparse.Namespace) -> int:
    """Runs the program. Its own exceptions and exit status are as without us."""
    if not asked.module and not Path(asked.program[0]).exists():
        raise UsageError("there is no such program", asked.program[0])
    session = watch(level=asked.level, record=asked.record)
    process = os.getpid()
    with session:
        try:
            with _arguments(asked):
                _run(asked)
        finally:
            # A child of fork that comes to its end here has nothing of its own to tell.
            if os.getpid() == process:
                session.stop()
                _report(session, asked)
    return 0


def _run(asked: argparse.Namespace) -> None:
    if asked.module:
        runpy.run_module(asked.program[0], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(asked.program[0], run_name="__main__")


@contextmanager
def _arguments(asked: argparse.Namespace) -> Iterator[None]:
    """What the program finds in `sys` is what it finds when Python runs it."""
    words, path = sys.argv, list(sys.path)
    sys.argv = list(asked.program)
    sys.path.insert(0, str(Path.cwd() if asked.module else Path(asked.program[0]).parent))
    try:
        yield
    finally:
        sys.argv, sys.path[:] = words, path


def _report(session: Watch, asked: argparse.Namespace) -> None:
    try:
        _write(session.report, asked)
    except (SteelyardError, OSError) as error:
        print(f"steelyard: there is no report: {error}", file=sys.stderr)


def _write(report: WatchReport, asked: argparse.Namespace) -> None:
    text = report.render(asked.format, depth=asked.depth, top=asked.top)
    if asked.output is None:
        # Standard output is the program's own.
        print(text, file=sys.stdout if asked.read is not None else sys.stderr)
    else:
        Path(asked.output).write_text(text, encoding="utf-8")
