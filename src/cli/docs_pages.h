// SPDX-License-Identifier: Apache-2.0
//
// The pages of docs/ that say what the program's own rows hold, in Markdown.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace steelyard::cli {

struct DocsPage {
  std::string_view name;
  std::string (*text)();
};

std::span<const DocsPage> DocsPages();

}  // namespace steelyard::cli
