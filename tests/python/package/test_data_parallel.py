# SPDX-License-Identifier: Apache-2.0
"""What is made of the reports of several processes, without any."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from steelyard import UsageError, data_parallel


def report(forward: float, step: float, peak: int = 100) -> dict[str, Any]:
    return {
        "model": "Net",
        "torch": "2.15.0",
        "time": {
            "forward": {"median": forward},
            "optimizer": {"median": 1.0},
            "step": {"median": step},
        },
        "operators": [
            {"op": data_parallel.SUM, "seconds": step - forward},
            {"op": "a", "seconds": 9},
        ],
        "memory": {"peak": peak, "predicted_peak": peak, "process_peak": peak},
        "samples": 4,
    }


def test_the_straggler_takes_longest_for_what_waits_for_nobody() -> None:
    merged = data_parallel.merged([report(1.0, 3.0), report(2.0, 3.0, 200), report(0.5, 3.0)])
    assert merged["straggler"] == 1
    assert merged["time"]["forward"] == {
        "lowest": 0.5,
        "median": 1.0,
        "highest": 2.0,
        "slowest": 1,
    }
    assert merged["waiting"]["lowest"] == 3.0 - 2.0
    assert merged["memory"]["peak"] == {"lowest": 100, "median": 100, "highest": 200, "most": 1}
    assert merged["samples"] == 3 * 4
    assert "Straggler: rank 1, 100.0 % over the median" in data_parallel.told(merged)


def test_words_are_those_of_each_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    asked = data_parallel.Asked.of(["m.pt2", "--train", "sgd", "--inputs=x-{rank}", "-o", "all"])
    assert (asked.output, asked.format) == ("all", "text")
    assert asked.of_rank(1, Path("r")) == [
        *("run", "m.pt2", "--train", "sgd", "--inputs=x-1", "--ranks", "2"),
        *("--format", "json", "-o", "r"),
    ]
    assert "--ranks" not in data_parallel.Asked.of(["m.pt2"]).of_rank(0, Path("r"))


@pytest.mark.parametrize("words", [["--format", "csv"], ["--compare", "fp32,bf16"], ["-o"]])
def test_what_several_processes_cannot_do(words: list[str]) -> None:
    with pytest.raises(UsageError):
        data_parallel.Asked.of(["m.pt2", *words])


def test_a_torch_without_processes_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(torch.distributed, "is_available", lambda: False)
    assert data_parallel.main(["m.pt2"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("steelyard: torchrun: this PyTorch is built without torch.distributed")
    assert said.count("\n") == 1


def test_the_module_is_the_command_line() -> None:
    line = [sys.executable, "-m", "steelyard", "--version"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("steelyard ")
