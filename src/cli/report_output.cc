// SPDX-License-Identifier: Apache-2.0
#include "cli/report_output.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "cli/flag.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "steelyard/error.h"
#include "steelyard/report.h"
#include "steelyard/units.h"
#include "steelyard/weigh.h"

namespace steelyard::cli {

void ReportOutput::AddFlags(std::vector<Flag>* flags) {
  flags->insert(flags->end(),
                {{.name = "--units",
                  .arg = "STYLE",
                  .help = "how numbers are written",
                  .field = &units_,
                  .choices = {"auto", "decimal", "exact"}},
                 {.name = "--format",
                  .arg = "NAME",
                  .help = "how the report is written; by default as the name of FILE says, or text",
                  .field = &format_,
                  .choices = formats_}});
  if (!tables_.empty()) {
    flags->push_back({.name = "--table",
                      .arg = "NAME",
                      .help = "a table as CSV, modules by default; JSON gets it as well",
                      .field = &table_,
                      .choices = tables_});
  }
  flags->push_back({.name = "--output",
                    .short_name = "-o",
                    .arg = "FILE",
                    .help = "where the report goes instead of standard output",
                    .field = &output_});
}

Result<std::string> ReportOutput::ChooseFormat() const {
  if (!format_.empty()) return format_;
  if (output_.empty() && table_.empty()) return std::string(formats_.front());
  if (output_.empty()) {
    const auto holds_one = [](std::string_view f) { return TablesHeldBy(f) == TablesHeld::kOne; };
    return std::string(*std::ranges::find_if(formats_, holds_one));
  }
  const std::string_view named = FormatOfFile(output_);
  if (std::ranges::find(formats_, named) != formats_.end()) return std::string(named);
  std::vector<std::string_view> extensions;
  for (const Choice& format : ReportFormats()) {
    if (std::ranges::find(formats_, format.name) == formats_.end()) continue;
    extensions.push_back(format.extension);
  }
  return Unexpected(UsageError(
      "its name does not say in which format the report shall be", output_,
      fmt::format("Say it with --format, or end it in one of {}.", fmt::join(extensions, ", "))));
}

Result<std::string> ReportOutput::Format() const {
  SY_ASSIGN_OR_RETURN(std::string format, ChooseFormat());
  if (table_.empty() || TablesHeldBy(format) != TablesHeld::kNone) return format;
  return Unexpected(UsageError(fmt::format("the format {} has no tables", format), "--table",
                               "csv holds one; json gets it as well."));
}

report::RenderOptions ReportOutput::Look() const {
  report::RenderOptions look = output_.empty() ? StandardOutputLook() : report::RenderOptions{};
  if (units_ == "exact") look.units = UnitStyle::kExact;
  if (units_ == "decimal") look.units = UnitStyle::kDecimal;
  if (!tables_.empty()) look.table = table();
  return look;
}

Status ReportOutput::Write(std::string_view text) const {
  return output_.empty() ? WriteOutput(text) : WriteFile(output_, text);
}

}  // namespace steelyard::cli
