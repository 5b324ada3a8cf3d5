// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "steelyard/program.h"

namespace steelyard {

// By storage: what a tensor takes that parameters are parts of, and that is none itself; else 0.
inline std::vector<std::int64_t> WholeBytes(const Program& program) {
  std::vector<std::uint32_t> parts(program.storage_count, 0);
  std::vector<bool> named(program.values.size(), false);
  for (const NamedTensor& p : program.parameters) {
    if (p.value == kNoId) continue;
    named[p.value] = true;
    if (p.tied_to == kNoId) ++parts[program.values[p.value].storage];
  }
  std::vector<std::int64_t> whole(program.storage_count, 0);
  for (const ValueId id : program.main().inputs) {
    const StorageId storage = program.values[id].storage;
    if (parts[storage] < 2) continue;
    parts[storage] = 0;  // what stands first of a storage is the whole
    if (!named[id]) whole[storage] = program.stored_bytes({.value = id});
  }
  return whole;
}

}  // namespace steelyard
