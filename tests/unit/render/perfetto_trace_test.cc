// SPDX-License-Identifier: Apache-2.0
#include "render/perfetto_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <vector>

namespace steelyard::render {
namespace {

using protozero::pbf_reader;
using report::RecordedKind;
using testing::ElementsAre;

// Fields of TracePacket and of TrackEvent that the test reads.
constexpr int kTime = 8, kTrackEvent = 11, kInterned = 12;
constexpr int kType = 9, kName = 10, kTrack = 11, kCounter = 30, kFlow = 47, kEndOfFlow = 48;

struct ReadTrace {
  std::map<std::uint64_t, std::string> names;
  std::vector<std::string> lines;  // of the events: time, track, what
};

void ReadNames(pbf_reader interned, ReadTrace* read) {
  while (interned.next(2)) {
    pbf_reader one = interned.get_message();
    std::uint64_t id = 0;
    while (one.next()) {
      if (one.tag() == 1) {
        id = one.get_uint64();
      } else {
        read->names[id] = one.get_string();
      }
    }
  }
}

std::string LineOf(std::uint64_t time, pbf_reader event, const ReadTrace& read) {
  std::string line = std::to_string(time);
  while (event.next()) {
    switch (event.tag()) {
      case kType:
        line += event.get_enum() == 2 ? " end" : "";
        break;
      case kTrack:
        line += " on " + std::to_string(event.get_uint64());
        break;
      case kName:
        line += ": " + read.names.at(event.get_uint64());
        break;
      case kFlow:
        line += " from " + std::to_string(event.get_fixed64());
        break;
      case kEndOfFlow:
        line += " to " + std::to_string(event.get_fixed64());
        break;
      case kCounter:
        line += " has " + std::to_string(event.get_int64());
        break;
      default:
        event.skip();
    }
  }
  return line;
}

ReadTrace Read(const report::RecordedTrace& trace) {
  std::string bytes;
  WritePerfettoTrace(trace, [&](std::string_view piece) { bytes += piece; });
  ReadTrace read;
  pbf_reader all(bytes);
  while (all.next(1)) {
    pbf_reader packet = all.get_message();
    std::uint64_t time = 0;
    while (packet.next()) {
      switch (packet.tag()) {
        case kTime:
          time = packet.get_uint64();
          break;
        case kInterned:
          ReadNames(packet.get_message(), &read);
          break;
        case kTrackEvent:
          read.lines.push_back(LineOf(time, packet.get_message(), read));
          break;
        default:
          packet.skip();
      }
    }
  }
  return read;
}

report::RecordedTrace Nested() {
  report::RecordedTrace trace;
  trace.begin = 1'000;
  trace.names = {"outer", "inner", "next"};
  trace.threads = {7};
  trace.spans = {{.begin = 10, .end = 50, .name = 0},
                 {.begin = 20, .end = 50, .name = 1},
                 {.begin = 50, .end = 60, .name = 2}};
  return trace;
}

TEST(PerfettoTrace, SpansOfAThreadAreNested) {
  EXPECT_THAT(Read(Nested()).lines,
              ElementsAre("1010 on 2: outer", "1020 on 2: inner", "1050 end on 2", "1050 end on 2",
                          "1050 on 2: next", "1060 end on 2"));
}

TEST(PerfettoTrace, ASpanEndsWithTheOneAroundItAtTheLatest) {
  report::RecordedTrace trace = Nested();
  trace.spans[1].end = 55;
  EXPECT_THAT(Read(trace).lines,
              ElementsAre("1010 on 2: outer", "1020 on 2: inner", "1050 end on 2", "1050 end on 2",
                          "1050 on 2: next", "1060 end on 2"));
}

TEST(PerfettoTrace, ThreadsAreNotNestedInOneAnother) {
  report::RecordedTrace trace = Nested();
  trace.threads = {7, 8};
  trace.spans[1].thread = 1;
  EXPECT_THAT(Read(trace).lines,
              ElementsAre("1010 on 2: outer", "1020 on 3: inner", "1050 end on 2",
                          "1050 on 2: next", "1060 end on 2", "1050 end on 3"));
}

TEST(PerfettoTrace, ArrowsAreFlows) {
  report::RecordedTrace trace = Nested();
  trace.arrows = {{0, 2}, {0, 1}};
  EXPECT_THAT(
      Read(trace).lines,
      ElementsAre("1010 on 2: outer from 1 from 2", "1020 on 2: inner to 2", "1050 end on 2",
                  "1050 end on 2", "1050 on 2: next to 1", "1060 end on 2"));
}

TEST(PerfettoTrace, MemoryIsACounter) {
  report::RecordedTrace trace;
  trace.threads = {7};
  trace.memory = {{.at = 5, .bytes = 24, .total = 64}};
  EXPECT_THAT(Read(trace).lines, ElementsAre("5 on 3 has 64"));
}

}  // namespace
}  // namespace steelyard::render
