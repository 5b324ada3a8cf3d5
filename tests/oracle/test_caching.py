# SPDX-License-Identifier: Apache-2.0
"""The caching allocator against PyTorch's own: a hundred thousand random requests in each of many
configurations, equal in every address, statistic and segment, and in what errors tell; and the
requests of real models.

What PyTorch answers is recorded in tests/data/caching. STEELYARD_CUDA_PYTHON, the words of a
command that starts a Python with a CUDA build of PyTorch, asks that PyTorch now instead.
"""

from __future__ import annotations

import gzip
import os
import shlex
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import allocator_streams as streams  # noqa: E402

RECORDS = ROOT / "tests/data/caching"
STEPS = RECORDS / "steps"
PROBE = os.environ.get("CACHING_PROBE", str(ROOT / "build/release/tests/oracle/caching_probe"))
CUDA_PYTHON = shlex.split(os.environ.get("STEELYARD_CUDA_PYTHON", ""))
NAMES = list(streams.CONFIGURATIONS)


def ours(configuration: streams.Configuration, requests: Iterable[str]) -> list[str]:
    text = "\n".join([*streams.preamble(configuration), *requests]) + "\n"
    done = subprocess.run(
        [PROBE], input=text, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    return [streams.normalized(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("name", NAMES)
def test_answers_are_those_that_were_recorded(name: str) -> None:
    answers, failed, statistics, *digests = (RECORDS / f"{name}.txt").read_text().splitlines()
    configuration = streams.CONFIGURATIONS[name]
    got = ours(configuration, streams.requests(configuration))
    for chunk, (mine, theirs) in enumerate(zip(streams.digests(got), digests, strict=True)):
        place = f"answers {chunk * streams.CHUNK} to {(chunk + 1) * streams.CHUNK - 1} of {name}"
        assert mine == theirs, f"{place} are not PyTorch's; ask one with STEELYARD_CUDA_PYTHON"
    assert answers == f"answers {len(got)}"
    assert failed == f"failed {sum(1 for a in got if a.startswith(('oom', 'rejected')))}"
    assert statistics == next(a for a in reversed(got) if a.startswith("statistics"))


@pytest.mark.parametrize("path", sorted(STEPS.glob("*.txt")), ids=lambda path: path.stem)
def test_steps_of_real_models_take_what_pytorch_took(path: Path) -> None:
    """Resident tensors, forward pass and training steps: all statistics, all addresses."""
    requests = gzip.decompress(path.with_suffix(".requests.gz").read_bytes()).decode().splitlines()
    got = ours(streams.Configuration(""), requests)
    *phases, digest = path.read_text().splitlines()
    statistics = [answer for answer in got if answer.startswith("statistics")]
    for phase, mine in zip(phases, statistics, strict=True):
        name, theirs = phase.split(": ")
        assert mine == theirs, name
    addresses = [answer for answer in got if not answer.startswith("statistics")]
    assert digest == f"addresses {streams.digest(addresses)}"


def test_every_record_is_of_a_configuration() -> None:
    assert sorted(p.stem for p in RECORDS.glob("*.txt")) == sorted(NAMES)


@pytest.mark.skipif(not CUDA_PYTHON, reason="STEELYARD_CUDA_PYTHON names no Python")
@pytest.mark.parametrize("name", NAMES)
def test_answers_are_those_of_the_installed_pytorch(name: str) -> None:
    theirs = streams.run_torch(name, CUDA_PYTHON)
    configuration = streams.CONFIGURATIONS[name]
    mine = ours(configuration, streams.requests(configuration))
    for place, (a, b) in enumerate(zip(mine, theirs, strict=False)):
        assert a == b, f"answer {place} of {name}"
    assert len(mine) == len(theirs)
