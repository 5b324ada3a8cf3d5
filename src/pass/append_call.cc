// SPDX-License-Identifier: Apache-2.0

#include "pass/append_call.h"

#include <vector>

#include "ir/layout.h"

namespace steelyard {

void AppendCall(Program& program, std::string_view name, std::span<const Argument> args,
                std::span<const ValueId> results, Phase phase) {
  Node node;
  node.op = program.AddOpName(name);
  node.arguments = program.AddArguments(args);
  node.outputs = program.AddOutputs(results);
  node.phase = phase;
  program.main().nodes.push_back(node);
}

ValueId AddResult(Program& program, std::string_view name, DType dtype,
                  std::span<const std::int64_t> sizes) {
  return program.AddTensor(program.strings.Intern(name), dtype, sizes, ContiguousStrides(sizes));
}

Argument IntsArgument(Program& program, std::span<const std::int64_t> ints) {
  std::vector<Argument> list;
  list.reserve(ints.size());
  for (const std::int64_t i : ints) list.push_back(Argument::OfInt(i));
  return Argument::OfList(program.AddArguments(list));
}

}  // namespace steelyard
