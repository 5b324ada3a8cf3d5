// SPDX-License-Identifier: Apache-2.0
#include "import/weights/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <system_error>

#include "import/unreadable.h"

namespace steelyard::weights {

Result<File> File::Open(const std::string& path) {
  struct stat status = {};
  // Opening a pipe could wait for ever.
  if (stat(path.c_str(), &status) != 0) {
    return Unexpected(NotFound("there is no such file", path, "Is the download complete?"));
  }
  if (!S_ISREG(status.st_mode))
    return Unexpected(InvalidInput("it is no regular file", path, "Save it to a file first."));
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return Unexpected(CannotBeRead(path, std::generic_category().message(errno)));
  }
  return File(descriptor, status.st_size);
}

File::~File() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool File::Read(std::int64_t offset, std::span<char> out) const {
  while (!out.empty()) {
    const ssize_t got = pread(descriptor_, out.data(), out.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    offset += got;
    out = out.subspan(static_cast<std::size_t>(got));
  }
  return true;
}

}  // namespace steelyard::weights
