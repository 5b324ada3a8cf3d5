# SPDX-License-Identifier: Apache-2.0
"""Commands in README.md and docs/ print what stands below them, and README's others run.

A block that begins with `// src/FILE` stands in that file, line for line.

A block marked `console` holds commands, each a line `$ steelyard ...` with what it prints after it.
STEELYARD_REBASE=1 writes what is printed into the pages.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from run_golden import MEASURED_TIME

ROOT = Path(__file__).resolve().parent.parent.parent
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXCERPT = re.compile(r"^```cpp\n// (src/\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
README = ROOT / "README.md"
PAGES = [
    page
    for page in [README, *sorted((ROOT / "docs").glob("*.md"))]
    if BLOCK.search(page.read_text())
]


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


def excerpts() -> list[tuple[str, str, str]]:
    """Returns the page, the file and the text of each excerpt of our sources."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    return [(page.name, *found) for page in pages for found in EXCERPT.findall(page.read_text())]


def test_there_are_excerpts() -> None:
    assert "unknown_operators.md" in {page for page, _, _ in excerpts()}


@pytest.mark.parametrize(("page", "source", "text"), excerpts())
def test_excerpts_stand_in_the_source(page: str, source: str, text: str) -> None:
    assert text in (ROOT / source).read_text()


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


def blocks_of(language: str) -> list[str]:
    text = README.read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def commands_of_readme() -> list[str]:
    lines = [line for block in blocks_of("sh") for line in block.splitlines()]
    return [line for line in lines if line.startswith("steelyard ")]


# Weights of README's model, all zero, in a file that takes no room.
WEIGHTS = """
import json
header, end = {}, 0
for name, tensor in model.state_dict().items():
    begin, end = end, end + tensor.numel() * tensor.element_size()
    header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [begin, end]}
text = json.dumps(header).encode()
with open("model.safetensors", "wb") as file:
    file.write(len(text).to_bytes(8, "little") + text)
    file.truncate(8 + len(text) + end)
"""


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder in which a reader stands who has exported README's model."""
    folder = tmp_path_factory.mktemp("reader")
    for name in ("examples", "tests"):
        (folder / name).symlink_to(ROOT / name)
    export = next(block for block in blocks_of("python") if "torch.export.save" in block)
    subprocess.run(
        [sys.executable, "-c", export + WEIGHTS], cwd=folder, check=True, capture_output=True
    )
    return folder


def test_readme_has_commands() -> None:
    assert len(commands_of_readme()) >= 15


# In README's order: what one writes another reads.
@pytest.mark.parametrize("command", commands_of_readme())
def test_commands_of_readme_run(command: str, reader: Path, steelyard: str) -> None:
    words = shlex.split(command, comments=True)
    if words[1] == "run" and "STEELYARD_ENGINE" not in os.environ:
        pytest.skip("the engine is not built")
    if words[1] == "run":
        # Small: a processor without bfloat16 takes minutes for a step of the example.
        words += ["--warmup", "0", "--number", "1", "--repeat", "1", "--batch", "1", "--seq", "16"]
    done = subprocess.run([steelyard, *words[1:]], cwd=reader, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
