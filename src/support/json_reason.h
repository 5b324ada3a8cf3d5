// SPDX-License-Identifier: Apache-2.0
//
// What simdjson says of a text, in the same words whatever its version.
#pragma once

#include <cstddef>
#include <string_view>

namespace steelyard {

// Returns the message without the name of the error, which later versions put before all of them
// ("TAPE_ERROR: ") and earlier ones before one ("Empty: "), and without the full stop that some
// have behind it.
constexpr std::string_view JsonReason(std::string_view message) {
  const std::size_t colon = message.find(": ");
  if (colon != std::string_view::npos && message.find(' ') > colon) {
    message.remove_prefix(colon + 2);
  }
  while (message.ends_with('.')) message.remove_suffix(1);
  return message;
}

}  // namespace steelyard
