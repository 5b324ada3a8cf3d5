// SPDX-License-Identifier: Apache-2.0

#include "analyze/kinds.h"

#include <cstddef>

#include "ops/dispatch/program_rows.h"

namespace steelyard {
namespace {

constexpr std::size_t kFamilies = static_cast<std::size_t>(Family::kBookkeeping) + 1;

}  // namespace

std::vector<KindReport> CountKinds(const Program& kernels, const WorkReport& work,
                                   const Timeline& timeline, std::span<const std::uint32_t> live) {
  std::vector<KindReport> all(kFamilies);
  for (std::size_t i = 0; i < kFamilies; ++i) all[i].family = static_cast<Family>(i);
  const std::vector<const OpDef*> rows = RowsOf(kernels);
  const std::vector<Node>& nodes = kernels.main().nodes;
  const auto kind_of = [&](std::size_t node) -> KindReport* {
    const OpDef* row = node < nodes.size() ? rows[nodes[node].op] : nullptr;
    return row == nullptr ? nullptr : &all[static_cast<std::size_t>(*row->family)];
  };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    KindReport* kind = work.by_node.works(i) ? kind_of(i) : nullptr;
    if (kind == nullptr) continue;
    const std::int64_t times = kernels.times(static_cast<NodeId>(i));
    kind->kernels += times;
    kind->work += work.by_node[i].Times(times);
  }
  for (const std::uint32_t id : live) {
    const Block& block = timeline.blocks[id];
    if (KindReport* kind = kind_of(timeline.events[block.allocated].node)) {
      kind->held += block.bytes;
    }
  }
  std::erase_if(all, [](const KindReport& kind) { return kind.kernels == 0 && kind.held == 0; });
  return all;
}

}  // namespace steelyard
