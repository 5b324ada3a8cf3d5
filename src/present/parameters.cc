// SPDX-License-Identifier: Apache-2.0
//
// Decides the head of a report: name, parameters, a few of the inputs, then runtime, device and, in
// words, what was run. Caches are inputs of which there are many, so their own section tells of
// them. Reports of weights use the parts that need no graph.

#include "present/parameters.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/parameters.h"
#include "present/findings.h"
#include "present/names.h"
#include "steelyard/program.h"
#include "steelyard/report.h"
#include "steelyard/tables.h"
#include "steelyard/units.h"

namespace steelyard::present {
namespace {

using report::Sentence;

// More inputs than this are counted and not named in the headline.
constexpr std::size_t kNamedInputs = 4;

// Caches, of which there are many, are told of on their own.
std::vector<ValueId> TensorInputs(const Program& program) {
  std::vector<ValueId> tensors;
  std::ranges::copy_if(program.inputs, std::back_inserter(tensors), [&](ValueId id) {
    const Value& value = program.values[id];
    return value.kind == ValueKind::kTensor && value.has_layout && value.role != Role::kCache;
  });
  return tensors;
}

void AddInputWords(const Program& program, Sentence* text) {
  const std::vector<ValueId> inputs = TensorInputs(program);
  const std::size_t named = inputs.size() <= kNamedInputs + 1 ? inputs.size() : kNamedInputs;
  for (std::size_t i = 0; i < named; ++i) {
    text->emplace_back(fmt::format("{}{}{}{}", i == 0 ? "   " : "  ",
                                   program.text(program.values[inputs[i]].name), kNoBreak,
                                   SizesText(program.sizes(inputs[i]))));
  }
  if (named < inputs.size()) {
    text->emplace_back(fmt::format("  and {} more inputs", inputs.size() - named));
  }
}

void AddExperts(const ParameterReport& parameters, report::Document* document) {
  if (parameters.experts == 0) return;
  Sentence text{fmt::format("{} in a layer, {} chosen for a token: of ", parameters.experts,
                            parameters.active_experts),
                In(Unit::kCount, parameters.parameters.count),
                " parameters ",
                {In(Unit::kCount, parameters.active), report::Style::kStrong},
                " are active ("};
  text.emplace_back(ShareOf(parameters.active, parameters.parameters.count));
  text.emplace_back(")");
  document->body.emplace_back(report::Headline{"Experts", std::move(text)});
}

void SetTotal(const TensorTotal& total, report::Data* data) {
  data->SetInt("count", total.count, Unit::kCount);
  data->SetInt("bytes", total.bytes, Unit::kBytes);
}

void AddInputData(const Program& program, report::Data* data) {
  data->OpenArray("inputs");
  for (ValueId id : TensorInputs(program)) {
    data->OpenObject();
    data->SetText("name", program.text(program.values[id].name));
    data->SetText("dtype", NameOf(program.values[id].dtype));
    data->OpenArray("shape");
    for (std::int64_t size : program.sizes(id)) data->AddInt(size, Unit::kNone);
    data->Close();
    data->SetInt("bytes",
                 StorageBytes(program.values[id].dtype, program.sizes(id), program.strides(id)),
                 Unit::kBytes);
    data->Close();
  }
  data->Close();
}

// What only a graph tells: what a step trains, and what a token uses.
void AddUseData(const ParameterReport& parameters, report::Data* data) {
  data->OpenObject("trainable");
  SetTotal(parameters.trainable, data);
  data->Close();
  data->SetInt("active", parameters.active, Unit::kCount);
  data->SetInt("experts", parameters.experts, Unit::kCount);
  data->SetInt("active_experts", parameters.active_experts, Unit::kCount);
}

// "the last of the calls that write text"
std::string CallWords(const Generation& generation) {
  if (generation.explained + 1 == generation.calls.size()) {
    return "the last of the calls that write text";
  }
  const bool prompt = generation.calls[generation.explained].past == 0;
  return fmt::format("the call of the {}, which of those that write text needs most",
                     prompt ? "prompt" : "first token");
}

// "one steady training step (forward, loss, backward, AdamW, zero_grad)"
std::string RunWords(const Findings& findings) {
  const std::string autocast =
      findings.autocast.empty() ? "" : fmt::format(", under autocast to {}", findings.autocast);
  if (findings.generation != nullptr) return CallWords(*findings.generation) + autocast;
  const std::string ranks =
      findings.ranks > 1 ? fmt::format(" of one of {} processes", findings.ranks) : "";
  if (!findings.trains()) return "one forward pass without gradients" + ranks + autocast;
  return fmt::format("{} training step ({}){}{}", findings.first_step ? "the first" : "one steady",
                     findings.step, ranks, autocast);
}

}  // namespace

double BitsEach(const TensorTotal& total) {
  constexpr double kBitsOfByte = 8.0;
  return kBitsOfByte * FractionOf(total.bytes, total.count);
}

void AddParameterWords(const ParameterReport& parameters, Sentence* text) {
  if (parameters.tensors == 0) {
    text->emplace_back("no parameters");
    return;
  }
  text->emplace_back(In(Unit::kCount, parameters.parameters.count), report::Style::kStrong);
  text->emplace_back(" parameters, ");
  text->emplace_back(In(Unit::kBytes, parameters.parameters.bytes), report::Style::kStrong);
  for (const DTypeTotal& part : parameters.by_dtype) {
    text->emplace_back(", " + std::string(part.name));
  }
  if (parameters.tied > 0) text->emplace_back(" (" + Counted(parameters.tied, "tensor") + " tied)");
}

void AddParameterData(const Findings& findings, report::Data* data) {
  const ParameterReport& parameters = findings.parameters;
  data->OpenObject("parameters");
  SetTotal(parameters.parameters, data);
  data->OpenObject("by_dtype");
  for (const DTypeTotal& part : parameters.by_dtype) {
    data->OpenObject(part.name);
    SetTotal(part.total, data);
    data->Close();
  }
  data->Close();
  data->SetDouble("bits_each", BitsEach(parameters.parameters), Unit::kBits);
  data->SetInt("tensors", parameters.tensors, Unit::kCount);
  data->SetInt("tied", parameters.tied, Unit::kCount);
  if (findings.kernels.has_graph) AddUseData(parameters, data);
  data->Close();
  data->OpenObject("buffers");
  SetTotal(parameters.buffers, data);
  data->Close();
}

void AddModelName(const Findings& findings, report::Data* data) {
  const Program& program = findings.kernels;
  data->OpenObject("model");
  data->SetText("name", ModelName(program));
  data->SetText("class", program.text(program.modules[0].class_name));
  data->SetText("path", findings.path);
  data->SetText("producer", program.text(program.producer));
  data->SetText("holds", program.has_graph ? "program" : "weights");
  data->Close();
}

// " 2.9", where another release than the newest was asked for.
std::string ReleaseWords(const Findings& findings) {
  const int minor = findings.target.torch_minor;
  const bool is_other = minor != Target().torch_minor;
  // On a cpu it is of the devices that are asked about besides.
  if (!is_other || findings.target.device == Device::kCpu) return "";
  return fmt::format(" 2.{}", minor);
}

void AppendModel(const Findings& findings, report::Document* document) {
  Sentence text;
  AddParameterWords(findings.parameters, &text);
  AddInputWords(findings.kernels, &text);
  document->body.emplace_back(
      report::Headline{std::string(ModelName(findings.kernels)), std::move(text)});
  document->body.emplace_back(report::Paragraph{
      {fmt::format("{}{} on {}: {}", findings.runtime_title, ReleaseWords(findings),
                   findings.target.name, RunWords(findings))}});
  AddExperts(findings.parameters, document);
}

void AddModelData(const Findings& findings, report::Data* data) {
  AddModelName(findings, data);
  AddInputData(findings.kernels, data);
  data->OpenObject("run");
  data->SetText("runtime", findings.runtime);
  data->SetText("device", findings.target.name);
  data->SetInt("threads", findings.target.threads, Unit::kNone);
  if (findings.target.device == Device::kCuda) {
    data->SetText("torch", fmt::format("2.{}", findings.target.torch_minor));
  }
  data->SetText("step", findings.trains() ? "training" : "forward");
  if (!findings.autocast.empty()) data->SetText("autocast", findings.autocast);
  if (findings.trains()) {
    data->SetText("optimizer", findings.optimizer);
    data->SetText("does", findings.step);
    data->SetText("of_steps", findings.first_step ? "first" : "steady");
    data->SetInt("ranks", findings.ranks, Unit::kNone);
    if (!findings.parallel.empty()) data->SetText("parallel", findings.parallel);
  }
  data->Close();
  AddParameterData(findings, data);
}

}  // namespace steelyard::present
