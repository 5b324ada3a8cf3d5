# SPDX-License-Identifier: Apache-2.0
"""What a watched model was to cost, beside what it did."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

steelyard = pytest.importorskip("steelyard")

import torch  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

ROWS, WIDTH, HIDDEN, FLOAT = 8, 16, 32, 4


class Model(torch.nn.Module):
    def __init__(self, again: bool = False) -> None:
        super().__init__()
        self.first = torch.nn.Linear(WIDTH, HIDDEN)
        self.second = torch.nn.Linear(HIDDEN, WIDTH)
        self.again = again

    def forward(self, x: torch.Tensor, *, scale: float = 1.0) -> torch.Tensor:
        run = torch.relu(self.first(x * scale))
        if self.again:
            result: torch.Tensor = checkpoint(self.second, run, use_reentrant=False)
        else:
            result = self.second(run)
        return result


def predicted(model: torch.nn.Module, micro: int = 1, train: bool = True) -> Any:
    optimizer = torch.optim.AdamW(model.parameters())
    with steelyard.watch(model, level="ops", predict=True) as watch:
        for _ in range(3):
            for _ in range(micro):
                result = model(torch.randn(ROWS, WIDTH), scale=2.0)
                if train:
                    result.sum().backward()
            if train:
                optimizer.step()
                optimizer.zero_grad()
    return watch.prediction


def by_path(prediction: Any) -> dict[str, dict[str, Any]]:
    return {row["path"]: row for row in prediction.data["modules"]}


@pytest.mark.parametrize("micro", [1, 2])
def test_a_step_costs_what_was_predicted(micro: int) -> None:
    data = predicted(Model(), micro).data
    product = 2 * ROWS * WIDTH * HIDDEN
    # The input needs no gradient.
    assert data["flops"] == {"measured": micro * 5 * product, "predicted": micro * 5 * product}
    for category in ("parameters", "gradients", "optimizer_state"):
        both = data["memory"][category]
        assert both["measured"] == both["predicted"] > 0
    rows = {row["path"]: row["flops"] for row in data["modules"]}
    assert rows["first"] == {"measured": micro * 2 * product, "predicted": micro * 2 * product}
    assert data["seconds"]["predicted"] is None


def test_a_model_that_does_not_train_is_weighed_as_such() -> None:
    data = predicted(Model().eval(), train=False).data
    product = 2 * ROWS * WIDTH * HIDDEN
    assert data["flops"] == {"measured": 2 * product, "predicted": 2 * product}


def test_validations_are_no_part_of_a_step() -> None:
    """The first of them comes before all that trains, as Lightning has it."""
    model = torch.nn.Sequential(torch.nn.Linear(WIDTH, HIDDEN), torch.nn.Dropout(0.5))
    optimizer = torch.optim.AdamW(model.parameters())
    with steelyard.watch(model, level="ops", predict=True) as watch:
        for step in range(5):
            if step in (0, 2):
                model.eval()
                with torch.no_grad():
                    for _ in range(9):
                        model(torch.randn(3, WIDTH))
                model.train()
            for _ in range(2):
                model(torch.randn(ROWS, WIDTH)).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
    product = 2 * ROWS * WIDTH * HIDDEN
    data = watch.prediction.data
    assert data["flops"] == {"measured": 4 * product, "predicted": 4 * product}
    assert data["memory"]["inputs"]["predicted"] == ROWS * WIDTH * FLOAT


@pytest.mark.parametrize("options", [{"momentum": 0.9}, {"lr": 0.1, "nesterov": False}])
def test_the_optimizer_is_weighed_with_its_options(options: dict[str, Any]) -> None:
    class Listed(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.parts = torch.nn.ModuleList([torch.nn.Linear(WIDTH, HIDDEN)])

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            result: torch.Tensor = self.parts[0](x)
            return result

    model = Listed()
    optimizer = torch.optim.SGD(model.parameters(), **options)
    with steelyard.watch(model, level="ops", predict=True) as watch:
        for _ in range(3):
            model(torch.randn(ROWS, WIDTH)).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
    data = watch.prediction.data
    state = (WIDTH * HIDDEN + HIDDEN) * FLOAT if "momentum" in options else 0
    assert data["memory"]["optimizer_state"] == {"measured": state, "predicted": state}
    # Nobody calls the list.
    both = by_path(watch.prediction)["parts"]["flops"]
    assert both["measured"] == both["predicted"] == 2 * 2 * ROWS * WIDTH * HIDDEN


def test_what_runs_again_is_predicted() -> None:
    prediction = predicted(Model(again=True))
    product = 2 * ROWS * WIDTH * HIDDEN
    # A checkpoint stops before the last operator, whose operands are all that is asked of it.
    both = by_path(prediction)["second"]["flops"]
    assert both == {"measured": 3 * product, "predicted": 3 * product}
    assert prediction.data["flops"]["measured"] == prediction.data["flops"]["predicted"]
    assert not any("computed again" in reason for reason in prediction.data["reasons"])
    assert "By module" in str(prediction)


def test_wrapped_models_are_told_by_their_own_paths() -> None:
    torch.distributed.init_process_group(
        "gloo", store=torch.distributed.HashStore(), rank=0, world_size=1
    )
    try:
        prediction = predicted(torch.nn.parallel.DistributedDataParallel(Model()))
    finally:
        torch.distributed.destroy_process_group()
    both = by_path(prediction)["first"]["flops"]
    assert both["measured"] == both["predicted"] == 2 * (2 * ROWS * WIDTH * HIDDEN)


def test_what_cannot_be_exported_is_said() -> None:
    class Choosing(Model):
        def forward(self, x: torch.Tensor, *, scale: float = 1.0) -> torch.Tensor:
            return super().forward(x) if x.sum() > 1e9 else self.second(self.first(x))

    prediction = predicted(Choosing())
    assert "cannot export" in prediction.data["problem"]
    assert str(prediction).startswith("There is no prediction")


def test_it_takes_operators_and_an_end() -> None:
    with pytest.raises(steelyard.UsageError, match="operators"):
        steelyard.watch(predict=True)
    with steelyard.watch(level="ops", predict=True) as watch, pytest.raises(steelyard.UsageError):
        _ = watch.prediction
    assert "no model was called" in watch.prediction.data["problem"]


def test_the_command_line_tells_both(tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    program.write_text(
        "import torch\n"
        "model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Linear(8, 2))\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "for _ in range(3):\n"
        "    model(torch.randn(2, 4)).sum().backward()\n"
        "    optimizer.step()\n"
    )
    out = tmp_path / "out.json"
    words = ["--predict", "--level", "kernels", "--format", "json", "-o", str(out), str(program)]
    subprocess.run([sys.executable, "-m", "steelyard", "watch", *words], check=True)
    report = json.loads(out.read_text())
    flops = report["predicted"]["flops"]
    assert flops["measured"] == flops["predicted"] > 0
    if not torch.cuda.is_available():  # what was asked for besides is not forgotten
        assert any("no kernels" in remark for remark in report["remarks"])


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Of how many there are oneDNN's scratch depends."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.usefixtures("one_thread")
def test_autocast_is_predicted() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4))
    optimizer = torch.optim.SGD(model.parameters(), foreach=False)
    x = torch.randn(256, 64)
    with steelyard.watch(model, optimizer, level="ops", predict=True) as watch:
        for _ in range(3):
            with torch.autocast("cpu", torch.bfloat16):
                y = model(x)
            loss = y.sum()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    peak = watch.prediction.data["memory"]["peak"]
    assert abs(peak["predicted"] - peak["measured"]) < 0.02 * peak["measured"], peak
