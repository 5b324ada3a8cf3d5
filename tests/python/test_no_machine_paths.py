# SPDX-License-Identifier: Apache-2.0
"""Archives say where a line of a model's code stands without saying on which machine it stood."""

import sys
import zipfile
from pathlib import Path

import pytest
import recording

ROOT = Path(__file__).resolve().parents[2]


def test_archives_hold_no_path_of_a_machine() -> None:
    archives = [
        path for folder in ("tests/data", "examples") for path in (ROOT / folder).rglob("*.pt2")
    ]
    assert len(archives) > 400
    found = []
    for path in archives:
        with zipfile.ZipFile(path) as archive:
            texts = (archive.read(name) for name in archive.namelist() if name.endswith(".json"))
            if any(rb"File \"/" in text for text in texts):
                found.append(str(path.relative_to(ROOT)))
    assert found == []


def test_a_file_is_named_below_the_folder_that_holds_its_package() -> None:
    folder = Path(sys.modules["torch"].__file__ or "").parents[1]
    tools = Path(recording.__file__).parent
    text = "".join(
        rf"File \"{path}\", line 7"
        for path in (folder / "torch/nn/modules/linear.py", tools / "train_models.py")
    )
    said = recording.without_machine_paths(text.encode()).decode()
    assert said == r"File \"torch/nn/modules/linear.py\", line 7File \"train_models.py\", line 7"


def test_a_folder_within_another_is_the_one_that_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", ["/far", "/far/tools"])
    assert recording.without_machine_paths(rb"File \"/far/tools/a.py\"") == rb"File \"a.py\""
    inner = rb"File \"/far/models/tools/a.py\""
    assert recording.without_machine_paths(inner) == rb"File \"models/tools/a.py\""
