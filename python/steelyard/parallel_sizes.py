# SPDX-License-Identifier: Apache-2.0
"""How a program's processes share its model, as far as PyTorch's own objects say so.

Data-parallel are what DistributedDataParallel, both FSDPs and DeepSpeed's engine reduce gradients
over; what else a parameter's device mesh has is tensor-parallel, or what the name of its dimension
says; pipelines are those of torch.distributed.pipelining.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

# What dimensions of a mesh are called by people, where it is not the tensor's.
MESH_NAMES = {"ep": "expert", "expert": "expert", "cp": "context", "context": "context"}


def of(modules: Iterable[torch.nn.Module]) -> dict[str, int]:
    """By key: rank, ranks, data_parallel, tensor_parallel, pipeline_parallel. Nothing of a program
    that is one process, or whose group has ended."""
    import torch

    dist = torch.distributed
    if not dist.is_available() or not dist.is_initialized():
        return {}
    sizes = {"rank": dist.get_rank(), "ranks": dist.get_world_size()}
    all_of_them = list(modules)
    over_data = _dimensions_of_data(all_of_them)
    for module in all_of_them:
        for key, size in (*_data_sizes(module), *_mesh_sizes(module, over_data)):
            sizes[key] = max(size, sizes.get(key, 1))
    stages = _pipeline_stages()
    if stages:
        sizes["pipeline_parallel"] = max(stage.group_size for stage in stages)
    return sizes


def _data_sizes(module: torch.nn.Module) -> Iterable[tuple[str, int]]:
    group = getattr(module, "process_group", None)
    if group is not None and type(module).__name__ in (
        "DistributedDataParallel",
        "FullyShardedDataParallel",
    ):
        yield "data_parallel", group.size()
    mesh = _fsdp_mesh(module)
    if mesh is not None:
        yield "data_parallel", mesh.size()
    if type(module).__name__ in ("DeepSpeedEngine", "PipelineEngine"):
        for key, name in (("dp_world_size", "data_parallel"), ("mp_world_size", "tensor_parallel")):
            size = getattr(module, key, None)
            if isinstance(size, int):
                yield name, size


def _fsdp_mesh(module: torch.nn.Module) -> Any:
    """Over which `fully_shard` has divided the module's parameters."""
    state = getattr(module, "_get_fsdp_state", None)
    if state is None:
        return None
    group = getattr(state(), "_fsdp_param_group", None)
    return getattr(getattr(group, "mesh_info", None), "mesh", None)


def _dimensions_of_data(modules: Iterable[torch.nn.Module]) -> dict[int, set[str]]:
    """By parameter: dimensions of its mesh over which `fully_shard` divides it; "" has no name."""
    names: dict[int, set[str]] = {}
    for module in modules:
        mesh = _fsdp_mesh(module)
        if mesh is not None:
            shared = set(mesh.mesh_dim_names or ("",))
            names |= {id(parameter): shared for parameter in module.parameters()}
    return names


def _mesh_sizes(
    module: torch.nn.Module, over_data: dict[int, set[str]]
) -> Iterable[tuple[str, int]]:
    for parameter in module.parameters(recurse=False):
        mesh = getattr(parameter, "device_mesh", None)
        if mesh is None:
            continue
        names = mesh.mesh_dim_names or ("",) * mesh.ndim
        for dim, name in enumerate(names):
            if name not in over_data.get(id(parameter), ()):
                yield f"{MESH_NAMES.get(name, 'tensor')}_parallel", mesh.size(dim)


def _pipeline_stages() -> list[Any]:
    stage = sys.modules.get("torch.distributed.pipelining.stage")
    base = getattr(stage, "_PipelineStageBase", None)
    if base is None:
        return []
    return [thing for thing in gc.get_objects() if issubclass(type(thing), base)]
