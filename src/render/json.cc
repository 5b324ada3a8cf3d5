// SPDX-License-Identifier: Apache-2.0
//
// Written for reports with every event of a training step in them: names repeat thousands of times
// there, so each distinct one is quoted and escaped once and copied afterwards.
//
// Numbers are written here rather than through support/units.h, which writes for people.
#include "render/json.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "render/quoted.h"
#include "steelyard/report.h"

namespace steelyard::render {
namespace {

using report::DataKind;
using report::DataView;

class JsonWriter {
 public:
  JsonWriter(const report::Data& data, std::string* out)
      : data_(data), quoted_(data.text_count()), out_(*out) {}

  void Write(DataView value, std::size_t depth) {
    switch (value.kind()) {
      case DataKind::kObject:
        return WriteContainer(value, '{', '}', depth);
      case DataKind::kArray:
        return WriteContainer(value, '[', ']', depth);
      case DataKind::kInt: {
        const fmt::format_int digits(value.AsInt());
        out_.append(digits.data(), digits.size());
        return;
      }
      case DataKind::kDouble:
        return WriteDouble(value.AsDouble());
      case DataKind::kText:
        return WriteText(value.text_id());
      case DataKind::kBool:
        out_.append(value.AsBool() ? "true" : "false");
        return;
    }
  }

 private:
  // A text once quoted and escaped: where it stands in `escaped_`. A quoted text is never empty.
  struct Quoted {
    std::size_t begin = 0;
    std::size_t size = 0;
  };

  static bool IsContainer(DataView value) {
    return value.kind() == DataKind::kObject || value.kind() == DataKind::kArray;
  }

  static bool HoldsContainer(DataView value) {
    for (const DataView child : value) {
      if (IsContainer(child)) return true;
    }
    return false;
  }

  void WriteContainer(DataView value, char open, char close, std::size_t depth) {
    const bool keyed = value.kind() == DataKind::kObject;
    const bool tall = HoldsContainer(value);
    out_.push_back(open);
    bool first = true;
    for (const DataView child : value) {
      if (!first) out_.append(tall ? "," : ", ");
      first = false;
      if (tall) StartLine(depth + 1);
      if (keyed) {
        WriteText(child.key_id());
        out_.append(": ");
      }
      Write(child, depth + 1);
    }
    if (tall) StartLine(depth);
    out_.push_back(close);
  }

  void StartLine(std::size_t depth) {
    constexpr std::size_t kIndent = 2;
    constexpr std::string_view kLine = "\n                                ";
    const std::size_t size = 1 + depth * kIndent;
    out_.append(kLine.substr(0, size));
    if (size > kLine.size()) out_.append(size - kLine.size(), ' ');
  }

  void WriteText(std::uint32_t id) {
    Quoted& quoted = quoted_[id];
    if (quoted.size == 0) {
      quoted.begin = escaped_.size();
      AppendQuoted(data_.text(id), &escaped_);
      quoted.size = escaped_.size() - quoted.begin;
    }
    out_.append(std::string_view(escaped_).substr(quoted.begin, quoted.size));
  }

  void WriteDouble(double value) {
    if (!std::isfinite(value)) {
      out_.append("null");
      return;
    }
    const std::size_t begin = out_.size();
    fmt::format_to(std::back_inserter(out_), "{}", value);  // The shortest text that reads back.
    // Keeps a whole number recognizable as a double for readers that tell them apart.
    const bool whole = out_.find_first_of(".e", begin) == std::string::npos;
    if (whole) out_.append(".0");
  }

  const report::Data& data_;
  std::vector<Quoted> quoted_;  // By the number of the text.
  std::string escaped_;
  std::string& out_;
};

}  // namespace

void WriteJson(const report::Document& document, const report::RenderOptions& /*options*/,
               std::string* out) {
  // About what a value takes with its key or its share of a bracket; saves copying large reports.
  constexpr std::size_t kBytesPerValue = 24;
  out->reserve(out->size() + document.data.size() * kBytesPerValue);
  JsonWriter(document.data, out).Write(document.data.root(), 0);
  out->push_back('\n');
}

}  // namespace steelyard::render
