# SPDX-License-Identifier: Apache-2.0
"""The commands that guides in docs/ show print what the guides say they print."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BINARY = os.environ.get("STEELYARD", str(ROOT / "build/dev/steelyard"))
# A command in a block of its own, and the block of its output.
SHOWN = re.compile(r"```sh\n(steelyard (?:[^`]|\n)*?)\n```\n\n```\n(.*?)\n```", re.DOTALL)


def examples() -> list[tuple[str, str]]:
    text = (ROOT / "docs/training_memory.md").read_text()
    return SHOWN.findall(text)


def test_guides_have_examples() -> None:
    assert len(examples()) >= 4


@pytest.mark.parametrize(("command", "shown"), examples())
def test_output(command: str, shown: str) -> None:
    words = shlex.split(command.replace("\\\n", " "))
    done = subprocess.run(
        [BINARY, *words[1:]], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    lines, wanted = done.stdout.splitlines(), shown.splitlines()
    assert wanted[0] in lines
    start = lines.index(wanted[0])
    assert lines[start : start + len(wanted)] == wanted
