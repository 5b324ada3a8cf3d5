# SPDX-License-Identifier: Apache-2.0
"""What goes wrong in programs that are watched: they run on, and what was seen is told."""

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

steelyard = pytest.importorskip("steelyard")

import torch  # noqa: E402
from torch.nn.modules import module as hooks  # noqa: E402
from torch.optim import optimizer as optimizers  # noqa: E402

TRAIN = """
    import os, signal, sys, torch
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    def train(steps):
        for _ in range(steps):
            model(torch.randn(4, 8)).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
"""


def run(text: str, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "train.py").write_text(textwrap.dedent(TRAIN + text))
    return subprocess.run(
        [sys.executable, "-m", "steelyard", "watch", *options, "train.py"],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )


# Of a process whose files may not grow, as of a disk that is full, no chunk more is written.
FULL = """
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
    train(1500)
    print("done")
"""


def test_a_disk_that_fills_up_ends_the_record_only(tmp_path: Path) -> None:
    done = run(FULL, tmp_path, "--record", "run.record")
    assert (done.returncode, done.stdout) == (0, "done\n")
    assert "events were lost: there was no room for them" in done.stderr
    data = steelyard.WatchReport((tmp_path / "run.record").read_bytes()).data
    assert data["lost_events"] > 0
    assert data["recorded_events"] * 32 > 1 << 19
    assert data["modules"][0]["seconds"]["forward"] > 0


def test_a_ring_on_a_disk_that_fills_up_loses_nothing_of_the_end(tmp_path: Path) -> None:
    done = run(FULL, tmp_path, "--record", "run.record", "--ring", "64")
    assert (done.returncode, done.stdout) == (0, "done\n")
    data = steelyard.WatchReport((tmp_path / "run.record").read_bytes()).data
    assert data["lost_events"] == 0
    assert data["dropped_events"] > 0
    assert data["steps"][-1]["optimizer"] > 0 or data["steps"][-2]["optimizer"] > 0


