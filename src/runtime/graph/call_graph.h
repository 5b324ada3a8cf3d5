// SPDX-License-Identifier: Apache-2.0
//
// A program of kernels as a compiler sees it: calls and the values that flow between them, without
// an order. What overwrites a tensor that only the step has gives a new one instead; what
// overwrites one that outlives the step comes after all that reads it. Calls that nothing asks for
// are not there.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ops/op_def.h"
#include "steelyard/program.h"

namespace steelyard::graph {

using CallId = std::uint32_t;

enum class CallKind : std::uint8_t {
  kKernel,  // computes
  kView,    // another look at bytes that are there
  kField,   // one of several results of a kernel
  kResult,  // what the program gives: all that must be computed
};

// What a call needs of another one.
struct Use {
  CallId producer = 0;
  Fusion pattern =
      Fusion::kOpaque;      // how the call reads it; opaque where they cannot be one kernel
  bool only_order = false;  // it must have run, and is not read
};

struct Call {
  CallKind kind = CallKind::kKernel;
  Fusion fusion = Fusion::kOpaque;
  NodeId node = kNoId;
  const OpDef* def = nullptr;
  std::uint32_t field = 0;  // of kField: which result of its producer; of kView: which of many
  std::vector<ValueId> results = {};  // of kKernel; kNoId where one is not computed
  std::vector<Use> uses = {};         // in the order of the arguments; order last
  std::uint32_t users = 0;            // how often it is used, order apart
  bool overwrites = false;            // its result takes the memory of the first argument
  bool resident = false;              // and that is there before the step and after it
  bool in_memory = false;             // its result must be written: no kernel goes on from there
};

struct CallGraph {
  const Program* program = nullptr;
  std::vector<Call> calls;             // in an order in which they can run; the last is kResult
  std::vector<CallId> maker_of_value;  // kNoId: resident, a constant, or not needed
  CallId result() const { return static_cast<CallId>(calls.size() - 1); }
};

// `kernels` is a program that `decompose` gave.
CallGraph BuildCallGraph(const Program& kernels, const Target& target);

// Calls that `from` needs, before it, each once: those of earlier arguments first.
std::vector<CallId> PostOrder(const CallGraph& graph, CallId from);

}  // namespace steelyard::graph
