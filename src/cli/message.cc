// SPDX-License-Identifier: Apache-2.0
#include "cli/message.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "steelyard/error.h"

namespace steelyard::cli {
namespace {

constexpr std::size_t kLongestLine = 2000;

bool IsControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

}  // namespace

int ExitStatusOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidInput:
    case ErrorCode::kUnsupported:
    case ErrorCode::kNotFound:
      return kRefused;
    case ErrorCode::kUsage:
      return kMisused;
    case ErrorCode::kInternal:
      return kDefect;
  }
  return kDefect;
}

std::string ErrorLine(const Error& error) {
  Error told = error;
  told.hint.resize(std::min(told.hint.find('\n'), told.hint.size()));
  std::string line = "steelyard: " + Describe(told);
  std::ranges::replace_if(line, IsControl, ' ');
  // The second half of a control character in UTF-8 (U+0080 to U+009F), which terminals obey too.
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    const bool control = line[i] == '\xc2' && static_cast<unsigned char>(line[i + 1]) < 0xa0;
    if (control) line[i] = line[i + 1] = ' ';
  }
  if (line.size() > kLongestLine) line.resize(kLongestLine);
  return line + "\n";
}

}  // namespace steelyard::cli
