// SPDX-License-Identifier: Apache-2.0
//
// Written for many events: what events have in common (a name, a list of inputs) is put into words
// once, numbers are written digit by digit, and text is handed on before it leaves the cache.
//
// What is in it, and how it is called, is as libkineto writes it (output_json.cpp, PyTorch 2.15).
// Times are microseconds with three digits after the point, since `baseTimeNanoseconds`: viewers
// keep them in doubles, which hold those of less than three months exactly.
#include "render/recorded_trace.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "render/quoted.h"

namespace steelyard::render {
namespace {

using report::RecordedArrow;
using report::RecordedBytes;
using report::RecordedDevice;
using report::RecordedKind;
using report::RecordedSpan;
using report::RecordedTrace;
using report::RecordedValue;
using report::RecordedWork;

// libkineto counts from a multiple of this: a quarter of the mean year.
constexpr std::int64_t kBaseStep = std::int64_t{7'889'238} * 1'000'000'000;

constexpr std::size_t kPiece = std::size_t{256} << 10u;  // bytes

std::string Quoted(std::string_view text) {
  std::string quoted;
  AppendQuoted(text, &quoted);
  return quoted;
}

class RecordedTraceWriter {
 public:
  using Sink = std::function<void(std::string_view piece)>;

  RecordedTraceWriter(const RecordedTrace& trace, const Sink& write)
      : trace_(trace), write_(write), base_(trace.begin - trace.begin % kBaseStep) {
    out_.reserve(2 * kPiece);
    for (const std::string& name : trace.names) names_.push_back(Quoted(name));
    for (const auto& values : trace.inputs) inputs_.push_back(TextOf(values));
    for (const std::uint64_t thread : trace.threads) {
      std::string ids = R"(, "pid": )" + std::to_string(trace.process) + R"(, "tid": )";
      // The thread that is the program's is the process, for those who look for it.
      ids += std::to_string(thread == trace.threads.front() ? trace.process : thread);
      threads_.push_back(std::move(ids));
    }
  }

  void Write() {
    WriteHead();
    WriteNames();
    for (std::uint32_t s = 0; s < trace_.spans.size(); ++s) WriteSpan(s);
    for (std::size_t a = 0; a < trace_.arrows.size(); ++a) WriteArrow(a);
    for (const RecordedBytes& bytes : trace_.memory) WriteMemory(bytes);
    for (std::size_t d = 0; d < trace_.device.size(); ++d) WriteDevice(d);
    WriteWindow();
    out_.append("\n  ],\n  \"traceName\": ").append(Quoted(trace_.name)).append("\n}\n");
    write_(out_);
  }

 private:
  static std::string TextOf(const std::vector<RecordedValue>& values) {
    const auto list = [&](std::string_view key, auto&& text_of) {
      std::string text = R"(, ")" + std::string(key) + R"(": [)";
      for (const RecordedValue& value : values) {
        if (&value != values.data()) text += ", ";
        text += text_of(value);
      }
      return text + "]";
    };
    return list("Concrete Inputs", [](const RecordedValue& v) { return Quoted(v.value); }) +
           list("Input type", [](const RecordedValue& v) { return Quoted(v.type); }) +
           list("Input Strides", [](const RecordedValue& v) { return v.strides; }) +
           list("Input Dims", [](const RecordedValue& v) { return v.sizes; });
  }

  void WriteHead() {
    out_.append("{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [],\n");
    for (const auto& [key, value] : trace_.properties) {
      out_.append("  ").append(Quoted(key)).append(": ").append(value).append(",\n");
    }
    out_.append("  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": ");
    Integer(base_);
    out_.append(",\n  \"traceEvents\": [");
  }

  void Begin(std::string_view event) {
    if (out_.size() > kPiece) {
      write_(out_);
      out_.clear();
    }
    out_.append(first_ ? "\n  {" : ",\n  {").append(event);
    first_ = false;
  }

  void WriteNames() {
    for (std::size_t t = 0; t < trace_.threads.size(); ++t) {
      if (t == 0) {
        Name(t, "process_name", R"("name": "python")");
        Name(t, "process_labels", R"("labels": "CPU")");
        Name(t, "process_sort_index", R"("sort_index": )" + std::to_string(trace_.process));
      }
      const std::string id = std::to_string(trace_.threads[t]);
      Name(t, "thread_name", R"("name": "thread )" + id + " (python)\"");
      Name(t, "thread_sort_index", R"("sort_index": )" + id);
    }
  }

