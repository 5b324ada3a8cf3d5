# SPDX-License-Identifier: Apache-2.0
"""What programs ask `steelyard.profile` besides tables and traces, as they ask PyTorch's."""

import os
import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from profiled import CPU, HIDDEN, ROWS, WIDTH, counts, run, written

steelyard = pytest.importorskip("steelyard")

import torch  # noqa: E402
from torch.nn.modules import module as module_hooks  # noqa: E402
from torch.profiler import ProfilerActivity  # noqa: E402
from torch.profiler import profile as torch_profile  # noqa: E402


@torch.library.custom_op("steelyard_tests::scaled_by", mutates_args=())
def scaled_by(
    x: torch.Tensor,
    by: int,
    more: float,
    sizes: list[int],
    weights: list[float],
    mode: str,
    others: list[torch.Tensor],
    bias: torch.Tensor | None = None,
    is_exact: bool = True,
) -> torch.Tensor:
    return x * by


def call_with_numbers() -> None:
    x = torch.ones(3, 4, requires_grad=True)
    x.sum().backward()
    scaled_by(x.detach(), 2, 1.25, [1, 2], [0.5, 1.5], "word", [torch.ones(2), torch.ones(3)])
    x.detach().add_(x.detach(), alpha=0.125).clamp(-2.75, None)
    for rate in (0.7, 0.9):
        torch.add(x.detach(), 1, alpha=rate)
    torch.nn.functional.interpolate(torch.ones(1, 1, 4, 4), scale_factor=2.0)
    torch._foreach_mul([torch.ones(2), torch.ones(3)], [0.7, 1.0])
    torch._foreach_mul([torch.ones(2) for _ in range(40)], list(range(40)))
    torch.zeros(*32 * [1])
    torch.full((2,), 1 + 2j)
    torch.sparse_coo_tensor(torch.tensor([[0, 2]]), torch.ones(2), (4,)).coalesce()
    with torch.profiler.record_function("stretch", "with words"):
        torch.ones(2)


def test_inputs_are_those_of_pytorch(tmp_path: Path) -> None:
    told = []
    call_with_numbers()
    for make in (steelyard.profile, torch_profile):
        with make(activities=CPU, record_shapes=True) as prof:
            call_with_numbers()
        trace = written(prof, tmp_path / "trace.json")
        keys = ("Input Dims", "Input type", "Input Strides", "Concrete Inputs")
        inputs = Counter(
            f"{event['name']}: {[event['args'].get(key) for key in keys]}"
            for event in trace["traceEvents"]
            if event["ph"] == "X" and event.get("cat") in ("cpu_op", "user_annotation")
        )
        told.append((inputs, counts(prof, group_by_input_shape=True)))
    assert told[0] == told[1]
    assert any("'0.125'" in call for call in told[0][0])


@pytest.mark.parametrize("shapes", [False, True])
def test_ranges_may_be_called_as_operators(shapes: bool) -> None:
    def run() -> None:
        x = torch.ones(2, 2)
        torch.mm(x, x)
        with torch.profiler.record_function("aten::mm"), torch.profiler.record_function("aten::t"):
            x.t()

    told = []
    for make in (steelyard.profile, torch_profile):
        with make(activities=CPU, record_shapes=shapes) as prof:
            run()
        told.append(counts(prof))
    assert told[0] == told[1]


def event_of(event: Any) -> tuple[Any, ...]:
    around = event.cpu_parent
    inside = [child.name for child in event.cpu_children]
    return (
        event.name,
        event.trace_name,
        event.scope,
        event.is_user_annotation,
        event.input_shapes,
        event.structured_input_shapes,
        event.structured_input_strides,
        event.concrete_inputs,
        event.input_dtypes,
        None if around is None else around.name,
        inside,
        event.cpu_memory_usage,
        event.self_cpu_memory_usage,
        event.sequence_nr >= 0,
    )


def test_events_are_those_of_pytorch() -> None:
    options = {"record_shapes": True, "profile_memory": True}
    ours, theirs = (run(make, **options).events() for make in (steelyard.profile, torch_profile))
    assert type(ours) is type(theirs)
    named = [[event_of(e) for e in events if e.name != "[memory]"] for events in (ours, theirs)]
    # Threads begin their spans at other times.
    assert sorted(map(str, named[0])) == sorted(map(str, named[1]))
    product = next(event for event in ours if event.name == "aten::addmm")
    assert 0 < product.time_range.elapsed_us() == product.cpu_time_total
    assert product.cpu_parent.name == "aten::linear"
    rows = {row.key: row.count for row in ours.key_averages()}
    assert rows == {row.key: row.count for row in theirs.key_averages()}
    assert "aten::addmm" in ours.table(sort_by="cpu_time_total", top_level_events_only=False)


def test_events_have_stacks_modules_and_work() -> None:
    events = run(steelyard.profile, with_stack=True, with_modules=True, with_flops=True).events()
    products = [event for event in events if event.name == "aten::addmm"]
    assert {"first", "head"} <= {event.module for event in products}
    assert any(": forward" in line for line in products[0].stack)
    forward = 2 * (3 * ROWS) * WIDTH * HIDDEN
    assert products[0].flops == forward
    backward = next(event for event in events if event.name == "NativeLayerNormBackward0")
    assert any(": forward" in line for line in backward.stack)
    assert any(event.is_python_function for event in events)
    plain = run(steelyard.profile, with_modules=True).events()
    assert not any(event.is_python_function for event in plain)


