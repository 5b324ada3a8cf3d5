// SPDX-License-Identifier: Apache-2.0
//
// What is common to folders of weights, whatever the format.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "steelyard/error.h"

namespace steelyard::weights {

// The names in a folder, sorted; at most 100,000 of them.
std::vector<std::string> NamesIn(const std::string& folder);

// That a folder has several models, of which one is to be named.
Error SeveralModels(const std::string& folder, const std::vector<std::string>& models);

// What to call the model in the file at `path`, whose name begins with `stem`: files that all are
// called "model" get the name of their folder.
std::string NameOfModel(const std::string& path, std::string_view stem);

}  // namespace steelyard::weights
