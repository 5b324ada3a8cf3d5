// SPDX-License-Identifier: Apache-2.0
//
// A message `Trace` is its packets one after the other, so that it is written piece by piece. What
// events have in common stands in the first packet under numbers (interned data). A span is two
// packets, and those of a thread have to be nested: it ends before the next one begins, and with
// the one around it at the latest.
#include "render/perfetto_trace.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steelyard::render {
namespace {

using protozero::pbf_writer;
using report::RecordedKind;
using report::RecordedSpan;
using report::RecordedTrace;

// Numbers of fields and values in perfetto_trace.proto.
namespace trace {
constexpr int kPacket = 1;
}
namespace packet {
constexpr int kClocks = 6, kTime = 8, kSequence = 10, kEvent = 11, kInterned = 12,
              kSequenceFlags = 13, kTrack = 60;
constexpr std::uint32_t kFirst = 1, kNeedsInterned = 2;  // of kSequenceFlags
}  // namespace packet
namespace clocks {
constexpr int kClock = 1, kPrimary = 2, kId = 1, kTime = 2;
constexpr std::uint32_t kUnix = 1, kSinceBoot = 6;
}  // namespace clocks
namespace track {
constexpr int kId = 1, kName = 2, kProcess = 3, kThread = 4, kParent = 5, kCounter = 8;
constexpr int kProcessId = 1, kProcessName = 6;
constexpr int kThreadProcess = 1, kThreadId = 2, kThreadName = 5;
constexpr int kUnit = 3;
constexpr std::int32_t kBytes = 3;  // of kUnit
}  // namespace track
namespace event {
constexpr int kCategory = 3, kNote = 4, kType = 9, kName = 10, kTrack = 11, kCounterValue = 30,
              kFlow = 47, kEndOfFlow = 48;
constexpr std::int32_t kBegin = 1, kEnd = 2, kCounter = 4;  // of kType
}  // namespace event
namespace note {
constexpr int kName = 1, kInteger = 4, kText = 17;
}
namespace interned {
constexpr protozero::pbf_tag_type kCategories = 1, kNames = 2, kNoteNames = 3, kTexts = 29;
constexpr int kId = 1, kText = 2;
}  // namespace interned

// Of spans, and then of what devices run.
constexpr std::array<std::string_view, 6> kCategories{
    "cpu_op", "user_annotation", "python_function", "kernel", "gpu_memcpy", "gpu_memset"};
constexpr std::uint64_t kSpanCategories = 3;
// What is noted of a span, in the order of `Note`.
constexpr std::array<std::string_view, 8> kNotes{
    "Sequence number", "Fwd thread id", "Module",     "Concrete Inputs",
    "Input type",      "Input Strides", "Input Dims", "External id"};
enum class Note : std::uint8_t {
  kSequence,
  kForwardThread,
  kModule,
  kValues,
  kTypes,
  kStrides,
  kSizes,
  kId
};
constexpr std::uint64_t kTextsOfInputs = 4;  // of one list: as Note has them

constexpr std::uint32_t kOnlySequence = 1;
constexpr std::uint64_t kProcessTrack = 1;
constexpr std::size_t kPiece = std::size_t{256} << 10u;  // bytes

// An arrow at one of its ends.
struct FlowEnd {
  std::uint32_t span = 0;
  std::uint64_t flow = 0;
  bool ends = false;
};

class PerfettoWriter {
 public:
  using Sink = std::function<void(std::string_view piece)>;

  PerfettoWriter(const RecordedTrace& trace, const Sink& write)
      : trace_(trace), write_(write), open_(trace.threads.size()) {
    for (const report::RecordedDevice& device : trace.device) {
      const auto [found, is_new] =
          streams_.try_emplace({device.device, device.stream}, open_.size());
      if (is_new) open_.emplace_back();
    }
    flows_.reserve(2 * trace.arrows.size() + trace.device.size());
    for (std::size_t d = 0; d < trace.device.size(); ++d) {
      if (trace.device[d].span == report::kNone) continue;
      flows_.push_back({trace.device[d].span, FlowTo(d), false});
    }
    for (std::size_t a = 0; a < trace.arrows.size(); ++a) {
      flows_.push_back({trace.arrows[a].from, a + 1, false});
      flows_.push_back({trace.arrows[a].to, a + 1, true});
    }
    std::ranges::stable_sort(flows_, {}, &FlowEnd::span);
  }

  void Write() {
    WriteInterned();
    WriteClocks();
    WriteTracks();
    for (std::uint32_t s = 0; s < trace_.spans.size(); ++s) Begin(s);
    for (std::size_t d = 0; d < trace_.device.size(); ++d) BeginDevice(d);
    for (std::size_t t = 0; t < open_.size(); ++t) EndUntil(t, INT64_MAX);
    for (const report::RecordedBytes& bytes : trace_.memory) Count(bytes);
    write_(out_);
  }

