// SPDX-License-Identifier: Apache-2.0
//
// The flags that say in which form a report is written and where it goes, for every command that
// writes one.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/flag.h"
#include "steelyard/error.h"
#include "steelyard/report.h"

namespace steelyard::cli {

class ReportOutput {
 public:
  // `formats` and `tables` are the choices that the command has, the default first; it may have no
  // tables.
  ReportOutput(std::vector<std::string_view> formats, std::vector<std::string_view> tables)
      : formats_(std::move(formats)), tables_(std::move(tables)) {}

  void AddFlags(std::vector<Flag>* flags);

  // The format: the one that was asked for, else the one of the file's name or of a table. A usage
  // error where the name says none, or where the format has no place for a table.
  Result<std::string> Format() const;

  // Whether --table was given.
  bool names_table() const { return !table_.empty(); }

  // The table that CSV holds. Requires: the command has tables.
  std::string table() const { return table_.empty() ? std::string(tables_.front()) : table_; }

  // How it looks where it goes.
  report::RenderOptions Look() const;

  // Puts it there.
  Status Write(std::string_view text) const;

 private:
  Result<std::string> ChooseFormat() const;

  std::vector<std::string_view> formats_;
  std::vector<std::string_view> tables_;
  std::string units_ = "auto";
  std::string format_;
  std::string table_;
  std::string output_;
};

}  // namespace steelyard::cli
