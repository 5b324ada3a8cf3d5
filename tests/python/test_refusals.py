# SPDX-License-Identifier: Apache-2.0
"""Every message with which an importer or a pass refuses an input stands in a golden test."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent

# A call that makes an error, and the first literal in it: where the message begins.
REFUSAL = re.compile(
    r"\b(?:InvalidInput|Unsupported|NotFound|UsageError|Fail|Mismatch)\(\s*"
    r'(?:std::to_string\([^"]*\) \+\s*|Quoted(?:Name)?\([^"]*\) \+\s*|NameOf\(i\)[^"]*'
    r'|fmt::format\(\s*|std::string\(\s*|Unsupported\(\s*)*"((?:[^"\\]|\\.)*)"'
)

# Messages that no golden test can bring about, and why.
ELSEWHERE = {
    "the JSON is too large for the memory there is": "needs a gigabyte",
    "there is no importer ": "the command line refuses the name before",
    "there is no optimizer ": "the same",
    "there is no attention ": "the same",
    "there is no loss ": "the same",
    "autocast has no such dtype": "the same",
    "a step has at least one micro-step": "the command line refuses the number before",
    "the file is larger than a config is": "a mebibyte; json_settings_test.cc",
    "it is larger than 4 GiB": "an archive of 4 GiB; archive_test.cc",
    "the list is absurdly long": "a list of millions; arguments_test.cc",
    "it is longer than 64 KiB": "an expression of 64 KiB; expressions_test.cc",
    "graphs or arguments are nested too deeply": "hundreds of levels; arguments_test.cc",
    "it cannot be mapped: ": "a disk that fails; memory_map_test.cc",
    "functions and loops make more than": "needs a quarter of a million nodes",
    "the index is absurdly long": "a hundred megabytes of it",
    "is negative": "the command line refuses the sign before",
    "it is no time": "a trace, which no command reads; device_events_test.cc",
}


def refusals() -> list[str]:
    """Returns how each message begins: its first words, up to an escape or a placeholder."""
    found = set()
    for folder in ("import", "pass"):
        for path in sorted((ROOT / "src" / folder).rglob("*.cc")):
            for literal in REFUSAL.findall(path.read_text()):
                text = re.split(r"\\|\{", literal)[0]
                if len(text.strip()) >= 8:
                    found.add(text)
    return sorted(found)


@pytest.fixture(scope="module")
def errors() -> str:
    tests = (ROOT / "tests/golden").glob("*/bad_*.test")
    return "\n".join(path.read_text().partition("# ERR\n")[2] for path in tests)


def test_there_are_refusals() -> None:
    assert len(refusals()) > 60


@pytest.mark.parametrize("message", refusals())
def test_a_golden_test_shows_it(message: str, errors: str) -> None:
    if any(message.startswith(known) or known in message for known in ELSEWHERE):
        return
    assert message in errors, f"no golden test shows: {message}"
