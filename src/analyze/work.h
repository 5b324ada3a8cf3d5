// SPDX-License-Identifier: Apache-2.0
//
// The work of a program: what each kernel computes and moves, in total, by phase, by module and by
// operator.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analyze/counting.h"
#include "steelyard/error.h"
#include "steelyard/op.h"
#include "steelyard/program.h"

namespace steelyard {

inline constexpr int kPhaseCount = 5;

// Work of one node of the executed program, weighed.
struct NodeWork {
  std::int64_t macs = 0;
  std::int64_t flops = 0;      // in the chosen convention
  std::int64_t beside = 0;     // what its tool gives besides
  std::int64_t missed = 0;     // multiply-adds that the tool leaves out
  std::int64_t masked = 0;     // multiply-adds at positions that a mask is known to hide
  std::int64_t flops_all = 0;  // arithmetic of every operator
  std::int64_t read = 0;       // bytes
  std::int64_t written = 0;
  NodeWork& operator+=(const NodeWork& other);
};

// Calls of one operator of the imported program.
struct OperatorWork {
  std::string name;
  int calls = 0;
  bool modelled = true;
  std::string reason = {};  // of calls that a row refused: why, in the words of the first
  NodeWork work = {};
};

struct WorkReport {
  const Convention* convention = nullptr;
  std::array<NodeWork, kPhaseCount> by_phase{};
  std::vector<NodeWork> by_node;          // of the kernel program
  std::vector<OperatorWork> by_operator;  // most work first
  std::vector<OperatorWork> unmodelled;   // without a row, or refused by it; most calls first
  double printed_billions = 0;            // what a convention that rounds would print; else 0
  int modelled_calls = 0;                 // of the imported program
  int calls = 0;

  const NodeWork& of(Phase phase) const { return by_phase[static_cast<std::size_t>(phase)]; }
};

// `imported` is the program before `decompose`, `kernels` the one after. An error if a total does
// not fit in 64 bits. `moved`: by node
// of `kernels`, what a runtime moves that joins them; else what each row says.
Result<WorkReport> CountWork(const Program& imported, const Program& kernels,
                             const Convention& convention, const Target& target,
                             std::span<const Traffic> moved = {});

}  // namespace steelyard
