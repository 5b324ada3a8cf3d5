// SPDX-License-Identifier: Apache-2.0
//
// What the tensors hold that are there before a program runs: the elements that files give, and
// else random numbers of a kind that keeps a model's activations finite.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "execute/engine_abi.h"
#include "steelyard/error.h"
#include "steelyard/program.h"
#include "steelyard/timeline.h"

namespace steelyard {

// A storage that is there before a program runs and after it. Several values may be that tensor.
struct Resident {
  ValueId value = kNoId;
  std::string name = {};
  Category category = Category::kInputs;
  bool is_required = true;              // of a file that gives what is of its kind
  std::vector<ValueId> also = {};       // other values that are it
  std::vector<std::string> names = {};  // other names of it
};
std::vector<Resident> ResidentsOf(const Program& kernels);

// A tensor as a file gives it, row by row.
struct GivenTensor {
  DType dtype = DType::kFloat32;
  std::span<const std::int64_t> sizes;
  const void* bytes = nullptr;
};
// The tensor of a name, if there is one.
using GivenTensors = std::function<std::optional<GivenTensor>(std::string_view name)>;

// Whose tensors hold what; a function that is empty gives none, and the tensors are drawn.
struct Sources {
  GivenTensors weights = {};  // parameters and buffers
  GivenTensors inputs = {};
  GivenTensors constants = {};    // what of buffers the model itself has and `weights` have not
  std::string weights_name = {};  // for messages
  std::string inputs_name = {};
};

// The contents of `residents`, in their order. An error that names the first tensors that the files
// lack or give otherwise.
Result<std::vector<SyContent>> ContentsOf(const Program& kernels,
                                          std::span<const Resident> residents,
                                          const Sources& sources);

}  // namespace steelyard
