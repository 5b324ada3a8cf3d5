// SPDX-License-Identifier: Apache-2.0
#include "import/names.h"

#include <simdjson.h>

#include <algorithm>
#include <utility>

namespace steelyard {
namespace {

bool IsAscii(char c) { return static_cast<unsigned char>(c) < 0x80; }

}  // namespace

bool IsUtf8(std::string_view text) {
  return std::ranges::all_of(text, IsAscii) || simdjson::validate_utf8(text.data(), text.size());
}

Error NoUtf8(std::string_view text, std::string where) {
  constexpr std::size_t kMostShown = 60;
  std::string shown(text.substr(0, kMostShown));
  std::ranges::replace_if(shown, [](char c) { return !IsAscii(c); }, '?');
  return InvalidInput("text that is not UTF-8: \"" + shown + "\"", std::move(where),
                      "Is the file damaged? Otherwise write it again with names in UTF-8.");
}

Result<Program> WithNamesInUtf8(Result<Program> program, const std::string& path) {
  if (!program) return program;
  const StringTable& strings = program->strings;
  for (StringId id = 0; id < strings.size(); ++id) {
    const std::string_view text = strings.view(id);
    if (!IsUtf8(text)) return Unexpected(NoUtf8(text, path));
  }
  return program;
}

}  // namespace steelyard
