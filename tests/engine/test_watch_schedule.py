# SPDX-License-Identifier: Apache-2.0
"""Which steps of a program are recorded, and how much of them is kept."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

steelyard = pytest.importorskip("steelyard")

import torch  # noqa: E402

WIDTH, FLOAT = 16, 4
MIB = 1 << 20


def trained(steps: int, step: bool = False, **options: Any) -> Any:
    model = torch.nn.Linear(WIDTH, WIDTH)
    optimizer = torch.optim.AdamW(model.parameters())
    with steelyard.watch(model, **options) as watch:
        for _ in range(steps):
            model(torch.randn(2, WIDTH)).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
            if step:
                watch.step()
    return watch


def told(steps: int, step: bool = False, **numbers: int) -> dict[str, Any]:
    plan = steelyard.schedule(**numbers)
    data: dict[str, Any] = trained(steps, step, schedule=plan).report.data
    return data


@pytest.mark.parametrize("step", [False, True])
def test_a_schedule_says_which_steps_are_told(step: bool) -> None:
    data = told(20, step, wait=3, warmup=2, active=4)
    assert data["first_counted_step"] == 2
    # And what is done until the next step begins.
    assert len(data["steps"]) == 2 + 4
    assert data["remarks"] == []
    assert data["memory"]["at_peak"]["optimizer_state"] >= 2 * FLOAT * (WIDTH * WIDTH + WIDTH)
    assert told(20, step, wait=0, warmup=1, active=4)["first_counted_step"] == 1


@pytest.mark.filterwarnings("ignore:without warm-up")
def test_without_warm_up_all_recorded_steps_count() -> None:
    data = told(9, wait=2, warmup=0, active=3)
    assert (data["first_counted_step"], len(data["steps"])) == (0, 3)


@pytest.mark.parametrize(
    ("steps", "says"),
    [
        (0, "no step had ended"),
        (1, "step 0 is told"),
        (3, "step 0 is told"),
        (5, "after 1 of them"),
    ],
)
def test_what_ends_before_its_schedule_is_told_all_the_same(steps: int, says: str) -> None:
    data = told(steps, wait=3, warmup=1, active=3)
    assert len(data["steps"]) >= 1
    assert any(says in remark for remark in data["remarks"])


def test_a_program_without_optimizer_and_steps_is_told_whole() -> None:
    model = torch.nn.Linear(WIDTH, WIDTH)
    plan = steelyard.schedule(wait=1, warmup=1, active=1)
    with steelyard.watch(model, schedule=plan) as watch:
        for _ in range(4):
            model(torch.randn(2, WIDTH))
    assert len(watch.report.data["steps"]) == 4
    assert "all that ran is told" in watch.report.data["remarks"][0]


def test_a_ring_keeps_the_last_events_and_what_memory_is() -> None:
    whole, ring = trained(3), trained(1500, ring=1)
    assert len(ring.record) <= 2 * MIB
    data = ring.report.data
    assert data["dropped_events"] > 0
    assert data["dropped_events"] + data["recorded_events"] > MIB / 32
    assert any("gave way" in remark for remark in data["remarks"])
    # Parameters and the optimizer's state are as if all had been kept, to the byte.
    known = whole.report.data["memory"]["at_peak"]
    for category in ("parameters", "gradients", "optimizer_state"):
        assert data["memory"]["at_peak"][category] == known[category]
    assert data["modules"][0]["seconds"]["backward"] > 0
    assert data["modules"][0]["calls"] == 1


def test_a_ring_tells_of_operators_whose_beginning_is_gone() -> None:
    data = trained(400, ring=1, level="ops").report.data
    assert data["dropped_events"] > 0
    assert data["flops"] == trained(3, level="ops").report.data["flops"]


@pytest.mark.parametrize("numbers", [(1, 0, 2), (1, 1, 2), (2, 0, 2)])
@pytest.mark.filterwarnings("ignore:without warm-up")
def test_a_step_is_one_whether_its_end_is_said_or_not(numbers: tuple[int, int, int]) -> None:
    named = dict(zip(("wait", "warmup", "active"), numbers, strict=True))
    silent, said = (told(8, step, **named) for step in (False, True))
    for key in ("first_counted_step", "modules"):
        assert (key, [m["calls"] for m in said[key]] if key == "modules" else said[key]) == (
            key,
            [m["calls"] for m in silent[key]] if key == "modules" else silent[key],
        )
    assert len(said["steps"]) == len(silent["steps"])


def test_where_each_step_is_another_a_usual_one_is_told() -> None:
    model = torch.nn.Linear(512, 512)
    optimizer = torch.optim.SGD(model.parameters())
    with steelyard.watch(model, level="ops") as watch:
        for batch in (1, 700, 710, 720, 730, 1, 2):
            model(torch.randn(batch, 512)).sum().backward()
            optimizer.step()
    assert watch.report.data["flops"]["forward"] > 2 * 600 * 512 * 512


def test_a_ring_in_a_file_is_no_longer_than_it(tmp_path: Path) -> None:
    path = tmp_path / "run.record"
    data = trained(1500, ring=1, record=path).report.data
    assert path.stat().st_size <= 2 * MIB
    assert steelyard.WatchReport(path.read_bytes()).data == data


def test_an_event_takes_at_most_64_bytes() -> None:
    watch = trained(400)
    assert len(watch.record) / watch.report.data["recorded_events"] <= 64


def test_what_is_no_ring_or_schedule_is_refused() -> None:
    with pytest.raises(steelyard.UsageError, match="ring"):
        steelyard.watch(ring=0)
    with pytest.raises(steelyard.UsageError, match="once"):
        steelyard.watch(schedule=steelyard.schedule(wait=1, warmup=1, active=1, repeat=2))


def test_the_command_line_takes_a_schedule(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from steelyard import watch_command

    with pytest.raises(SystemExit):
        watch_command.main(["--schedule", "wait=x", "train.py"])
    assert "is no schedule" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        watch_command.main(["--schedule", "active=1"])
    assert capsys.readouterr().err.startswith("steelyard: without warm-up the first")
    program = tmp_path / "train.py"
    program.write_text(
        "import torch\n"
        "model = torch.nn.Linear(4, 4)\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "for _ in range(9):\n"
        "    model(torch.randn(2, 4)).sum().backward()\n"
        "    optimizer.step()\n"
    )
    words, path = list(sys.argv), list(sys.path)
    assert watch_command.main(["--schedule", "wait=2,warmup=1,active=3", str(program)]) == 0
    assert (sys.argv, sys.path) == (words, path)
    assert "4 steps" in capsys.readouterr().err


@pytest.mark.parametrize("last", [(4,), (32, 2)])
def test_what_most_steps_call_is_told(last: tuple[int, ...]) -> None:
    """Neither a smaller last batch nor a validation stands for a step."""
    model = torch.nn.Linear(WIDTH, WIDTH)
    optimizer = torch.optim.SGD(model.parameters())
    with steelyard.watch(model, level="ops") as watch:
        for batch in (*[8] * 4, *last, *[8] * (len(last) - 1)):
            model(torch.randn(batch, WIDTH)).sum().backward()
            optimizer.step()
    assert watch.report.data["flops"]["forward"] == 2 * 8 * WIDTH * WIDTH


def test_a_program_may_go_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "beside.py").write_text("HERE = True\n")
    (tmp_path / "own" / "train.py").write_text(
        "import os\nos.chdir('/')\nimport beside\nprint(os.path.isfile(__file__), beside.HERE)\n"
    )
    command = [sys.executable, "-m", "steelyard", "watch", "own/train.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "True True\n", done.stderr


def test_what_is_written_stays_where_it_began(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import os, torch\nos.chdir('/')\nmodel = torch.nn.Linear(2, 2)\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "for _ in range(4):\n"
        "    model(torch.ones(1, 2)).sum().backward()\n    optimizer.step()\n"
    )
    command = [sys.executable, "-m", "steelyard", "watch", "-o", "report.json", "--format", "json"]
    command += ["--schedule", "wait=1,active=2", "--record", "run.record", "train.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len(json.loads((tmp_path / "report.json").read_text())["steps"]) == 2
    assert len(steelyard.WatchReport((tmp_path / "run.record").read_bytes()).data["steps"]) == 2


def test_a_report_that_nobody_can_write_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print('ran')\n")
    command = [sys.executable, "-m", "steelyard", "watch", "-o", "none/report.txt", "train.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert "none/report.txt: no file can be written there" in done.stderr


def test_a_session_that_waits_hears_its_steps_after_another() -> None:
    model = torch.nn.Linear(WIDTH, WIDTH)
    with steelyard.watch(schedule=steelyard.schedule(wait=3, warmup=1, active=2)) as watch:
        for step in range(8):
            if step == 2:
                with steelyard.profile(with_modules=True):
                    model(torch.randn(2, WIDTH)).sum().backward()
            else:
                model(torch.randn(2, WIDTH)).sum().backward()
            watch.step()
    assert "Linear" in {row["class"] for row in watch.report.data["modules"]}
