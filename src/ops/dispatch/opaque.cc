// SPDX-License-Identifier: Apache-2.0
//
// Calls of the file, and among them those that no row can answer for: of operators without one, and
// those whose operands a row refuses. They are carried with the sizes that the file gives for their
// results, and the report counts them as not modelled.

#include <fmt/core.h>

#include <optional>
#include <utility>

#include "ir/visit_values.h"
#include "ops/dispatch/autocast.h"
#include "ops/dispatch/autograd.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/dispatch/locals.h"
#include "ops/dispatch/out_overloads.h"

namespace steelyard {
namespace {

// Marks around what torch.func transforms.
constexpr std::string_view kTransforms = "torch._functorch.";

// Arithmetic on sizes and checks of them touch no tensor: nothing runs on the device.
bool OnlyNumbers(const Program& program, const Node& node) {
  bool tensors = false;
  const auto look = [&](ValueId id) {
    tensors |= id != kNoId && program.values[id].kind == ValueKind::kTensor;
  };
  for (ValueId id : program.results(node)) look(id);
  if (!program.results(node).empty()) return !tensors;
  for (const Argument& argument : program.args(node)) VisitValues(program, argument, look);
  return !tensors;
}

}  // namespace

void Dispatcher::RunNode(const Node& node, Locals& locals) {
  const OpDef* def = source_defs_[node.op];
  if (def == nullptr && OnlyNumbers(source_, node)) return;
  // What is given to an overload that writes there is from then on what it gives back.
  const auto run_out_overload = [&] {
    std::vector<Argument> given;
    for (const Argument& a : source_.args(node)) given.push_back(Translate(a, locals));
    std::optional<OutCall> call = FindOutCall(out_, source_.op_name(node.op), given);
    if (!call) return false;
    const std::span<Argument> args(call->bound.data(), call->def->signature->params().size());
    if (grad_enabled_ && autograd_ != nullptr && autograd_->Wanted(*call->def, args)) {
      Refuse("PyTorch does not differentiate what is written into a tensor that is given",
             "Call it without that tensor, or under torch.no_grad().");
    }
    const auto recorded = std::exchange(recorded_, source_.results(node));
    const WithSize unknown(*this, std::nullopt);
    const Before before(out_);
    std::vector<Tensor> results = Execute(*call->def, args);
    const Before after(out_);
    for (std::size_t i = 0; i < call->places.size(); ++i) {
      const OpDef& copier = *CopierOf(out_, call->def, results[i]);
      const Before known = copier.out_overload == OutOverload::kCopies ? after : before;
      const Inside frame(*this, copier);
      Tensor& out = locals.of(source_.args(node)[call->places[i]].value);
      out = PutInto(*this, out_, autograd_.get(), out, std::exchange(results[i], {}), known);
      results[i] = out;
    }
    recorded_ = recorded;
    BindResults(node, std::move(results), locals);
    return true;
  };
  const Progress before = Mark();
  try {
    if (def != nullptr) return RunRow(*def, node, locals);
    if (run_out_overload()) return;
  } catch (const RuleError& error) {
    // Graphs that ran are counted, and cannot be taken back.
    const bool control = def != nullptr && *def->family == Family::kControl;
    const bool ran = control && budget_ != before.budget;
    if (error.contradiction || ran || !MayCarry(node, locals)) throw;
    TakeBack(before);
    return Carry(node, error.message, locals);
  }
  BindResults(node, EmitOpaque(node, locals), locals);
}

Dispatcher::Progress Dispatcher::Mark() const {
  return {.nodes = out_.main().nodes.size(),
          .notes = out_.notes.size(),
          .frame = frame_,
          .budget = budget_,
          .recorded = recorded_,
          .depth = depth_,
          .mismatches = mismatches_,
          .recording = recording_,
          .grad_enabled = grad_enabled_,
          .bytes = bytes_,
          .casts = autocast_ == nullptr ? 0 : autocast_->kept()};
}

void Dispatcher::DropCallsFrom(std::size_t node) {
  std::vector<WholeCall>& calls = out_.whole_calls;
  while (!calls.empty() && calls.back().first >= node) calls.pop_back();
}

// The handles of what ran have gone, so that only the program has traces of it.
void Dispatcher::TakeBack(const Progress& progress) {
  if (autocast_ != nullptr) autocast_->KeepOnly(progress.casts);
  out_.main().nodes.resize(progress.nodes);
  DropCallsFrom(progress.nodes);
  has_step_ = false;
  out_.notes.resize(progress.notes);
  frame_ = progress.frame;
  recorded_ = progress.recorded;
  depth_ = progress.depth;
  mismatches_ = progress.mismatches;
  recording_ = progress.recording;
  grad_enabled_ = progress.grad_enabled;
  bytes_ = progress.bytes;
}

// A gradient cannot go through what is not known.
bool Dispatcher::MayCarry(const Node& node, const Locals& locals) const {
  bool any = false;
  for (const ValueId id : source_.results(node)) {
    if (id == kNoId || source_.values[id].kind != ValueKind::kTensor) continue;
    if (!source_.values[id].has_layout) return false;
    any = true;
  }
  bool wants_gradient = false;
  for (const Argument& argument : source_.args(node)) {
    VisitValues(source_, argument, [&](ValueId id) {
      const Tensor operand = locals.find(id);
      wants_gradient |= grad_enabled_ && operand.defined() && operand.requires_grad();
    });
  }
  return any && !wants_gradient;
}

void Dispatcher::Carry(const Node& node, std::string_view reason, Locals& locals) {
  context_.refusal = out_.strings.Intern(reason);
  BindResults(node, EmitOpaque(node, locals), locals);
  context_.refusal = kNoString;
}

// Fresh tensors of the sizes the file gives.
std::vector<Tensor> Dispatcher::EmitOpaque(const Node& node, const Locals& locals) {
  std::vector<Argument> args;
  for (const Argument& a : source_.args(node)) {
    if (a.kind != ArgKind::kGraph) args.push_back(Translate(a, locals));
  }
  for (const Argument& a : args) {
    VisitValues(out_, a, [&](ValueId id) {
      if (!grad_enabled_ || !out_.values[id].requires_grad) return;
      const std::string_view name = source_.op_name(node.op);
      Refuse(fmt::format("the gradient of {} is not known", name),
             name.starts_with(kTransforms)
                 ? "program.run_decompositions({}) before torch.export.save writes what torch.func "
                   "runs there."
                 : "The model can be weighed without --train.");
    });
  }
  std::vector<Tensor> results;
  std::vector<ValueId> ids;
  for (ValueId recorded : source_.results(node)) {
    if (recorded == kNoId || source_.values[recorded].kind != ValueKind::kTensor) {
      results.emplace_back();
      continue;
    }
    const Value& file = source_.values[recorded];
    if (!file.has_layout) {
      Refuse(fmt::format("no rule for {}, and the file gives no sizes for its result",
                         source_.op_name(node.op)));
    }
    const ValueId id =
        out_.AddTensor(file.name, file.dtype, source_.sizes(recorded), source_.strides(recorded));
    out_.values[id].storage = out_.storage_count++;
    AddReferences(id, 0);
    ids.push_back(id);
    results.emplace_back(this, id);
    CountBytes(results.back().view().storage_bytes());
  }
  AppendNode(out_.AddOpName(source_.op_name(node.op)), out_.AddArguments(args),
             out_.AddOutputs(ids));
  return results;
}

}  // namespace steelyard
