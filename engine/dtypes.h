// SPDX-License-Identifier: Apache-2.0
//
// Names of PyTorch's enumerations, as programs write them.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace steelyard::engine {

// "float32". Throws c10::Error for a name that this PyTorch does not know.
c10::ScalarType ScalarTypeNamed(std::string_view name);
const char* NameOf(c10::ScalarType type);

// The number under which a schema knows a memory format or a layout, "channels_last".
std::optional<std::int64_t> CodeNamed(std::string_view name);

}  // namespace steelyard::engine
