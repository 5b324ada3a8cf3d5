// SPDX-License-Identifier: Apache-2.0
//
// Which names of a model's tensors are one tensor, as the files beside the graph tell it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace steelyard::pt2 {

// A tensor of a model as it is stored: two names with one storage and offset are the same.
struct StoredTensor {
  std::string name;     // "encoder.layer.0.weight"
  std::string storage;  // name of the file that holds it
  std::int64_t offset = 0;
  std::optional<bool> requires_grad = {};
};

// The tensors of a state dict that `torch.save` wrote, from the first bytes of its archive: torch
// puts the pickle, which holds names and sizes, before the weights. Nothing of it is executed: the
// pickle is read as the list of names that it is, and whatever else it would do has no effect.
// Nothing is returned when it is not of this form, or when `beginning` ends before the pickle does.
std::optional<std::vector<StoredTensor>> ReadStateDict(std::string_view beginning);

}  // namespace steelyard::pt2
