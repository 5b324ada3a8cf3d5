# SPDX-License-Identifier: Apache-2.0
"""Steps that are no operators of PyTorch compute what they are steps of: bit for bit.

Each program is one call, of an operator that is taken apart into such steps.
"""

from pathlib import Path
from typing import Any, NamedTuple

import pytest
import safetensors.torch
import torch
from test_engine import same, steelyard

torch.set_num_threads(1)
aten = torch.ops.aten


class Case(NamedTuple):
    op: str
    inputs: dict[str, torch.Tensor]
    # What stands in the call, the inputs by their names.
    arguments: tuple[Any, ...]
    # The results whose elements the operator decides.
    results: tuple[int, ...] = (0,)
    keywords: dict[str, bool] = {}  # noqa: RUF012


def floats(*sizes: int) -> torch.Tensor:
    torch.manual_seed(sum(sizes))
    return torch.randn(sizes)


def integers(*sizes: int, below: int) -> torch.Tensor:
    torch.manual_seed(sum(sizes))
    return torch.randint(0, below, sizes)


# Three numbers are few among sixteen, thirty are not; a program takes many to be distinct.
FEW = {"x": integers(2, 8, below=9), "y": integers(3, below=9)}
MANY = {"x": torch.arange(16).view(2, 8), "y": torch.arange(30) * 3}
ROWS = {"x": floats(2, 3, 9)}
REDUCED = {"x": floats(9), "i": torch.tensor([0, 4, 2, 4]), "s": floats(4)}
LSTM = {
    "x": floats(2, 5, 30),
    "h": floats(1, 2, 20),
    "c": floats(1, 2, 20),
    "w": floats(80, 30),
    "v": floats(80, 20),
    "b": floats(80),
    "d": floats(80),
}
# Bags of one, none, two and three rows of a table.
BAGS = {
    "w": floats(10, 4),
    "i": torch.tensor([1, 7, 7, 2, 0, 9]),
    "o": torch.tensor([0, 1, 1, 3]),
    "p": floats(6),
}
SQUARE = {"x": floats(2, 5, 5)}
TALL = {"x": floats(2, 7, 4), "b": floats(2, 7, 3)}
SYMMETRIC = {"x": floats(2, 5, 5) @ floats(2, 5, 5).mT + 5 * torch.eye(5)}
SYSTEM = {**SQUARE, "b": floats(2, 5, 3)}
TRIANGLE = {"x": floats(2, 5, 5).tril() + 5 * torch.eye(5), "b": floats(2, 5, 3)}
ENCODER = {
    "x": floats(2, 5, 8),
    "qw": floats(24, 8),
    "qb": floats(24),
    "pw": floats(8, 8),
    "pb": floats(8),
    "n": floats(8),
    "fw": floats(12, 8),
    "fb": floats(12),
    "gw": floats(8, 12),
}
# Operators of which some step computes nothing apart: they are one call.
WHOLE = [
    Case("_embedding_bag", BAGS, ("w", "i", "o"), (0, 1, 2)),
    Case("_embedding_bag", BAGS, ("w", "i", "o", False, 1), (0, 1, 2)),
    Case("_embedding_bag", BAGS, ("w", "i", "o", False, 2), (0, 1, 2, 3)),
    Case("_embedding_bag", BAGS, ("w", "i", "o", False, 0, False, "p"), (0,)),
    Case("_embedding_bag_forward_only", BAGS, ("w", "i", "o", False, 1), (0,)),
    Case("embedding_bag", BAGS, ("w", "i", "o", False, 2), (0,)),
    Case("linalg_inv_ex", SQUARE, ("x",)),
    Case("linalg_cholesky_ex", SYMMETRIC, ("x",)),
    Case("linalg_cholesky", SYMMETRIC, ("x",), keywords={"upper": True}),
    Case("linalg_qr", TALL, ("x",), (0, 1)),
    Case("linalg_qr", TALL, ("x", "complete"), (0, 1)),
    Case("linalg_qr", TALL, ("x", "r"), (1,)),
    Case("_linalg_eigh", SYMMETRIC, ("x",), (0, 1)),
    Case("linalg_eigvalsh", SYMMETRIC, ("x",)),
    Case("_linalg_svd", TALL, ("x",), (0, 1, 2)),
    Case("linalg_svdvals", TALL, ("x",)),
    Case("linalg_lu_factor_ex", SQUARE, ("x",), (0,)),
    Case("linalg_lu", SQUARE, ("x",), (0, 1, 2)),
    Case("linalg_ldl_factor_ex", SYMMETRIC, ("x",), (0,)),
    Case("_linalg_solve_ex", SYSTEM, ("x", "b"), (0, 1)),
    Case("linalg_solve", SYSTEM, ("x", "b")),
    Case("linalg_lstsq", TALL, ("x", "b")),
    Case("_linalg_det", SQUARE, ("x",), (0, 1)),
    Case("_linalg_slogdet", SQUARE, ("x",), (0, 1, 2)),
    Case("linalg_solve_triangular", TRIANGLE, ("x", "b"), keywords={"upper": False}),
    Case("triangular_solve", TRIANGLE, ("b", "x", False)),
    Case("cholesky_solve", TRIANGLE, ("b", "x")),
    Case("cholesky_inverse", TRIANGLE, ("x",)),
    Case("linalg_matrix_exp", SQUARE, ("x",)),
    Case("linalg_pinv", TALL, ("x", 1e-5)),
    Case("linalg_matrix_power", SQUARE, ("x", -3)),
    Case(
        "_transformer_encoder_layer_fwd",
        ENCODER,
        ("x", 8, 2, *("qw", "qb", "pw", "pb"), True, False, 1e-5, *"nnnn", "fw", "fb", "gw", "pb"),
    ),
    Case("kaiser_window.beta", {}, (16, False, 8.0)),
]
CASES = [
    *WHOLE,
    Case("max_pool1d", ROWS, ("x", [3], [2], [1], [1], True)),
    Case("isin.Tensor_Tensor", FEW, ("x", "y")),
    Case("isin.Tensor_Tensor", FEW, ("x", "y"), keywords={"invert": True}),
    Case("isin.Tensor_Tensor", MANY, ("x", "y")),
    # Few of a row are picked out, of many it is sorted.
    Case("quantile.scalar", {"x": floats(3, 40)}, ("x", 0.3, 1)),
    Case("nanquantile.scalar", {"x": floats(3, 40).log()}, ("x", 0.7, 1)),
    Case("normal.Tensor_Tensor", {"x": floats(4, 5), "y": floats(4, 5).abs()}, ("x", "y")),
    Case("normal.Tensor_float", {"x": floats(4, 5)}, ("x", 2.0)),
    Case("normal.float_Tensor", {"x": floats(4, 5).abs()}, (1.5, "x")),
    Case(
        "ctc_loss.IntList",
        {"x": floats(9, 2, 5).log_softmax(-1), "y": 1 + integers(2, 3, below=4)},
        ("x", "y", [9, 8], [3, 2]),
    ),
    Case("_efficientzerotensor", {}, ([2, 8],)),
    Case("count_nonzero", {"x": integers(4, 6, below=3)}, ("x",)),
    Case("bincount", {"x": torch.tensor([0, 4, 2, 2])}, ("x", None, 5)),
    Case("bincount", {"x": torch.tensor([0, 4, 2, 2]), "w": floats(4)}, ("x", "w", 5)),
    Case("col2im", {"x": floats(2, 27, 64)}, ("x", [8, 8], [3, 3], [1, 1], [1, 1], [1, 1])),
    Case("col2im", {"x": floats(2, 27, 4)}, ("x", [9, 9], [3, 3], [1, 1], [0, 0], [6, 6])),
    Case("index_reduce", REDUCED, ("x", 0, "i", "s", "mean")),
    Case("index_reduce", REDUCED, ("x", 0, "i", "s", "mean"), keywords={"include_self": False}),
    Case("index_reduce", REDUCED, ("x", 0, "i", "s", "amax")),
    Case("unique_consecutive", {"x": torch.arange(6)}, ("x", True, True), (0, 1, 2)),
    Case("unique_dim", {"x": floats(4, 3)}, ("x", 0, True, True, True), (0, 1, 2)),
    Case("unique_dim", {"x": floats(4, 3)}, ("x", 1, True, True, True), (0, 1, 2)),
    Case(
        "lstm.input",
        LSTM,
        ("x", ["h", "c"], ["w", "v", "b", "d"], True, 1, 0.0, False, False, True),
        (0, 1, 2),
    ),
]


