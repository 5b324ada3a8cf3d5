// SPDX-License-Identifier: Apache-2.0
//
// Where a node comes from: the module it runs in and the line of the model's code. Both stand in
// the file as long strings that are repeated from node to node; each distinct one is read once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/pt2/token_map.h"
#include "steelyard/program.h"

namespace steelyard::pt2 {

// "L__self__,,BertModel;L__self__encoder,encoder,BertEncoder": the modules entered, outermost
// first, each with a key, its path and its class. Before torch 2.8 strict export wrote paths as
// Python expressions, "L['self'].layer[0].attention".
class ModuleStacks {
 public:
  explicit ModuleStacks(Program& program) : program_(program), entries_(kNoId) {}

  // The innermost module of a stack; the model itself where there is none. Modules that are new
  // are added to the program, parents first. `stack` must outlive this.
  ModuleId Read(std::string_view stack);
  // The call of that module, of the stack that was read last; kNoId where there is no stack.
  CallId last_call() const { return last_call_; }

 private:
  ModuleId ReadEntry(std::string_view entry);
  ModuleId Enter(std::string_view path, std::string_view class_name);
  ModuleId Find(std::string_view path) const;
  CallId EnterCall(CallId parent, std::size_t entry);

  Program& program_;
  TokenMap<ModuleId> entries_;     // by the text between semicolons
  std::vector<ModuleId> modules_;  // by the StringId of the path; short, or kNoId: none
  std::unordered_map<std::uint64_t, CallId> calls_;  // by the caller's and the entry
  CallId last_call_ = kNoId;
};

// "File "bert.py", line 84, in forward\n    x = self.embed(x)\n  File ...", innermost frame last.
class StackTraces {
 public:
  explicit StackTraces(Program& program) : program_(program), lines_(kNoId) {}

  // The innermost line outside of torch's own code, or else the innermost; kNoId where there is no
  // frame at all. `trace` must outlive this.
  SourceId Read(std::string_view trace);

 private:
  Program& program_;
  TokenMap<SourceId> lines_;  // by the frame's text
};

// The path as `named_modules` has it: "layer.0.attention" for "L['self'].layer[0].attention" and
// for "getattr(L['self'].layer, '0').attention"; "@2", the mark of a second call, is dropped.
std::string ModulePath(std::string_view written);

}  // namespace steelyard::pt2
