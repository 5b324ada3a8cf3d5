// SPDX-License-Identifier: Apache-2.0
#include "cli/docs_command.h"

#include <string_view>
#include <utility>
#include <vector>

#include "cli/docs_pages.h"
#include "cli/flag.h"
#include "cli/output.h"
#include "steelyard/error.h"

namespace steelyard::cli {

std::vector<Flag> DocsCommand::Flags() {
  std::vector<std::string_view> names;
  for (const DocsPage& page : DocsPages()) names.push_back(page.name);
  return {{.name = "PAGE",
           .help = "which page",
           .field = &page_,
           .choices = std::move(names),
           .need = Need::kRequired}};
}

Status DocsCommand::Run() {
  for (const DocsPage& page : DocsPages()) {
    if (page.name == page_) return WriteOutput(page.text());
  }
  return Unexpected(InternalError("a page that is a choice is missing", page_));
}

}  // namespace steelyard::cli