def in_text(argument: Any, of: dict[str, torch.Tensor]) -> str:
    if isinstance(argument, list):
        return f"[{', '.join(in_text(each, of) for each in argument)}]"
    return f"%{argument}" if argument in of else repr(argument)


def of_tensors(argument: Any, of: dict[str, torch.Tensor]) -> Any:
    if isinstance(argument, list):
        return [of_tensors(each, of) for each in argument]
    return of.get(argument, argument) if isinstance(argument, str) else argument


def computed(case: Case, folder: Path) -> dict[str, torch.Tensor]:
    """What the engine makes of a program of the one call."""
    kinds = {torch.float32: "f32", torch.int64: "i64"}
    lines = [
        f"input %{name}: {kinds[t.dtype]}[{','.join(map(str, t.shape))}]"
        for name, t in case.inputs.items()
    ]
    count = max(case.results) + 1
    results = ", ".join(f"%r{i}" for i in range(count))
    words = [in_text(each, case.inputs) for each in case.arguments]
    given = ", ".join(words + [f"{name}={value}" for name, value in case.keywords.items()])
    lines += [f"{results} = aten::{case.op}({given})", f"return {results}"]
    model = folder / "call.syt"
    model.write_text("\n".join(lines) + "\n")
    inputs, saved = folder / "inputs", folder / "saved"
    safetensors.torch.save_file(case.inputs, inputs)
    steelyard("run", model, "--inputs", inputs, "--save", saved, "--repeat", 0)
    tensors: dict[str, torch.Tensor] = safetensors.torch.load_file(saved)
    return tensors


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.op)
def test_calls(case: Case, tmp_path: Path) -> None:
    name, _, overload = case.op.partition(".")
    operator = getattr(getattr(aten, name), overload or "default")
    torch.manual_seed(0)  # the engine's, too
    with torch.no_grad():
        given = [of_tensors(each, case.inputs) for each in case.arguments]
        theirs = operator(*given, **case.keywords)
    theirs = theirs if isinstance(theirs, tuple) else (theirs,)
    ours = computed(case, tmp_path)
    for i in case.results:
        assert same(ours[f"outputs.{i}"], theirs[i].contiguous()), i


