// SPDX-License-Identifier: Apache-2.0
//
// Decides what is told of weights alone: how many, in which dtypes, in which modules, which tensors
// are largest, and the facts that the file states, GGUF's in people's words. Tied names count once.
// It ends by saying what memory and work would take: the graph.

#include "present/weights.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/parameters.h"
#include "present/modules.h"
#include "present/names.h"
#include "present/notes.h"
#include "present/parameters.h"
#include "present/tables.h"
#include "steelyard/program.h"
#include "steelyard/report.h"
#include "steelyard/units.h"

namespace steelyard::present {
namespace {

using report::Sentence;

// "context_length" as people read it.
// The keys of GGUF are llama.cpp's; people say it otherwise.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kWords = {
    {{"block_count", "layers"}, {"head_count", "heads"}, {"head_count_kv", "key-value heads"}}};

std::string Spaced(std::string_view name) {
  const auto* said = std::ranges::find(kWords, name, [](const auto& row) { return row.first; });
  if (said != kWords.end()) return std::string(said->second);
  std::string words(name);
  std::ranges::replace(words, '_', ' ');
  return words;
}

void AppendHead(const Findings& findings, report::Document* document) {
  const ParameterReport& parameters = findings.parameters;
  Sentence text;
  AddParameterWords(parameters, &text);
  if (parameters.buffers.count > 0) {
    text.emplace_back("; buffers ");
    text.emplace_back(In(Unit::kBytes, parameters.buffers.bytes));
  }
  const Program& program = findings.kernels;
  document->body.emplace_back(report::Headline{std::string(ModelName(program)), std::move(text)});
  Sentence facts{"Weights only"};
  if (program.producer != kNoString) {
    facts.emplace_back(", " + std::string(program.text(program.producer)));
  }
  for (const Fact& fact : program.facts) {
    facts.emplace_back(", " + Spaced(program.text(fact.name)) + std::string(kNoBreak));
    if (fact.text != kNoString) {
      facts.emplace_back(program.text(fact.text));
    } else {
      facts.emplace_back(In(Unit::kNone, fact.number));
    }
  }
  document->body.emplace_back(report::Paragraph{std::move(facts)});
}

void AppendDTypes(const Findings& findings, report::Document* document) {
  const ParameterReport& parameters = findings.parameters;
  if (parameters.tensors == 0) return;
  report::Table table;
  table.columns = {{.key = "dtype", .header = "Parameters by dtype"},
                   NumberColumn("parameters", "parameters", Unit::kCount),
                   NumberColumn("parameter_share", "share", Unit::kPercent, 1),
                   NumberColumn("bytes", "bytes", Unit::kBytes),
                   NumberColumn("byte_share", "share", Unit::kPercent, 1),
                   NumberColumn("bits_each", "per parameter", Unit::kBits),
                   NumberColumn("tensors", "tensors", Unit::kCount, 2)};
  const auto add = [&](std::string_view name, const TensorTotal& total, std::int64_t tensors) {
    table.rows.push_back(
        {.cells = {std::string(name), In(Unit::kCount, total.count),
                   ShareOf(total.count, parameters.parameters.count), In(Unit::kBytes, total.bytes),
                   ShareOf(total.bytes, parameters.parameters.bytes),
                   Quantity{.value = BitsEach(total), .unit = Unit::kBits},
                   In(Unit::kCount, tensors)}});
  };
  for (const DTypeTotal& part : parameters.by_dtype) add(part.name, part.total, part.tensors);
  if (parameters.by_dtype.size() > 1) add("all", parameters.parameters, parameters.tensors);
  document->body.emplace_back(std::move(table));
}

// Parameters and buffers, the largest first; of tied ones the first.
std::vector<const NamedTensor*> Largest(const Program& program, std::size_t count) {
  std::vector<const NamedTensor*> tensors;
  for (const auto* list : {&program.parameters, &program.buffers}) {
    for (const NamedTensor& tensor : *list) {
      if (tensor.tied_to == kNoId) tensors.push_back(&tensor);
    }
  }
  count = std::min(count, tensors.size());
  // Of equal ones in the order of the model.
  std::vector<std::pair<std::int64_t, std::size_t>> order;
  order.reserve(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    order.emplace_back(-program.stored_bytes(*tensors[i]), i);
  }
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(count));
  std::vector<const NamedTensor*> largest;
  largest.reserve(count);
  for (std::size_t i = 0; i < count; ++i) largest.push_back(tensors[order[i].second]);
  return largest;
}

void AppendLargest(const Findings& findings, const Shown& shown, report::Document* document) {
  const Program& program = findings.kernels;
  const auto top = static_cast<std::size_t>(std::max(shown.top, 0));
  const std::vector<const NamedTensor*> tensors = Largest(program, top);
  if (tensors.empty()) return;
  const std::int64_t all =
      SumOf(findings.parameters.parameters.bytes, findings.parameters.buffers.bytes);
  report::Table table;
  table.columns = {{.key = "tensor", .header = "Largest tensors"},
                   {.key = "shape", .header = "shape", .priority = 1},
                   {.key = "dtype", .header = "dtype"},
                   NumberColumn("bytes", "bytes", Unit::kBytes),
                   NumberColumn("byte_share", "share", Unit::kPercent)};
  for (const NamedTensor* tensor : tensors) {
    const std::int64_t bytes = program.stored_bytes(*tensor);
    table.rows.push_back(
        {.cells = {std::string(program.text(tensor->name)), SizesText(program.sizes(tensor->value)),
                   std::string(program.stored_as(*tensor)), In(Unit::kBytes, bytes),
                   ShareOf(bytes, all)}});
  }
  document->body.emplace_back(std::move(table));
}

void AppendWhatIsMissing(const Findings& findings, report::Document* document) {
  document->body.emplace_back(report::Paragraph{
      {"Weights only: memory and FLOPs of a run need the model's graph. Export it: "
       "torch.export.save(torch.export.export(model, (example_input,)), \"model.pt2\")."}});
  const auto tensors = static_cast<std::int64_t>(findings.kernels.parameters.size() +
                                                 findings.kernels.buffers.size());
  document->body.emplace_back(report::Paragraph{
      {"Read: ", In(Unit::kNone, tensors), tensors == 1 ? " tensor in " : " tensors in ",
       Quantity{.value = findings.elapsed_seconds, .unit = Unit::kSeconds}, "."}});
}

void AddFactData(const Program& program, report::Data* data) {
  data->OpenArray("facts");
  for (const Fact& fact : program.facts) {
    data->OpenObject();
    data->SetText("name", program.text(fact.name));
    if (fact.text != kNoString) {
      data->SetText("text", program.text(fact.text));
    } else {
      data->SetInt("number", fact.number, Unit::kNone);
    }
    data->Close();
  }
  data->Close();
}

}  // namespace

void PresentWeightsBody(const Findings& findings, const Shown& shown, report::Document* document) {
  AppendHead(findings, document);
  AppendDTypes(findings, document);
  AppendModules(findings, shown, document);
  AppendLargest(findings, shown, document);
  AppendNotes(findings, document);
  AppendWhatIsMissing(findings, document);
}

void PresentWeightsData(const Findings& findings, const Shown& shown, report::Data* data) {
  AddModelName(findings, data);
  AddParameterData(findings, data);
  AddFactData(findings.kernels, data);
  AddModuleData(findings, data);
  AddNoteData(findings, data);
  AddTable(findings, shown.table, data);
}

}  // namespace steelyard::present
