# SPDX-License-Identifier: Apache-2.0
"""Makes tools/ and the recorder importable, and finds the program under test."""

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
sys.path.insert(0, str(ROOT / "tests/differential"))


@pytest.fixture(scope="session")
def steelyard() -> str:
    """The path of the program: $STEELYARD, as ctest sets it, or the release build's."""
    return os.environ.get("STEELYARD", str(ROOT / "build/release/steelyard"))
