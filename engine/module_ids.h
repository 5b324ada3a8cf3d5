// SPDX-License-Identifier: Apache-2.0
//
// The ids of modules by their addresses, which each call of a module asks for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "record/format.h"

namespace steelyard::engine {

class ModuleIds {
 public:
  // SY_NO_ID where it has none.
  std::uint32_t Of(const void* module) const {
    const Slot& slot = slots_[SlotOf(module)];
    return slot.module == module ? slot.id : SY_NO_ID;
  }

  // SY_NO_ID forgets it: its slot stays, for the next module that is made there.
  void Set(const void* module, std::uint32_t id) {
    if (slots_[SlotOf(module)].module == nullptr) {
      if (id == SY_NO_ID) return;
      if (2 * ++count_ > slots_.size()) Grow();
    }
    slots_[SlotOf(module)] = {module, id};
  }

  void Clear() { *this = {}; }

 private:
  struct Slot {
    const void* module = nullptr;
    std::uint32_t id = SY_NO_ID;
  };

  // Where it is, or the free slot where it would be.
  std::size_t SlotOf(const void* module) const {
    const std::size_t mask = slots_.size() - 1;
    // The low bits of addresses are alike.
    std::size_t at = reinterpret_cast<std::uintptr_t>(module) * 0x9e3779b97f4a7c15u >> 32u;
    while (slots_[at & mask].module != nullptr && slots_[at & mask].module != module) ++at;
    return at & mask;
  }

  void Grow() {
    std::vector<Slot> old(4 * slots_.size());
    old.swap(slots_);
    count_ = 1;  // with the one that there was no room for
    for (const Slot& slot : old) {
      if (slot.id == SY_NO_ID) continue;
      slots_[SlotOf(slot.module)] = slot;
      ++count_;
    }
  }

  // Open addressing, a power of two, of which half at most is taken.
  std::vector<Slot> slots_ = std::vector<Slot>(256);
  std::size_t count_ = 0;
};

}  // namespace steelyard::engine
