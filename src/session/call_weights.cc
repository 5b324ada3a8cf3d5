// SPDX-License-Identifier: Apache-2.0
#include "session/call_weights.h"

#include <string_view>
#include <utility>

#include "ir/text_call.h"
#include "ops/op_def.h"
#include "pass/decompose.h"
#include "pass/infer_outputs.h"
#include "steelyard/op.h"
#include "steelyard/program.h"

namespace steelyard {

const std::optional<NodeWork>& CallWeights::Of(const RecordedCall& call) {
  const auto [found, is_new] = weights_.try_emplace(call.text);
  if (is_new && call.complete) found->second = Weigh(call.text);
  return found->second;
}

std::optional<NodeWork> CallWeights::Weigh(const std::string& text) const {
  const std::string_view name = std::string_view(text).substr(0, text.find('('));
  // What is given a tensor for its result, by name, has the row of what makes one.
  const bool is_given = text.find('=') != std::string::npos;
  if (!is_given && FindOp(OpName::FromRuntime(name)) == nullptr) return std::nullopt;
  Result<Program> program = ProgramOfCall(text);
  const Target target;
  // What counts calls asks for the sizes of results, too, which the text does not say.
  if (program && convention_.counts_calls()) {
    program = InferOutputs(*std::move(program), target);
  }
  if (!program) return std::nullopt;
  const Result<Program> kernels = Decompose(*program, target);
  if (!kernels) return std::nullopt;
  const Result<WorkReport> work = CountWork(*program, *kernels, convention_, target);
  if (!work || !work->unmodelled.empty()) return std::nullopt;
  NodeWork sum;
  for (const NodeWork& phase : work->by_phase) sum += phase;
  return sum;
}

}  // namespace steelyard
