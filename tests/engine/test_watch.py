# SPDX-License-Identifier: Apache-2.0
"""Programs that are watched while they run: what is told is what they do, and they do the same."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest

steelyard = pytest.importorskip("steelyard")

import torch  # noqa: E402
from torch.nn.modules import module as hooks  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402
from torch.utils.flop_counter import FlopCounterMode  # noqa: E402

ROWS, WIDTH, HIDDEN, CLASSES = 8, 16, 32, 4
FLOAT = 4


class Perceptron(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(WIDTH, HIDDEN)
        self.second = torch.nn.Linear(HIDDEN, CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden: torch.Tensor = torch.relu(self.first(x))
        return self.second(hidden)


def batch() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(ROWS, WIDTH), torch.randint(0, CLASSES, (ROWS,))


def train(model: torch.nn.Module, optimizer: torch.optim.Optimizer, steps: int, watch: Any) -> None:
    for _ in range(steps):
        x, y = batch()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()
        if watch is not None:
            watch.step()


def watched(steps: int = 3, **options: Any) -> dict[str, Any]:
    model = Perceptron()
    optimizer = torch.optim.AdamW(model.parameters())
    with steelyard.watch(model, optimizer, **options) as watch:
        train(model, optimizer, steps, watch)
    data: dict[str, Any] = watch.report.data
    return data


def by_path(data: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {module["path"]: module for module in data["modules"]}


def run(program: str, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, *words, "-c", textwrap.dedent(program)] if program else words,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert not check or done.returncode == 0, done.stderr
    return done


def test_memory_is_told_to_the_byte() -> None:
    data = watched()
    parameters = WIDTH * HIDDEN + HIDDEN + HIDDEN * CLASSES + CLASSES
    at_peak = data["memory"]["at_peak"]
    assert data["parameters"] == {"count": parameters, "bytes": parameters * FLOAT}
    assert at_peak["parameters"] == parameters * FLOAT
    assert at_peak["gradients"] == parameters * FLOAT
    # Two moments, and a counter for each of four tensors.
    assert at_peak["optimizer_state"] == 2 * parameters * FLOAT + 4 * FLOAT
    assert at_peak["inputs"] == ROWS * WIDTH * FLOAT
    assert sum(at_peak.values()) == data["memory"]["peak"]


def test_every_byte_at_the_peak_is_of_one_module() -> None:
    data = watched()
    modules = by_path(data)
    roots = [modules[""], modules["(outside)"]]
    assert sum(sum(m["at_peak"].values()) for m in roots) == data["memory"]["peak"]
    second = HIDDEN * CLASSES + CLASSES
    assert modules["second"]["at_peak"]["gradients"] == second * FLOAT


def test_work_is_what_the_flop_counter_counts_forward_and_backward() -> None:
    data = watched(level="ops")
    model = Perceptron()
    x, y = batch()
    with FlopCounterMode(display=False) as counter:
        torch.nn.functional.cross_entropy(model(x), y).backward()
    assert data["flops"]["forward"] + data["flops"]["backward"] == counter.get_total_flops()
    first = by_path(data)["first"]["flops"]
    # Its input needs no gradient.
    product = 2 * ROWS * WIDTH * HIDDEN
    assert first == {"forward": product, "backward": product}
    assert data["unmodelled"] == []


def test_a_program_computes_the_same_and_is_left_as_it_was() -> None:
    def trained(watch: bool) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
        torch.manual_seed(3)
        model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Dropout(0.5))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        if watch:
            with steelyard.watch(model, level="ops"):
                for _ in range(2):
                    model(torch.randn(4, 8)).sum().backward()
                    optimizer.step()
        else:
            for _ in range(2):
                model(torch.randn(4, 8)).sum().backward()
                optimizer.step()
        assert model.training
        assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())
        return model.state_dict(), torch.rand(3)

    alone, drawn = trained(False)
    seen, drawn_seen = trained(True)
    assert all(torch.equal(alone[name], seen[name]) for name in alone)
    assert torch.equal(drawn, drawn_seen)
    assert not hooks._global_forward_hooks and not hooks._global_forward_pre_hooks


def test_an_exception_passes_and_leaves_nothing() -> None:
    class Failing(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            raise ValueError("on purpose")

    model = torch.nn.Sequential(torch.nn.Linear(4, 4), Failing())
    watch = steelyard.watch(model)
    with pytest.raises(ValueError, match="on purpose"), watch:
        model(torch.randn(2, 4))
    assert not hooks._global_forward_hooks and not hooks._global_forward_pre_hooks
    assert by_path(watch.report.data)["0"]["seconds"]["forward"] > 0
    # And the next session counts as the first would have.
    assert watched()["parameters"]["count"] == watched()["parameters"]["count"]


def test_one_session_at_a_time() -> None:
    with steelyard.watch() as outer:
        with pytest.raises(steelyard.InvalidInputError, match="watched already"):
            steelyard.watch().__enter__()
        Perceptron()(torch.randn(2, WIDTH))
    assert "Perceptron" in str(outer.report)


def test_models_and_optimizers_are_found() -> None:
    model = Perceptron()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    with steelyard.watch() as watch:
        train(model, optimizer, 3, None)
    data = watch.report.data
    assert data["steps_end_with"] == "optimizer"
    assert len(data["steps"]) == 3
    assert data["model"] == "Perceptron"
    assert data["memory"]["at_peak"]["optimizer_state"] == data["parameters"]["bytes"]


def test_a_module_that_is_used_twice_has_both_uses() -> None:
    class Twice(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(8, 8)
            self.alias = self.layer

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            inner: torch.Tensor = self.alias(self.layer(x))
            return inner

    model = Twice()
    with steelyard.watch(model, level="ops") as watch:
        model(torch.randn(4, 8, requires_grad=True)).sum().backward()
    layer = by_path(watch.report.data)["layer"]
    product = 2 * 4 * 8 * 8
    assert layer["calls"] == 2
    assert layer["parameters"] == 8 * 8 + 8
    assert layer["flops"] == {"forward": 2 * product, "backward": 2 * 2 * product}


@pytest.mark.parametrize("reentrant", [False, True])
def test_what_is_computed_again_is_of_its_module(reentrant: bool) -> None:
    class Checkpointed(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.block = torch.nn.Linear(8, 8)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            result: torch.Tensor = checkpoint(self.block, x, use_reentrant=reentrant)
            return result

    model = Checkpointed()
    with steelyard.watch(model, level="ops") as watch:
        model(torch.randn(4, 8, requires_grad=True)).sum().backward()
    block = by_path(watch.report.data)["block"]
    product = 2 * 4 * 8 * 8
    assert block["calls"] == 1
    assert block["seconds"]["recompute"] > 0
    # The two of its gradients, and where nothing stops it before, the product once more.
    again = product if reentrant else 0
    assert block["flops"] == {"forward": product, "backward": again + 2 * product}


def test_what_is_given_to_what_is_computed_again_is_no_input() -> None:
    class Checkpointed(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = torch.nn.Linear(64, 64), torch.nn.Linear(64, 64)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            result: torch.Tensor = checkpoint(
                lambda h: self.second(h).tanh(), self.first(x), use_reentrant=False
            )
            return result.sum()

    model = Checkpointed()
    with steelyard.watch(model) as watch:
        for _ in range(2):
            model(torch.randn(8, 64)).backward()
            watch.step()
    assert watch.report.data["memory"]["at_peak"]["inputs"] == 4 * 8 * 64


def test_functions_with_a_backward_of_their_own_and_several_threads() -> None:
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
            return grad * 2

    class Scaling(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(8, 8)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            scaled: torch.Tensor = Scale.apply(self.layer(x))
            return scaled

    models = [Scaling(), Scaling()]
    # A thread that has ended when the other begins has run in the step that warms up.
    together = threading.Barrier(len(models))

    def work(model: torch.nn.Module) -> None:
        for _ in range(20):
            together.wait()
            model(torch.randn(4, 8)).sum().backward()

    with steelyard.watch(models) as watch:
        threads = [threading.Thread(target=work, args=(model,)) for model in models]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    layers = [m for m in watch.report.data["modules"] if m["path"] == "layer"]
    assert len(layers) == 2
    for layer in layers:
        assert layer["seconds"]["backward"] > 0
        assert layer["calls"] > 0


def test_what_is_given_a_tensor_for_its_result_counts_as_what_makes_one() -> None:
    a, b, result = torch.randn(4, 5), torch.randn(5, 6), torch.empty(4, 6)
    with steelyard.watch(level="ops") as watch:
        torch.mm(a, b, out=result)
        torch.addmm(torch.randn(6), a, b, out=result)
    data = watch.report.data
    assert data["flops"]["forward"] == 2 * (2 * 4 * 5 * 6)
    assert data["unmodelled"] == []


def test_work_within_vmap_is_of_the_whole_batch() -> None:
    weight, x = torch.randn(HIDDEN, WIDTH), torch.randn(ROWS, 3, WIDTH)
    for of_batch, calls in (
        (torch.vmap(torch.vmap(lambda v: weight @ v)), 1),
        (torch.func.grad(lambda v: (v @ weight.t()).sum()), 2),  # no batch
    ):
        with steelyard.watch(level="ops") as watch:
            of_batch(x)
        flops = watch.report.data["flops"]
        assert sum(flops.values()) == calls * 2 * ROWS * 3 * WIDTH * HIDDEN


def test_of_what_is_compiled_the_whole_is_told() -> None:
    model = torch.compile(Perceptron(), backend="eager")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with steelyard.watch() as watch:
        train(model, optimizer, 3, None)
    modules = by_path(watch.report.data)
    assert modules[""]["class"] == "OptimizedModule"
    assert modules[""]["seconds"]["forward"] > 0
    assert modules["_orig_mod.first"]["calls"] == 0
    assert any("torch.compile made one graph" in r for r in watch.report.data["remarks"])


def test_sessions_do_not_make_pytorch_compile_again() -> None:
    """After eight times it compiles no more."""
    counters = torch._dynamo.utils.counters["stats"]
    model = torch.nn.Sequential(torch.nn.Linear(WIDTH, HIDDEN), torch.nn.ReLU())
    model.compile(backend="eager")
    x = torch.randn(ROWS, WIDTH)
    before = counters["unique_graphs"]
    for session in (*[steelyard.watch] * 6, *[lambda: steelyard.profile(with_modules=True)] * 6):
        model(x)
        with session():
            model(x)
    assert counters["unique_graphs"] - before == 2


def test_of_what_is_compiled_in_place_parameters_are_told() -> None:
    model = torch.nn.Sequential(Perceptron(), torch.nn.Identity())
    model.compile(backend="eager")
    optimizer = torch.optim.AdamW(model.parameters())
    with steelyard.watch() as watch:
        train(model, optimizer, 3, None)
    data = watch.report.data
    assert data["model"] == "Sequential"
    assert data["parameters"]["count"] == WIDTH * HIDDEN + HIDDEN + HIDDEN * CLASSES + CLASSES
    at_peak = data["memory"]["at_peak"]
    assert at_peak["parameters"] == data["parameters"]["bytes"]
    assert at_peak["optimizer_state"] >= 2 * data["parameters"]["bytes"]
    assert by_path(data)["0.first"]["parameters"] == WIDTH * HIDDEN + HIDDEN


@pytest.mark.skipif(torch.cuda.is_available(), reason="there are kernels")
def test_without_a_device_there_are_no_kernels_and_operators_are_told() -> None:
    data = watched(level="kernels")
    assert "there are no kernels" in data["remarks"][0]
    assert data["flops"]["forward"] > 0


def test_torch_profiler_runs_beside_it() -> None:
    model = Perceptron()
    with (
        steelyard.watch(model, level="ops") as watch,
        torch.profiler.profile(profile_memory=True) as profile,
    ):
        model(torch.randn(2, WIDTH)).sum().backward()
    assert any(event.key == "aten::addmm" for event in profile.key_averages())
    assert watch.report.data["flops"]["forward"] > 0


def test_operators_of_one_step_in_several() -> None:
    every, all_of_them = watched(7, level="ops", every=3), watched(7, level="ops")
    assert every["flops"] == all_of_them["flops"]
    assert every["recorded_events"] < all_of_them["recorded_events"]


def test_what_is_asked_wrongly_is_refused() -> None:
    with pytest.raises(steelyard.UsageError, match="heavy"):
        steelyard.watch(level="heavy")
    with pytest.raises(steelyard.UsageError, match="0"):
        steelyard.watch(every=0)
    with pytest.raises(steelyard.UsageError, match="nothing has been watched"):
        _ = steelyard.watch().report


# --- Programs that need no edit -----------------------------------------------------------------

PROGRAM = """
    import os, signal, sys, torch
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(5):
        model(torch.randn(4, 8)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    print("words", *sys.argv[1:])
"""


def program(folder: Path, end: str = "") -> str:
    path = folder / "train.py"
    path.write_text(textwrap.dedent(PROGRAM) + end)
    return str(path)


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "steelyard", "watch", *words]


def test_a_program_is_watched_without_an_edit(tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    done = run("", *command("--format", "json", "-o", str(out), program(tmp_path), "--lr", "1"))
    assert done.stdout == "words --lr 1\n"
    assert '"steps_end_with": "optimizer"' in out.read_text()


def test_its_exit_status_and_exception_are_its_own(tmp_path: Path) -> None:
    left = run("", *command(program(tmp_path, "sys.exit(3)")), check=False)
    assert left.returncode == 3
    assert "5 steps" in left.stderr
    raised = run("", *command(program(tmp_path, "raise KeyError('x')")), check=False)
    assert raised.returncode == 1
    assert "KeyError: 'x'" in raised.stderr
    assert "5 steps" in raised.stderr


@pytest.mark.parametrize("end", ["os._exit(0)", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_a_record_is_readable_however_the_process_ends(tmp_path: Path, end: str) -> None:
    record = tmp_path / "run.record"
    run("", *command("--record", str(record), program(tmp_path, end)), check=False)
    read = run("", *command("--read", str(record)))
    assert "5 steps" in read.stdout
    assert "Linear" in read.stdout


def test_what_cannot_be_watched_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("text")
    read = run("", *command("--read", str(tmp_path / "notes.txt")), check=False)
    assert read.returncode == 1
    assert "notes.txt: it is no record" in read.stderr
    assert read.stderr.count("\n") == 1


def test_children_of_fork_write_nothing(tmp_path: Path) -> None:
    if not hasattr(os, "fork"):
        pytest.skip("there is no fork")
    model = Perceptron()
    with steelyard.watch(model, record=tmp_path / "run.record") as watch:
        child = os.fork()
        if child == 0:
            model(torch.randn(1, WIDTH))
            os._exit(0)
        _, status = os.waitpid(child, 0)
    assert status == 0
    assert by_path(watch.report.data)["first"]["calls"] == 0


def test_a_full_disk_ends_the_record_and_not_the_program() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    watch = steelyard.watch(record="/dev/full")
    with pytest.raises(steelyard.InvalidInputError, match="/dev/full"):
        watch.__enter__()
    assert not hooks._global_forward_hooks
    assert signal.getsignal(signal.SIGBUS) == signal.SIG_DFL


def test_after_a_failed_start_the_next_session_has_its_record() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    model = Perceptron()
    open_before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        with pytest.raises(steelyard.InvalidInputError):
            steelyard.watch(record="/dev/full").__enter__()
    assert len(list(Path("/proc/self/fd").iterdir())) == open_before
    with steelyard.watch(model) as watch:
        model(torch.randn(1, WIDTH))
    assert watch.report.data["lost_events"] == 0
    assert by_path(watch.report.data)["first"]["calls"] == 1


def test_a_child_that_exits_tells_nothing(tmp_path: Path) -> None:
    end = "if os.fork() == 0: sys.exit(0)\nos.wait()\n"
    done = run("", *command(program(tmp_path, end)))
    assert done.stderr.count("watched in PyTorch") == 1


def test_a_program_that_there_is_not(tmp_path: Path) -> None:
    done = run("", *command(str(tmp_path / "nope.py")), check=False)
    assert done.returncode == 1
    assert "there is no such program" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_thousand_sessions_leak_nothing() -> None:
    model = Perceptron()
    x = torch.randn(2, WIDTH)

    def resident() -> int:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def sessions(count: int) -> None:
        for _ in range(count):
            with steelyard.watch(model):
                model(x)

    sessions(50)
    before = resident()
    sessions(1000)
    # Less than a kilobyte each.
    assert resident() - before < 1000 * 1024
