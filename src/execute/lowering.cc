// SPDX-License-Identifier: Apache-2.0
#include "execute/lowering.h"

#include <string_view>
#include <utility>

#include "ir/whole_calls.h"

namespace steelyard {

Lowering::Lowering(const Program& kernels, std::string device)
    : kernels_(kernels), device_(std::move(device)), value_count_(kernels.values.size()) {
  for (const StringId name : kernels.op_names) ops_.emplace_back(kernels.text(name));
  arguments_.reserve(kernels.arguments.size());
  for (const Argument& argument : kernels.arguments) arguments_.push_back(Lower(argument));
  const OpId drop = kernels.FindOpName(kDropMark);
  calls_.reserve(kernels.main().nodes.size());
  for (const Node& node : kernels.main().nodes) {
    const bool drops = node.op == drop;
    calls_.push_back(CallOf(drops ? nullptr : ops_[node.op].c_str(), node.arguments,
                            drops ? Argument::Run{0, 0} : node.outputs));
  }
  RunWholeCalls();
}

// One call in place of the first of its nodes, and nothing in place of the others.
void Lowering::RunWholeCalls() {
  const std::vector<bool> inside = InWholeCalls(kernels_);
  for (std::size_t i = 0; i < inside.size(); ++i) {
    if (inside[i]) calls_[i] = {};
  }
  for (const WholeCall& whole : kernels_.whole_calls) {
    calls_[whole.first] = CallOf(ops_[whole.op].c_str(), whole.arguments, whole.outputs);
  }
}

SyCall Lowering::CallOf(const char* op, Argument::Run arguments, Argument::Run results) const {
  const ValueId* ids = kernels_.outputs.data() + results.begin;
  const bool on_host = results.count > 0 && ids[0] != kNoId && kernels_.values[ids[0]].on_host;
  return {.op = op,
          .on_host = on_host,
          .arguments = arguments_.data() + arguments.begin,
          .argument_count = arguments.count,
          .results = ids,
          .result_count = results.count};
}

SyArgument Lowering::Lower(const Argument& argument) {
  SyArgument out{};
  if (argument.name != kNoString) out.name = Text(argument.name);
  switch (argument.kind) {
    case ArgKind::kNone:
    case ArgKind::kGraph:  // whose nodes `decompose` has put in place of the call
      out.kind = SY_NONE;
      break;
    case ArgKind::kValue:
      out.kind = SY_VALUE;
      out.value = argument.value;
      break;
    case ArgKind::kInt:
    case ArgKind::kBool:
      out.kind = argument.kind == ArgKind::kInt ? SY_INT : SY_BOOL;
      if (argument.dim.is_number()) out.integer = argument.dim.number();
      break;
    case ArgKind::kFloat:
      out.kind = SY_REAL;
      out.real = argument.real;
      break;
    case ArgKind::kString:
      out.kind = SY_TEXT;
      out.text = Text(argument.text);
      break;
    case ArgKind::kDType:
      out.kind = SY_DTYPE;
      out.text = NameOf(argument.dtype).data();  // a literal
      break;
    case ArgKind::kList:
    case ArgKind::kComplex:
      out.kind = argument.kind == ArgKind::kList ? SY_LIST : SY_COMPLEX;
      out.elements = arguments_.data() + argument.list.begin;
      out.count = argument.list.count;
      break;
  }
  return out;
}

const char* Lowering::Text(StringId id) {
  const auto [entry, is_new] = texts_.try_emplace(id);
  if (is_new) entry->second = kernels_.text(id);
  return entry->second.c_str();
}

}  // namespace steelyard
