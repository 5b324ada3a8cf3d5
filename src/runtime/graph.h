// SPDX-License-Identifier: Apache-2.0
//
// The memory of a program as a compiler's virtual machine runs it: operators joined into kernels,
// kernels in an order of the compiler's, a buffer free after the last kernel that reads it, what is
// returned kept. The rules are RAF's.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ops/op_def.h"
#include "steelyard/program.h"
#include "steelyard/timeline.h"

namespace steelyard {

enum class KernelOrder : std::uint8_t {
  kPostOrder,  // what the first result needs, then what the next one needs
  kMemory,     // rearranged so that less is held at once
};

struct GraphOptions {
  KernelOrder order = KernelOrder::kPostOrder;
  bool fuse = true;
  // Bytes, what is resident included: tensors are computed again rather than held above this.
  std::optional<std::int64_t> budget = {};
  // Called for every tenth of the bindings, before it is looked at.
  std::function<void(int done, int total)> progress = {};
};

// What is held while a kernel runs.
struct KernelMemory {
  std::string name;    // "fused_add_gelu"
  std::uint32_t node;  // of GraphRun::program: where it ends
  std::int64_t bytes;  // parameters and its workspace included
  float megabytes;     // 2^20 bytes, as RAF sums them up: buffer by buffer, in 32 bits
};

struct GraphRun {
  Program program;  // the kernels of the graph, in order
  Timeline timeline;
  std::vector<Traffic> traffic;       // by node of `program`: of a kernel at its last node
  std::vector<KernelMemory> kernels;  // in order; the last is "out": what remains
  int bindings = 0;                   // of RAF's program: what is allocated, called and freed
  std::int64_t bound = 0;             // bytes: what these kernels need in any order
  int repeated = 0;                   // kernels that run again for a budget
  bool fits = true;                   // false: the budget cannot be met, and nothing is repeated
};

// `kernels` is a program that `decompose` gave.
GraphRun RunGraph(const Program& kernels, const Target& target, const GraphOptions& options);

}  // namespace steelyard
