// SPDX-License-Identifier: Apache-2.0
//
// Names of files that are parts of one model: "model-00002-of-00005.safetensors".
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace steelyard::weights {

struct PartName {
  std::string_view model;  // "model"
  int number = 1;          // from 1
  int count = 1;
};

// What a file's name says of the set it belongs to; nothing where it is no part of one.
std::optional<PartName> PartOf(std::string_view name, std::string_view extension);

// The name of a part as `PartOf` reads it.
std::string NameOfPart(const PartName& part, std::string_view extension);

// The models that files of these names are, by the extension: the name of the only file or of the
// first part of each.
std::vector<std::string> ModelsAmong(std::span<const std::string> names,
                                     std::string_view extension);

}  // namespace steelyard::weights
