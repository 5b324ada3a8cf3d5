// SPDX-License-Identifier: Apache-2.0
//
// Decides which tables there are and which columns each has: the keys of its objects, in the order
// in which they are set. Those without a function to add them are part of every report; the others
// may have a row for each kernel, event or tensor, and are made only when they are asked for.

#include "present/tables.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ir/text_words.h"
#include "present/events.h"
#include "present/findings.h"
#include "present/kernels.h"
#include "present/names.h"
#include "present/operators.h"
#include "present/segments.h"
#include "present/tensors.h"
#include "steelyard/program.h"
#include "steelyard/report.h"
#include "steelyard/timeline.h"
#include "steelyard/units.h"

namespace steelyard::present {
namespace {

void AddCalls(const Findings& findings, report::Data* data) {
  const Program& program = findings.kernels;
  const std::vector<Node>& nodes = program.main().nodes;
  data->OpenArray("calls");
  std::int64_t step = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& kernel = nodes[i];
    if (program.is_drop(kernel)) continue;
    const NodeWork& work = findings.work.by_node[i];
    data->OpenObject();
    data->SetInt("step", step++, Unit::kNone);
    data->SetText("phase", WordOf(kernel.phase));
    data->SetText("module", program.text(program.modules[kernel.module].path));
    data->SetText("op", ModelOp(findings, kernel));
    data->SetText("kernel", WithoutOverload(program.op_name(kernel.op)));
    data->SetText("results", ResultsText(program, kernel));
    data->SetText("source", SourceText(program, kernel.source));
    data->SetInt("macs", work.macs, Unit::kMacs);
    data->SetInt("flops_all", work.flops_all, Unit::kFlops);
    data->SetInt("read", work.read, Unit::kTraffic);
    data->SetInt("written", work.written, Unit::kTraffic);
    data->Close();
  }
  data->Close();
}

void AddEventRows(const Findings& findings, report::Data* data) {
  std::int64_t total = findings.peak.resident;
  data->OpenArray("events");
  for (const Event& event : findings.timeline.events) {
    total += event.bytes;
    data->OpenObject();
    data->SetText("op", findings.timeline.labels.view(event.label));
    data->SetInt("bytes", event.bytes, Unit::kBytes);
    data->SetInt("total", total, Unit::kBytes);
    data->SetText("category", NameOf(findings.timeline.blocks[event.block].category));
    data->SetText("module", ModuleOf(findings.kernels, event));
    data->Close();
  }
  data->Close();
}

void AddHeld(const Findings& findings, report::Data* data) {
  data->OpenArray("held");
  for (const std::uint32_t id : findings.told().live) {
    const Block& block = findings.timeline.blocks[id];
    const BlockWords words = Describe(findings, block);
    data->OpenObject();
    data->SetText("tensor", words.tensor);
    data->SetText("layout", words.layout);
    data->SetInt("bytes", block.bytes, Unit::kBytes);
    data->SetText("category", NameOf(block.category));
    data->SetText("holder", words.holder);
    data->SetText("op", words.made.op);
    data->SetText("module", words.made.module);
    data->SetText("source", SourceText(findings.kernels, words.made.source));
    data->Close();
  }
  data->Close();
}

void AddNamedTensors(const Program& program, const std::vector<NamedTensor>& tensors,
                     std::string_view role, report::Data* data) {
  for (const NamedTensor& named : tensors) {
    if (named.value == kNoId || !program.values[named.value].has_layout) continue;
    std::int64_t count = 1;
    for (const std::int64_t size : program.sizes(named.value)) count *= size;
    data->OpenObject();
    data->SetText("name", program.text(named.name));
    data->SetText("role", role);
    data->SetText("dtype", program.stored_as(named));
    data->SetText("shape", SizesText(program.sizes(named.value)));
    data->SetInt("count", count, Unit::kCount);
    data->SetInt("bytes", program.stored_bytes(named), Unit::kBytes);
    data->SetText("tied_to",
                  named.tied_to == kNoId ? "" : program.text(tensors[named.tied_to].name));
    data->Close();
  }
}

void AddTensors(const Findings& findings, report::Data* data) {
  const Program& program = findings.kernels;
  data->OpenArray("tensors");
  AddNamedTensors(program, program.parameters, "parameter", data);
  AddNamedTensors(program, program.buffers, "buffer", data);
  data->Close();
}

constexpr std::array kTables = {
    TableInfo{"modules", "what each module has and does, its children included", nullptr, false,
              false},
    TableInfo{"classes", "the modules of one class at one depth, summed", nullptr},
    TableInfo{"operators", "the operators as the model calls them, with their work", nullptr},
    TableInfo{"kinds", "contractions, normalizations and so on, with what they do and hold",
              AddKinds},
    TableInfo{"calls", "every kernel in the order in which they run", AddCalls, true},
    TableInfo{"kernels", "what is held while each kernel runs, in order", AddKernelRows, true},
    TableInfo{"events", "every allocation and free in order", AddEventRows, true},
    TableInfo{"held", "the tensors that the step holds at the peak or --at, largest first",
              AddHeld},
    TableInfo{"tensors", "parameters and buffers by their names", AddTensors, false, false},
    TableInfo{"segments", "with --segments: the blocks of CUDA's allocator where it is fullest",
              AddSegmentRows},
    TableInfo{"levels", "with --segments: what CUDA's allocator holds after each event",
              AddLevelRows, true},
};

}  // namespace

bool NeedsGraph(std::string_view name) {
  const auto found = std::ranges::find(kTables, name, &TableInfo::name);
  return found == kTables.end() || found->needs_graph;
}

std::span<const TableInfo> Tables() { return kTables; }

bool IsOfEachStep(std::string_view name) {
  const auto found = std::ranges::find(kTables, name, &TableInfo::name);
  return found != kTables.end() && found->of_each_step;
}

void AddTable(const Findings& findings, std::string_view name, report::Data* data) {
  for (const TableInfo& table : kTables) {
    if (table.name == name && table.add != nullptr) table.add(findings, data);
  }
}

}  // namespace steelyard::present
