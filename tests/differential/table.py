# SPDX-License-Identifier: Apache-2.0
"""The operator table as the program built from probe.cc tells it."""

import functools
import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True)
class Row:
    """One operator; `alias` is none, view or in_place, `precision` a rule by device, `takes_bits`
    which bits of views it is given as they are: conjugate, negative, both, or nothing."""

    name: str
    signature: str
    example: str
    alias: str
    family: str
    kernel: bool
    precision: dict[str, str] = field(hash=False)
    takes_bits: str


def run_probe(*arguments: str, lines: Sequence[str] = ()) -> tuple[int, list[dict[str, Any]]]:
    """Its exit status and what it says, an object a line; $PROBE or else the dev build's."""
    program = os.environ.get("PROBE", str(ROOT / "build/release/tests/differential/probe"))
    text = "".join(line + "\n" for line in lines)
    done = subprocess.run([program, *arguments], input=text, capture_output=True, text=True)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def weigh(calls: Sequence[str], *arguments: str) -> list[dict[str, Any]]:
    """What the table says of each call; {"died": status} of one that ends the probe."""
    out: list[dict[str, Any]] = []
    while len(out) < len(calls):
        status, answers = run_probe(*arguments, lines=calls[len(out) :])
        out += answers
        if len(out) < len(calls):
            out.append({"died": status})
    return out


@functools.cache
def rows() -> tuple[Row, ...]:
    status, answers = run_probe("--rows")
    assert status == 0, "the probe does not run: build the target `probe`"
    return tuple(Row(**fields) for fields in answers)
