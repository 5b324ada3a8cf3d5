# SPDX-License-Identifier: Apache-2.0
"""Commands in docs/ print what stands below them.

A block marked `console` holds commands, each a line `$ steelyard ...` with what it prints after it.
STEELYARD_REBASE=1 writes what is printed into the pages.
"""

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from run_golden import MEASURED_TIME

ROOT = Path(__file__).resolve().parent.parent.parent
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = [page for page in sorted((ROOT / "docs").glob("*.md")) if BLOCK.search(page.read_text())]


def printed(command: str, steelyard: str) -> str:
    words = shlex.split(command)
    assert words[0] == "steelyard"
    done = subprocess.run(
        [steelyard, *words[1:]],
        cwd=ROOT,
        env={"LC_ALL": "C.UTF-8", "PATH": os.environ.get("PATH", "")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_block(block: str, steelyard: str) -> str:
    commands = [line for line in block.splitlines() if line.startswith("$ ")]
    return "".join(f"{line}\n{printed(line[2:], steelyard)}" for line in commands)


def masked(text: str) -> str:
    return MEASURED_TIME.sub(r"\1<time>", text)


def test_there_are_pages() -> None:
    assert PAGES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_print_what_stands_below_them(page: Path, steelyard: str) -> None:
    text = page.read_text()
    if os.environ.get("STEELYARD_REBASE"):
        fresh = BLOCK.sub(lambda m: f"```console\n{run_block(m.group(1), steelyard)}```", text)
        page.write_text(fresh)
        return
    for match in BLOCK.finditer(text):
        assert masked(match.group(1)) == masked(run_block(match.group(1), steelyard))
