// SPDX-License-Identifier: Apache-2.0
//
// A trace tells of what a device ran and of the call that asked for it apart, in any order, and at
// its end may say what all its times are counted from: events are joined when all have been read.
// Times that no clock tells are left out; what PyTorch would not write so is an error.
#include "import/device_events.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "import/json.h"
#include "import/padded_text.h"

namespace steelyard {
namespace {

template <class T>
T Within(std::int64_t number) {
  return static_cast<T>(std::clamp<std::int64_t>(number, 0, std::numeric_limits<T>::max()));
}

// Of microseconds; nothing of what no clock says.
std::optional<std::int64_t> Nanoseconds(double microseconds) {
  constexpr double kMost = 4e15;  // in 2096
  if (!(std::abs(microseconds) < kMost)) return std::nullopt;
  return std::llround(microseconds * 1e3);
}

class TraceReader {
 public:
  Result<DeviceEvents> Read(const PaddedText& text, std::string_view where) && {
    JsonText json(text);
    const bool read = json.ok() ? Root(json.root()) : reader_.Fail(ReasonOf(json.code()));
    if (!read) {
      Error error = reader_.TakeError();
      error.where = std::string(where) + (error.where.empty() ? "" : ": " + error.where);
      return Unexpected(std::move(error));
    }
    for (std::size_t i = 0; i < out_.events.size(); ++i) Finish(out_.events[i], numbers_[i]);
    return std::move(out_);
  }

 private:
  // What is of interest in an event; most have only some of it.
  struct Fields {
    std::string_view category, name;
    double at = 0, lasted = 0;
    std::int64_t thread = 0, correlation = 0, device = 0, stream = 0, bytes = 0;
  };
  // A call of the runtime.
  struct Launch {
    std::int64_t begin = 0, end = 0;
    std::uint32_t name = 0;
    std::uint32_t thread = 0;
  };

  bool Root(JsonValue root) {
    return reader_.Object(root, [&](std::string_view key, JsonValue value) {
      if (key == "baseTimeNanoseconds") return Base(value);
      if (key != "traceEvents") return true;
      return reader_.Array(value, [&](JsonValue event) { return Event(event); });
    });
  }

  bool Base(JsonValue value) {
    constexpr std::int64_t kMost = 4'000'000'000'000'000'000;
    if (!reader_.Int(value, base_)) return false;
    if (base_ >= 0 && base_ <= kMost) return true;
    return reader_.Fail("it is no time");
  }

  bool Event(JsonValue event) {
    Fields fields;
    const bool read = reader_.Object(event, [&](std::string_view key, JsonValue value) {
      if (key == "cat") return reader_.Text(value, fields.category);
      if (key == "name") return reader_.Text(value, fields.name);
      if (key == "ts") return reader_.Real(value, fields.at);
      if (key == "dur") return reader_.Real(value, fields.lasted);
      if (key == "tid") return Number(value, fields.thread);
      if (key != "args") return true;
      return reader_.Object(value, [&](std::string_view argument, JsonValue of) {
        if (argument == "correlation") return Number(of, fields.correlation);
        if (argument == "device") return Number(of, fields.device);
        if (argument == "stream") return Number(of, fields.stream);
        if (argument == "bytes") return Number(of, fields.bytes);
        return true;
      });
    });
    if (!read) return false;
    Add(fields);
    return true;
  }

  // Some of these are texts elsewhere ("tid": "PyTorch Profiler"), which nobody asks for.
  bool Number(JsonValue value, std::int64_t& out) {
    const std::string_view token = JsonReader::Token(value);
    const bool is_number =
        !token.empty() && (token[0] == '-' || (token[0] >= '0' && token[0] <= '9'));
    return !is_number || token.find_first_of(".eE") != token.npos || reader_.Int(value, out);
  }

  void Add(const Fields& fields) {
    constexpr std::int64_t kLongest = 1'000'000'000'000'000'000;  // 30 years
    const auto at = Nanoseconds(fields.at), lasted = Nanoseconds(fields.lasted);
    if (!at || !lasted || *lasted < 0 || *lasted > kLongest) return;
    if (fields.category == "cuda_runtime" || fields.category == "cuda_driver") {
      if (fields.correlation == 0) return;
      launches_[fields.correlation] = {*at, *at + *lasted, NameOf(fields.name),
                                       Within<std::uint32_t>(fields.thread)};
      return;
    }
    const std::optional<DeviceWork> work = fields.category == "kernel"       ? DeviceWork::kKernel
                                           : fields.category == "gpu_memcpy" ? DeviceWork::kCopy
                                           : fields.category == "gpu_memset"
                                               ? std::optional(DeviceWork::kFill)
                                               : std::nullopt;
    if (!work) return;
    out_.events.push_back({.begin = *at,
                           .end = *at + *lasted,
                           .bytes = std::max<std::int64_t>(fields.bytes, 0),
                           .name = NameOf(fields.name),
                           .stream = Within<std::uint32_t>(fields.stream),
                           .device = Within<std::uint16_t>(fields.device),
                           .work = *work});
    numbers_.push_back(fields.correlation);
  }

  std::uint32_t NameOf(std::string_view name) {
    const auto [found, is_new] =
        names_.try_emplace(std::string(name), static_cast<std::uint32_t>(out_.names.size()));
    if (is_new) out_.names.emplace_back(name);
    return found->second;
  }

  // What a trace says at its end may be of all of it.
  void Finish(DeviceEvent& event, std::int64_t correlation) const {
    event.begin += base_;
    event.end += base_;
    const auto launch = launches_.find(correlation);
    if (correlation == 0 || launch == launches_.end()) return;
    event.asked = launch->second.begin + base_;
    event.asked_end = launch->second.end + base_;
    event.call = launch->second.name;
    event.thread = launch->second.thread;
  }

  JsonReader reader_;
  DeviceEvents out_;
  std::int64_t base_ = 0;              // of its times
  std::vector<std::int64_t> numbers_;  // by event
  std::unordered_map<std::int64_t, Launch> launches_;
  std::unordered_map<std::string, std::uint32_t> names_;
};

}  // namespace

Result<DeviceEvents> ReadDeviceEvents(std::string_view trace, std::string_view where) {
  return TraceReader().Read(PaddedText(trace), where);
}

}  // namespace steelyard
