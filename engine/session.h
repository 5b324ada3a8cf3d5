// SPDX-License-Identifier: Apache-2.0
//
// The tensors of a program, and its calls, ready to run. A call goes through PyTorch's dispatcher
// below autograd: the backward pass is calls, too.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>
#include <c10/core/Device.h>
#include <c10/util/Exception.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "execute/engine_abi.h"
#include "kernels/kernels.h"
#include "memory_tap.h"
#include "operands.h"

namespace steelyard::engine {

// What PyTorch threw, and at which call.
class CallError : public std::runtime_error {
 public:
  CallError(const std::string& message, std::size_t at, SyProblem of = SY_OTHER_PROBLEM)
      : std::runtime_error(message), call(at), problem(of) {}
  std::size_t call;
  SyProblem problem;
};

// Of which kind a problem is that PyTorch threw.
SyProblem ProblemOf(const c10::Error& error);

class Session {
 public:
  // Requires: the program's device has been opened.
  explicit Session(const SyProgram& program);

  void Reload(const SyProgram& program);
  void Place(std::uint32_t value, bool on_host, const SyLayout& layout, const SyContent& content);
  void Share(std::uint32_t value, std::uint32_t of);
  void Keep(std::uint32_t value) { kept_[value] = true; }
  void Run(std::size_t begin, std::size_t end, const SyRecord& record);
  void Release(std::span<const std::uint32_t> values, const SyRecord& record);
  void Clear();
  SyElements Read(std::uint32_t value);

 private:
  struct Call {
    std::optional<c10::OperatorHandle> op;  // neither op nor kernel: values are let go
    Kernel kernel = nullptr;
    Operands operands;
    std::vector<std::uint32_t> values;  // of the results, or of what is let go
  };

  Call Prepare(const SyCall& call) const;
  void RunCall(const Call& call);
  void TakeResults(const Call& call);

  c10::Device device_;
  std::vector<Call> calls_;
  std::vector<c10::IValue> values_;
  std::vector<c10::IValue> placed_;  // None where the program makes it
  std::vector<bool> kept_;
  torch::jit::Stack stack_;
  at::Tensor read_;  // whose elements the caller looks at
};

}  // namespace steelyard::engine
