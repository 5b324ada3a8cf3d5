// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace steelyard::cli {

// steelyard docs PAGE, which tools/gen_docs.py calls.
class DocsCommand final : public Command {
 public:
  std::vector<Flag> Flags() override;
  Status Run() override;

 private:
  std::string page_;
};

}  // namespace steelyard::cli
