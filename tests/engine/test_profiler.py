# SPDX-License-Identifier: Apache-2.0
"""`steelyard.profile` beside `torch.profiler.profile`, over the same loops."""

import gzip
import json
import os
import re
import subprocess
import sys
import textwrap
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from profiled import CPU, FLOAT, HIDDEN, ROWS, WIDTH, Net, counts, make_step, run, written

steelyard = pytest.importorskip("steelyard")

import torch  # noqa: E402
from torch.profiler import ProfilerActivity  # noqa: E402
from torch.profiler import profile as torch_profile  # noqa: E402
from torch.profiler import schedule as torch_schedule  # noqa: E402


def perfetto_spans(packets: Any) -> list[tuple[str, int, int]]:
    """Name, begin and end in nanoseconds of each span, as nested packets of each thread say."""
    names = {n.iid: n.name for packet in packets for n in packet.interned_data.event_names}
    spans, open_of = [], {}
    for packet in packets:
        event = packet.track_event
        stack = open_of.setdefault(event.track_uuid, [])
        if event.type == event.TYPE_SLICE_BEGIN:
            stack.append((names[event.name_iid], packet.timestamp))
        elif event.type == event.TYPE_SLICE_END:
            name, begin = stack.pop()
            spans.append((name, begin, packet.timestamp))
    assert not any(open_of.values())
    return spans


@pytest.mark.parametrize("name", ["trace.pftrace", "trace.pftrace.gz"])
def test_perfetto_has_the_same_spans(name: str, tmp_path: Path) -> None:
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2

    prof = run(steelyard.profile, record_shapes=True, profile_memory=True, with_stack=True)
    prof.export_perfetto_trace(tmp_path / name)
    content = (tmp_path / name).read_bytes()
    trace = perfetto_trace_pb2.Trace()  # type: ignore[attr-defined]
    trace.ParseFromString(gzip.decompress(content) if name.endswith(".gz") else content)
    json_trace = written(prof, tmp_path / "trace.json")
    base = json_trace["baseTimeNanoseconds"]
    expected = [
        (event["name"], base + round(1e3 * event["ts"]), round(1e3 * event["dur"]))
        for event in json_trace["traceEvents"]
        if event.get("ph") == "X" and event.get("cat") != "Trace"
    ]
    spans = perfetto_spans(trace.packet)
    assert sorted((n, begin, end - begin) for n, begin, end in spans) == sorted(expected)
    totals = [
        e["args"]["Total Allocated"] for e in json_trace["traceEvents"] if e["name"] == "[memory]"
    ]
    counters = [
        p.track_event for p in trace.packet if p.track_event.type == p.track_event.TYPE_COUNTER
    ]
    assert [c.counter_value for c in counters] == totals
    flows = [e for e in json_trace["traceEvents"] if e.get("ph") == "s"]
    assert sum(len(p.track_event.flow_ids) for p in trace.packet) == len(flows) > 0


@pytest.mark.parametrize("shapes", [False, True])
def test_names_calls_and_shapes_are_those_of_pytorch(shapes: bool) -> None:
    ours = run(steelyard.profile, record_shapes=shapes)
    theirs = run(torch_profile, record_shapes=shapes)
    assert counts(ours) == counts(theirs)
    if shapes:
        grouped = counts(ours, group_by_input_shape=True)
        assert grouped == counts(theirs, group_by_input_shape=True)
        assert len(grouped) > len(counts(ours))


def test_times_are_parts_of_the_whole() -> None:
    averages = run(steelyard.profile).key_averages()
    outermost = {"forward", "Optimizer.step#AdamW.step", "Optimizer.zero_grad#AdamW.zero_grad"}
    assert outermost <= {row.key for row in averages}
    for row in averages:
        assert 0 <= row.self_cpu_time_total <= row.cpu_time_total + 1e-6 * row.count, row.key
    engine = "autograd::engine::evaluate_function: "
    whole = sum(r.cpu_time_total for r in averages if r.key in outermost or engine in r.key)
    inside = sum(r.self_cpu_time_total for r in averages)
    assert inside >= whole


