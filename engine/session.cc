// SPDX-License-Identifier: Apache-2.0
//
// A call is prepared once, so that an operator that PyTorch lacks is refused before anything runs;
// one of our own steps has its kernel instead. What the program lets go is gone, but for what is
// kept and, once the session is cleared, what was placed. Before each call the run can be stopped.

#include "session.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>
#include <c10/core/DeviceGuard.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "device.h"
#include "dtypes.h"
#include "op_library.h"

namespace steelyard::engine {
namespace {

using Clock = std::chrono::steady_clock;

// Kernels that are a step of an operator, not one of PyTorch's.
constexpr std::string_view kSteps = "steelyard::";

c10::OperatorHandle OperatorNamed(std::string_view name) {
  const std::size_t colons = name.find("::");
  const std::size_t dot = name.find('.', colons == std::string_view::npos ? 0 : colons);
  const std::string base(name.substr(0, dot));
  const std::string overload(dot == std::string_view::npos ? "" : name.substr(dot + 1));
  auto& dispatcher = c10::Dispatcher::singleton();
  auto found = dispatcher.findSchema({base, overload});
  TORCH_CHECK_NOT_IMPLEMENTED(found || !name.starts_with(kSteps), kNoKernel);
  if (!found && LoadPackageOf(name)) found = dispatcher.findSchema({base, overload});
  TORCH_CHECK_NOT_IMPLEMENTED(found, "PyTorch has no operator ", name,
                              ": the library of the package that defines it is named with "
                              "--library");
  return *found;
}

void Fill(const SyContent& content, at::Tensor* tensor) {
  if (tensor->is_complex() || tensor->is_floating_point()) {
    tensor->normal_(content.mean, content.deviation);
  } else if (content.below > 0) {
    tensor->random_(0, content.below);
  } else {
    tensor->fill_(content.mean);
  }
}

// Of `tensor` one of the elements in each dimension in which `like` has all in one place, and so
// may not be written to.
at::Tensor Unexpanded(at::Tensor tensor, const at::Tensor& like) {
  for (std::int64_t dim = 0; dim < like.dim(); ++dim) {
    if (like.stride(dim) == 0 && like.size(dim) > 1) tensor = tensor.narrow(dim, 0, 1);
  }
  return tensor;
}

// What PyTorch appends to a message tells of its own source, of all that is registered, or of where
// Python was: after an empty line.
std::string MessageOf(std::string_view text) {
  const std::size_t end = std::min(text.find("\nException raised from"), text.find("\n\n"));
  return std::string(text.substr(0, end));
}

std::string MessageOf(const c10::Error& error) { return MessageOf(error.what_without_backtrace()); }

}  // namespace

SyProblem ProblemOf(const c10::Error& error) {
  // The allocator of the CPU throws what it throws for all else.
  constexpr std::string_view kOfAllocator = "can't allocate memory";
  const std::string_view message = error.what_without_backtrace();
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr ||
      message.find(kOfAllocator) != std::string_view::npos) {
    return SY_NO_MEMORY;
  }
  return dynamic_cast<const c10::NotImplementedError*>(&error) != nullptr ? SY_NO_KERNEL
                                                                          : SY_OTHER_PROBLEM;
}

Session::Session(const SyProgram& program)
    : device_(DeviceNamed(program.device)),
      values_(program.value_count),
      placed_(program.value_count),
      kept_(program.value_count) {
  Reload(program);
}

void Session::Reload(const SyProgram& program) {
  if (program.value_count > values_.size()) {
    values_.resize(program.value_count);
    placed_.resize(program.value_count);
    kept_.resize(program.value_count);
  }
  calls_.clear();
  calls_.reserve(program.call_count);
  for (std::size_t i = 0; i < program.call_count; ++i) {
    try {
      calls_.push_back(Prepare(program.calls[i]));
    } catch (const c10::Error& error) {
      throw CallError(MessageOf(error), i);
    }
  }
}

Session::Call Session::Prepare(const SyCall& call) const {
  if (call.op == nullptr) {
    Call out{std::nullopt, nullptr, Operands(SyCall{}), {}};
    for (std::size_t i = 0; i < call.argument_count; ++i) {
      out.values.push_back(call.arguments[i].value);
    }
    return out;
  }
  std::vector<std::uint32_t> results(call.results, call.results + call.result_count);
  if (const Kernel kernel = KernelOf(call.op)) {
    return {std::nullopt, kernel, Operands(call), std::move(results)};
  }
  const c10::OperatorHandle op = OperatorNamed(call.op);
  const c10::Device device = call.on_host ? c10::Device(c10::kCPU) : device_;
  return {op, nullptr, Operands(call, op.schema(), device), std::move(results)};
}