  void Name(std::size_t thread, std::string_view what, std::string_view value) {
    BeginName(what);
    out_.append(threads_[thread]);
    EndName(value);
  }

  // Between them stands what is named.
  void BeginName(std::string_view what) {
    Begin(R"("ph": "M", "name": ")");
    out_.append(what).append(R"(", "ts": )");
    Time(0);
  }
  void EndName(std::string_view value) { out_.append(R"(, "args": {)").append(value).append("}}"); }

  static std::string_view CategoryOf(RecordedKind kind) {
    switch (kind) {
      case RecordedKind::kOperator:
        return R"("ph": "X", "cat": "cpu_op", "name": )";
      case RecordedKind::kAnnotation:
        return R"("ph": "X", "cat": "user_annotation", "name": )";
      case RecordedKind::kFunction:
        return R"("ph": "X", "cat": "python_function", "name": )";
    }
    return {};
  }

  void WriteSpan(std::uint32_t s) {
    const RecordedSpan& span = trace_.spans[s];
    Begin(CategoryOf(span.kind));
    out_.append(names_[span.name]).append(threads_[span.thread]).append(R"(, "ts": )");
    Time(span.begin);
    out_.append(R"(, "dur": )");
    Microseconds(span.end - span.begin);
    if (span.kind == RecordedKind::kFunction) {
      out_.append(R"(, "args": {"Python id": )");
      Integer(s + 1);
      if (span.parent != report::kNone) {
        out_.append(R"(, "Python parent id": )");
        Integer(span.parent + 1);
      }
    } else {
      out_.append(R"(, "args": {"External id": )");
      Integer(s + 1);
      out_.append(R"(, "Record function id": 0)");
    }
    if (span.sequence >= 0) {
      out_.append(R"(, "Sequence number": )");
      Integer(span.sequence);
      out_.append(R"(, "Fwd thread id": )");
      Integer(span.forward_thread);
    }
    if (span.module != report::kNone) out_.append(R"(, "Module": )").append(names_[span.module]);
    if (span.inputs != report::kNone) out_.append(inputs_[span.inputs]);
    EndWithIndex(s);
  }

  void EndWithIndex(std::uint32_t index) {
    out_.append(R"(, "Ev Idx": )");
    Integer(index);
    out_.append("}}");
  }

  void WriteArrow(std::size_t number) {
    const RecordedArrow& arrow = trace_.arrows[number];
    ArrowEnd(R"("ph": "s", "id": )", number, trace_.spans[arrow.from]);
    out_.append("}");
    ArrowEnd(R"("ph": "f", "id": )", number, trace_.spans[arrow.to]);
    out_.append(R"(, "bp": "e"})");
  }

  void ArrowEnd(std::string_view phase, std::size_t number, const RecordedSpan& span) {
    Begin(phase);
    Integer(static_cast<std::int64_t>(number + 1));
    out_.append(threads_[span.thread]).append(R"(, "ts": )");
    Time(span.begin);
    out_.append(R"(, "cat": "fwdbwd", "name": "fwdbwd")");
  }

  void WriteMemory(const RecordedBytes& bytes) {
    Begin(R"("ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]")");
    out_.append(threads_[bytes.thread]).append(R"(, "ts": )");
    Time(bytes.at);
    out_.append(R"(, "args": {"Total Reserved": 0, "Total Allocated": )");
    Integer(bytes.total);
    out_.append(R"(, "Bytes": )");
    Integer(bytes.bytes);
    out_.append(R"(, "Device Id": -1, "Device Type": 0, "Addr": )");
    Integer(static_cast<std::int64_t>(bytes.address));
    EndWithIndex(static_cast<std::uint32_t>(trace_.spans.size()) + memory_++);
  }

  static std::string_view CategoryOf(RecordedWork work) {
    switch (work) {
      case RecordedWork::kKernel:
        return R"("ph": "X", "cat": "kernel", "name": )";
      case RecordedWork::kCopy:
        return R"("ph": "X", "cat": "gpu_memcpy", "name": )";
      case RecordedWork::kFill:
        return R"("ph": "X", "cat": "gpu_memset", "name": )";
    }
    return {};
  }

  void Place(std::int64_t process, std::int64_t thread) {
    out_.append(R"(, "pid": )");
    Integer(process);
    out_.append(R"(, "tid": )");
    Integer(thread);
  }

