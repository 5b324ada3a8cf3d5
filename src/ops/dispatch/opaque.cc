// SPDX-License-Identifier: Apache-2.0
//
// Calls that no row can answer for: those of operators without one, and those whose operands a row
// refuses. They are carried with the sizes that the file gives for their results, and the report
// counts them as not modelled.

#include <fmt/core.h>

#include "ops/dispatch/autocast.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/dispatch/locals.h"

namespace steelyard {

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

// The handles of what ran have gone, so that only the program has traces of it.
void Dispatcher::TakeBack(const Progress& progress) {
  if (autocast_ != nullptr) autocast_->KeepOnly(progress.casts);
  out_.main().nodes.resize(progress.nodes);
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
      Refuse(fmt::format("the gradient of {} is not known", source_.op_name(node.op)),
             "The model can be weighed without --train.");
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
