// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

#include "steelyard/error.h"

namespace steelyard::cli {
namespace {

Status NotWritten(const std::string& where) {
  return Unexpected(InvalidInput(std::string("cannot be written: ") + std::strerror(errno), where,
                                 "Name a file, in a folder that exists, which you may write."));
}

// Sets errno when it returns false.
bool WriteAll(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

Status WriteOutput(std::string_view text) {
  if (!WriteAll(STDOUT_FILENO, text)) return NotWritten("standard output");
  return {};
}

Status WriteFile(const std::string& path, std::string_view text) {
  constexpr mode_t kReadableByAll = 0666;  // less what the umask takes
  const int descriptor =
      open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kReadableByAll);
  if (descriptor < 0) return NotWritten(path);
  const bool written = WriteAll(descriptor, text);
  const int problem = errno;
  const bool closed = close(descriptor) == 0;
  if (!written) errno = problem;
  if (!written || !closed) return NotWritten(path);
  return {};
}

}  // namespace steelyard::cli
