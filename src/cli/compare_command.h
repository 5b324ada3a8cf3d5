// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/report_output.h"
#include "cli/weigh_command.h"

namespace steelyard::cli {

// steelyard compare A B
class CompareCommand final : public Command {
 public:
  CompareCommand();
  std::vector<Flag> Flags() override;
  Status Run() override;

 private:
  std::vector<std::string> AskedOfModels();

  std::string a_;
  std::string b_;
  WeighCommand weigh_;  // how models are weighed
  int depth_ = 2;
  int top_ = 10;
  ReportOutput output_;
};

}  // namespace steelyard::cli