def test_no_two_events_have_one_id() -> None:
    """By which devices name what asked for a kernel; spans of modules are left out here."""
    events = run(steelyard.profile, with_modules=True, profile_memory=True).events()
    assert any(event.name == "[memory]" for event in events)
    assert len({event.id for event in events}) == len(events)


def test_collection_goes_off_and_on_as_pytorchs() -> None:
    told = []
    for make in (steelyard.profile, torch_profile):
        with make(activities=CPU) as prof:
            torch.ones(2)
            prof.toggle_collection_dynamic(False, [ProfilerActivity.CPU])
            torch.zeros(2)
            with torch.profiler.record_function("unheard"):
                torch.ones(2, requires_grad=True).sum().backward()
            prof.toggle_collection_dynamic(True, [ProfilerActivity.CUDA])
            torch.zeros(2)
            prof.toggle_collection_dynamic(True, [ProfilerActivity.CPU])
            torch.full((2,), 7.0).requires_grad_().sum().backward()
        told.append(counts(prof))
    assert told[0] == told[1]
    assert ("aten::zeros", "", False) not in told[0]
    steelyard.profile().toggle_collection_dynamic(False, [ProfilerActivity.CPU])  # none runs


def test_overloads_are_told_apart() -> None:
    with steelyard.profile(record_shapes=True) as with_shapes:
        torch.ones(2).add_(torch.ones(2)).add_(1)
        torch.add(torch.ones(2), 1, out=torch.ones(2))
    with steelyard.profile() as prof:
        torch.ones(2).add_(torch.ones(2)).add_(1)
        torch.add(torch.ones(2), 1, out=torch.ones(2))
    for each in (prof, with_shapes):
        rows = each.key_averages(group_by_overload_name=True)
        adds = {(r.key, r.overload_name): r.count for r in rows if r.key.startswith("aten::add")}
        assert adds == {("aten::add_", "Tensor"): 2, ("aten::add", "out"): 1}
        table = rows.table(sort_by="overload_name", row_limit=1)
        assert "Overload Name" in table and "aten::add" in table
        assert not any(row.overload_name for row in each.key_averages())


def test_tables_sort_as_pytorchs() -> None:
    ours = run(steelyard.profile, with_stack=True).key_averages(group_by_stack_n=2)
    for key in ("stack", "overload_name", "input_shapes", "node_id", "is_user_annotation"):
        rows = ours.table(sort_by=key, row_limit=-1)
        assert len(rows.splitlines()) >= len(ours)
    first = ours.table(sort_by="stack", row_limit=1).splitlines()[3]
    assert max(ours, key=lambda row: row.stack).stack[0][-20:] in first
    with pytest.raises(steelyard.UsageError, match='no "colour"'):
        ours.table(sort_by="colour")
    plain = run(steelyard.profile).key_averages()
    assert str(plain) == plain.table()
    top = plain.table(top_level_events_only=True, row_limit=-1)
    assert "aten::linear" not in top and "forward" in top


def test_stacks_by_what_devices_took_are_none(tmp_path: Path) -> None:
    for make in (steelyard.profile, torch_profile):
        path = str(tmp_path / "stacks.txt")
        run(make, with_stack=True).export_stacks(path, "self_cuda_time_total")
        assert Path(path).read_text() == ""
        with pytest.raises(ValueError, match="self_cuda_time_total"):
            run(make, with_stack=True).export_stacks(path, "count")


@pytest.mark.parametrize("memory", [False, True])
def test_a_product_that_failed_has_no_work(memory: bool) -> None:
    bias, x = torch.ones(4), torch.ones(2, 3)
    with steelyard.profile(with_flops=True, profile_memory=memory) as prof:
        with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
            torch.addmm(bias, x, torch.ones(5, 4))
        torch.addmm(bias, x, torch.ones(3, 4))
    (row,) = [row for row in prof.key_averages() if row.key == "aten::addmm"]
    assert row.count == 2
    assert row.flops == 2 * 2 * 3 * 4


def test_what_is_dropped_ends_and_is_told() -> None:
    told: list[Any] = []

    def begin(cycle: bool) -> None:
        prof = steelyard.profile(
            with_modules=True, on_trace_ready=lambda p: told.append(p.step_num)
        )
        if cycle:
            prof.itself = prof
        prof.start()
        torch.ones(2)

    for cycle in (False, True):
        with pytest.warns(UserWarning, match="dropped without stop"):
            begin(cycle)
            with steelyard.profile() as prof:
                torch.ones(2)
        assert prof.key_averages()
        assert not module_hooks._global_forward_hooks
    assert told == [0, 0]


def test_what_the_program_leaves_open_is_told_at_its_end(tmp_path: Path) -> None:
    program = tmp_path / "leaves.py"
    program.write_text(
        textwrap.dedent(
            """
            import steelyard, torch
            told = lambda prof: print("told", [row.key for row in prof.key_averages()][0])
            prof = steelyard.profile(on_trace_ready=told)
            prof.start()
            torch.ones(2)
            """
        )
    )
    done = subprocess.run(
        [sys.executable, program], env=dict(os.environ), capture_output=True, text=True, check=True
    )
    assert done.stdout == "told aten::ones\n"
    assert "stop() was never called" in done.stderr


def test_pytorchs_own_settings_are_taken_and_change_nothing() -> None:
    settings = torch._C._profiler._ExperimentalConfig(verbose=True)
    with pytest.warns(UserWarning, match="experimental_config"):
        steelyard.profile(experimental_config=settings)
