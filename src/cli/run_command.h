// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/report_output.h"
#include "cli/weigh_command.h"
#include "session/run.h"

namespace steelyard::cli {

// steelyard run MODEL
class RunCommand final : public Command {
 public:
  RunCommand();
  std::vector<Flag> Flags() override;
  Status Run() override;

 private:
  void AddModelFlags(std::vector<Flag>* flags);
  void AddReportFlags(std::vector<Flag>* flags);
  Result<RunOptions> Options() const;

  WeighCommand weigh_;
  RunOptions run_;
  std::optional<std::int64_t> seed_;
  std::string compare_, peak_flops_;
  RunReportOptions report_;
  ReportOutput output_;
};

}  // namespace steelyard::cli
