// SPDX-License-Identifier: Apache-2.0
//
// Calls of kernels that rows have answered for. What a kernel gives, allocates and computes follows
// from its operands' layouts and its numbers, and a model repeats its layers and an optimizer its
// parameters: each distinct call is asked of its row once.
//
//   KernelId kernel = known.Find(def, args);
//   if (kernel == kNoId) kernel = known.Add(results, bytes);  // what the row says of this call
//   for (const KnownKernels::Result& result : known.results(kernel)) ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ops/op_def.h"
#include "steelyard/program.h"

namespace steelyard {

class KnownKernels {
 public:
  // One result, but for the storage that it is on.
  struct Result {
    DType dtype = DType::kFloat32;
    std::uint8_t rank = 0;
    bool none = false;
    bool wrapped_number = false;
    bool conjugates = false, negates = false;
    bool from_storage = false;  // as in Outputs::Meta
    std::uint32_t dims = 0;     // of `Intern`
    std::int64_t from = 0;
  };

  // Of calls in `program`, which must outlive it.
  explicit KnownKernels(Program& program) : program_(program) {}

  // kNoId: it is not known. What rules can see of a call is compared, so that rules may look at
  // nothing else of its operands: neither at names and storages, nor at what is done with them.
  KernelId Find(const OpDef& def, std::span<const Argument> args);
  // The call that was looked for last and not found. kNoId where it cannot be told from others.
  KernelId Add(std::span<const Result> results, Count bytes);

  std::span<const Result> results(KernelId kernel) const {
    return std::span(results_).subspan(kernels_[kernel].first_result, kernels_[kernel].results);
  }
  // All that it allocates.
  Count bytes(KernelId kernel) const { return kernels_[kernel].bytes; }

  // Where sizes and strides stand in the program's pool: equal ones in one place.
  std::uint32_t Intern(std::span<const std::int64_t> sizes, std::span<const std::int64_t> strides);

 private:
  struct Kernel {
    std::uint32_t first_word, words;  // in words_
    std::uint32_t first_result, results;
    Count bytes;
  };
  struct Placed {
    std::uint32_t dims;
    std::uint32_t rank;
  };
  // Numbers of things by the hashes of what they are: open addressing, a power of two.
  class Index {
   public:
    // Calls `same` with the number of each thing of this hash until one is the same; else kNoId.
    template <class Same>
    std::uint32_t Find(std::uint64_t hash, const Same& same) const {
      for (std::size_t at = hash & mask();; at = (at + 1) & mask()) {
        if (slots_[at].id == kNoId) return kNoId;
        if (slots_[at].hash == hash && same(slots_[at].id)) return slots_[at].id;
      }
    }
    void Add(std::uint64_t hash, std::uint32_t id);

   private:
    struct Slot {
      std::uint64_t hash = 0;
      std::uint32_t id = kNoId;
    };
    std::size_t mask() const { return slots_.size() - 1; }
    void Put(const Slot& slot);
    std::vector<Slot> slots_{256};
    std::size_t count_ = 0;
  };

  bool AddToKey(const Argument& argument);

  Program& program_;
  std::vector<Kernel> kernels_;
  std::vector<std::uint64_t> words_;  // what tells kernels apart
  std::vector<Result> results_;
  Index by_call_;
  std::vector<Placed> placed_;
  Index by_dims_;
  std::vector<std::uint64_t> key_;  // of the call that was looked for last; empty: it has none
  std::uint64_t hash_ = 0;
};

}  // namespace steelyard