def test_the_gradient_of_a_layer(tmp_path: Path) -> None:
    model = tmp_path / "lstm.syt"
    model.write_text(
        "parameter %w: f32[80,30]\nparameter %v: f32[80,20]\n"
        "parameter %b: f32[80]\nparameter %d: f32[80]\n"
        "input %x: f32[2,5,30]\ninput %h: f32[1,2,20]\ninput %c: f32[1,2,20]\n"
        "%y, %n, %m = aten::lstm.input(%x, [%h, %c], [%w, %v, %b, %d], True, 1, 0.0, True, False, "
        "True)\n%l = aten::sum(%y)\nreturn %l\n"
    )
    weights = {name: LSTM[name] for name in ("w", "v", "b", "d")}
    files: list[object] = []
    for flag, names in (("--weights", "wvbd"), ("--inputs", "xhc")):
        path = tmp_path / flag.strip("-")
        safetensors.torch.save_file({name: LSTM[name] for name in names}, path)
        files += [flag, path]
    saved = tmp_path / "saved"
    steelyard("run", model, *files, "--train", "sgd", "--save", saved, "--repeat", 0)
    ours = safetensors.torch.load_file(saved)
    leaves = {name: tensor.clone().requires_grad_() for name, tensor in weights.items()}
    outputs = aten.lstm.input(
        LSTM["x"], [LSTM["h"], LSTM["c"]], list(leaves.values()), True, 1, 0.0, True, False, True
    )
    outputs[0].sum().backward()
    for name, leaf in leaves.items():
        assert leaf.grad is not None
        assert same(ours[f"gradients.{name}"], leaf.grad.contiguous()), name


def test_numbers_that_a_program_has_no_bin_for_are_refused(tmp_path: Path) -> None:
    case = Case("bincount", {"x": torch.tensor([0, 9, 2, 2])}, ("x", None, 5))
    with pytest.raises(AssertionError, match=r"need 10 bins and the program has 5"):
        computed(case, tmp_path)
