# SPDX-License-Identifier: Apache-2.0
"""`steelyard watch`: runs a Python program that needs no edit, and reports on it when it ends."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import runpy
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from steelyard import watch_output, watch_predict, watch_ranks
from steelyard.data_parallel import rank_count
from steelyard.errors import SteelyardError, UsageError
from steelyard.schedules import Schedule, schedule
from steelyard.watch_config import ProfilerConfig
from steelyard.watching import LEVELS, Watch, WatchReport, watch

# How long is waited for other ranks when the program has failed here.
SHORTLY = datetime.timedelta(seconds=1)


def main(words: Sequence[str]) -> int:
    """Returns the exit status: of the program, or 1 or 2 where it could not be watched."""
    asked = _parser().parse_args(words)
    try:
        asked.format = watch_output.chosen(asked.format, asked.output)
        if asked.read is not None:
            _read(asked)
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
        "       torchrun --nproc-per-node N -m steelyard watch [options] PROGRAM.py [ARGUMENT...]\n"
        "       %(prog)s --read RECORD...",
        description="Runs a PyTorch program and tells what its modules took and held.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--level",
        choices=LEVELS,
        default="light",
        help="ops: operators, too; kernels: what CUDA devices run, too",
    )
    parser.add_argument(
        "--schedule",
        metavar="wait=1,warmup=1,active=3",
        type=_schedule,
        help="the steps that are recorded",
    )
    parser.add_argument(
        "--record",
        metavar="FILE",
        help="write the record there as it grows; {rank} is that of the process",
    )
    parser.add_argument(
        "--predict",
        action="store_true",
        help="beside it what weighing the model says; operators are recorded",
    )
    parser.add_argument(
        "--config",
        metavar="DS.JSON",
        help="a DeepSpeed configuration: its flops_profiler says which step is told, and how",
    )
    parser.add_argument("--ring", type=int, metavar="MIB", help="keep the last events only")
    parser.add_argument(
        "--read",
        metavar="RECORD",
        nargs="+",
        help="report on a record, or on those of several ranks; nothing runs",
    )
    parser.add_argument(
        "--format", choices=watch_output.FORMATS, help="else as the name of FILE says, or text"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="else standard error")
    parser.add_argument("--depth", type=int, default=2, metavar="N", help="levels of modules")
    parser.add_argument("--top", type=int, default=10, metavar="N", help="operators")
    parser.add_argument("-m", "--module", action="store_true", help="PROGRAM is a module's name")
    parser.add_argument("program", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def _schedule(words: str) -> Schedule:
    """`wait=1,warmup=1,active=3`; what is left out is 0."""
    try:
        numbers = {
            key: int(value) for key, _, value in (w.partition("=") for w in words.split(","))
        }
        with warnings.catch_warnings(record=True) as told:
            plan = schedule(**({"wait": 0, "warmup": 0, "repeat": 1} | numbers))
        for warning in told:
            print(f"steelyard: {warning.message}", file=sys.stderr)
        return plan
    except (TypeError, ValueError):
        raise argparse.ArgumentTypeError(
            f"{words} is no schedule, as wait=1,warmup=1,active=3 is"
        ) from None
    except UsageError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _read(asked: argparse.Namespace) -> None:
    if len(asked.read) > 1:
        watch_output.check_of_ranks(asked.format)
    records = [Path(path).read_bytes() for path in asked.read]
    if len(records) == 1:
        return _write(_written(WatchReport(records[0], asked.read[0]), records[0], asked), asked)
    reports = [WatchReport(*each).data for each in zip(records, asked.read, strict=True)]
    return _write(_of_ranks(watch_ranks.in_order(reports), asked), asked)


def _watched(asked: argparse.Namespace) -> int:
    """Runs the program. Its own exceptions and exit status are as without us."""
    if not asked.module and not Path(asked.program[0]).exists():
        raise UsageError("there is no such program", asked.program[0])
    if rank_count() > 1:
        watch_output.check_of_ranks(asked.format)
    if asked.output is not None:
        asked.output = _place_of(asked.output)
    config = _config(asked)
    if asked.predict and rank_count() > 1:
        raise UsageError("it is for one process", "--predict", "Leave it away.")
    predicts = asked.predict or config is not None
    session = watch(
        level="ops" if predicts and asked.level == "light" else asked.level,
        predict=predicts,
        record=_record_of_rank(asked.record),
        ring=asked.ring,
        schedule=config.schedule if config else asked.schedule,
    ).yield_to_others()
    process, failed = os.getpid(), True
    with session:
        try:
            with _arguments(asked):
                _run(asked)
            failed = False
        except SystemExit as end:
            failed = end.code not in (None, 0)
            raise
        finally:
            # A child of fork that comes to its end here has nothing of its own to tell.
            if os.getpid() == process:
                session.stop()
                if config is not None:
                    _write_profile(config, session, asked)
                else:
                    _report(session, asked, SHORTLY if failed else watch_ranks.PATIENCE)
    return 0


def _place_of(output: str) -> str:
    """Where the report is to go, from whatever folder. What cannot be written is said before the
    program runs, and not after."""
    path = Path(output).absolute()
    if path.is_dir() or not path.parent.is_dir():
        raise UsageError("no file can be written there", output, "Name one in a folder that is.")
    return str(path)


def _config(asked: argparse.Namespace) -> ProfilerConfig | None:
    """What `--config` says, where it says anything."""
    if asked.config is None:
        return None
    if asked.schedule is not None or asked.predict:
        raise UsageError("it says which step is told, and how", "--config", "Pass it alone.")
    config = ProfilerConfig.read(asked.config)
    if config.enabled:
        # The program may go to another folder.
        file = config.output_file and str(Path(config.output_file).absolute())
        return replace(config, output_file=file)
    print(f"steelyard: {asked.config}: flops_profiler is not enabled", file=sys.stderr)
    return None


def _write_profile(config: ProfilerConfig, session: Watch, asked: argparse.Namespace) -> None:
    """As in DeepSpeed the first rank tells."""
    if watch_ranks.rank() > 0:
        return
    try:
        config.write(session, asked.output)
    except (SteelyardError, OSError) as error:
        print(f"steelyard: there is no profile: {error}", file=sys.stderr)


def _record_of_rank(path: str | None) -> str | None:
    """Each process has a file of its own."""
    if path is None or (rank_count() == 1 and "{rank}" not in path):
        return path
    rank = str(watch_ranks.rank())
    return path.replace("{rank}", rank) if "{rank}" in path else f"{path}.{rank}"


def _run(asked: argparse.Namespace) -> None:
    if asked.module:
        runpy.run_module(asked.program[0], run_name="__main__", alter_sys=True)
    else:
        # As Python has it, so that a program may go to another folder.
        runpy.run_path(str(Path(asked.program[0]).absolute()), run_name="__main__")


@contextmanager
def _arguments(asked: argparse.Namespace) -> Iterator[None]:
    """What the program finds in `sys` is what it finds when Python runs it."""
    words, path = sys.argv, list(sys.path)
    sys.argv = list(asked.program)
    home = Path.cwd() if asked.module else Path(asked.program[0]).resolve().parent
    sys.path.insert(0, str(home))
    try:
        yield
    finally:
        sys.argv, sys.path[:] = words, path


def _report(session: Watch, asked: argparse.Namespace, patience: datetime.timedelta) -> None:
    try:
        if rank_count() > 1 and watch_ranks.has_store():
            reports = watch_ranks.gathered(session.report.data, patience)
            if reports:
                _write(_of_ranks(reports, asked), asked)
        else:
            _write(_written(session.report, session.record, asked, session), asked)
    except (SteelyardError, OSError, RuntimeError) as error:
        print(f"steelyard: there is no report: {error}", file=sys.stderr)


def _written(
    report: WatchReport, record: bytes, asked: argparse.Namespace, session: Watch | None = None
) -> str | bytes:
    """The report, with what was predicted where that was asked for; of a table and a trace there is
    no prediction."""
    if asked.format in watch_output.TRACES:
        return watch_output.trace(record, asked.format, asked.output)
    text = report.render(asked.format, depth=asked.depth, top=asked.top)
    if session is None or not asked.predict or asked.format == "csv":
        return text
    if asked.format == "json":
        return json.dumps(json.loads(text) | {"predicted": session.prediction.data}, indent=2)
    prediction = watch_predict.told(session.prediction.data, asked.depth)
    if asked.format == "html":
        return watch_output.page(report.document(asked.depth, asked.top), prediction)
    return f"{text}\n{prediction}"


def _of_ranks(reports: list[dict[str, Any] | None], asked: argparse.Namespace) -> str:
    report = watch_ranks.merged(reports)
    if asked.format == "json":
        return json.dumps(report, indent=2)
    return watch_ranks.told(report, asked.depth)


def _write(what: str | bytes, asked: argparse.Namespace) -> None:
    watch_output.write(what, asked.output, for_program=asked.read is None)
