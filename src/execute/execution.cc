// SPDX-License-Identifier: Apache-2.0
#include "execute/execution.h"

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "execute/lowering.h"
#include "ir/release_order.h"

namespace steelyard {
namespace {

// What the engine said, at the node that it said it of.
Error Told(const SyError& error, const Program& kernels) {
  const std::vector<Node>& nodes = kernels.main().nodes;
  std::string where;
  if (error.call < nodes.size()) {
    const Node& node = nodes[error.call];
    where = fmt::format("kernel {} ({})", error.call, kernels.op_name(node.op));
    if (node.frame != 0)
      where += fmt::format(" in {}", kernels.op_name(kernels.frames[node.frame].op));
    const std::string_view module = kernels.text(kernels.modules[node.module].path);
    if (!module.empty()) where += fmt::format(" of {}", module);
  }
  return Unsupported(static_cast<const char*>(error.message), std::move(where));
}

}  // namespace

Result<Execution> Execution::Open(const SyEngine& engine, const Program& kernels,
                                  const Sources& sources) {
  SyError error{};
  const Lowering lowered(kernels);
  const SyProgram program = lowered.program();
  Session session(engine.open(&program, &error), Close{&engine});
  if (session == nullptr) return Unexpected(Told(error, kernels));
  Execution execution(engine, kernels, std::move(session));
  SY_RETURN_IF_ERROR(execution.Place(sources));
  return execution;
}

Status Execution::Place(const Sources& sources) {
  residents_ = ResidentsOf(*kernels_);
  SY_ASSIGN_OR_RETURN(const std::vector<SyContent> contents,
                      ContentsOf(*kernels_, residents_, sources));
  for (std::size_t i = 0; i < residents_.size(); ++i) {
    const ValueId id = residents_[i].value;
    const SyLayout layout{.dtype = NameOf(kernels_->values[id].dtype).data(),
                          .sizes = kernels_->sizes(id).data(),
                          .strides = kernels_->strides(id).data(),
                          .rank = kernels_->sizes(id).size()};
    SyError error{};
    if (!engine_->place(session_.get(), id, &layout, &contents[i], &error)) {
      return Unexpected(Within(residents_[i].name, Told(error, *kernels_)));
    }
    for (const ValueId also : residents_[i].also) engine_->share(session_.get(), also, id);
  }
  return {};
}

Status Execution::Continue(const Program& kernels) {
  if (kernels.values.size() != kernels_->values.size()) {
    return Unexpected(InternalError("a step of another number of values follows"));
  }
  SyError error{};
  const Lowering lowered(kernels);
  const SyProgram program = lowered.program();
  kernels_ = &kernels;
  if (engine_->reload(session_.get(), &program, &error)) return {};
  return Unexpected(Told(error, kernels));
}

Status Execution::Run(NodeId begin, NodeId end, const SyRecord& record) {
  SyError error{};
  if (engine_->run(session_.get(), begin, end, &record, &error)) return {};
  return Unexpected(Told(error, *kernels_));
}

void Execution::ReleaseOutputs(const SyRecord& record) {
  const std::vector<Argument>& outputs = kernels_->main().outputs;
  std::vector<std::uint32_t> values;
  for (const std::uint32_t place : ReleaseOrder(*kernels_)) {
    if (outputs[place].kind == ArgKind::kValue) values.push_back(outputs[place].value);
  }
  engine_->release(session_.get(), values.data(), values.size(), &record);
}

Result<SyElements> Execution::Read(ValueId value) {
  SyError error{};
  SyElements elements{};
  if (engine_->read(session_.get(), value, &elements, &error)) return elements;
  return Unexpected(Told(error, *kernels_));
}

}  // namespace steelyard
