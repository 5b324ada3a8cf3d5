# SPDX-License-Identifier: Apache-2.0
"""Exported programs with tensors in them, as PyTorch runs them: what the engine is held to."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import new_class
from typing import Any

import torch
import torch.ao.quantization.fx._decomposed  # defines quantized_decomposed
from torch.export.graph_signature import InputKind

SEED = 7
# The dtypes of weights are drawn so that no activation overflows.
DEVIATION = 0.05

# What models of transformers return, which is not installed here: dictionaries, to this test.
RETURNED = (
    "transformers.models.clip.modeling_clip.CLIPOutput",
    "transformers.models.mamba.modeling_mamba.MambaCausalLMOutput",
    "transformers.models.patchtst.modeling_patchtst.PatchTSTModelOutput",
    "transformers.modeling_outputs.Seq2SeqModelOutput",
    "transformers.modeling_outputs.Wav2Vec2BaseModelOutput",
    "transformers.modeling_outputs.BaseModelOutputWithPooling",
    "transformers.modeling_outputs.CausalLMOutputWithCrossAttentions",
    "transformers.modeling_outputs.CausalLMOutputWithPast",
    "transformers.modeling_outputs.ImageClassifierOutput",
    "transformers.modeling_outputs.MaskedLMOutput",
    "transformers.modeling_outputs.MoeCausalLMOutputWithPast",
    "transformers.modeling_outputs.Seq2SeqLMOutput",
)
for name in RETURNED:
    stand_in = new_class(name.rpartition(".")[2], (dict,))
    torch.utils._pytree.register_pytree_node(
        stand_in,
        lambda fields: (list(fields.values()), list(fields)),
        lambda values, names, kind=stand_in: kind(zip(names, values, strict=True)),
        serialized_type_name=name,
    )


def contiguous(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Copies on the CPU, row by row, as files have them."""
    return {
        name: tensor.detach().cpu().clone(memory_format=torch.contiguous_format)
        for name, tensor in tensors.items()
    }


def drawn(like: torch.Tensor, is_positive: bool) -> torch.Tensor:
    """Random numbers; integers, which may be indices or labels, are 0 or 1, and masks true."""
    tensor = torch.empty_strided(like.shape, like.stride(), dtype=like.dtype)
    if like.dtype == torch.bool:
        return tensor.fill_(True)
    if not like.is_floating_point() and not like.is_complex():
        return tensor.random_(0, 2)
    tensor.normal_(0, DEVIATION)
    return tensor.abs_().add_(0.5) if is_positive else tensor


def moved(argument: Any) -> Any:
    return torch.device("cpu") if isinstance(argument, torch.device) else argument


def on_cpu(program: Any) -> None:
    """A program that was exported on the meta device means the one that it runs on."""
    for module in program.graph_module.modules():
        if not isinstance(module, torch.fx.GraphModule):
            continue
        for node in module.graph.nodes:
            given = (node.args, node.kwargs)
            node.args, node.kwargs = torch.fx.node.map_aggregate(given, moved)
        module.recompile()


@dataclass
class Exported:
    """A program of a file, its tensors drawn."""

    path: Path
    program: Any
    inputs: dict[str, torch.Tensor]
    weights: dict[str, torch.Tensor]

    @classmethod
    def load(cls, path: Path, tied: dict[str, str]) -> "Exported":
        """`tied` are second names of tensors, which a file of structure alone does not tell."""
        torch.manual_seed(SEED)
        program = torch.export.load(path)
        tensors = [program.state_dict, program.constants]
        weights: dict[str, torch.Tensor] = {}
        for table in tensors:
            for name, tensor in table.items():
                if not isinstance(tensor, torch.Tensor):
                    continue
                made = drawn(tensor, tensor.dim() < 2)
                if isinstance(tensor, torch.nn.Parameter):
                    made = torch.nn.Parameter(made, tensor.requires_grad)
                table[name] = made
            for name, other in tied.items():
                table[name] = table[other]
            weights |= {
                n: t.detach().clone() for n, t in table.items() if isinstance(t, torch.Tensor)
            }
            tied = {}
        values = {n.name: n.meta["val"] for n in program.graph.nodes if n.op == "placeholder"}
        inputs = {
            spec.arg.name: drawn(values[spec.arg.name], False)
            for spec in program.graph_signature.input_specs
            if spec.kind == InputKind.USER_INPUT and hasattr(spec.arg, "name")
        }
        on_cpu(program)
        return cls(path, program, inputs, weights)

    def module(self) -> torch.nn.Module:
        return self.program.module(check_guards=False)

    def forget_dtypes(self) -> None:
        """Leaves out what holds tensors to the dtypes that they were exported with."""
        for module in self.program.graph_module.modules():
            if not isinstance(module, torch.fx.GraphModule):
                continue
            for node in list(module.graph.nodes):
                if node.target is torch.ops.aten._assert_tensor_metadata.default:
                    module.graph.erase_node(node)
            module.recompile()

    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The inputs in the places of the example's."""
        drawn_inputs = iter(self.inputs.values())
        args, kwargs = self.program.example_inputs
        take = lambda given: torch.utils._pytree.tree_map_only(  # noqa: E731
            torch.Tensor, lambda _: next(drawn_inputs), given
        )
        return take(args), take(kwargs)


def tensors_in(result: Any) -> Iterator[torch.Tensor]:
    for leaf in torch.utils._pytree.tree_leaves(result):
        if isinstance(leaf, torch.Tensor):
            yield leaf
