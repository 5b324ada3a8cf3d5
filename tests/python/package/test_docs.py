# SPDX-License-Identifier: Apache-2.0
"""What README.md and docs/python.md show, run from the root of the repository as a reader would."""

import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
CODE = re.compile(r"```python\n(.*?)```", re.S)


def test_the_page_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    names: dict[str, Any] = {}
    for code in CODE.findall((ROOT / "docs/python.md").read_text()):
        exec(code, names)
    assert names["saved"] > 0
    assert names["step"].totals.parameter_count == 784 * 256 + 256 + 256 * 10 + 10
    assert names["steelyard"].weigh(names["program"]).totals.operators > 0


def test_what_the_last_example_says(monkeypatch: pytest.MonkeyPatch) -> None:
    built = CODE.findall((ROOT / "docs/python.md").read_text())[-1]
    names: dict[str, Any] = {}
    exec(
        "import steelyard\n" + built.replace("steelyard.weigh(", "weighed = steelyard.weigh("),
        names,
    )
    assert names["weighed"] == 32 * 784 * 10


def test_what_the_readme_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    names: dict[str, Any] = {}
    exec(CODE.findall((ROOT / "README.md").read_text())[-1], names)
    assert names["weighing"].data["memory"]["peak"] > 0