@pytest.mark.parametrize("end", ["os._exit(0)", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_a_ring_is_readable_however_the_process_ends(tmp_path: Path, end: str) -> None:
    run(f"    train(3000)\n    {end}\n", tmp_path, "--record", "run.record", "--ring", "1")
    data = steelyard.WatchReport((tmp_path / "run.record").read_bytes()).data
    assert data["dropped_events"] > 0
    assert len(data["steps"]) > 10
    assert data["memory"]["at_peak"]["parameters"] == (8 * 8 + 8) * 4


@pytest.mark.parametrize("own", ["steelyard.watch(model)", "steelyard.profile()"])
def test_a_program_may_have_a_session_of_its_own(tmp_path: Path, own: str) -> None:
    text = f"""
    import steelyard
    train(3)
    with {own} as own:
        train(2)
    train(2)
    if isinstance(own, steelyard.Watch):
        print([row["calls"] for row in own.report.data["modules"][:1]])
"""
    done = run(text, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "3 steps" in done.stderr
    assert "began a session of its own" in done.stderr
    # Each call is heard of once.
    assert done.stdout == ("[1.0]\n" if "watch" in own else "")


def test_a_session_inside_another_is_refused_and_the_other_goes_on() -> None:
    model = torch.nn.Linear(4, 4)
    with steelyard.watch(model) as outer:
        model(torch.randn(1, 4))
        with pytest.raises(steelyard.InvalidInputError, match="watched already"):
            steelyard.profile().start()
        model(torch.randn(1, 4))
    data = outer.report.data
    assert len(data["steps"]) == 2
    assert not hooks._global_forward_hooks
    assert not optimizers._global_optimizer_post_hooks


@pytest.mark.parametrize("cycle", [False, True])
def test_a_session_that_is_dropped_ends(tmp_path: Path, cycle: bool) -> None:
    model, optimizer = torch.nn.Linear(4, 4), None
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def begin() -> None:
        session = steelyard.watch(model, record=tmp_path / "run.record").__enter__()
        if cycle:
            session.itself = session
        model(torch.randn(1, 4)).sum().backward()
        optimizer.step()
        raise ZeroDivisionError

    with pytest.warns(UserWarning, match="dropped without stop"):
        with contextlib.suppress(ZeroDivisionError):
            begin()
        with steelyard.watch(model) as after:
            model(torch.randn(1, 4))
    assert len(after.report.data["steps"]) == 1
    assert not hooks._global_forward_hooks
    assert not optimizers._global_optimizer_post_hooks
    data = steelyard.WatchReport((tmp_path / "run.record").read_bytes()).data
    assert any("dropped without stop()" in remark for remark in data["remarks"])
    assert data["steps"][0]["optimizer"] > 0


def test_workers_that_load_data_are_left_alone() -> None:
    data = torch.utils.data.TensorDataset(torch.arange(32.0).reshape(8, 4))

    def losses(watch: bool) -> list[float]:
        torch.manual_seed(0)
        model = torch.nn.Linear(4, 4)
        loader = torch.utils.data.DataLoader(
            data, batch_size=2, num_workers=2, multiprocessing_context="fork"
        )
        session = steelyard.watch(model, level="ops")
        if watch:
            session.__enter__()
        result = [float(model(x).sum().detach()) for (x,) in loader]
        session.stop()
        return result

    assert losses(True) == losses(False)


def test_threads_outlive_sessions() -> None:
    model, x = torch.nn.Linear(8, 8), torch.randn(2, 8)
    over, problems = threading.Event(), []

    def work() -> None:
        try:
            while not over.is_set():
                model(x).sum().backward()
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for session in range(30):
            level = "ops" if session % 2 else "light"
            with steelyard.watch(model, level=level, ring=1) as watch:
                time.sleep(0.01)
            assert watch.report.data["lost_events"] == 0
    finally:
        over.set()
        for thread in threads:
            thread.join()
    assert problems == []


def test_a_signal_that_the_program_handles_is_its_own(tmp_path: Path) -> None:
    text = """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
    train(2)
    os.kill(os.getpid(), signal.SIGTERM)
    train(1000000)
"""
    done = run(text, tmp_path)
    assert done.returncode == 7
    assert "watched in PyTorch" in done.stderr
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


class Lazy(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.LazyLinear(8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x)


class Compared(torch.nn.Linear):
    """Has an equality of its own, and so is in no set."""

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = None


class Closed(torch.Tensor):
    """Tells nobody where it lies."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if function is torch.Tensor.untyped_storage:
            raise TypeError("it is nobody's business")
        return super().__torch_function__(function, types, args, kwargs or {})


class Unnamed(torch.nn.Linear):
    def named_parameters(self, *args, **kwargs):
        raise AttributeError("it has no names")


def closed() -> torch.Tensor:
    return torch.randn(4, 8).as_subclass(Closed)


@pytest.mark.parametrize(
    ("model", "x"),
    [
        (Lazy(), torch.randn(4, 8)),
        (Compared(8, 8), torch.randn(4, 8)),
        (torch.nn.Linear(8, 8), closed()),
        (Unnamed(8, 8), torch.randn(4, 8)),
    ],
    ids=["lazy", "compared", "closed", "unnamed"],
)
@pytest.mark.parametrize("given", [False, True])
def test_what_cannot_be_asked_about_runs_as_it_does(
    model: torch.nn.Module, x: torch.Tensor, given: bool
) -> None:
    with steelyard.watch(model if given else None, level="ops") as watch:
        for _ in range(3):
            model(x).sum().backward()
            watch.step()
    data = watch.report.data
    assert data["modules"][0]["calls"] > 0
    assert data["flops"]["forward"] == 2 * 4 * 8 * 8


def test_parameters_that_a_first_call_makes_are_told_as_such() -> None:
    model, x = Lazy(), torch.randn(4, 8)
    with steelyard.watch(model) as watch:
        model(x)
    assert watch.report.data["memory"]["at_peak"]["parameters"] == 4 * (8 * 8 + 8)


def test_a_step_that_fails_ends_there() -> None:
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.SGD(model.parameters())

    def closure(fails: bool) -> float:
        optimizer.zero_grad()
        model(torch.randn(4, 8)).sum().backward()
        if fails:
            raise RuntimeError("not this time")
        return 0.0

    with steelyard.watch(model) as watch:
        for step in range(4):
            with contextlib.suppress(RuntimeError):
                optimizer.step(lambda fails=step == 1: closure(fails))
            watch.step()
            time.sleep(0.05)
    steps = watch.report.data["steps"]
    assert len(steps) == 4
    assert all(step["optimizer"] < 0.04 for step in steps)
    assert all(step["backward"] > 0 for step in steps)


def test_a_call_that_ctrl_c_ends_is_over() -> None:
    """Hooks hear nothing of its end."""

    class Stopped(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)
            self.stops = False
            self.first.register_forward_hook(self.stop)

        def stop(self, *_: object) -> None:
            if self.stops:
                raise KeyboardInterrupt

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            result: torch.Tensor = self.second(self.first(x))
            return result

    model = Stopped()
    optimizer = torch.optim.SGD(model.parameters())
    with steelyard.watch(model) as watch:
        for step in range(6):
            model.stops = step == 2
            with contextlib.suppress(KeyboardInterrupt):
                model(torch.randn(4, 8)).sum().backward()
                optimizer.step()
    data = watch.report.data
    assert len(data["steps"]) == 5
    assert all(step["forward"] > 0 and step["backward"] > 0 for step in data["steps"])
    # The call that failed and the one after it are of one step, of the four that count.
    calls = {row["path"]: row["calls"] for row in data["modules"]}
    assert calls == {"": 5 / 4, "first": 5 / 4, "second": 4 / 4, "(outside)": 0}
