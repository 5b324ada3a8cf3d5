# SPDX-License-Identifier: Apache-2.0
"""The commands that guides in docs/ show print what the guides say they print."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BINARY = os.environ.get("STEELYARD", str(ROOT / "build/release/steelyard"))
# A command in a block of its own, and the block of its output.
SHOWN = re.compile(r"```sh\n(steelyard (?:[^`]|\n)*?)\n```\n\n```\n(.*?)\n```", re.DOTALL)


GUIDES = {
    "training_memory": 4,
    "config": 2,
    "generation": 4,
    "weights": 1,
    "devices": 5,
}  # and how many examples they have at least


def examples_of(guide: str) -> list[tuple[str, str]]:
    return SHOWN.findall((ROOT / f"docs/{guide}.md").read_text())


def examples() -> list[tuple[str, str]]:
    return [example for guide in GUIDES for example in examples_of(guide)]


@pytest.mark.parametrize("guide", GUIDES)
def test_guides_have_examples(guide: str) -> None:
    assert len(examples_of(guide)) >= GUIDES[guide]


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


def known(folder: Path, **config: object) -> str:
    """What a refusal of a config says that there is instead."""
    (folder / "config.json").write_text(json.dumps(config))
    words = [BINARY, "weigh", str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    found = re.search(r"Known are (.*?)\.(\s|$)", done.stderr)
    assert found is not None, done.stderr
    return found[1]


def test_types_of_configs_are_those_that_are_built(tmp_path: Path) -> None:
    nothing = ["Nothing"]
    rows = []
    for kind in known(tmp_path, model_type="", architectures=nothing).split(", "):
        heads = known(tmp_path, model_type=kind, architectures=nothing).split(", ")
        names = (f"`{head}`" for head in heads)
        rows.append(f"| {kind} | {', '.join(names)} |")
    text = (ROOT / "docs/config.md").read_text()
    assert re.findall(r"^\| [\w-]+ \| `.*\|$", text, re.MULTILINE) == rows


def test_types_that_generate_are_those_that_are_built(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "bert"}))
    words = [BINARY, "weigh", str(tmp_path), "--generate", "2+1"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    found = re.search(r"It is built of (.*?)\.\s", done.stderr)
    assert found is not None, done.stderr
    text = (ROOT / "docs/generation.md").read_text()
    assert f"Built are, by their `model_type`: {found[1]}.\n" in text
    for config in sorted((ROOT / "tests/data/hf").glob("*-a/config.json")):
        words = [BINARY, "weigh", str(config.parent), "--generate", "2+1"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        refused = "generation is not built" in done.stderr
        kind = json.loads(config.read_text())["model_type"]
        assert refused == (kind not in found[1].split(", ")), kind
