// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace steelyard::cli {

// steelyard ops [PATTERN]
class OpsCommand final : public Command {
 public:
  std::vector<Flag> Flags() override;
  Status Run() override;

 private:
  std::string pattern_;
};

}  // namespace steelyard::cli
