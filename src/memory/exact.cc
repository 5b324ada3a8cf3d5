// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <vector>

#include "memory/allocator.h"

namespace steelyard {
namespace {

class ExactAllocator final : public Allocator {
 public:
  void Begin(std::int64_t resident) override { now_ = peak_ = resident; }
  void Keep(std::uint32_t block, std::int64_t bytes) override {
    static_cast<void>(Allocate(block, bytes, 0));  // there is always room
  }
  bool Allocate(std::uint32_t block, std::int64_t bytes, std::uint32_t) override {
    if (bytes_.size() <= block) bytes_.resize(block + std::size_t{1}, 0);
    bytes_[block] = bytes;
    now_ += bytes;
    peak_ = std::max(peak_, now_);
    return true;
  }
  void Free(std::uint32_t block) override { now_ -= bytes_[block]; }
  MemoryLevels now() const override { return Levels(now_); }
  bool Settled() override { return true; }  // it places nothing
  MemoryLevels Finish() override { return Levels(peak_); }

 private:
  static MemoryLevels Levels(std::int64_t bytes) {
    return {.requested = bytes, .allocated = bytes, .reserved = bytes};
  }

  std::vector<std::int64_t> bytes_;
  std::int64_t now_ = 0;
  std::int64_t peak_ = 0;
};

}  // namespace

std::unique_ptr<Allocator> MakeExactAllocator() { return std::make_unique<ExactAllocator>(); }

}  // namespace steelyard
