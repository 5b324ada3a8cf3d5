// SPDX-License-Identifier: Apache-2.0
#include "execute/lowering.h"

#include <span>
#include <string_view>
#include <utility>

namespace steelyard {

Lowering::Lowering(const Program& kernels, std::string device)
    : kernels_(kernels), device_(std::move(device)), value_count_(kernels.values.size()) {
  for (const StringId name : kernels.op_names) ops_.emplace_back(kernels.text(name));
  arguments_.reserve(kernels.arguments.size());
  for (const Argument& argument : kernels.arguments) arguments_.push_back(Lower(argument));
  const OpId drop = kernels.FindOpName(kDropMark);
  calls_.reserve(kernels.main().nodes.size());
  for (const Node& node : kernels.main().nodes) {
    const std::span<const ValueId> results = kernels.results(node);
    const bool on_host =
        !results.empty() && results[0] != kNoId && kernels.values[results[0]].on_host;
    calls_.push_back({.op = node.op == drop ? nullptr : ops_[node.op].c_str(),
                      .on_host = on_host,
                      .arguments = arguments_.data() + node.arguments.begin,
                      .argument_count = node.arguments.count,
                      .results = kernels.outputs.data() + node.outputs.begin,
                      .result_count = node.outputs.count});
  }
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