  // A device is a process of its own, and its streams are the threads.
  void NameDevice(std::uint16_t device) {
    if (!named_.insert(device).second) return;
    const std::string number = std::to_string(device);
    for (const auto& [what, value] :
         {std::pair<std::string_view, std::string>{"process_name", R"("name": "python")"},
          {"process_labels", R"("labels": "GPU )" + number + '"'},
          {"process_sort_index", R"("sort_index": )" + std::to_string(5'000'000 + device)}}) {
      BeginName(what);
      Place(device, 0);
      EndName(value);
    }
  }

  // As libkineto has them: what ran, the runtime's call, and an arrow from that to this.
  void WriteDevice(std::size_t number) {
    const RecordedDevice& device = trace_.device[number];
    NameDevice(device.device);
    const auto correlation = static_cast<std::int64_t>(number + 1);
    const auto end_with = [&](std::string_view last) {
      out_.append(R"("correlation": )");
      Integer(correlation);
      if (device.span != report::kNone) {
        out_.append(R"(, "External id": )");
        Integer(device.span + 1);
      }
      out_.append(last);
    };
    Begin(CategoryOf(device.work));
    out_.append(names_[device.name]);
    Place(device.device, device.stream);
    out_.append(R"(, "ts": )");
    Time(device.begin);
    out_.append(R"(, "dur": )");
    Microseconds(device.end - device.begin);
    out_.append(R"(, "args": {"device": )");
    Integer(device.device);
    out_.append(R"(, "context": 1, "stream": )");
    Integer(device.stream);
    if (device.work != RecordedWork::kKernel) {
      out_.append(R"(, "bytes": )");
      Integer(device.bytes);
    }
    out_.append(", ");
    end_with("}}");
    if (device.asked < 0) return;
    Begin(R"("ph": "X", "cat": "cuda_runtime", "name": )");
    out_.append(names_[device.call]).append(threads_[device.thread]).append(R"(, "ts": )");
    Time(device.asked);
    out_.append(R"(, "dur": )");
    Microseconds(device.asked_end - device.asked);
    out_.append(R"(, "args": {)");
    end_with("}}");
    Begin(R"("ph": "s", "id": )");
    Integer(correlation);
    out_.append(threads_[device.thread]).append(R"(, "ts": )");
    Time(device.asked);
    out_.append(R"(, "cat": "ac2g", "name": "ac2g"})");
    Begin(R"("ph": "f", "id": )");
    Integer(correlation);
    Place(device.device, device.stream);
    out_.append(R"(, "ts": )");
    Time(device.begin);
    out_.append(R"(, "cat": "ac2g", "name": "ac2g", "bp": "e"})");
  }

  void WriteWindow() {
    Begin(R"_("ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", )_"
          R"("pid": "Spans", "tid": "PyTorch Profiler", "ts": )");
    Time(0);
    out_.append(R"(, "dur": )");
    Microseconds(trace_.end);
    out_.append(R"(, "args": {"Op count": 0}})");
    Begin(R"("ph": "i", "s": "g", "name": "Iteration Start: PyTorch Profiler", )"
          R"("pid": "Traces", "tid": "Trace PyTorch Profiler", "ts": )");
    Time(0);
    out_.append("}");
    Begin(R"("ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": )");
    Time(trace_.end);
    out_.append("}");
  }

  void Integer(std::int64_t value) {
    std::array<char, 24> digits{};
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    static_cast<void>(error);
    out_.append(digits.data(), end);
  }

  void Time(std::int64_t nanoseconds) { Microseconds(trace_.begin - base_ + nanoseconds); }

  void Microseconds(std::int64_t nanoseconds) {
    Integer(nanoseconds / 1000);
    const auto rest = static_cast<int>(nanoseconds % 1000);
    const std::array<char, 4> fraction{'.', static_cast<char>('0' + rest / 100),
                                       static_cast<char>('0' + rest / 10 % 10),
                                       static_cast<char>('0' + rest % 10)};
    out_.append(fraction.data(), fraction.size());
  }

  const RecordedTrace& trace_;
  const Sink& write_;
  std::string out_;  // what has not been handed on
  std::int64_t base_;
  std::vector<std::string> names_, inputs_, threads_;  // as they are written
  std::uint32_t memory_ = 0;                           // events so far
  std::set<std::uint16_t> named_;                      // devices
  bool first_ = true;
};

}  // namespace

void WriteRecordedTrace(const report::RecordedTrace& trace,
                        const std::function<void(std::string_view piece)>& write) {
  RecordedTraceWriter(trace, write).Write();
}

}  // namespace steelyard::render
