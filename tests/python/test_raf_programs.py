# SPDX-License-Identifier: Apache-2.0
"""The programs in RAF's operators are what their tool writes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "data/published"


def test_the_programs_are_current(tmp_path: Path) -> None:
    subprocess.run([sys.executable, FOLDER / "make_raf_bert.py", tmp_path], check=True)
    written = sorted(path.name for path in tmp_path.iterdir())
    assert written == sorted(path.name for path in FOLDER.glob("raf-*.syt"))
    for name in written:
        assert (tmp_path / name).read_text() == (FOLDER / name).read_text(), name
