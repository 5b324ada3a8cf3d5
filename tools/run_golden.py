#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the golden tests: one file is one command, its input and what it must print.

usage: run_golden.py [--binary STEELYARD] [--rebase] [FILTER...]

A test is a file tests/golden/COMMAND/NAME.test:

    # RUN: steelyard weigh %s --depth 1
    ...a model in Steelyard's text form...
    # OUT
    ...what standard output must be...

A refusal states its exit status and what standard error must be instead (or besides):

    # RUN: steelyard weigh %s
    ...
    # EXIT: 1
    # ERR
    ...

Several RUN lines make one long command. `%s` is the input: the file up to the first marker (so that
line numbers in messages are those of the test), copied to NAME.syt. The command runs, without a
shell, in a folder that holds that copy and the repository's `examples`. Files whose name starts
with `bad_` are refused inputs.

An input that is no text form stands between comments: after lines `# FILE: NAME` the entries of a
zip archive, NAME.pt2, or after a line `# BASE64: pt2` the bytes of a file with that extension.
After lines `# WEIGHTS: PATH [OPTION...]` stand descriptions of files of weights, or texts beside
them (tools/weights_files.py says how); `%s` is then the first part of the first PATH.

Durations that a run measures of itself cannot be expected: wherever output says `in 6.2 ms` (or ns,
us, s) or `"elapsed_seconds": 0.0062`, both sides are compared with `<time>` in its place. Predicted
times are compared to the digit.

`--rebase` writes what the program printed into the tests; the diff is reviewed as code is. A FILTER
keeps the tests whose path contains it.
"""

import argparse
import base64
import concurrent.futures
import difflib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from weights_files import write_described

ROOT = Path(__file__).resolve().parent.parent
RUN = "# RUN: "
EXIT = "# EXIT: "
FILE = "# FILE: "
BASE64 = "# BASE64: "
WEIGHTS = "# WEIGHTS: "
SECTIONS = {"# OUT": "out", "# ERR": "err"}
MEASURED_TIME = re.compile(
    r'(\bin )\d+(?:\.\d+)? ?(?:ns|us|µs|ms|s)\b|("elapsed_seconds": )[\d.e-]+'
)
TIMEOUT_SECONDS = 120


class BadTestError(Exception):
    """The test file itself is malformed."""


@dataclass
class Outcome:
    """What a command did, or must do."""

    exit: int
    out: str
    err: str


@dataclass
class Golden:
    """A parsed test file."""

    path: Path
    input: str
    command: list[str]
    expected: Outcome


def parse(path: Path) -> Golden:
    """Reads a test file. Raises BadTestError where it has no command or an unknown status."""
    lines = path.read_text().splitlines(keepends=True)
    is_marker = [line.rstrip() in SECTIONS or line.startswith(EXIT) for line in lines]
    begin = is_marker.index(True) if True in is_marker else len(lines)
    command: list[str] = []
    for line in lines[:begin]:
        if line.startswith(RUN):
            command += shlex.split(line.removeprefix(RUN))
    if command[:1] != ["steelyard"]:
        raise BadTestError(f"needs a line `{RUN}steelyard ...`")

    expected = Outcome(exit=0, out="", err="")
    section = ""
    for line in lines[begin:]:
        if line.rstrip() in SECTIONS:
            section = SECTIONS[line.rstrip()]
        elif not section and line.startswith(EXIT):
            expected.exit = int(line.removeprefix(EXIT))
        elif section:
            setattr(expected, section, getattr(expected, section) + line)
        elif line.strip():
            raise BadTestError(f"{EXIT}stands before # OUT and # ERR, and nothing after it")
    return Golden(path, "".join(lines[:begin]), command, expected)


def render(golden: Golden, actual: Outcome) -> str:
    """Returns the test file that expects `actual`."""
    text = golden.input
    if text and not text.endswith("\n"):
        text += "\n"
    if actual.exit:
        text += f"{EXIT}{actual.exit}\n"
    if actual.out or not actual.err:
        text += f"# OUT\n{actual.out}"
    if actual.err:
        text += f"# ERR\n{actual.err}"
    return text


def mask(outcome: Outcome) -> Outcome:
    """Hides what a run measures of itself."""
    out, err = (MEASURED_TIME.sub(r"\1\2<time>", text) for text in (outcome.out, outcome.err))
    return Outcome(outcome.exit, out, err)


def archive(text: str) -> bytes:
    """Returns the zip archive whose entries follow their names in `text`."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as out:
        for entry in text.split(FILE)[1:]:
            name, _, content = entry.partition("\n")
            out.writestr(zipfile.ZipInfo(name), content)
    return packed.getvalue()