def test_memory_is_that_of_pytorch() -> None:
    ours = run(steelyard.profile, profile_memory=True).key_averages()
    theirs = run(torch_profile, profile_memory=True).key_averages()
    memory = {row.key: row.cpu_memory_usage for row in theirs if row.key != "[memory]"}
    assert {row.key: row.cpu_memory_usage for row in ours if row.key != "[memory]"} == memory
    assert memory["aten::addmm"] > 0


def test_flops_are_of_the_calls_that_compute() -> None:
    rows = run(steelyard.profile, with_flops=True).key_averages(group_by_input_shape=True)
    calls = {str(row.input_shapes): row for row in rows if row.key == "aten::addmm"}
    first = calls[str([[HIDDEN], [3 * ROWS, WIDTH], [WIDTH, HIDDEN], [], []])]
    assert first.flops == 2 * 2 * (3 * ROWS) * WIDTH * HIDDEN  # two steps
    # What calls another has no work of its own besides.
    assert all(row.flops == 0 for row in rows if row.key == "aten::linear")


def test_a_trace_is_as_pytorch_writes_it(tmp_path: Path) -> None:
    validator = pytest.importorskip("torch.profiler._trace_validator")
    path = tmp_path / "ours.json"
    ours = written(run(steelyard.profile, record_shapes=True, profile_memory=True), path)
    theirs = written(
        run(torch_profile, record_shapes=True, profile_memory=True), tmp_path / "theirs.json"
    )
    passed, violations = validator.validate_trace(str(path))
    assert passed, violations

    def told(event: dict[str, Any]) -> str:
        args = event.get("args", {})
        keys = ("Input Dims", "Input type", "Input Strides")
        inputs = [args[key] for key in keys if key in args]
        numbered = "Sequence number" in args
        return f"{event['ph']} {event.get('cat')} {event['name']} {inputs} {numbered}"

    def events(trace: dict[str, Any]) -> Counter[str]:
        return Counter(told(event) for event in trace["traceEvents"] if event["ph"] != "M")

    assert events(ours) == events(theirs)
    assert {"schemaVersion", "baseTimeNanoseconds", "traceName", "record_shapes"} <= set(ours)


def spans_of(trace: dict[str, Any]) -> list[dict[str, Any]]:
    return [e for e in trace["traceEvents"] if e["ph"] == "X" and e.get("cat") != "Trace"]


def test_events_are_in_order_and_nest(tmp_path: Path) -> None:
    trace = written(run(steelyard.profile, with_stack=True), tmp_path / "trace.json")
    spans = spans_of(trace)
    begins = [span["ts"] for span in spans]
    assert begins == sorted(begins)
    rounding = 2e-3  # a double holds microseconds of these sizes to a thousandth
    for thread in {span["tid"] for span in spans}:
        open_until = [float("inf")]
        for span in (s for s in spans if s["tid"] == thread):
            while open_until[-1] <= span["ts"] + rounding and len(open_until) > 1:
                open_until.pop()
            end = span["ts"] + span["dur"]
            assert end <= open_until[-1] + rounding, span
            open_until.append(end)


def test_ranges_have_the_memory_of_what_runs_in_them() -> None:
    held = {}
    for with_stack in (False, True):
        watched = steelyard.profile(profile_memory=True, with_stack=with_stack)
        with watched as prof, torch.profiler.record_function("range"):
            kept = torch.ones(1000)
        rows = {row.key: row for row in prof.key_averages()}
        held[with_stack] = rows["range"].cpu_memory_usage
        del kept
    assert held == {False: 4000, True: 4000}


def test_arrows_go_from_operators_to_the_nodes_they_made(tmp_path: Path) -> None:
    trace = written(run(steelyard.profile), tmp_path / "trace.json")
    arrows = [e for e in trace["traceEvents"] if e.get("cat") == "fwdbwd"]
    begins = {e["id"]: e["ts"] for e in arrows if e["ph"] == "s"}
    ends = {e["id"]: e["ts"] for e in arrows if e["ph"] == "f"}
    assert begins.keys() == ends.keys() and len(begins) > 10
    numbers = {span["ts"]: span["args"].get("Sequence number") for span in spans_of(trace)}
    for arrow, begin in begins.items():
        assert begin < ends[arrow]
        assert numbers[begin] == numbers[ends[arrow]] is not None


