// SPDX-License-Identifier: Apache-2.0
//
// What a program did on each thread, as stretches of time that nest: operators, nodes of autograd,
// ranges that have names, functions of Python and modules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "record/recording.h"

namespace steelyard {

enum class SpanKind : std::uint8_t {
  kOp,
  kNode,      // of autograd
  kEngine,    // around a node
  kRange,     // the program's own
  kFunction,  // of Python
  kModule,
};

struct Span {
  std::uint64_t begin = 0, end = 0;         // ticks
  std::uint64_t inner = 0;                  // ticks of the spans right inside it
  std::uint64_t call = 0;                   // of an operator, as in Recording::calls
  std::uint64_t inputs = 0;                 // as in Recording::inputs
  std::uint64_t sequence = SY_NO_SEQUENCE;  // of the node that it makes or runs
  std::int64_t bytes = 0;                   // allocated less freed in it and nothing inside it
  std::uint32_t name = 0;                   // in Spans::names
  std::uint32_t parent = SY_NO_ID;          // around it, on its thread
  std::uint32_t children = 0;
  std::uint32_t module = SY_NO_ID;   // in which it ran; of a node the one that made it
  std::uint16_t thread = 0;          // in Spans::threads
  std::uint16_t forward_thread = 0;  // which made the node
  SpanKind kind = SpanKind::kOp;
  bool failed = false;  // an operator that an exception has ended before it computed
};

// Memory that was allocated, or freed where it was seen being allocated.
struct MemoryChange {
  std::uint64_t tick = 0;
  std::uint64_t address = 0;
  std::int64_t bytes = 0;  // negative: freed
  std::int64_t total = 0;  // after it, of all that was seen
  std::uint32_t span = SY_NO_ID;
  std::uint16_t thread = 0;
};

// What a device ran.
struct DeviceSpan {
  std::uint64_t asked = 0, asked_end = 0;  // ticks, of the runtime's call; 0: not known
  std::uint64_t begin = 0, end = 0;        // ticks
  std::uint64_t bytes = 0;                 // copied or filled
  std::uint32_t name = 0, call = 0;        // in Spans::names
  std::uint32_t span = SY_NO_ID;           // the innermost that was open when it was asked for
  std::uint32_t stream = 0;
  std::uint16_t device = 0;
  std::uint16_t thread = 0;  // that asked, in Spans::threads
  SyKernelKind kind = SY_COMPUTE;
};

struct Spans {
  Recording recording;  // without its events
  std::vector<std::string> names;
  std::vector<std::uint64_t> threads;  // as RecordFunction numbers them
  std::vector<Span> spans;             // thread by thread, as they began: a parent comes first
  std::vector<MemoryChange> memory;    // as it happened
  std::vector<DeviceSpan> device;      // as they began there
  std::size_t events = 0;              // recorded
};

// What was entered and never left ends with what it is in; a thread's times never go back.
Spans FindSpans(Recording recording);

}  // namespace steelyard
