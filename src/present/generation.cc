// SPDX-License-Identifier: Apache-2.0
//
// Decides what is told of a text that is written: what each kind of layer keeps of a token, then
// the calls that were weighed, then remarks. Times are estimates, and only there if speeds were
// given. A cache whose calls are not modelled has no peak: the weights are told instead, and a
// remark says so.

#include "present/generation.h"

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <utility>

#include "present/names.h"
#include "steelyard/tables.h"
#include "steelyard/units.h"
#include "support/units.h"

namespace steelyard::present {
namespace {

using report::Align;
using report::Fit;
using report::Row;
using report::Sentence;
using report::Table;

double Intensity(const GenerationCall& call) {
  if (call.moved() == 0) return 0;
  return static_cast<double>(call.flops) / static_cast<double>(call.moved());
}

// "all tokens", "a window of 4,096".
std::string Reach(const CacheLayer& layer) {
  if (layer.window == 0) return "all tokens";
  return fmt::format("a window of {}", Format(layer.window, Unit::kNone));
}

// "8 heads × (128 + 128) bfloat16", "512 + 64 of latents"
std::string Kept(const CacheLayer& layer, const Generation& generation) {
  const std::string_view numbers =
      generation.numbers.empty() ? NameOf(generation.dtype) : generation.numbers;
  if (layer.expanded > 0) {
    return fmt::format("latents of {} + {} {}", layer.key_width, layer.value_width, numbers);
  }
  return fmt::format("{} × ({} + {}) {}", Counted(layer.heads, "head"), layer.key_width,
                     layer.value_width, numbers);
}

Table LayerTable(const Generation& generation) {
  Table table;
  table.columns = {{.key = "layers", .header = "Cache"},
                   {.key = "reach", .header = "sees"},
                   {.key = "kept", .header = "keeps of a token", .priority = 1, .fit = Fit::kWrap},
                   {.key = "per_token", .header = "a token", .align = Align::kRight},
                   {.key = "bytes", .header = "at the end", .align = Align::kRight}};
  for (const CacheGroup& group : generation.layers) {
    Row row;
    row.cells = {Counted(group.layers, "layer"), Reach(group.layer), Kept(group.layer, generation),
                 In(Unit::kBytes, group.bytes_per_token), In(Unit::kBytes, group.bytes)};
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table CallTable(const Generation& generation, Claim memory) {
  const bool timed = generation.calls.back().seconds > 0;
  Table table;
  table.columns = {
      {.key = "call", .header = "Call"},
      {.key = "past", .header = "has seen", .align = Align::kRight, .priority = 2},
      {.key = "peak", .header = "peak", .align = Align::kRight},
      {.key = "cache", .header = "cache", .align = Align::kRight},
      {.key = "flops", .header = "work", .align = Align::kRight},
      {.key = "moved", .header = "moved at least", .align = Align::kRight},
      {.key = "intensity", .header = "intensity", .align = Align::kRight, .priority = 1}};
  if (timed) {
    table.columns.push_back({.key = "time", .header = "time", .align = Align::kRight});
    table.columns.push_back({.key = "bound", .priority = 1});
  }
  for (const GenerationCall& call : generation.calls) {
    Row row;
    row.cells = {call.past == 0 ? std::string("the prompt") : fmt::format("{} token", call.name),
                 In(Unit::kNone, call.past)};
    call.peak > 0 ? row.cells.emplace_back(In(Unit::kBytes, call.peak, memory))
                  : row.cells.emplace_back("");
    row.cells.insert(row.cells.end(),
                     {In(Unit::kBytes, call.cache), In(Unit::kFlops, call.flops),
                      In(Unit::kTraffic, call.moved()),
                      Quantity{.value = Intensity(call), .unit = Unit::kFlopsPerByte}});
    if (timed) {
      row.cells.emplace_back(
          Quantity{.value = call.seconds, .unit = Unit::kSeconds, .claim = Claim::kEstimated});
      row.cells.emplace_back(call.waits_for_memory ? "memory" : "arithmetic", report::Style::kDim);
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

// "512 + 128 tokens of 8 sequences: peak 15.2 GiB, cache 640.0 MiB"
Sentence HeadlineWords(const Generation& generation, Claim memory) {
  Sentence text{fmt::format("{} + {} tokens", Format(generation.prompt, Unit::kNone),
                            Format(generation.tokens, Unit::kNone))};
  if (generation.beams > 1) {
    text.emplace_back(fmt::format(", {} of {} beams each",
                                  Counted(generation.sequences / generation.beams, "prompt"),
                                  generation.beams));
  } else {
    text.emplace_back(fmt::format(" of {}", Counted(generation.sequences, "sequence")));
  }
  text.emplace_back(": ");
  const std::int64_t cache = generation.calls.back().cache;
  if (generation.peak > 0) {
    text.emplace_back("peak ");
    text.emplace_back(In(Unit::kBytes, generation.peak, memory), report::Style::kStrong);
    text.emplace_back(", cache ");
  } else {
    text.emplace_back(In(Unit::kBytes, generation.weights));
    text.emplace_back(" of weights, cache ");
  }
  text.emplace_back(In(Unit::kBytes, cache), report::Style::kStrong);
  return text;
}

// "At these speeds the first token comes after 0.5 s and all 512 after 3.5 s: 1,170 a second."
void AppendTime(const Generation& generation, report::Document* document) {
  if (generation.seconds == 0) return;
  const auto estimated = [](double value) {
    return Quantity{.value = value, .unit = Unit::kSeconds, .claim = Claim::kEstimated};
  };
  const auto written = static_cast<double>(generation.tokens * generation.sequences);
  document->body.emplace_back(report::Paragraph{
      {"At these speeds the first token comes after ", estimated(generation.calls.front().seconds),
       " and all after ", estimated(generation.seconds), ": ",
       In(Unit::kNone, static_cast<std::int64_t>(written / generation.seconds), Claim::kEstimated),
       " tokens a second."},
      1});
}

void AppendRemarks(const Generation& generation, report::Document* document) {
  const auto say = [&](Sentence text) {
    document->body.emplace_back(report::Paragraph{std::move(text), 1});
  };
  if (generation.expanded_per_token > 0) {
    say({"Keys and values of all heads, which the latents stand for, would take ",
         In(Unit::kBytes, generation.expanded_per_token), " a token instead of ",
         In(Unit::kBytes, generation.bytes_per_token), "."});
  }
  if (generation.block > 0) {
    Sentence text{fmt::format("Blocks of {}: ", Counted(generation.block, "token")),
                  In(Unit::kBytes, generation.unused), " hold no token"};
    if (generation.shared > 0) {
      text.emplace_back(", and sharing a prefix saves ");
      text.emplace_back(In(Unit::kBytes, generation.shared));
    }
    text.emplace_back(".");
    say(std::move(text));
  } else if (generation.unused > 0) {
    say({In(Unit::kBytes, generation.unused), " of the cache hold no token at the end."});
  }
  AppendTime(generation, document);
  if (generation.peak == 0) {
    say(
        {"How the calls run with such a cache is not modelled: there is no peak of them, and what "
         "follows is of a cache that grows."});
  }
  if (generation.fit) {
    const GenerationFit& fit = *generation.fit;
    const std::string length = fmt::format("{} + {}", Format(generation.prompt, Unit::kNone),
                                           Format(generation.tokens, Unit::kNone));
    say({"Beside the weights, ", FormatLimit(fit.limit),
         " have room for the cache of one sequence of ", In(Unit::kNone, fit.tokens),
         " tokens, or of ", In(Unit::kNone, fit.sequences), " sequences of " + length + "."});
  }
}

void AddLayers(const Generation& generation, report::Data* data) {
  data->OpenArray("layers");
  for (const CacheGroup& group : generation.layers) {
    const CacheLayer& layer = group.layer;
    data->OpenObject();
    data->SetInt("layers", group.layers, Unit::kNone);
    data->SetInt("heads", layer.heads, Unit::kNone);
    data->SetInt("key_width", layer.key_width, Unit::kNone);
    data->SetInt("value_width", layer.value_width, Unit::kNone);
    if (layer.window > 0) data->SetInt("window", layer.window, Unit::kNone);
    data->SetInt("bytes_per_token", group.bytes_per_token, Unit::kBytes);
    data->SetInt("bytes", group.bytes, Unit::kBytes);
    data->Close();
  }
  data->Close();
}

void AddCall(const GenerationCall& call, report::Data* data) {
  data->OpenObject();
  data->SetText("call", call.name);
  data->SetInt("past", call.past, Unit::kNone);
  data->SetInt("tokens", call.tokens, Unit::kNone);
  if (call.peak > 0) data->SetInt("peak", call.peak, Unit::kBytes);
  data->SetInt("cache", call.cache, Unit::kBytes);
  data->SetInt("flops", call.flops, Unit::kFlops);
  data->SetInt("weights_read", call.weights_read, Unit::kTraffic);
  data->SetInt("cache_read", call.cache_read, Unit::kTraffic);
  data->SetInt("cache_written", call.cache_written, Unit::kTraffic);
  data->SetInt("moved", call.moved(), Unit::kTraffic);
  data->SetDouble("flops_per_byte", Intensity(call), Unit::kFlopsPerByte);
  if (call.seconds > 0) {
    data->SetDouble("seconds", call.seconds, Unit::kSeconds);
    data->SetText("waits_for", call.waits_for_memory ? "memory" : "arithmetic");
  }
  data->Close();
}

}  // namespace

void AppendGeneration(const Findings& findings, report::Document* document) {
  if (findings.generation == nullptr) return;
  const Generation& generation = *findings.generation;
  const Claim memory = findings.memory_claim();
  document->body.emplace_back(report::Headline{"Generation", HeadlineWords(generation, memory)});
  document->body.emplace_back(LayerTable(generation));
  document->body.emplace_back(CallTable(generation, memory));
  AppendRemarks(generation, document);
}

void AddGenerationData(const Findings& findings, report::Data* data) {
  if (findings.generation == nullptr) return;
  const Generation& generation = *findings.generation;
  data->OpenObject("generation");
  data->SetInt("prompt", generation.prompt, Unit::kNone);
  data->SetInt("tokens", generation.tokens, Unit::kNone);
  data->SetInt("beams", generation.beams, Unit::kNone);
  data->SetInt("sequences", generation.sequences, Unit::kNone);
  data->SetInt("weights", generation.weights, Unit::kBytes);
  if (generation.peak > 0) data->SetInt("peak", generation.peak, Unit::kBytes);
  data->OpenObject("cache");
  data->SetText("store", generation.store);
  data->SetText("numbers",
                generation.numbers.empty() ? NameOf(generation.dtype) : generation.numbers);
  data->SetInt("bytes_per_token", generation.bytes_per_token, Unit::kBytes);
  if (generation.expanded_per_token > 0) {
    data->SetInt("expanded_bytes_per_token", generation.expanded_per_token, Unit::kBytes);
  }
  data->SetInt("unused", generation.unused, Unit::kBytes);
  data->SetInt("shared", generation.shared, Unit::kBytes);
  AddLayers(generation, data);
  data->Close();
  data->OpenArray("calls");
  for (const GenerationCall& call : generation.calls) AddCall(call, data);
  data->Close();
  data->SetText("explained", generation.calls[generation.explained].name);
  if (generation.fit) {
    data->OpenObject("fit");
    data->SetInt("limit", generation.fit->limit, Unit::kBytes);
    data->SetInt("tokens", generation.fit->tokens, Unit::kNone);
    data->SetInt("sequences", generation.fit->sequences, Unit::kNone);
    data->Close();
  }
  if (generation.seconds > 0) data->SetDouble("seconds", generation.seconds, Unit::kSeconds);
  data->Close();
}

}  // namespace steelyard::present