def test_names_are_escaped(tmp_path: Path) -> None:
    name = 'a "quoted" \\ name\nof \x01 two lines'
    with steelyard.profile() as prof, torch.profiler.record_function(name):
        torch.ones(2)
    names = {event["name"] for event in written(prof, tmp_path / "trace.json.gz")["traceEvents"]}
    assert name in names


def test_the_schedule_says_what_pytorchs_does() -> None:
    names = ("wait", "warmup", "active", "repeat", "skip_first", "skip_first_wait")
    for numbers in [(1, 1, 2, 2, 0, 0), (0, 1, 1, 0, 3, 0), (2, 1, 3, 1, 1, 1)]:
        options = dict(zip(names, numbers, strict=True))
        ours, theirs = steelyard.schedule(**options), torch_schedule(**options)
        assert [ours(step) for step in range(30)] == [theirs(step) for step in range(30)]


def test_the_schedule_explains_itself() -> None:
    plan = steelyard.schedule(wait=1, warmup=1, active=2, repeat=2)
    assert str(plan) == "records steps 2 to 3, and again every 4 steps, 2 times"
    assert (
        plan.explain(0)
        == "step 0: waiting; steps 2 to 3 will be recorded; 1 cycles left after this one"
    )
    assert plan.explain(3).startswith("step 3: recording, until step 3 has ended")
    assert plan.explain(8) == "step 8: all 2 cycles are over, nothing more is recorded"
    with pytest.raises(steelyard.UsageError, match="no schedule"):
        steelyard.schedule(wait=0, warmup=1, active=0)


def test_each_cycle_is_told_with_its_steps() -> None:
    told: list[dict[str, int]] = []

    def ready(prof: Any) -> None:
        told.append({row.key: row.count for row in prof.key_averages()})

    plan = steelyard.schedule(wait=1, warmup=1, active=2, repeat=2)
    run(steelyard.profile, steps=9, schedule=plan, on_trace_ready=ready)
    assert [counts["ProfilerStep*"] for counts in told] == [2, 2]
    assert [counts["forward"] for counts in told] == [2, 2]


def test_steps_have_their_numbers(tmp_path: Path) -> None:
    for make, plan in [(steelyard.profile, steelyard.schedule), (torch_profile, torch_schedule)]:
        path = tmp_path / f"{make.__module__}.json"
        run(
            make,
            steps=6,
            schedule=plan(wait=1, warmup=1, active=2, repeat=1),
            on_trace_ready=lambda prof, path=path: prof.export_chrome_trace(str(path)),
        )
        events = json.loads(path.read_text())["traceEvents"]
        steps = [e["name"] for e in events if e.get("cat") == "user_annotation"]
        assert [name for name in steps if "Step#" in name] == ["ProfilerStep#2", "ProfilerStep#3"]


def plan_of(wait: int) -> Any:
    return steelyard.schedule(wait=wait, warmup=1, active=1, repeat=1)


def test_a_program_that_never_calls_step_is_told_all_the_same() -> None:
    told = []
    step = make_step()
    with (
        pytest.warns(UserWarning, match=r"step\(\) was never called"),
        steelyard.profile(schedule=plan_of(2), on_trace_ready=told.append) as prof,
    ):
        step()
        step()
    assert told == [prof]
    assert {r.key: r.count for r in prof.key_averages()}["forward"] == 2


@pytest.mark.parametrize(("wait", "steps"), [(5, 3), (2, 2)])
def test_a_program_that_ends_too_soon_is_told_all_the_same(wait: int, steps: int) -> None:
    told: list[Any] = []
    with pytest.warns(UserWarning, match="the program ended in step"):
        prof = run(
            steelyard.profile, steps=steps, schedule=plan_of(wait), on_trace_ready=told.append
        )
    assert told == [prof]
    assert prof.key_averages()


def test_without_a_schedule_nothing_warns() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        prof = run(steelyard.profile)
    assert "ProfilerStep*" not in {row.key for row in prof.key_averages()}


