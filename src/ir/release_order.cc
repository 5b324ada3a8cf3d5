// SPDX-License-Identifier: Apache-2.0

#include "ir/release_order.h"

#include <algorithm>
#include <numeric>

namespace steelyard {

std::vector<std::uint32_t> ReleaseOrder(const Program& program) {
  const std::size_t count = program.main().outputs.size();
  std::vector<std::uint32_t> order = program.released;
  const std::size_t known = order.size();
  order.resize(count);
  std::iota(order.begin() + static_cast<std::ptrdiff_t>(known), order.end(),
            static_cast<std::uint32_t>(known));
  if (known == 0) std::ranges::reverse(order);
  return order;
}

bool CanRelease(const Program& program) {
  std::vector<std::uint32_t> places = program.released;
  std::ranges::sort(places);
  for (std::uint32_t i = 0; i < places.size(); ++i) {
    if (places[i] != i) return false;
  }
  return places.size() <= program.main().outputs.size();
}

}  // namespace steelyard
