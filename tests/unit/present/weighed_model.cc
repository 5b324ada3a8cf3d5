// SPDX-License-Identifier: Apache-2.0
#include "weighed_model.h"

#include "ir/text_reader.h"

namespace steelyard::present {
namespace {

constexpr std::string_view kTensors = R"(
producer "torch 2.15.0"
module "": models.Tiny
module encoder: models.Encoder
module encoder.layer.0: models.Layer
module encoder.layer.1: models.Layer
module head: torch.nn.modules.linear.Linear
parameter %w0: f32[8,8] "encoder.layer.0.weight"
parameter %w1: f32[8,8] "encoder.layer.1.weight"
parameter %wh: f32[4,8] "head.weight"
input %x: f32[2,8]
)";

constexpr std::string_view kImported = R"(
%a: f32[2,8] = aten::linear(%x, %w0) in encoder.layer.0 at "models.py":10
%b: f32[2,8] = aten::linear(%a, %w1) in encoder.layer.1 at "models.py":10
%y: f32[2,4] = aten::linear(%b, %wh) in head at "models.py":20
return %y
)";

constexpr std::string_view kKernels = R"(
note "batch is 2, as in the file"
frame 1: aten::linear
%a: f32[2,8] = aten::mm(%x, %w0) in encoder.layer.0 at "models.py":10 frame 1 origin 0
%b: f32[2,8] = aten::mm(%a, %w1) in encoder.layer.1 at "models.py":10 frame 1 origin 1
steelyard::drop(%a) in encoder.layer.1
%y: f32[2,4] = aten::mm(%b, %wh) in head at "models.py":20 frame 1 origin 2
steelyard::drop(%b) in head
return %y
)";

Program Read(std::string_view body) {
  return ParseText(std::string(kTensors).append(body), "tiny.syt").value();
}

ValueId Named(const Program& program, std::string_view name) {
  for (ValueId id = 0; id < program.values.size(); ++id) {
    if (program.text(program.values[id].name) == name) return id;
  }
  return kNoId;
}

NodeWork WorkOfLinear(std::int64_t macs, std::int64_t read, std::int64_t written) {
  return {.macs = macs,
          .flops = 2 * macs,
          .flops_all = 2 * macs,
          .read = kFloat * read,
          .written = kFloat * written};
}

}  // namespace

WeighedModel::WeighedModel() : imported(Read(kImported)), kernels(Read(kKernels)) {
  Run();
  CountByHand();
  parameters = CountParameters(kernels);
  peak = FindPeak(timeline);
  modules = CountModules(imported, kernels, work, timeline);
  classes = CountClasses(kernels, modules);
  kinds = CountKinds(kernels, work, timeline, peak.live);
}

// a and scratch; scratch goes; b; a goes; y; b goes; the caller lets y go.
void WeighedModel::Run() {
  Of(timeline.resident, Category::kParameters) = kFloat * (8 * 8 + 8 * 8 + 4 * 8);
  Of(timeline.resident, Category::kInputs) = kFloat * 2 * 8;
  const StringId mm = timeline.labels.Intern("aten::mm");
  const auto open = [&](std::int64_t bytes, std::uint32_t value, NodeId node) {
    const auto block = static_cast<std::uint32_t>(timeline.blocks.size());
    timeline.blocks.push_back({.bytes = bytes,
                               .value = value,
                               .allocated = static_cast<std::uint32_t>(timeline.events.size())});
    timeline.events.push_back({bytes, block, mm, node});
    return block;
  };
  const auto close = [&](std::uint32_t block, NodeId node) {
    timeline.blocks[block].freed = static_cast<std::uint32_t>(timeline.events.size());
    timeline.events.push_back({-timeline.blocks[block].bytes, block, kNoString, node});
  };
  const std::uint32_t a = open(kFloat * 2 * 8, Named(kernels, "a"), 0);
  const std::uint32_t scratch = open(kFloat * 4 * 8, Block::kNoValue, 0);
  close(scratch, 0);
  const std::uint32_t b = open(kFloat * 2 * 8, Named(kernels, "b"), 1);
  close(a, 2);
  const std::uint32_t y = open(kFloat * 2 * 4, Named(kernels, "y"), 3);
  timeline.blocks[y].category = Category::kOutputs;
  close(b, 4);
  close(y, 5);
}

void WeighedModel::CountByHand() {
  work.convention = FindConvention("torch");
  work.steering.assign(imported.op_names.size(), false);
  work.by_node = WorkByNode(kernels.main().nodes.size());
  work.by_node.at(0) = WorkOfLinear(kLayerMacs, 2 * 8 + 8 * 8, 2 * 8);
  work.by_node.at(1) = NodeWork(work.by_node[0]);
  work.by_node.at(3) = WorkOfLinear(kHeadMacs, 2 * 8 + 4 * 8, 2 * 4);
  OperatorWork linear{.name = "aten::linear", .calls = 3, .work = {}};
  for (std::size_t i = 0; i < work.by_node.size(); ++i) linear.work += work.by_node[i];
  work.by_phase[static_cast<std::size_t>(Phase::kForward)] = linear.work;
  work.by_operator = {linear};
  work.calls = work.modelled_calls = 3;
}

Findings WeighedModel::findings() const {
  return {.imported = imported,
          .kernels = kernels,
          .timeline = timeline,
          .parameters = parameters,
          .work = work,
          .peak = peak,
          .training = training,
          .kinds = kinds,
          .runtime = "eager",
          .runtime_title = "Eager PyTorch",
          .modules = modules,
          .classes = classes,
          .counts = counts,
          .target = target,
          .path = "tiny.syt",
          .elapsed_seconds = 0.0062};
}

report::DataView At(const report::Data& data, std::string_view path) {
  return data.root().Find(path).value();
}

std::string TextOf(const report::Document& document) {
  return report::Render(document, "text").value();
}

}  // namespace steelyard::present
