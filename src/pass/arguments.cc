// SPDX-License-Identifier: Apache-2.0
#include "pass/arguments.h"

#include <span>

namespace steelyard {

std::optional<std::size_t> ArgumentNamed(const Program& program, const Node& node, const OpDef& def,
                                         std::string_view name) {
  const int place = def.signature->IndexOf(name);
  const std::span<const Argument> args = program.args(node);
  for (std::size_t i = 0; place >= 0 && i < args.size(); ++i) {
    const std::string_view given = program.text(args[i].name);
    if (given.empty() ? i == static_cast<std::size_t>(place) : given == name) return i;
  }
  return std::nullopt;
}

}  // namespace steelyard
