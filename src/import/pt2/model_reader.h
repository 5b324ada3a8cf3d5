// SPDX-License-Identifier: Apache-2.0
//
// Reads the JSON that describes a model in a torch.export archive: torch's `ExportedProgram`.
#pragma once

#include <cstdint>

#include "import/pt2/archive.h"
#include "steelyard/error.h"
#include "steelyard/import.h"
#include "steelyard/program.h"

namespace steelyard::pt2 {

// Major versions of the schema that are read: torch 2.3 to 2.15.
inline constexpr std::int64_t kOldestSchema = 5;
inline constexpr std::int64_t kNewestSchema = 8;

// Until torch 2.3, whose schema this is, no exported tensor said that it requires a gradient.
inline constexpr std::int64_t kSchemaWithoutGradients = 5;

struct Model {
  Program program;
  std::int64_t schema = kNewestSchema;  // the major version
};

// The program that `json` describes. An error's place is a path in the JSON or a node. With
// `holds_variables` it holds what variables of the model's functions hold, as they name it.
Result<Model> ReadModel(const PaddedText& json, bool holds_variables = false,
                        const ModuleFacts* module = nullptr);

}  // namespace steelyard::pt2
