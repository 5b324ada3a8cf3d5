// SPDX-License-Identifier: Apache-2.0
//
// Feeds bytes to one importer. Whatever they are, it must return a program or an error: no crash,
// no undefined behaviour, and no time or memory out of proportion (libFuzzer's limits watch that).
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "memory_file.h"
#include "steelyard/import.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const MemoryFile file;
  file.Fill(data, size);
  const auto program = steelyard::ImportFile(file.path(), {.from = STEELYARD_IMPORTER});
  if (!program && program.error().code == steelyard::ErrorCode::kInternal) std::abort();
  return 0;
}
