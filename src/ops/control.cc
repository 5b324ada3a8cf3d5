// SPDX-License-Identifier: Apache-2.0
//
// Higher-order operators, which run graphs of the program: one as long as another says so, one for
// each slice, and one with autograd switched off or on.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/dispatch/autograd.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/registry.h"
#include "ops/rules/composite.h"

namespace steelyard::ops {
namespace {

std::vector<Tensor> WithSetGradEnabled(Dispatcher& d, const OpView& op) {
  // A program weighed without gradients stays so: the flag can only switch them off.
  const Dispatcher::GradMode mode(d, d.grad_enabled() && op.boolean(0));
  return d.RunGraph(op.graph(1), d.tensors(op, 2));
}

// The body alone: what the wrapper adds are hints.
std::vector<Tensor> RunBody(Dispatcher& d, const OpView& op) {
  return d.RunGraph(op.graph(0), d.tensors(op, 1));
}

// A function of the model returns: what it was given stays as it is until after the call.
std::vector<Tensor> LeaveFunction(Dispatcher&, const OpView&) { return {}; }

// As Tensor.requires_grad_() does, also where no gradients are recorded.
std::vector<Tensor> RequireGradient(Dispatcher& d, const OpView& op) {
  if (d.has_autograd()) d.autograd().RequireGradient(d.tensor(op, 0).id());
  return {};
}

// PyTorch differentiates loops step by step, in a way of its own.
void RequireNoGradient(const Dispatcher& d, std::string_view loop,
                       const std::vector<Tensor>& operands) {
  const bool wanted = std::ranges::any_of(
      operands, [](const Tensor& t) { return t.defined() && t.requires_grad(); });
  if (!d.grad_enabled() || !wanted) return;
  Refuse(fmt::format("the gradient of {} is not known", loop),
         "The model can be weighed without --train.");
}

std::vector<Tensor> Joined(std::initializer_list<std::vector<Tensor>> lists) {
  std::vector<Tensor> all;
  for (const std::vector<Tensor>& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

// cond_fn, body_fn, carried, additional (while_loop_dense in
// torch/_higher_order_ops/while_loop.py). The answer of the condition is a variable that lives
// until it is asked again.
std::vector<Tensor> WhileLoop(Dispatcher& d, const OpView& op) {
  std::vector<Tensor> carried = d.tensors(op, 2);
  const std::vector<Tensor> additional = d.tensors(op, 3);
  RequireNoGradient(d, "while_loop", Joined({carried, additional}));
  d.Note("while_loop: how often its body runs depends on data; once is weighed");
  const Dispatcher::AsProgram python(d);
  std::vector<Tensor> go_on = d.RunGraph(op.graph(0), Joined({carried, additional}));
  carried = d.RunGraph(op.graph(1), Joined({carried, additional}));
  go_on = d.RunGraph(op.graph(0), Joined({carried, additional}));
  return carried;
}

constexpr std::int64_t kContiguousFormat = 0;  // as c10::MemoryFormat numbers it

// Longer ones are not taken apart step by step.
constexpr std::int64_t kMostSteps = 256;

// `number * ones`, into whose rows a step's result goes.
void StoreStep(Dispatcher& d, std::span<const Tensor> outs, std::span<const Tensor> ones,
               std::span<const Tensor> results, std::int64_t step) {
  for (std::size_t i = 0; i < outs.size(); ++i) {
    const Tensor index = d.Call("aten::mul.Tensor", ones[i], d.Box(Argument::OfInt(step)));
    d.Call("aten::scatter_.src", outs[i], 0, index, d.Call("aten::unsqueeze", results[i], 0));
  }
}

// combine_fn, init, xs, additional (generic_scan in torch/_higher_order_ops/scan.py): results of
// each step are stacked; those of the first live as long as the loop.
std::vector<Tensor> Scan(Dispatcher& d, const OpView& op) {
  std::vector<Tensor> carry = d.tensors(op, 1);
  const std::vector<Tensor> xs = d.tensors(op, 2);
  const std::vector<Tensor> additional = d.tensors(op, 3);
  RequireNoGradient(d, "scan", Joined({carry, xs, additional}));
  if (xs.empty() || xs[0].rank() == 0) Refuse("a scan over nothing");
  const std::int64_t steps = xs[0].size(0);
  if (steps == 0 || steps > kMostSteps) Refuse(fmt::format("a scan of {} steps", steps));
  const Dispatcher::AsProgram python(d);
  const auto carried = static_cast<std::ptrdiff_t>(carry.size());
  std::vector<Tensor> out;
  const auto run = [&](std::vector<Tensor> slices) {
    std::vector<Tensor> results =
        d.RunGraph(op.graph(0), Joined({carry, std::move(slices), additional}));
    if (std::ssize(results) < carried) Contradict("a step of a scan gives less than it carries");
    carry.assign(results.begin(), results.begin() + carried);
    out.assign(results.begin() + carried, results.end());
    const auto defined = [](const Tensor& t) { return t.defined(); };
    if (!std::ranges::all_of(results, defined)) Refuse("a scan gives what is no tensor");
  };
  std::vector<Tensor> first;
  for (const Tensor& x : xs) {
    const Tensor slice = d.Call("aten::select.int", x, 0, 0);
    first.push_back(d.Call("aten::clone", slice, kContiguousFormat));
  }
  run(first);
  const std::vector<Tensor> first_out = out;
  std::vector<Tensor> outs, ones;
  for (const Tensor& o : first_out) {
    Dims sizes(o.sizes());
    sizes.insert(0, steps);
    outs.push_back(d.Call("aten::empty.memory_format", sizes, o.dtype()));
  }
  for (const Tensor& o : first_out) {
    const Tensor one = d.Call("aten::ones_like", o, DType::kInt64);
    ones.push_back(d.Call("aten::unsqueeze", one, 0));
  }
  StoreStep(d, outs, ones, out, 0);
  for (std::int64_t i = 1; i < steps; ++i) {
    std::vector<Tensor> slices;
    slices.reserve(xs.size());
    for (const Tensor& x : xs) slices.push_back(d.Call("aten::select.int", x, 0, i));
    run(std::move(slices));
    StoreStep(d, outs, ones, out, i);
  }
  return Joined({carry, outs});
}

constexpr OpDef ControlRow(OpName name, std::string_view summary, Signature signature,
                           DecomposeFn decompose) {
  constexpr std::string_view kNoExample = "";  // a graph cannot be written in a call
  return Composite(name, summary, signature, kNoExample, Family::kControl, decompose,
                   precision::kFollow);
}

constexpr std::array kRows{
    ControlRow("higher_order::wrap_with_set_grad_enabled",
               "Runs a graph with gradients switched on or off.",
               "(bool enabled, Graph body, Any... operands) -> Any[]", WithSetGradEnabled),
    ControlRow("higher_order::wrap", "Runs a graph.", "(Graph body, Any... operands) -> Any[]",
               RunBody),
    ControlRow("higher_order::while_loop", "Runs a graph as long as another one says so.",
               "(Graph cond_fn, Graph body_fn, Any[] carried_inputs, Any[] additional_inputs) -> "
               "Any[]",
               WhileLoop),
    ControlRow("higher_order::scan", "Runs a graph for each slice of tensors, and stacks results.",
               "(Graph combine_fn, Any[] init, Any[] xs, Any[] additional_inputs) -> Any[]", Scan),
    Composite("steelyard::leave",
              "A function of the model returns: its variables go, in their order.",
              "(Tensor[] variables) -> ()", "", Family::kControl, LeaveFunction, precision::kFollow,
              kNoGradient),
    Composite("steelyard::require_gradient", "A tensor requires a gradient from here on.",
              "(Tensor tensor) -> ()", "", Family::kControl, RequireGradient, precision::kFollow,
              kNoGradient),
};

}  // namespace

std::span<const OpDef> Control() { return kRows; }

}  // namespace steelyard::ops
