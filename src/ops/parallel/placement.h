// SPDX-License-Identifier: Apache-2.0
//
// How a tensor lies on the processes of a group (torch/distributed/tensor/placement_types.py).
#pragma once

#include <fmt/core.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace steelyard::ops {

enum class PlacementKind : std::uint8_t {
  kReplicate,  // each process has the whole
  kShard,      // each has a part along a dimension, as torch.chunk makes them
  kPartial,    // the whole is the sum of what they have
};

// In short "R", "S(1)" and "P", as PyTorch writes them.
struct Placement {
  PlacementKind kind = PlacementKind::kReplicate;
  int dim = 0;  // of kShard; -1: the last one

  bool operator==(const Placement&) const = default;
  bool is_shard() const { return kind == PlacementKind::kShard; }
};

inline constexpr Placement kReplicate{};
inline constexpr Placement kPartial{.kind = PlacementKind::kPartial};
constexpr Placement ShardOf(int dim) { return {.kind = PlacementKind::kShard, .dim = dim}; }

inline std::string ShortName(const Placement& placement) {
  if (placement.is_shard()) return fmt::format("S({})", placement.dim);
  return placement.kind == PlacementKind::kPartial ? "P" : "R";
}

// Nothing where `text` is no short name.
inline std::optional<Placement> PlacementNamed(std::string_view text) {
  if (text == "R") return kReplicate;
  if (text == "P") return kPartial;
  if (!text.starts_with("S(") || !text.ends_with(')')) return std::nullopt;
  int dim = 0;
  const char* end = text.data() + text.size() - 1;
  const auto [rest, error] = std::from_chars(text.data() + 2, end, dim);
  if (error != std::errc() || rest != end) return std::nullopt;
  return ShardOf(dim);
}

// A group of processes, and which of them this is.
struct Group {
  std::int64_t ranks = 1, rank = 0;
};

// From one placement to another.
struct Way {
  Placement from = {}, to = {};
  Group group = {};
  std::int64_t size = 0;  // of the whole, along the dimension that is gathered; 0: parts are equal
};

}  // namespace steelyard::ops
