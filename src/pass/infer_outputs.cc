// SPDX-License-Identifier: Apache-2.0

#include "pass/infer_outputs.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "pass/decompose.h"

namespace steelyard {
namespace {

bool IsUnsized(const Program& program, const Argument& output) {
  if (output.kind != ArgKind::kValue) return false;
  const Value& value = program.values[output.value];
  return value.kind == ValueKind::kTensor && !value.has_layout;
}

// A value with the layout of `found`; what it is to the program stays.
void SetLayout(Program& program, ValueId id, const Program& from, ValueId found) {
  const ValueId laid_out = program.AddTensor(kNoString, from.values[found].dtype, from.sizes(found),
                                             from.strides(found));
  Value& value = program.values[id];
  const Value& made = program.values[laid_out];
  value.dtype = made.dtype;
  value.rank = made.rank;
  value.dims = made.dims;
  value.has_layout = true;
  program.values.pop_back();
  --program.storage_count;
}

}  // namespace

Result<Program> LayOut(Program program, std::span<const ValueId> values, const Target& target) {
  Program asked = program;
  std::vector<Argument>& outputs = asked.main().outputs;
  outputs.clear();
  asked.released.clear();
  for (const ValueId id : values) {
    if (IsUnsized(program, Argument::OfValue(id))) outputs.push_back(Argument::OfValue(id));
  }
  if (outputs.empty()) return program;
  SY_ASSIGN_OR_RETURN(const Program kernels, Decompose(asked, target));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Argument& found = kernels.main().outputs[i];
    if (found.kind != ArgKind::kValue || IsUnsized(kernels, found)) continue;
    SetLayout(program, outputs[i].value, kernels, found.value);
  }
  return program;
}

Result<Program> InferOutputs(Program program, const Target& target) {
  const auto unsized = [&](const Argument& output) { return IsUnsized(program, output); };
  if (std::ranges::none_of(program.main().outputs, unsized)) return program;
  SY_ASSIGN_OR_RETURN(const Program kernels, Decompose(program, target));
  const std::vector<Argument>& found = kernels.main().outputs;
  const std::size_t count = std::min(program.main().outputs.size(), found.size());
  for (std::size_t i = 0; i < count; ++i) {
    const Argument output = program.main().outputs[i];
    if (!IsUnsized(program, output) || IsUnsized(kernels, found[i])) continue;
    if (found[i].kind != ArgKind::kValue) continue;
    SetLayout(program, output.value, kernels, found[i].value);
  }
  return program;
}

}  // namespace steelyard