void Session::Place(std::uint32_t value, bool on_host, const SyLayout& layout,
                    const SyContent& content) {
  const at::NoGradGuard no_grad;
  const at::IntArrayRef sizes(layout.sizes, layout.rank);
  const at::ScalarType type = ScalarTypeNamed(layout.dtype);
  const c10::Device device = on_host ? c10::Device(c10::kCPU) : device_;
  at::Tensor tensor = at::empty_strided(sizes, {layout.strides, layout.rank},
                                        at::TensorOptions(type).device(device));
  at::Tensor written = Unexpanded(tensor, tensor);
  if (content.bytes != nullptr) {
    // Copied, so that it lies as PyTorch's own tensors do and may be written to.
    written.copy_(Unexpanded(at::from_blob(const_cast<void*>(content.bytes), sizes, type), tensor));
  } else if (content.copied != SY_NO_VALUE) {
    written.copy_(placed_[content.copied].toTensor());
  } else {
    Fill(content, &written);
  }
  placed_[value] = tensor;
  values_[value] = std::move(tensor);
}

void Session::Share(std::uint32_t value, std::uint32_t of) {
  placed_[value] = placed_[of];
  values_[value] = placed_[of];
}

void Session::Run(std::size_t begin, std::size_t end, const SyRecord& record) {
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  const at::NoGradGuard no_grad;
  const c10::OptionalDeviceGuard on_device(device_.is_cpu() ? std::nullopt
                                                            : std::optional(device_));
  read_.reset();  // which may be the last that holds what the program lets go
  Listening listening(record, device_);
  for (std::size_t i = begin; i < end; ++i) {
    if (record.stop != nullptr && *record.stop != 0) throw CallError("it was interrupted", i);
    listening.set_call(i);
    const Clock::time_point start = record.seconds != nullptr ? Clock::now() : Clock::time_point();
    try {
      RunCall(calls_[i]);
    } catch (const c10::Error& error) {
      throw CallError(MessageOf(error), i, ProblemOf(error));
    } catch (const std::exception& error) {
      throw CallError(MessageOf(error.what()), i);
    }
    if (record.seconds != nullptr) {
      WaitFor(device_);
      record.seconds[i] += std::chrono::duration<double>(Clock::now() - start).count();
    }
  }
  WaitFor(device_);
}

void Session::RunCall(const Call& call) {
  if (!call.op && call.kernel == nullptr) {
    for (const std::uint32_t value : call.values) {
      if (!kept_[value]) values_[value] = c10::IValue();
    }
    return;
  }
  call.operands.Push(values_, &stack_);
  if (call.op) {
    call.op->callBoxed(&stack_);
  } else {
    call.kernel(&stack_);
  }
  TakeResults(call);
}

// A list of tensors is as many results. Numbers are results, too.
void Session::TakeResults(const Call& call) {
  std::size_t next = 0;
  const auto take = [&](c10::IValue&& result) {
    if (next < call.values.size() && call.values[next] != SY_NO_VALUE) {
      values_[call.values[next]] = std::move(result);
    }
    ++next;
  };
  for (c10::IValue& result : stack_) {
    if (result.isTensorList()) {
      for (at::Tensor& tensor : result.toTensorVector()) take(std::move(tensor));
    } else {
      take(std::move(result));
    }
  }
  stack_.clear();
}

void Session::Release(std::span<const std::uint32_t> values, const SyRecord& record) {
  const Listening listening(record, device_);
  for (const std::uint32_t value : values) {
    if (placed_[value].isNone()) values_[value] = c10::IValue();
  }
}

void Session::Clear() {
  stack_.clear();
  read_.reset();
  for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = placed_[i];
}

SyElements Session::Read(std::uint32_t value) {
  TORCH_CHECK_VALUE(values_[value].isTensor(), "the value is not there any more");
  const at::NoGradGuard no_grad;
  const at::Tensor tensor = values_[value].toTensor();
  at::Tensor dense = tensor.is_sparse() ? tensor.to_dense() : tensor;
  if (dense._is_zerotensor()) dense = at::zeros(dense.sizes(), dense.options());  // none are stored
  read_ = dense.resolve_conj().resolve_neg().contiguous().cpu();
  return {{NameOf(read_.scalar_type()), read_.sizes().data(), read_.strides().data(),
           read_.sizes().size()},
          read_.const_data_ptr(),
          read_.nbytes()};
}

}  // namespace steelyard::engine