def test_start_and_stop_do_as_the_context(tmp_path: Path) -> None:
    prof = steelyard.profile()
    prof.start()
    torch.ones(2)
    prof.stop()
    prof.stop()
    assert prof.key_averages()[0].key == "aten::ones"


def test_the_table_has_pytorchs_columns() -> None:
    prof = run(steelyard.profile, record_shapes=True, profile_memory=True, with_flops=True)
    theirs = run(torch_profile, record_shapes=True, profile_memory=True, with_flops=True)
    options = {"sort_by": "self_cpu_time_total", "row_limit": 3}
    ours = prof.key_averages(group_by_input_shape=True).table(**options)
    table = theirs.key_averages(group_by_input_shape=True).table(**options)
    assert ours.splitlines()[1].split()[:-1] == table.splitlines()[1].split()[:-1]
    assert len(ours.splitlines()) == 3 + 3 + 2
    assert ours.splitlines()[-1].startswith("Self CPU time total: ")


@pytest.mark.parametrize("device", ["cuda", "xpu", "privateuse1", "device"])
def test_rows_are_sorted_by_what_any_device_took(device: str) -> None:
    rows = [
        run(which).key_averages().table(sort_by=f"self_{device}_time_total").split("\n")[3:]
        for which in (steelyard.profile, torch_profile)
    ]
    ours, theirs = ([row.split()[0] for row in part if row] for part in rows)
    assert ours == theirs


def test_modules_have_their_operators_of_both_passes() -> None:
    prof = run(steelyard.profile, with_modules=True)
    rows = prof.key_averages(group_by_module=True)
    products = {row.module: row.count for row in rows if row.key in ("aten::addmm", "aten::mm")}
    backward = {row.module for row in rows if row.key == "AddmmBackward0"}
    assert {"first", "head"} <= set(products)
    assert {"first", "head"} <= backward
    with pytest.raises(steelyard.UsageError, match="with_modules=True"):
        run(steelyard.profile).key_averages(group_by_module=True)


def test_stacks_name_the_functions_around(tmp_path: Path) -> None:
    prof = run(steelyard.profile, with_stack=True)
    rows = prof.key_averages(group_by_stack_n=30)
    stacks = [row.stack for row in rows if row.key == "aten::layer_norm"]
    assert len(stacks) == 1
    assert any(": forward" in function for function in stacks[0])
    assert any("Net" in function and "nn.Module" in function for function in stacks[0])
    assert not any("steelyard/watching" in function for stack in stacks for function in stack)
    # A node's are those of the operator that made it.
    (backward,) = [row.stack for row in rows if row.key == "NativeLayerNormBackward0"]
    assert any(": forward" in function for function in backward)
    functions = [
        span
        for span in spans_of(written(prof, tmp_path / "t.json"))
        if span["cat"] == "python_function"
    ]
    assert any(span["name"] == "nn.Module: first (Linear)" for span in functions)
    # Nor what our hooks call.
    assert not any("_pytree" in span["name"] for span in functions)


def test_stacks_are_lines_for_flame_graphs(tmp_path: Path) -> None:
    prof = run(steelyard.profile, with_stack=True)
    prof.export_stacks(tmp_path / "stacks.txt")
    lines = (tmp_path / "stacks.txt").read_text().splitlines()
    own = {row.key: row.self_cpu_time_total for row in prof.key_averages()}
    summed: Counter[str] = Counter()
    for line in lines:
        frames, microseconds = line.rsplit(" ", 1)
        assert " " not in frames and ";" in frames
        summed[frames.rsplit(";", 1)[1]] += int(microseconds)
    # Each stack is rounded, and functions between operators take time of their own.
    assert 0 < summed["aten::addmm"] <= own["aten::addmm"] + len(lines)
    with pytest.raises(steelyard.UsageError, match="with_stack=True"):
        run(steelyard.profile).export_stacks(tmp_path / "none.txt")