 private:
  template <class Fill>
  void Packet(Fill&& fill) {
    if (out_.size() > kPiece) {
      write_(out_);
      out_.clear();
    }
    pbf_writer whole(out_);
    pbf_writer one(whole, trace::kPacket);
    one.add_uint32(packet::kSequence, kOnlySequence);
    fill(one);
  }

  template <class Fill>
  void Event(std::int64_t time, std::uint64_t track, std::int32_t type, Fill&& fill) {
    Packet([&](pbf_writer& one) {
      one.add_uint64(packet::kTime, static_cast<std::uint64_t>(trace_.begin + time));
      one.add_uint32(packet::kSequenceFlags, packet::kNeedsInterned);
      pbf_writer of(one, packet::kEvent);
      of.add_enum(event::kType, type);
      of.add_uint64(event::kTrack, track);
      fill(of);
    });
  }

  static void Intern(pbf_writer& all, protozero::pbf_tag_type list, std::uint64_t id,
                     std::string_view text) {
    pbf_writer one(all, list);
    one.add_uint64(interned::kId, id);
    one.add_bytes(interned::kText, text.data(), text.size());
  }

  // The lists of one call's inputs, as PyTorch's traces have them.
  std::array<std::string, kTextsOfInputs> TextsOf(
      const std::vector<report::RecordedValue>& values) const {
    std::array<std::string, kTextsOfInputs> texts{"[", "[", "[", "["};
    for (const report::RecordedValue& value : values) {
      const std::array<std::string_view, kTextsOfInputs> parts{value.value, value.type,
                                                               value.strides, value.sizes};
      for (std::size_t i = 0; i < texts.size(); ++i) {
        if (&value != values.data()) texts.at(i) += ", ";
        texts.at(i) += parts.at(i);
      }
    }
    for (std::string& text : texts) text += ']';
    return texts;
  }

  // Texts that may stand in notes: names first, then four for each list of inputs.
  std::uint64_t TextOfInputs(std::uint32_t inputs, std::uint64_t which) const {
    return trace_.names.size() + inputs * kTextsOfInputs + which + 1;
  }

  void WriteInterned() {
    Packet([&](pbf_writer& one) {
      one.add_uint32(packet::kSequenceFlags, packet::kFirst);
      pbf_writer all(one, packet::kInterned);
      for (std::size_t c = 0; c < kCategories.size(); ++c) {
        Intern(all, interned::kCategories, c + 1, kCategories.at(c));
      }
      for (std::size_t n = 0; n < trace_.names.size(); ++n) {
        Intern(all, interned::kNames, n + 1, trace_.names[n]);
      }
      for (std::size_t n = 0; n < kNotes.size(); ++n) {
        Intern(all, interned::kNoteNames, n + 1, kNotes.at(n));
      }
      for (std::size_t n = 0; n < trace_.names.size(); ++n) {
        Intern(all, interned::kTexts, n + 1, trace_.names[n]);
      }
      for (std::uint32_t i = 0; i < trace_.inputs.size(); ++i) {
        const auto texts = TextsOf(trace_.inputs[i]);
        for (std::size_t t = 0; t < texts.size(); ++t) {
          Intern(all, interned::kTexts, TextOfInputs(i, t), texts.at(t));
        }
      }
    });
  }

  // Times are Unix time; what the viewer counts by, the time since the start, is made to be the
  // same.
  void WriteClocks() {
    Packet([&](pbf_writer& one) {
      pbf_writer all(one, packet::kClocks);
      for (const std::uint32_t id : {clocks::kUnix, clocks::kSinceBoot}) {
        pbf_writer clock(all, clocks::kClock);
        clock.add_uint32(clocks::kId, id);
        clock.add_uint64(clocks::kTime, static_cast<std::uint64_t>(trace_.begin));
      }
      all.add_enum(clocks::kPrimary, static_cast<std::int32_t>(clocks::kUnix));
    });
  }

  // Of a thread, or of a device's stream, which come behind them.
  static std::uint64_t TrackOf(std::size_t line) { return kProcessTrack + 1 + line; }
  std::uint64_t MemoryTrack() const { return TrackOf(open_.size()); }
  std::uint64_t FlowTo(std::size_t device) const { return trace_.arrows.size() + device + 1; }

  template <class Fill>
  void Track(std::uint64_t id, Fill&& fill) {
    Packet([&](pbf_writer& one) {
      pbf_writer of(one, packet::kTrack);
      of.add_uint64(track::kId, id);
      if (id != kProcessTrack) of.add_uint64(track::kParent, kProcessTrack);
      fill(of);
    });
  }

