# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys
import traceback
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import steelyard
import torch
from steelyard import torch_bridge
from torch.utils.flop_counter import FlopCounterMode


class Stateful(torch.nn.Module):
    """A module that changes all that it has whenever it is called."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(8, 16)
        self.norm = torch.nn.BatchNorm1d(16)
        self.dropout = torch.nn.Dropout(0.5)
        self.register_buffer("seen", torch.zeros(1))
        self.plain = torch.zeros(1)
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        self.seen += 1
        self.plain = self.plain + 1
        y: torch.Tensor = self.dropout(self.norm(self.linear(x))) + torch.arange(16)
        return y


class Branching(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        if x.sum() > 0:
            return x
        return -x


def state_of(model: torch.nn.Module) -> list[Any]:
    tensors = [*model.parameters(), *model.buffers()]
    return [
        [(id(t), t._version, t.device, t.requires_grad, t.grad is None) for t in tensors],
        [module.training for module in model.modules()],
        [id(module) for module in model.modules()],
        getattr(model, "calls", None),
        torch.get_rng_state().tolist(),
    ]


@pytest.mark.parametrize("training", [True, False])
def test_a_module_is_untouched(training: bool) -> None:
    model = Stateful().train(training)
    before, values = state_of(model), [t.clone() for t in model.state_dict().values()]
    x = torch.randn(4, 8)
    before[-1] = torch.get_rng_state().tolist()
    steelyard.weigh(model, (x,), train="adamw", loss="cross-entropy", mode="train")
    steelyard.weigh(model, x)
    assert state_of(model) == before
    assert all(torch.equal(*pair) for pair in zip(values, model.state_dict().values(), strict=True))
    assert torch.equal(model.plain, torch.zeros(1))


def test_a_module_is_untouched_after_an_exception() -> None:
    model = Branching()
    before = state_of(model)
    with pytest.raises(steelyard.ExportError) as raised:
        steelyard.weigh(model, (torch.ones(3),))
    line = next(
        number
        for number, text in enumerate(Path(__file__).read_text().splitlines(), 1)
        if text.strip() == "if x.sum() > 0:"
    )
    assert raised.value.where == f'{__file__}:{line} "if x.sum() > 0:"'
    assert "torch.cond" in raised.value.hint
    assert raised.value.cause is not None
    told = "".join(traceback.format_exception(raised.value))
    assert told.count("Traceback") == 1
    assert told.endswith(f"{raised.value}\n")
    assert state_of(model)[:4] == before[:4]


def small() -> torch.nn.Module:
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.ReLU(), torch.nn.Flatten(),
        torch.nn.Linear(8 * 6 * 6, 10),
    )  # fmt: skip


IMAGES = torch.zeros(2, 3, 6, 6)


def costs_of(weighing: steelyard.Weighing) -> dict[str, Any]:
    return {key: weighing.data[key] for key in ("parameters", "buffers", "flops", "memory")}


@pytest.mark.parametrize("keywords", [{}, {"train": "adamw", "loss": "cross-entropy"}])
def test_it_weighs_as_its_export_does(tmp_path: Path, keywords: dict[str, Any]) -> None:
    model = small()
    path = tmp_path / "model.pt2"
    exported = torch.export.export(model, (IMAGES,))
    torch.export.save(exported, path)
    expected = costs_of(steelyard.weigh(path, **keywords))
    assert costs_of(steelyard.weigh(model, (IMAGES,), **keywords)) == expected
    kept = dict(exported.state_dict)
    assert costs_of(steelyard.weigh(exported, **keywords)) == expected
    assert all(exported.state_dict[name] is tensor for name, tensor in kept.items())


def test_the_meta_device_weighs_the_same() -> None:
    model = small()
    with torch.device("meta"):
        empty = small()
    expected = costs_of(steelyard.weigh(model, (IMAGES,)))
    assert costs_of(steelyard.weigh(empty, (IMAGES,))) == expected
    assert costs_of(steelyard.weigh(model, (IMAGES.to("meta"),))) == expected


def test_flops_are_those_that_torch_counts() -> None:
    model = small()
    with FlopCounterMode(display=False) as counter:
        model(IMAGES)
    assert steelyard.weigh(model, (IMAGES,)).totals.forward_flops == counter.get_total_flops()


def test_sizes_that_vary() -> None:
    model = torch.nn.Linear(8, 4)
    batch = torch.export.Dim("batch")
    shapes = {"input": {0: batch}}
    x = torch.zeros(2, 8)
    macs = [
        steelyard.weigh(model, (x,), dynamic_shapes=shapes, batch=n).totals.forward_macs
        for n in (3, 5)
    ]
    assert macs == [3 * 8 * 4, 5 * 8 * 4]


def test_tied_weights_count_once() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 8))
    model[1].weight = model[0].weight
    assert steelyard.weigh(model, (torch.zeros(1, 8),)).totals.parameter_count == 8 * 8 + 2 * 8


def test_weights_are_not_copied() -> None:
    model = torch.nn.Linear(2048, 2048)
    copied = torch_bridge.copy_untouched(model, lambda tensor: tensor)
    assert copied is not model
    assert all(a is b for a, b in zip(copied.parameters(), model.parameters(), strict=True))


def test_compiled_modules_are_weighed_as_what_they_compile() -> None:
    model = small()
    assert costs_of(steelyard.weigh(torch.compile(model), (IMAGES,))) == costs_of(
        steelyard.weigh(model, (IMAGES,))
    )


def test_refusals() -> None:
    with pytest.raises(steelyard.UsageError, match="exported with example inputs"):
        steelyard.weigh(small())
    with pytest.raises(steelyard.UsageError, match="has been exported"):
        steelyard.weigh(torch.export.export(small(), (IMAGES,)), (IMAGES,))
    with pytest.raises(steelyard.ExportError, match="Are args and kwargs"):
        steelyard.weigh(small(), (IMAGES, IMAGES))

    class Locked(torch.nn.Linear):
        def __deepcopy__(self, memo: object) -> Locked:
            raise TypeError("a lock cannot be copied")

    with pytest.raises(steelyard.ExportError, match=r"cannot be copied.*a lock"):
        steelyard.weigh(Locked(2, 2), (torch.zeros(1, 2),))


class Library(torch.nn.Module):
    """A module that looks whether it is traced, as libraries do, and into its masks."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)

    def forward(
        self, x: torch.Tensor, mask: torch.Tensor | None = None, *, lengths: Any = None
    ) -> torch.Tensor:
        traced = torch.compiler.is_compiling() or torch.compiler.is_exporting()
        traced = traced or isinstance(x, torch._subclasses.FakeTensor)
        places = torch.arange(x.shape[0], device=x.device)
        ones = torch.ones(x.shape[0], device=x.device)
        for known in (mask, lengths, (places[1:] - places[:-1]) == 1, ones):
            if known is None:
                continue
            # Traced, what is in a mask cannot be asked: it is applied whatever it holds.
            if traced or -1 in known or not (known != 0).all():
                x = x * known.sum().to(x.dtype)
        y: torch.Tensor = self.linear(x)
        return y