def model_of(golden: Golden) -> tuple[str, bytes]:
    """Returns the extension and the bytes of the test's input."""
    if FILE in golden.input:
        return ".pt2", archive(golden.input)
    if BASE64 in golden.input:
        extension, _, coded = golden.input.partition(BASE64)[2].partition("\n")
        return "." + extension, base64.b64decode(coded)
    return ".syt", golden.input.encode()


def write_model(golden: Golden, folder: Path) -> str:
    """Writes the test's input; returns its name."""
    if WEIGHTS in golden.input:
        paths = []
        for part in golden.input.split(WEIGHTS)[1:]:
            line, _, text = part.partition("\n")
            path, *words = line.split()
            write_described(folder / path, words, text)
            paths.append(path)
        return Path(paths[0]).parts[0]
    extension, content = model_of(golden)
    model = folder / (golden.path.stem + extension)
    model.write_bytes(content)
    return model.name


def run(golden: Golden, binary: Path) -> Outcome:
    """Runs the test's command in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        model = write_model(golden, Path(folder))
        Path(folder, "examples").symlink_to(ROOT / "examples")
        # Nothing of the caller's terminal or language may decide what is printed.
        kept = {key: value for key, value in os.environ.items() if key.endswith("SAN_OPTIONS")}
        done = subprocess.run(
            [binary, *(word.replace("%s", model) for word in golden.command[1:])],
            cwd=folder,
            env={"LC_ALL": "C.UTF-8", "PATH": os.environ.get("PATH", ""), **kept},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
        )
    return Outcome(done.returncode, done.stdout, done.stderr)


def describe(golden: Golden, actual: Outcome) -> str:
    """Returns a unified diff from what was expected to what happened."""
    name = str(golden.path.relative_to(ROOT))
    before, after = (
        render(golden, side).splitlines(keepends=True) for side in (mask(golden.expected), actual)
    )
    return "".join(difflib.unified_diff(before, after, f"{name} (expected)", f"{name} (printed)"))


def check(path: Path, binary: Path, rebase: bool) -> str | None:
    """Runs one test; returns what is wrong, or None. With `rebase`, changes the file instead."""
    try:
        golden = parse(path)
        actual = mask(run(golden, binary))
    except (BadTestError, OSError, ValueError, subprocess.TimeoutExpired) as problem:
        return f"{path.relative_to(ROOT)}: {problem}\n"
    if actual == mask(golden.expected):
        return None
    if not rebase:
        return describe(golden, actual)
    path.write_text(render(golden, actual))
    print(f"rebased {path.relative_to(ROOT)}")
    return None


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--binary", type=Path, default=ROOT / "build/release/steelyard")
    parser.add_argument("--rebase", action="store_true", help="write what was printed")
    parser.add_argument("filters", nargs="*", metavar="FILTER")
    options = parser.parse_args()

    tests = [
        path
        for path in sorted((ROOT / "tests/golden").glob("*/*.test"))
        if not options.filters
        or any(word in str(path.relative_to(ROOT)) for word in options.filters)
    ]
    if not tests:
        print("no golden test matches")
        return 1
    binary = options.binary.resolve()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        problems = [
            problem
            for problem in pool.map(lambda path: check(path, binary, options.rebase), tests)
            if problem
        ]
    print(
        "\n".join(
            [*problems, f"golden: {len(tests) - len(problems)} passed, {len(problems)} failed"]
        )
    )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
