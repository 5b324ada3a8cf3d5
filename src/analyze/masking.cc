// SPDX-License-Identifier: Apache-2.0

#include "analyze/masking.h"

#include <algorithm>
#include <cstddef>

#include "ops/contents/known_contents.h"
#include "ops/dispatch/program_rows.h"

namespace steelyard {
namespace {

bool IsOf(Family family, const Program& kernels, const Node& node, const OpDef* def) {
  return def != nullptr && *def->family == family && node.refusal == kNoString &&
         !kernels.results(node).empty();
}

// Attention is computed by a kernel of its own or by products of batches.
bool MayBeMasked(const Program& kernels, const Node& node, const OpDef* def) {
  if (IsOf(Family::kAttention, kernels, node, def)) return true;
  return IsOf(Family::kContraction, kernels, node, def) &&
         TensorView(kernels, kernels.results(node)[0]).rank() > 2;
}

}  // namespace

std::vector<std::int64_t> CountMasked(const Program& kernels, const Target& target) {
  const std::vector<const OpDef*> defs = RowsOf(kernels);
  const std::vector<Node>& nodes = kernels.main().nodes;
  const auto may_be_masked = [&](const Node& node) {
    return MayBeMasked(kernels, node, defs[node.op]);
  };
  if (std::ranges::none_of(nodes, may_be_masked)) return {};
  KnownContents known(kernels, defs);
  const auto work_of = [&](const Node& node) {
    const OpDef& def = *defs[node.op];
    return (**def.work)(
        OpView(kernels, def, kernels.args(node), kernels.results(node), target, &known));
  };
  std::vector<std::int64_t> masked(nodes.size(), 0);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    // As things are before it runs.
    if (may_be_masked(nodes[i])) masked[i] = work_of(nodes[i]).masked.value();
    known.Run(static_cast<NodeId>(i));
  }
  known.LookBack();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::int64_t unread = known.unread(static_cast<NodeId>(i));
    if (unread <= 0 || !IsOf(Family::kContraction, kernels, nodes[i], defs[nodes[i].op])) continue;
    const std::int64_t elements = TensorView(kernels, kernels.results(nodes[i])[0]).count();
    const Count in_vain = Count(unread) * (work_of(nodes[i]).mac.value() / elements);
    masked[i] = std::max(masked[i], in_vain.value());
  }
  return masked;
}

}  // namespace steelyard
