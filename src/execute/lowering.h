// SPDX-License-Identifier: Apache-2.0
//
// A program of kernels in the words of the engine. Call i is node i: what the engine tells of a
// call is told of that node. Nodes of a whole call are one call, at the first of them.
#pragma once

#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "execute/engine_abi.h"
#include "steelyard/program.h"

namespace steelyard {

class Lowering {
 public:
  // `kernels` is what `decompose` gave, and outlives this.
  explicit Lowering(const Program& kernels, std::string device = "cpu");
  Lowering(const Lowering&) = delete;
  Lowering& operator=(const Lowering&) = delete;

  SyProgram program() const {
    return {.device = device_.c_str(),
            .calls = calls_.data(),
            .call_count = calls_.size(),
            .value_count = value_count_};
  }

 private:
  SyArgument Lower(const Argument& argument);
  SyCall CallOf(const char* op, Argument::Run arguments, Argument::Run results) const;
  void RunWholeCalls();
  const char* Text(StringId id);

  const Program& kernels_;
  std::string device_;
  std::size_t value_count_;
  std::unordered_map<StringId, std::string> texts_;  // which stay where they are
  std::deque<std::string> ops_;
  std::vector<SyArgument> arguments_;  // as in the program's pool
  std::vector<SyCall> calls_;
};

}  // namespace steelyard
