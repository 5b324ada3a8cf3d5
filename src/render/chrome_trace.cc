// SPDX-License-Identifier: Apache-2.0
//
// The format: "Trace Event Format" (Google, 2016): an object with an array `traceEvents`; `ph` says
// what an event is, `ts` and `dur` are microseconds. One event a line, so that tools that read by
// lines can work with it.
#include "render/chrome_trace.h"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "document/trace.h"
#include "render/quoted.h"
#include "steelyard/report.h"
#include "steelyard/units.h"

namespace steelyard::render {
namespace {

using report::Counter;
using report::Moment;
using report::Sample;
using report::Slice;
using report::Trace;
using report::TraceDetail;

class TraceWriter {
 public:
  TraceWriter(const Trace& trace, std::string* out) : trace_(trace), out_(*out) {}

  void Write() {
    out_.append("{\"displayTimeUnit\": \"ns\",\n\"otherData\": {\"clock\": ");
    AppendQuoted(trace_.clock, &out_);
    out_.append("},\n\"traceEvents\": [\n");
    WriteName("process_name", trace_.name);
    WriteName("thread_name", "modules and operators");
    for (const Slice& slice : trace_.slices) WriteSlice(slice);
    for (const Counter& counter : trace_.counters) WriteCounter(counter);
    for (const Moment& moment : trace_.moments) WriteMoment(moment);
    out_.append("\n]}\n");
  }

 private:
  void Begin(std::string_view phase, std::string_view name) {
    out_.append(first_ ? "" : ",\n").append(R"({"ph": ")").append(phase).append(R"(", "name": )");
    first_ = false;
    AppendQuoted(name, &out_);
    out_.append(R"(, "pid": 1, "tid": 1)");
  }

  void WriteName(std::string_view what, std::string_view name) {
    Begin("M", what);
    out_.append(R"(, "args": {"name": )");
    AppendQuoted(name, &out_);
    out_.append("}}");
  }

  // In the digits that are needed: 12, 12.5, 12.333.
  void AppendTime(std::string_view key, std::int64_t ticks) {
    const double units = static_cast<double>(ticks) / static_cast<double>(trace_.ticks_per_unit);
    fmt::format_to(std::back_inserter(out_), ", \"{}\": {}", key, units);
  }

  void WriteSlice(const Slice& slice) {
    Begin("X", slice.name);
    out_.append(", \"cat\": ");
    AppendQuoted(slice.category, &out_);
    AppendTime("ts", slice.begin);
    AppendTime("dur", slice.end - slice.begin);
    WriteDetails(slice.details);
  }

  void WriteCounter(const Counter& counter) {
    const std::string_view unit = counter.unit == Unit::kBytes ? "bytes" : "count";
    const std::string name = counter.name + " (" + std::string(unit) + ")";
    for (const Sample& sample : counter.samples) {
      Begin("C", name);
      AppendTime("ts", sample.at);
      fmt::format_to(std::back_inserter(out_), R"(, "args": {{"{}": {}}}}})", unit, sample.value);
    }
  }

  void WriteMoment(const Moment& moment) {
    Begin("i", moment.name);
    AppendTime("ts", moment.at);
    out_.append(R"(, "s": "g")");
    WriteDetails(moment.details);
  }

  void WriteDetails(const std::vector<TraceDetail>& details) {
    if (!details.empty()) {
      out_.append(", \"args\": {");
      for (const TraceDetail& detail : details) {
        if (&detail != &details.front()) out_.append(", ");
        AppendQuoted(detail.key, &out_);
        out_.append(": ");
        if (const auto* number = std::get_if<std::int64_t>(&detail.value)) {
          out_.append(fmt::format_int(*number).c_str());
        } else {
          AppendQuoted(std::get<std::string>(detail.value), &out_);
        }
      }
      out_.push_back('}');
    }
    out_.push_back('}');
  }

  const Trace& trace_;
  std::string& out_;
  bool first_ = true;
};

}  // namespace

void WriteChromeTrace(const report::Document& document, const report::RenderOptions& /*options*/,
                      std::string* out) {
  const report::Trace nothing;
  TraceWriter(document.trace != nullptr ? *document.trace : nothing, out).Write();
}

}  // namespace steelyard::render
