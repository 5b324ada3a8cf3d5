// SPDX-License-Identifier: Apache-2.0
#include "execute/skipped_steps.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace steelyard {
namespace {

constexpr std::string_view kLook = "aten::_amp_foreach_non_finite_check_and_unscale_";
constexpr int kFound = 1;  // its argument that holds what it has found
// How the profiler of PyTorch calls the step of an optimizer.
constexpr std::string_view kStep = "Optimizer.step#";

// Its kernels leave the step out themselves.
constexpr std::string_view kFused = "aten::_fused_";

bool IsInStep(const Program& kernels, const Node& node) {
  for (FrameId frame = node.frame; frame != 0; frame = kernels.frames[frame].parent) {
    if (kernels.op_name(kernels.frames[frame].op).starts_with(kStep)) return true;
  }
  return false;
}

}  // namespace

std::optional<OptionalStep> OptionalStepOf(const Program& kernels) {
  const std::vector<Node>& nodes = kernels.main().nodes;
  const OpId look = kernels.FindOpName(kLook);
  const auto looks = std::ranges::find(nodes, look, &Node::op);
  if (looks == nodes.end()) return std::nullopt;
  OptionalStep step{.found = kernels.args(*looks)[kFound].value};
  for (auto node = looks; node != nodes.end(); ++node) {
    if (!IsInStep(kernels, *node)) continue;
    if (kernels.op_name(node->op).starts_with(kFused)) return std::nullopt;
    const auto id = static_cast<NodeId>(node - nodes.begin());
    if (step.end == 0) step.begin = id;
    step.end = id + 1;
  }
  if (step.end == 0) return std::nullopt;
  return step;
}

}  // namespace steelyard
