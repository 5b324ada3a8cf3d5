// SPDX-License-Identifier: Apache-2.0
//
// Feeds bytes to one importer. Whatever they are, it must return a program or an error: no crash,
// no undefined behaviour, and no time or memory out of proportion (libFuzzer's limits watch that).
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "steelyard/import.h"

namespace {

// A file in memory, because importers read files.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(memfd_create("input", 0)) {}
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { close(descriptor_); }

  bool Fill(const std::uint8_t* data, std::size_t size) const {
    return ftruncate(descriptor_, 0) == 0 &&
           pwrite(descriptor_, data, size, 0) == static_cast<ssize_t>(size);
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const MemoryFile file;
  if (!file.Fill(data, size)) std::abort();
  const auto program = steelyard::ImportFile(file.path(), {.from = STEELYARD_IMPORTER});
  if (!program && program.error().code == steelyard::ErrorCode::kInternal) std::abort();
  return 0;
}
