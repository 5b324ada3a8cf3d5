// SPDX-License-Identifier: Apache-2.0
#include "execute/engine_abi.h"

extern "C" __attribute__((visibility("default"))) const SyEngine* steelyard_engine() {
  static const SyEngine engine = [] {
    SyEngine other{};
    other.abi = SY_ENGINE_ABI + 1;
    other.torch = "0.0";
    return other;
  }();
  return &engine;
}
