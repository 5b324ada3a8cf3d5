// SPDX-License-Identifier: Apache-2.0
//
// How many processes share something: what rows that run in several are told.
#pragma once

#include <fmt/format.h>

#include <cstdint>

#include "ops/op_def.h"

namespace steelyard::ops {

// Refuses what is no number of processes; a program that is made by hand may ask for any.
inline std::int64_t RanksOf(const OpView& op, int argument) {
  constexpr std::int64_t kMost = std::int64_t{1} << 24;
  const std::int64_t ranks = op.integer(argument);
  if (ranks < 1 || ranks > kMost) Refuse(fmt::format("{} processes cannot share it", ranks));
  return ranks;
}

// Which of them this process is.
inline std::int64_t RankOf(const OpView& op, int argument, std::int64_t ranks) {
  const std::int64_t rank = op.integer(argument);
  if (rank < 0 || rank >= ranks)
    Refuse(fmt::format("{} processes have no process {}", ranks, rank));
  return rank;
}

}  // namespace steelyard::ops
