// SPDX-License-Identifier: Apache-2.0
//
// Regions of torch.autocast, in metadata. Autocast is a dispatch key above autograd: an operator
// that its lists name has its operands cast before anything else sees the call, and what it calls
// is left alone; of all others, the operators that they call are looked at. Casts are calls with a
// gradient. The cast of a parameter is made once and kept until the outermost region ends.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "ops/dispatch/dispatcher.h"
#include "ops/op_def.h"
#include "steelyard/program.h"

namespace steelyard {

// What torch.autocast(dtype=low, enabled=..., cache_enabled=...) sets.
struct AutocastMode {
  DType low = DType::kBFloat16;
  bool enabled = false;
  bool caches = true;
};

// What a torch.amp.GradScaler keeps between steps, from its first use on.
struct ScalerState {
  Tensor scale, growth_tracker;
};

class Autocast {
 public:
  Autocast(Dispatcher& dispatcher, Program& program) : dispatcher_(dispatcher), program_(program) {}

  const AutocastMode& mode() const { return mode_; }
  void Enter(const AutocastMode& mode);
  void Leave();  // the region that was entered last
  // Instead of what the lists say, and in all regions: of an operator, or of those that are low in
  // a module.
  void CastOperator(const OpDef& def, DType dtype);
  void CastModule(ModuleId module, DType dtype);
  // What happens to the operands of a call that is made now: to which dtype, where it is not told
  // by the operands themselves.
  struct Casting {
    CastRule rule = CastRule::kFollow;
    DType dtype = DType::kFloat32;
  };
  Casting CastingOf(const OpDef& def) const;
  ScalerState& scaler() { return scaler_; }
  // How many casts are kept, and back to fewer of them.
  std::size_t kept() const { return kept_.size(); }
  void KeepOnly(std::size_t count) {
    while (kept_.size() > count) kept_.pop_back();
  }

  // The operands of a call as its rule wants them, the last of them cast first. They live as long
  // as this does, in which nothing is cast.
  class Operands {
   public:
    Operands(Autocast& autocast, const OpDef& def, Casting casting, std::span<const Argument> args);
    ~Operands();
    Operands(const Operands&) = delete;
    Operands& operator=(const Operands&) = delete;
    std::span<const Argument> arguments() const { return {arguments_.data(), count_}; }

   private:
    Argument CastTo(DType dtype, const Argument& argument);
    Autocast& autocast_;
    std::array<Argument, Signature::kMaxParams> arguments_{};
    std::size_t count_;
    std::vector<std::vector<Tensor>> casts_;  // in the order in which they were made
    bool before_;
  };

 private:
  Tensor CastTo(DType dtype, const Tensor& tensor);
  Tensor CastOnce(DType dtype, const Tensor& leaf);
  DType WidestOf(std::span<const Argument> args) const;
  bool IsEligible(ValueId id) const;

  struct Kept {
    StorageId of;
    Tensor cast;
  };

  struct Override {
    const OpDef* def = nullptr;
    ModuleId module = kNoId;
    DType dtype = DType::kFloat32;
  };

  Dispatcher& dispatcher_;
  Program& program_;
  AutocastMode mode_;
  std::vector<Override> overrides_;
  std::vector<AutocastMode> outer_;
  std::vector<Kept> kept_;
  ScalerState scaler_;
  bool excluded_ = false;  // inside an operator whose operands were looked at
};

}  // namespace steelyard
