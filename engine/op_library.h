// SPDX-License-Identifier: Apache-2.0
//
// Operators that a package adds to PyTorch's are in a library of its own, which has to be loaded
// before they can be called.
#pragma once

#include <string>
#include <string_view>

namespace steelyard::engine {

// Loads the library at `file`, whose operators PyTorch then has.
void LoadOperators(const std::string& file);

// Loads the library of the package that defines `op`, "torchvision::nms", where it is known and
// installed beside PyTorch. Returns whether it is.
bool LoadPackageOf(std::string_view op);

}  // namespace steelyard::engine