def test_memory_over_time_has_pytorchs_files(tmp_path: Path) -> None:
    prof = run(steelyard.profile, profile_memory=True, with_modules=True)
    for name in ("memory.json", "memory.raw.json.gz", "memory.html"):
        prof.export_memory_timeline(tmp_path / name)
    times, sizes = json.loads((tmp_path / "memory.json").read_text())
    assert times == sorted(times) and len(times) == len(sizes)
    parameters = FLOAT * sum(parameter.numel() for parameter in Net().parameters())
    parameter, state, gradient = 1, 2, 6
    assert all(len(row) == 9 and row[0] == 0 and min(row) >= 0 for row in sizes)
    assert sizes[-1][parameter] == parameters
    # AdamW has two of each parameter, and a number of steps for each.
    steps = FLOAT * len(list(Net().parameters()))
    assert sizes[-1][state] == 2 * parameters + steps
    assert max(row[gradient] for row in sizes) == parameters
    changes = json.loads(gzip.decompress((tmp_path / "memory.raw.json.gz").read_bytes()))
    assert sum(change[2] for change in changes) == sum(sizes[-1])
    assert {change[1] for change in changes} == {1, 2, 4}
    page = (tmp_path / "memory.html").read_text()
    assert page.count("<path") == 8 and "PARAMETER" in page
    with pytest.raises(steelyard.UsageError, match="profile_memory=True"):
        run(steelyard.profile).export_memory_timeline(tmp_path / "none.json")


def test_files_are_named_as_tensorboard_wants_them(tmp_path: Path) -> None:
    for use_gzip in (False, True):
        handler = steelyard.tensorboard_trace_handler(tmp_path, "worker", use_gzip=use_gzip)
        run(steelyard.profile, on_trace_ready=handler)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert all(name.startswith("worker.") and ".pt.trace.json" in name for name in names)
    assert [name.endswith(".gz") for name in names].count(True) == 1


def test_one_session_at_a_time() -> None:
    with steelyard.profile(), pytest.raises(steelyard.InvalidInputError, match="watched already"):
        steelyard.profile().start()
    with steelyard.profile() as prof:
        torch.ones(2)
    assert prof.key_averages()


def test_beside_pytorchs_own_profiler() -> None:
    step = make_step()
    with torch_profile(activities=CPU) as theirs, steelyard.profile() as ours:
        step()
    assert counts(ours) == counts(theirs)


def test_an_exception_ends_what_it_leaves() -> None:
    prof = steelyard.profile(with_modules=True)
    with pytest.raises(ZeroDivisionError), prof, torch.profiler.record_function("outer"):
        torch.ones(2)
        raise ZeroDivisionError
    assert {row.key for row in prof.key_averages()} >= {"outer", "aten::ones"}


def test_a_child_of_fork_has_no_part_in_it(tmp_path: Path) -> None:
    program = tmp_path / "forks.py"
    program.write_text(
        textwrap.dedent(
            """
            import os, steelyard, torch
            parent = os.getpid()
            told = lambda prof: print("told", os.getpid() == parent)
            with steelyard.profile(on_trace_ready=told) as p:
                torch.ones(2)
                if os.fork() == 0:
                    torch.ones(2)
                    p.step()
                    p.stop()
                    os._exit(0)
                os.wait()
            """
        )
    )
    done = subprocess.run(
        [sys.executable, program], env=dict(os.environ), capture_output=True, text=True, check=True
    )
    assert done.stdout == "told True\n"


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What docs/profile.md shows, as a reader would run it."""
    page = (Path(__file__).parents[2] / "docs/profile.md").read_text()
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for code in re.findall(r"```python\n(.*?)```", page, re.S):
        exec(code, names)
    assert (tmp_path / "step.json.gz").exists()
    assert len(list((tmp_path / "traces").iterdir())) == 2


def test_what_cannot_be_told_is_refused() -> None:
    with pytest.raises(steelyard.UsageError, match="nothing has been recorded yet"):
        steelyard.profile().key_averages()
    with pytest.raises(steelyard.UsageError, match="no activity"):
        steelyard.profile(activities=[])
    with pytest.warns(UserWarning, match="of CUDA nothing is recorded"):
        steelyard.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])
    with pytest.raises(steelyard.UsageError, match="record_shapes=True"):
        run(steelyard.profile).key_averages(group_by_input_shape=True)