  void WriteTracks() {
    const auto process = static_cast<std::int32_t>(trace_.process);
    Track(kProcessTrack, [&](pbf_writer& of) {
      pbf_writer about(of, track::kProcess);
      about.add_int32(track::kProcessId, process);
      about.add_string(track::kProcessName, "python");
    });
    for (std::size_t t = 0; t < trace_.threads.size(); ++t) {
      Track(TrackOf(t), [&](pbf_writer& of) {
        const std::uint64_t id = trace_.threads[t];
        pbf_writer about(of, track::kThread);
        about.add_int32(track::kThreadProcess, process);
        // The thread that is the program's is the process, for those who look for it.
        about.add_int64(track::kThreadId, t == 0 ? process : static_cast<std::int64_t>(id));
        about.add_string(track::kThreadName, "thread " + std::to_string(id) + " (python)");
      });
    }
    for (const auto& [stream, line] : streams_) {
      Track(TrackOf(line), [&](pbf_writer& of) {
        of.add_string(track::kName, "GPU " + std::to_string(stream.first) + ", stream " +
                                        std::to_string(stream.second));
      });
    }
    if (trace_.memory.empty()) return;
    Track(MemoryTrack(), [&](pbf_writer& of) {
      of.add_string(track::kName, "memory");
      pbf_writer about(of, track::kCounter);
      about.add_enum(track::kUnit, track::kBytes);
    });
  }

  static void AddInteger(pbf_writer& event, Note name, std::int64_t value) {
    pbf_writer one(event, event::kNote);
    one.add_uint64(note::kName, static_cast<std::uint64_t>(name) + 1);
    one.add_int64(note::kInteger, value);
  }
  static void AddText(pbf_writer& event, Note name, std::uint64_t text) {
    pbf_writer one(event, event::kNote);
    one.add_uint64(note::kName, static_cast<std::uint64_t>(name) + 1);
    one.add_uint64(note::kText, text);
  }

  void AddNotes(pbf_writer& of, std::uint32_t s) const {
    const RecordedSpan& span = trace_.spans[s];
    if (span.kind != RecordedKind::kFunction) AddInteger(of, Note::kId, s + 1);
    if (span.sequence >= 0) {
      AddInteger(of, Note::kSequence, span.sequence);
      AddInteger(of, Note::kForwardThread, span.forward_thread);
    }
    if (span.module != report::kNone) AddText(of, Note::kModule, span.module + 1);
    if (span.inputs == report::kNone) return;
    for (std::uint64_t t = 0; t < kTextsOfInputs; ++t) {
      const auto name = static_cast<Note>(static_cast<std::uint64_t>(Note::kValues) + t);
      AddText(of, name, TextOfInputs(span.inputs, t));
    }
  }

  // What begins on a thread or stream now.
  void Open(std::size_t line, std::int64_t begin, std::int64_t end) {
    EndUntil(line, begin);
    std::vector<std::int64_t>& open = open_[line];
    open.push_back(open.empty() ? end : std::min(end, open.back()));
  }

  void BeginDevice(std::size_t d) {
    const report::RecordedDevice& device = trace_.device[d];
    const std::size_t line = streams_.at({device.device, device.stream});
    Open(line, device.begin, device.end);
    Event(device.begin, TrackOf(line), event::kBegin, [&](pbf_writer& of) {
      const auto work = static_cast<std::uint64_t>(device.work);
      of.add_uint64(event::kCategory, kSpanCategories + work + 1);
      of.add_uint64(event::kName, device.name + std::uint64_t{1});
      if (device.span != report::kNone) of.add_fixed64(event::kEndOfFlow, FlowTo(d));
    });
  }

  void Begin(std::uint32_t s) {
    const RecordedSpan& span = trace_.spans[s];
    Open(span.thread, span.begin, span.end);
    Event(span.begin, TrackOf(span.thread), event::kBegin, [&](pbf_writer& of) {
      of.add_uint64(event::kCategory, static_cast<std::uint64_t>(span.kind) + 1);
      of.add_uint64(event::kName, span.name + std::uint64_t{1});
      AddNotes(of, s);
      for (; next_flow_ < flows_.size() && flows_[next_flow_].span == s; ++next_flow_) {
        const FlowEnd& end = flows_[next_flow_];
        of.add_fixed64(end.ends ? event::kEndOfFlow : event::kFlow, end.flow);
      }
    });
  }

  void EndUntil(std::size_t line, std::int64_t time) {
    std::vector<std::int64_t>& open = open_[line];
    while (!open.empty() && open.back() <= time) {
      Event(open.back(), TrackOf(line), event::kEnd, [](pbf_writer&) {});
      open.pop_back();
    }
  }

  void Count(const report::RecordedBytes& bytes) {
    Event(bytes.at, MemoryTrack(), event::kCounter,
          [&](pbf_writer& of) { of.add_int64(event::kCounterValue, bytes.total); });
  }

  const RecordedTrace& trace_;
  const Sink& write_;
  std::string out_;  // what has not been handed on
  std::vector<FlowEnd> flows_;
  std::size_t next_flow_ = 0;
  // By device and stream: their place among threads and streams.
  std::map<std::pair<std::uint16_t, std::uint32_t>, std::size_t> streams_;
  // By thread, and then by stream: when what has begun there ends.
  std::vector<std::vector<std::int64_t>> open_;
};

}  // namespace

void WritePerfettoTrace(const report::RecordedTrace& trace,
                        const std::function<void(std::string_view piece)>& write) {
  PerfettoWriter(trace, write).Write();
}

}  // namespace steelyard::render
