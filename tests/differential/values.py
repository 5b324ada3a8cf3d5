# SPDX-License-Identifier: Apache-2.0
"""The gradients of a call that a program of kernels computes, against PyTorch's.

The loss is the sum of what the call gives, each element weighted by a random number: a gradient of
ones would hide factors. It is computed from several draws of random numbers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from compare import Seen
from interpreter import ZEROS, Kernel, UnlikeSizesError, gradients_in, kernels_of, run
from recorder import SHORT_NAMES, in_child, refusal
from steps import MadeStep, Step, as_real, called, outputs_of, real_of, summed
from table import weigh

TOLERANCES = {
    torch.float64: 1e-9,
    torch.float32: 1e-4,
    torch.float16: 1e-2,
    torch.bfloat16: 5e-2,
    torch.complex64: 1e-4,
    torch.complex128: 1e-9,
}
SEED = 20
SHOWN = 4  # elements that differ


@dataclass(frozen=True)
class Draw:
    """How the elements of floating tensors, of integers and of masks are drawn.

    `strict` draws are those for which rows state sizes; masks are true everywhere in them.
    """

    name: str
    fill: Callable[[torch.Tensor], Any]
    integers: int  # below this
    strict: bool


def fill_with_edges(elements: torch.Tensor) -> None:
    """Where functions have kinks and poles, and operands are equal."""
    elements.copy_(torch.randint(-1, 3, elements.shape))


DRAWS = (
    Draw("between 0 and 1", lambda t: t.uniform_(0.1, 0.9), 1, True),
    Draw("above 1", lambda t: t.uniform_(1.1, 3.0), 1, True),
    Draw("of either sign", lambda t: t.normal_(), 2, False),
    Draw("-1, 0, 1 and 2", fill_with_edges, 2, False),
)


def fill(tensor: torch.Tensor, draw: Draw) -> None:
    """Every element of its storage."""
    elements = tensor.as_strided((tensor.untyped_storage().nbytes() // tensor.itemsize,), (1,))
    if tensor.is_complex():
        elements = torch.view_as_real(elements)
    if elements.is_floating_point():
        random = torch.empty(elements.shape, dtype=torch.float64)
        draw.fill(random)
        elements.copy_(random)
    elif tensor.dtype == torch.bool:
        elements.copy_(torch.ones(()) if draw.strict else torch.randint(0, 2, elements.shape))
    else:
        elements.random_(0, draw.integers)


class Valued(MadeStep):
    """A step with its tensors filled from a draw, and the weights of its outputs."""

    def __init__(self, step: Step, draw: Draw) -> None:
        super().__init__(step)
        torch.manual_seed(SEED)
        with torch.no_grad():
            for tensor in self.inputs:
                fill(tensor, draw)
        self.weights: list[torch.Tensor | None] = []

    def gradients(self) -> list[torch.Tensor | None]:
        """Of the leaves, as autograd computes them. Draws the weights."""
        torch.manual_seed(SEED + 1)
        outputs = self.forward()
        self.is_complex = []
        terms = []
        for y in outputs:
            self.is_complex.append(y is not None and y.is_complex())
            if y is None or not y.requires_grad:
                self.weights.append(None)
                continue
            y = as_real(y)
            generator = torch.Generator().manual_seed(SEED)
            random = torch.rand(y.shape, generator=generator, dtype=torch.float64)
            self.weights.append((random + 0.5).to(y.dtype))
            terms.append((y * self.weights[-1]).sum())
        if not terms:
            raise ValueError("nothing requires a gradient")
        loss = terms[0]
        for term in terms[1:]:
            loss = loss + term
        return list(
            torch.autograd.grad(loss, [self.inputs[i] for i in self.step.leaves], allow_unused=True)
        )


def program_of(step: Step, weights: Sequence[str | None], is_complex: Sequence[bool]) -> str:
    """The step in the text form, its lines separated by tabs; `weights` are tensors' types."""
    terms = {}
    for i, name in enumerate(outputs_of(step, len(weights))):
        if weights[i]:
            real, made = real_of(name, is_complex[i])
            weighted = f"%m{i} = aten::mul.Tensor({real}, %w{i})"
            terms[i] = [*made, weighted, f"%t{i} = aten::sum(%m{i})"]
    lines, loss = summed(terms)
    parameters = ", ".join(f"%x{i}" for i in step.leaves)
    ends = [
        f"steelyard::backward({loss}) phase backward",
        f"steelyard::sgd([{parameters}], True) phase optimizer",
        f"return {loss}",
    ]
    return "\t".join([*called(step, len(weights), weights), *lines, *ends])