class Running(torch.nn.Module):
    """What `Library` does when it runs and its masks are full."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)

    def forward(self, x: torch.Tensor, *masks: torch.Tensor) -> torch.Tensor:
        places = torch.arange(x.shape[0], device=x.device)
        ones = torch.ones(x.shape[0], device=x.device)
        for known in (*masks, (places[1:] - places[:-1]) == 1, ones):
            known.eq(-1).any()
            (known != 0).all()
        y: torch.Tensor = self.linear(x)
        return y


X = torch.zeros(4, 8)


class Scores(NamedTuple):
    """What a model returns, in a container that `torch.export` cannot write."""

    logits: torch.Tensor
    aux: torch.Tensor | None


def test_any_container_is_returned() -> None:
    class Returning(torch.nn.Linear):
        def forward(self, given: dict[str, Scores]) -> Scores:
            return Scores(super().forward(given["x"].logits), None)

    weighed = steelyard.weigh(Returning(8, 4), ({"x": Scores(X, None)},))
    assert weighed.totals.forward_macs == 4 * 8 * 4


def events_of(weighing: steelyard.Weighing) -> list[Any]:
    """What is allocated and freed, and by which operators."""
    import json

    report = json.loads(weighing.report("json", events=True))
    return [event[:2] for event in report["memory"]["events"]]


FULL = torch.ones(4, dtype=torch.long)


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((X,), {}),
        ((X, FULL), {}),
        ((X, FULL.bool()), {"lengths": 3 * FULL}),
        ((X,), {"lengths": 3 * FULL, "mask": FULL}),
    ],
)
def test_a_module_is_weighed_as_it_runs(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    model, running = Library(), Running()
    masks = [*args[1:], *(kwargs[name] for name in ("mask", "lengths") if name in kwargs)]
    given = [mask.clone() for mask in masks]
    before = torch.get_rng_state()
    weighed = steelyard.weigh(model, args, kwargs, train="adamw", loss="sum")
    same = steelyard.weigh(running, (X, *masks), train="adamw", loss="sum")
    assert events_of(weighed) == events_of(same)
    exported = steelyard.weigh(model, args, kwargs, train="adamw", loss="sum", as_="exported")
    assert events_of(exported) != events_of(weighed)
    assert all(map(torch.equal, given, masks))
    assert torch.equal(before, torch.get_rng_state())
    assert not torch.compiler.is_compiling()


def test_a_mask_that_is_not_full_is_applied() -> None:
    mask = torch.tensor([1, 0, 1, 1])
    weighed = steelyard.weigh(Library(), (X, mask), train="adamw", loss="sum")
    full = steelyard.weigh(Library(), (X, FULL), train="adamw", loss="sum")
    assert len(events_of(weighed)) > len(events_of(full))


def test_what_is_overwritten_is_looked_at_anew() -> None:
    class Overwriting(torch.nn.Module):
        def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            copy = mask.clone()
            seen = copy[1:]
            copy[2] = 0
            return x if seen.all() else x * 2.0

    mask = torch.ones(4, dtype=torch.long)
    work = steelyard.weigh(Overwriting(), (X, mask)).totals.forward_flops_all
    assert work == X.numel() + mask[1:].numel()
    assert mask.all()


class Squared(torch.autograd.Function):
    """A function with a backward pass of its own, which keeps less than autograd would."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x.tanh().exp() * x

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> torch.Tensor:
        return gradients[0]


