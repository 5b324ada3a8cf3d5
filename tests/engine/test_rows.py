# SPDX-License-Identifier: Apache-2.0
"""What the engine computes of each operator that is taken apart is what PyTorch computes of it."""

import sys
import zlib
from pathlib import Path

import pytest

pytest.importorskip("steelyard")
sys.path.append(str(Path(__file__).resolve().parents[1] / "differential"))

import known
import safetensors.torch
import torch
from calls import Call, Tensor, parse, text_of
from recorder import Made, make_matrices, tensors_in
from steelyard import _core
from table import Row, rows
from test_engine import SEED, same
from trials import typical_calls

torch.set_num_threads(1)

# Results, by operator, of which nobody decides the elements.
ANY = {
    "aten::_embedding_bag_forward_only": (0, 1, 2, 3),  # offsets are drawn, and are in no order
    "aten::empty": (0,),
    "aten::new_empty": (0,),
    "aten::_grouped_mm": (0,),  # the ends of groups are drawn, and leave rows that are in none
}
# What is said of numbers that only the data tell, and that are not computed with.
NOT_WRITTEN = "some of its numbers stand for any"


# What files do not hold.
NOT_HELD = (torch.complex32, torch.complex128)

# PyTorch warns of calls that it will refuse one day; they are made on purpose.
pytestmark = pytest.mark.filterwarnings("ignore")


def is_tried(row: Row) -> bool:
    """Collectives need processes: test_data_parallel.py."""
    is_alone = not row.name.startswith("_c10d") and not known.trial_reason(row.name)
    return bool(row.example) and not row.kernel and is_alone


def fill(made: Made) -> None:
    """Numbers between 0 and 1, whole ones that are 0 or 1, and masks that are true."""
    for tensor in made.inputs:
        count = tensor.untyped_storage().nbytes() // tensor.itemsize
        elements = tensor.as_strided((count,), (1,))
        if tensor.is_complex():
            elements = torch.view_as_real(elements)
        if elements.is_floating_point():
            elements.copy_(torch.empty(elements.shape, dtype=torch.float64).uniform_(0.1, 0.9))
        elif tensor.dtype == torch.bool:
            elements.fill_(True)
        else:
            elements.copy_(torch.randint(0, 2, elements.shape))
        make_matrices(tensor, made.op)


def overlaps(tensor: torch.Tensor) -> bool:
    return bool(tensor.untyped_storage().nbytes() < tensor.numel() * tensor.itemsize)


def program_of(call: Call, results: int, returned: list[int]) -> str:
    lines: list[str] = []

    def word(value: object) -> str:
        if isinstance(value, tuple):
            return f"[{', '.join(map(word, value))}]"
        if not isinstance(value, Tensor):
            return text_of(value)
        lines.append(f"input %x{len(lines)}: {value}")
        return f"%x{len(lines) - 1}"

    given = [word(value) for value in call.args]
    given += [f"{name}={word(value)}" for name, value in call.kwargs]
    made = ", ".join(f"%r{i}" for i in range(results))
    lines.append(f"{made} = {call.op}({', '.join(given)})")
    lines.append(f"return {', '.join(f'%r{i}' for i in returned)}")
    return "\n".join(lines) + "\n"


def differing(call: Call, folder: Path, capfd: pytest.CaptureFixture[str]) -> str:
    """How what the engine computes differs; nothing where PyTorch refuses the call."""
    made = Made(call, 1)
    torch.manual_seed(zlib.crc32(str(call).encode()))
    fill(made)
    if any(map(overlaps, made.inputs)):
        return ""
    inputs = {f"x{i}": tensor.contiguous().clone() for i, tensor in enumerate(made.inputs)}
    torch.manual_seed(SEED)
    try:
        with torch.no_grad():
            theirs = list(tensors_in(made.run()))
    except (RuntimeError, ValueError, IndexError, NotImplementedError):
        return ""
    returned = [i for i, tensor in enumerate(theirs) if tensor is not None]
    made_of = [*inputs.values(), *(tensor for tensor in theirs if tensor is not None)]
    if not returned or any(tensor.dtype in NOT_HELD for tensor in made_of):
        return ""
    model, given, saved = (folder / name for name in ("call.syt", "inputs", "saved"))
    model.write_text(program_of(call, len(theirs), returned))
    safetensors.torch.save_file(inputs, given)
    line = ["run", model, "--inputs", given, "--save", saved, "--seed", SEED, "--repeat", 0]
    status = _core.main([str(word) for word in line])
    said = capfd.readouterr().err
    if status:
        return "" if NOT_WRITTEN in said else said
    ours = safetensors.torch.load_file(saved)
    for place, i in enumerate(returned):
        expected = theirs[i]
        assert expected is not None
        dense = expected.to_dense() if expected.layout != torch.strided else expected
        plain = dense.resolve_conj().resolve_neg().contiguous()
        base = call.op.partition(".")[0]
        if i not in ANY.get(base, ()) and not same(ours[f"outputs.{place}"], plain):
            return f"result {i} is {ours[f'outputs.{place}']} and not {plain}"
    return ""


@pytest.mark.parametrize("row", [row for row in rows() if is_tried(row)], ids=lambda row: row.name)
def test_rows(row: Row, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for call in (parse(row.example), *typical_calls(row)):
        assert not differing(call, tmp_path, capfd), str(call)