def weights_of(step: Step) -> Seen:
    """The types of the outputs' weights, or why PyTorch refuses the step."""
    try:
        made = Valued(step, DRAWS[0])
        made.gradients()
    except Exception as error:  # whatever an operator raises
        return refusal(error)
    types = [None if w is None else type_of(w) for w in made.weights]
    return {"weights": types, "is_complex": made.is_complex}


def type_of(tensor: torch.Tensor) -> str:
    return f"{SHORT_NAMES[tensor.dtype]}[{','.join(map(str, tensor.shape))}]"


def difference(ours: torch.Tensor | None, theirs: torch.Tensor | None) -> str | None:
    """How a gradient differs; None where it does not."""
    if ours is None or theirs is None:
        return None if ours is theirs else f"is {shown(ours)} instead of {shown(theirs)}"
    if type_of(ours) != type_of(theirs):
        return f"is {type_of(ours)} instead of {type_of(theirs)}"
    # Zeros that are not stored cannot be compared.
    ours, theirs = ours.clone(), theirs.clone()
    # Terms of a sum may be larger than the sum: the largest element tells what rounding does.
    tolerance = TOLERANCES[theirs.dtype]
    sizes = theirs[torch.isfinite(theirs)].abs().double()
    largest = max(1.0, sizes.max().item() if sizes.numel() else 0.0)
    if torch.allclose(ours, theirs, rtol=tolerance, atol=tolerance * largest, equal_nan=True):
        return None
    same = torch.isclose(ours, theirs, rtol=tolerance, atol=tolerance * largest, equal_nan=True)
    return f"is {shown(ours[~same])} instead of {shown(theirs[~same])}"


def shown(tensor: torch.Tensor | None) -> str:
    """Its first elements."""
    if tensor is None:
        return "none"
    first = tensor.flatten()[:SHOWN].tolist()
    return ", ".join(f"{x:.5g}" for x in first) + (", ..." if tensor.numel() > SHOWN else "")


def compare_draw(step: Step, kernels: Sequence[Kernel], draw: Draw) -> list[str] | None:
    """The gradients that differ; None where PyTorch refuses the numbers or takes another path."""
    made = Valued(step, draw)
    values: dict[str, Any] = {
        f"x{i}": tensor.detach() for i, tensor in enumerate(Valued(step, draw).inputs)
    }
    try:
        theirs = made.gradients()
    except Exception:  # an index out of range, for example
        return None
    values |= {f"w{i}": w for i, w in enumerate(made.weights) if w is not None}
    torch.manual_seed(SEED + 1)
    try:
        with torch.no_grad():
            run(kernels, values)
    except UnlikeSizesError as error:
        return [str(error)] if draw.strict else None
    except Exception as error:  # whatever a kernel raises
        return [str(error).split("\n")[0]]
    named = gradients_in(kernels)
    values |= {ZEROS: next((t for t in theirs if t is not None and t._is_zerotensor()), None)}
    ours = [values[named[name]] if name in named else None for name in leaves_of(step)]
    found = zip(leaves_of(step), map(difference, ours, theirs), strict=True)
    return [f"the gradient of {name} {text}" for name, text in found if text is not None]


def leaves_of(step: Step) -> list[str]:
    return [f"x{i}" for i in step.leaves]


def compare(asked: tuple[Step, str]) -> Seen:
    """By draw, the differences: {"draws": {draw: [...]}}."""
    step, program = asked
    kernels = kernels_of(program)
    found = {draw.name: compare_draw(step, kernels, draw) for draw in DRAWS}
    return {"draws": {name: texts for name, texts in found.items() if texts is not None}}


def programs_of(steps: Sequence[Step]) -> list[Seen]:
    """For each step {"program": ...}, or {"refused": why} by PyTorch, or {"unknown": why} to us."""
    found = in_child(weights_of, steps)
    asked = [(step, seen) for step, seen in zip(steps, found, strict=True) if "refused" not in seen]
    programs = [program_of(step, seen["weights"], seen["is_complex"]) for step, seen in asked]
    answers = iter(weigh(programs, "--kernels"))
    out = []
    for seen in found:
        answer = seen if "refused" in seen else next(answers)
        if answer is not seen and "program" not in answer:
            answer = {"unknown": answer.get("refused", "the probe dies")}
        out.append(answer)
    return out


def compare_values(steps: Sequence[Step]) -> list[Seen]:
    """For each step {"draws": ...}, or {"refused": why} or {"unknown": why}."""
    out = programs_of(steps)
    asked = [
        (step, seen["program"]) for step, seen in zip(steps, out, strict=True) if "program" in seen
    ]
    compared = iter(in_child(compare, asked))
    found = [next(compared) if "program" in seen else seen for seen in out]
    return [
        {"draws": {"any": ["the kernels end PyTorch"]}}
        if "program" in was and "refused" in seen
        else seen
        for was, seen in zip(out, found, strict=True)
    ]
