// SPDX-License-Identifier: Apache-2.0
#include "import/memory_map.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace steelyard {
namespace {

Error CannotMap() {
  return InvalidInput("it cannot be mapped: " + std::generic_category().message(errno));
}

// The map needs no open file.
class Descriptor {
 public:
  explicit Descriptor(const std::string& path)
      : number_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

}  // namespace

Result<MemoryMap> MemoryMap::Open(const std::string& path) {
  const Descriptor file(path);
  struct stat status {};
  if (file.number() < 0 || fstat(file.number(), &status) != 0) return Unexpected(CannotMap());
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return MemoryMap(std::string_view());
  void* const at = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (at == MAP_FAILED) return Unexpected(CannotMap());
  return MemoryMap(std::string_view(static_cast<const char*>(at), size));
}

MemoryMap::~MemoryMap() {
  if (bytes_.empty()) return;
  munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

}  // namespace steelyard
