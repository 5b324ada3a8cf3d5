// SPDX-License-Identifier: Apache-2.0
//
// The work of a program: what each kernel computes and moves, in total, by phase, by module and by
// operator.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "analyze/counting.h"
#include "ops/op_def.h"
#include "steelyard/error.h"
#include "steelyard/program.h"

namespace steelyard {

inline constexpr int kPhaseCount = 5;

// Work of one node of the executed program, weighed.
struct NodeWork {
  std::int64_t macs = 0;
  std::int64_t flops = 0;      // in the chosen convention
  std::int64_t beside = 0;     // what its tool gives besides
  std::int64_t missed = 0;     // multiply-adds that the tool leaves out
  std::int64_t excess = 0;     // and that it counts though there are none
  std::int64_t masked = 0;     // multiply-adds at positions that a mask is known to hide
  std::int64_t flops_all = 0;  // arithmetic of every operator
  std::int64_t read = 0;       // bytes
  std::int64_t written = 0;
  NodeWork& operator+=(const NodeWork& other);
  bool operator==(const NodeWork&) const = default;
  NodeWork Times(std::int64_t runs) const;
};

// The work of one run of each node. Marks of dropped references do none, and take no room.
class WorkByNode {
 public:
  explicit WorkByNode(std::size_t nodes = 0) : places_(nodes, 0) {
    works_.reserve(nodes + 1);
    works_.emplace_back();
  }
  std::size_t size() const { return places_.size(); }
  bool works(std::size_t node) const { return places_[node] != 0; }
  const NodeWork& operator[](std::size_t node) const { return works_[places_[node]]; }
  // The node's, to be filled in.
  NodeWork& at(std::size_t node) {
    if (!works(node)) {
      places_[node] = static_cast<std::uint32_t>(works_.size());
      works_.emplace_back();
    }
    return works_[places_[node]];
  }

 private:
  std::vector<std::uint32_t> places_;  // by node, in works_
  std::vector<NodeWork> works_;        // the first is none
};

// Calls of one operator of the imported program.
struct OperatorWork {
  std::string name;
  std::int64_t calls = 0;
  bool modelled = true;
  bool steers = false;      // it says how others run: listed where it does work of its own
  std::string reason = {};  // of calls that a row refused: why, in the words of the first
  NodeWork work = {};
};

struct WorkReport {
  const Convention* convention = nullptr;
  std::array<NodeWork, kPhaseCount> by_phase{};
  WorkByNode by_node;                     // of the kernel program
  std::vector<OperatorWork> by_operator;  // most work first
  std::vector<OperatorWork> unmodelled;   // without a row, or refused by it; most calls first
  double printed_billions = 0;            // what a convention that rounds would print; else 0
  std::vector<bool> steering;             // by operator of the imported program: do nothing else
  std::int64_t modelled_calls = 0;        // of the imported program, as `VisitCalls` counts
  std::int64_t calls = 0;

  const NodeWork& of(Phase phase) const { return by_phase[static_cast<std::size_t>(phase)]; }
};

// Visits the calls of the imported program that compute, each with how often it runs: not those of
// the branch that was not taken, arithmetic on sizes, or what only says how others run.
void VisitCalls(const Program& imported, const Program& kernels, const WorkReport& work,
                const std::function<void(const Node& node, std::int64_t runs)>& visit);

// What others found out about nodes of `kernels`, by node; nothing where the rows say it.
struct KnownOfNodes {
  std::span<const Traffic> moved = {};        // by a runtime that joins them
  std::span<const std::int64_t> masked = {};  // masking.h
};

// `imported` is the program before `decompose`, `kernels` the one after. An error if a total does
// not fit in 64 bits.
Result<WorkReport> CountWork(const Program& imported, const Program& kernels,
                             const Convention& convention, const Target& target,
                             const KnownOfNodes& known = {});

}  // namespace steelyard
