# SPDX-License-Identifier: Apache-2.0
"""Runs the program under test: `weigh(path, *arguments)` gives its JSON report."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
Weigh = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def weigh() -> Weigh:
    binary = os.environ.get("STEELYARD", str(ROOT / "build/release/steelyard"))
    cache: dict[tuple[str, ...], dict[str, Any]] = {}

    def run(path: Path, *arguments: str) -> dict[str, Any]:
        command = (binary, "weigh", str(path), "--format", "json", *arguments)
        if command not in cache:
            done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
            assert done.returncode == 0, done.stderr
            cache[command] = json.loads(done.stdout)
        return cache[command]

    return run
