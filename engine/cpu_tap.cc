// SPDX-License-Identifier: Apache-2.0
//
// An allocator stands before PyTorch's. It hands out the same memory, of which only the function
// that frees it is another: so tensors that outlive the session need nothing of it.
#include "cpu_tap.h"

#include <c10/core/Allocator.h>
#include <c10/core/StorageImpl.h>

#include <cstddef>

#include "record_writer.h"

namespace steelyard::engine {
namespace {

c10::Allocator* own = nullptr;  // PyTorch's
c10::DeleterFnPtr own_free = nullptr;

void Free(void* memory) {
  // Before it is given back: another thread may have it right after.
  if (ThreadBuffer* const buffer = Here()) {
    Write(*buffer, {.time = Ticks(),
                    .key = reinterpret_cast<std::uint64_t>(memory),
                    .amount = 0,
                    .id = 0,
                    .kind = SY_FREE,
                    .flags = 0,
                    .thread = 0});
  }
  own_free(memory);
}

class Tap final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    c10::DataPtr memory = own->allocate(bytes);
    if (bytes == 0 || !memory.compare_exchange_deleter(own_free, Free)) return memory;
    if (ThreadBuffer* const buffer = Here()) {
      Write(*buffer, {.time = Ticks(),
                      .key = reinterpret_cast<std::uint64_t>(memory.get()),
                      .amount = bytes,
                      .id = 0,
                      .kind = SY_ALLOCATE,
                      .flags = 0,
                      .thread = 0});
    }
    return memory;
  }
  c10::DeleterFnPtr raw_deleter() const override { return Free; }
  bool is_simple_data_ptr(const c10::DataPtr& memory) const override {
    return own->is_simple_data_ptr(memory);
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    own->copy_data(to, from, bytes);
  }
};

// Storages keep a pointer to their allocator: it stays.
Tap& tap() {
  static auto* const the_tap = new Tap;
  return *the_tap;
}

}  // namespace

bool BeginTap() {
  c10::Allocator* const now = c10::GetAllocator(c10::kCPU);
  if (now != &tap()) {
    if (now == nullptr || now->raw_deleter() == nullptr) return false;
    own = now;
    own_free = now->raw_deleter();
  }
  c10::SetAllocator(c10::kCPU, &tap());
  return c10::GetAllocator(c10::kCPU) == &tap();
}

void EndTap() {
  // Where somebody has put an allocator in front of this one it stays there, and does nothing.
  if (own != nullptr && c10::GetAllocator(c10::kCPU) == &tap()) c10::SetAllocator(c10::kCPU, own);
}

void HearOf(void* storage) {
  auto* const held = static_cast<c10::StorageImpl*>(storage);
  if (held == nullptr || own_free == nullptr || held->device_type() != c10::kCPU) return;
  // It is PyTorch's own only if this is what would free it.
  static_cast<void>(held->_mutable_data_ptr_no_checks().compare_exchange_deleter(own_free, Free));
}

}  // namespace steelyard::engine
