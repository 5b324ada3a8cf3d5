// SPDX-License-Identifier: Apache-2.0

#include "pass/autocast.h"

#include <array>
#include <utility>
#include <vector>

#include "pass/append_call.h"

namespace steelyard {

Result<Program> InsertAutocast(Program program, const AmpOptions& options) {
  if (!options.dtype) return program;
  if (*options.dtype != DType::kBFloat16 && *options.dtype != DType::kFloat16) {
    return Unexpected(UsageError("autocast has no such dtype", "--amp", "It has bf16 and fp16."));
  }
  std::vector<Node> body = std::exchange(program.main().nodes, {});
  const std::array args{Argument::OfDType(*options.dtype)};
  AppendCall(program, "steelyard::enter_autocast", args, {}, Phase::kForward);
  std::vector<Node>& nodes = program.main().nodes;
  nodes.insert(nodes.end(), body.begin(), body.end());
  AppendCall(program, "steelyard::leave_autocast", {}, {},
             nodes.empty() ? Phase::kForward : nodes.back().phase);
  return program;
}

}  // namespace steelyard
