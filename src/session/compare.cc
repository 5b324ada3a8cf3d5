// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "document/read_json.h"
#include "present/comparison.h"
#include "present/stored_report.h"
#include "steelyard/error.h"
#include "steelyard/report.h"
#include "steelyard/weigh.h"

namespace steelyard {
namespace {

constexpr std::array<std::string_view, 5> kTables = {"modules", "operators", "categories", "totals",
                                                     "dtypes"};

// Whether a file begins as JSON does, and no model's file.
bool IsJson(const std::string& path) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code)) return false;  // a pipe could wait for ever
  std::ifstream file(path, std::ios::binary);
  char first = '\0';
  return file >> first && first == '{';
}

Result<report::Data> ReadReport(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  Result<report::Data> data = report::ReadJson(text);
  if (!data) return Unexpected(Within(path, std::move(data).error()));
  const std::optional<report::DataView> schema = data->root().Find("schema");
  const std::string_view named =
      schema && schema->kind() == report::DataKind::kText ? schema->AsText() : std::string_view();
  if (named != kReportSchema) {
    const bool other_version = named.starts_with("steelyard.report/");
    return Unexpected(InvalidInput(
        other_version ? fmt::format("it is a {}, and this version reads {}", named, kReportSchema)
                      : "the JSON is no report of steelyard weigh",
        path, "Write one with steelyard weigh MODEL --format json."));
  }
  if (Status status = present::CheckStoredReport(data->root()); !status) {
    return Unexpected(Within(path, std::move(status).error()));
  }
  return data;
}

// What a side has to say to programs.
Result<report::Data> DataOf(const std::string& path, const CompareOptions& options) {
  if (IsJson(path)) return ReadReport(path);
  WeighOptions weigh = options.weigh;
  weigh.path = path;
  SY_ASSIGN_OR_RETURN(const Weighing weighing, Weigh(weigh));
  return Describe(weighing, {}).data;
}

}  // namespace

std::span<const std::string_view> ComparisonTables() { return kTables; }

Result<report::Document> Compare(const CompareOptions& options) {
  const bool a_is_stored = IsJson(options.a), b_is_stored = IsJson(options.b);
  if (a_is_stored && b_is_stored && !options.asked.empty()) {
    return Unexpected(UsageError("both files are reports of what was weighed before",
                                 options.asked.front(),
                                 "Leave it out, or name the models' files instead."));
  }
  SY_ASSIGN_OR_RETURN(const report::Data a, DataOf(options.a, options));
  SY_ASSIGN_OR_RETURN(const report::Data b, DataOf(options.b, options));
  report::Document document;
  present::PresentComparison({.label = options.a, .data = a.root(), .is_stored = a_is_stored},
                             {.label = options.b, .data = b.root(), .is_stored = b_is_stored},
                             {.depth = options.depth, .top = options.top, .asked = options.asked},
                             &document);
  return document;
}

}  // namespace steelyard