def test_functions_with_a_backward_pass_of_their_own_are_noted() -> None:
    class Own(torch.nn.Linear):
        def forward(self, input: torch.Tensor) -> torch.Tensor:
            y: torch.Tensor = Squared.apply(super().forward(input))
            return y

    notes = steelyard.weigh(Own(8, 8), (X,), train="sgd", loss="sum").data["notes"]
    (message,) = (note["message"] for note in notes)
    assert "a backward pass of their own: Squared" in message
    assert not steelyard.weigh(torch.nn.Linear(8, 8), (X,)).data["notes"]


def test_only_modules_are_weighed_as_such() -> None:
    with pytest.raises(steelyard.UsageError, match='no "traced"'):
        steelyard.weigh(Library(), (X,), as_="traced")
    with pytest.raises(steelyard.UsageError, match="as it was exported"):
        steelyard.weigh(torch.export.export(small(), (IMAGES,)), as_="module")
    with pytest.raises(steelyard.UsageError, match=r"only an nn\.Module"):
        steelyard.weigh({"model_type": "gpt2"}, as_="module")


def test_of_a_file_the_module_is_weighed_as_far_as_it_is_told(tmp_path: Path) -> None:
    class Net(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = x + 1
            z = torch.relu(y)
            return torch.tanh(z)

    path = tmp_path / "net.pt2"
    torch.export.save(torch.export.export(Net(), (X,), strict=False), path)
    whole, exported = (steelyard.weigh(path, as_=as_).totals for as_ in ("module", "exported"))
    assert whole.peak_bytes == steelyard.weigh(Net(), X).totals.peak_bytes
    assert whole.peak_bytes == exported.peak_bytes + X.nbytes
    assert steelyard.weigh(path).totals.peak_bytes == exported.peak_bytes


class Branches(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2 if x.sum() > 0 else x


@pytest.mark.parametrize(
    ("model", "x"),
    [(torch.nn.Linear(16, 3), torch.zeros(4, 17)), (Branches(), torch.ones(3))],
    ids=["sizes", "branch"],
)
def test_a_failed_export_is_told_once(
    model: torch.nn.Module, x: torch.Tensor, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(steelyard.ExportError):
        steelyard.weigh(model, args=(x,))
    said = capfd.readouterr()
    assert "fake_tensor" not in said.err
    assert "forward(" not in said.err + said.out


class Talking(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        print("seen by the user", file=sys.stderr)
        return x if x.sum() > 0 else -x


def test_what_a_module_writes_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(steelyard.ExportError):
        steelyard.weigh(Talking(), args=(torch.ones(3),))
    assert "seen by the user\n" in capsys.readouterr().err


class Reporting(torch.nn.Module):
    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        print(f"mean {x.mean():.3f}, {mask.sum():3d} of {mask.numel()}")
        return x * 2


def test_a_module_may_write_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    weighing = steelyard.weigh(Reporting(), args=(torch.ones(3), torch.ones(2, dtype=torch.long)))
    assert capsys.readouterr().out == "mean ?,   2 of 2\n"
    assert weighing.totals.modelled_operators == weighing.totals.operators


class ByNumber(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x / 3.5


class ByItem(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x / x.abs().max().item()


def test_a_number_that_data_tell_is_a_number() -> None:
    x = torch.ones(2, 4)
    told, known = steelyard.weigh(ByItem(), args=(x,)), steelyard.weigh(ByNumber(), args=(x,))
    assert told.totals.modelled_operators == told.totals.operators
    assert [event for event in told.events if event[0] == "aten::div"] == [
        event for event in known.events if event[0] == "aten::div"
    ]


def test_a_scripted_part_is_named() -> None:
    scripted = torch.jit.trace(torch.nn.Linear(3, 3), torch.zeros(4, 3))
    model = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Sequential(scripted))
    with pytest.raises(steelyard.ExportError, match=r"submodule 1\.0 is a TorchScript"):
        steelyard.weigh(model, args=(torch.zeros(4, 3),))


@pytest.mark.parametrize("device", ["cuda", "cuda:1", torch.device("cuda", 0)])
def test_devices_of_pytorch(device: Any) -> None:
    with pytest.warns(UserWarning, match="weighed as the GPU h100") as warned:
        weighed = steelyard.weigh(small(), args=(torch.ones(2, 3, 6, 6),), device=device)
    assert warned[0].filename == __file__
    named = steelyard.weigh(small(), args=(torch.ones(2, 3, 6, 6),), device="h100")
    assert weighed.events == named.events
    at_cpu = steelyard.weigh(small(), args=(torch.ones(2, 3, 6, 6),), device=torch.device("cpu"))
    assert at_cpu.data["run"]["device"] == "cpu"


def test_devices_that_are_not_modelled() -> None:
    for device in ("meta", torch.device("meta")):
        with pytest.raises(steelyard.UsageError, match='there is no "meta"'):
            steelyard.weigh(small(), args=(torch.ones(2, 3, 6, 6),), device=device)


def test_torchscript_is_told_so() -> None:
    scripted = torch.jit.trace(torch.nn.Linear(16, 3), torch.zeros(4, 16))
    with pytest.raises(steelyard.ExportError, match=r"TorchScript.*traced from"):
        steelyard.weigh(scripted, args=(torch.zeros(4, 16),))


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"train": "adam9"}, 'train: there is no "adam9". Did you mean adam or '),
        ({"train": "adam", "loss": "crossentropy"}, "Did you mean cross-entropy"),
        ({"amp": "bf17"}, "Did you mean bf16"),
        ({"device": "h1000"}, "Did you mean h100"),
        ({"devices": ["h100", "h1000"]}, 'devices: there is no "h1000"'),
        ({"devices": "cpu"}, 'devices: there is no "cpu"'),
        ({"count": "rafx"}, "Did you mean raf?"),
        ({"runtime": "eagr"}, "Did you mean eager?"),
        ({"runtime": "graph", "schedule": "disk"}, "There are: post-order, memory."),
        ({"generate": (1, 1), "cache": "disk"}, "There are: dynamic, static, paged."),
        ({"generate": (1, 1), "cache_dtype": "int9"}, 'cache_dtype: there is no "int9"'),
    ],
)
def test_wrong_names_are_told_before_the_export(wrong: dict[str, Any], text: str) -> None:
    with pytest.raises(steelyard.UsageError) as refused:
        steelyard.weigh(Branches(), args=(torch.ones(3),), **wrong)
    assert text in str(refused.value)
