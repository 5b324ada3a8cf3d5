// SPDX-License-Identifier: Apache-2.0
//
// A program of kernels with its tensors, in the engine.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "execute/contents.h"
#include "execute/engine_abi.h"
#include "execute/skipped_steps.h"
#include "steelyard/error.h"
#include "steelyard/program.h"

namespace steelyard {

// What helps where a run fails: said in the hint of its error.
struct Help {
  std::function<std::string()> memory = {};  // there is not enough; asked for then
  std::string kernel = {};                   // PyTorch has none for the dtype
};

// "kernel 12 (aten::mm) in aten::linear of encoder.0, model.py:12"; empty where there is no such.
std::string PlaceOf(std::size_t node, const Program& kernels);

class Execution {
 public:
  // `kernels` is what `decompose` gave of a program without repeats. It outlives this, or what
  // `Continue` has put in its place does. It runs on `device`, "cpu" or "cuda", which the engine
  // has opened.
  static Result<Execution> Open(const SyEngine& engine, const Program& kernels,
                                const Sources& sources, Help help = {}, std::string device = "cpu");

  // Goes on with another program of the same residents: the next step of the same training.
  Status Continue(const Program& kernels);

  // Runs the nodes from `begin` to before `end`, without the optimizer's step where a gradient
  // scaler finds that gradients have overflowed.
  Status Run(NodeId begin, NodeId end, const SyRecord& record = {});
  // The caller lets the program's outputs go.
  void ReleaseOutputs(const SyRecord& record = {});
  // Lets go of all but the residents, after a run that failed.
  void Clear() { engine_->clear(session_.get()); }

  // What the program lets go of this value is passed over: it can be read afterwards.
  void Keep(ValueId value) { engine_->keep(session_.get(), value); }
  // Its elements, row by row, until the next call.
  Result<SyElements> Read(ValueId value);

  // How many steps were left out so.
  int skipped_steps() const { return skipped_steps_; }
  const std::string& device() const { return device_; }
  const SyEngine& engine() const { return *engine_; }
  const Program& kernels() const { return *kernels_; }
  const std::vector<Resident>& residents() const { return residents_; }

 private:
  struct Close {
    const SyEngine* engine;
    void operator()(SySession* session) const { engine->close(session); }
  };
  using Session = std::unique_ptr<SySession, Close>;

  Execution(const SyEngine& engine, std::string device, const Program& kernels, Help help)
      : engine_(&engine),
        device_(std::move(device)),
        kernels_(&kernels),
        help_(std::move(help)),
        session_(nullptr, Close{&engine}) {}
  Status Place(const Sources& sources);
  Status RunCalls(NodeId begin, NodeId end, const SyRecord& record);
  Status LetGoAll(NodeId begin, NodeId end, const SyRecord& record);
  Error Told(const SyError& error) const;

  const SyEngine* engine_;
  std::string device_;
  const Program* kernels_;
  Help help_;
  Session session_;
  std::vector<Resident> residents_;
  std::optional<OptionalStep> optional_step_;
  int skipped_steps_ = 0;
};

}  // namespace steelyard
