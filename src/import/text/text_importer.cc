// SPDX-License-Identifier: Apache-2.0
#include "import/text/text_importer.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include "import/names.h"
#include "import/unreadable.h"
#include "ir/text_reader.h"

namespace steelyard {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// With the line that is not.
Error NotInUtf8(std::string_view text, const std::string& path) {
  for (std::size_t line = 1;; ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (!IsUtf8(text.substr(0, end)) || end == text.size()) {
      return NoUtf8(text.substr(0, end), path + ":" + std::to_string(line));
    }
    text.remove_prefix(end + 1);
  }
}

Result<Program> ReadText(const std::string& path, const ImportOptions& /*options*/) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  std::string text;
  std::error_code unknown;  // of a pipe; it grows as it is read
  if (const std::uintmax_t size = std::filesystem::file_size(path, unknown); !unknown) {
    text.reserve(size);
  }
  std::array<char, 65536> buffer;
  while (file != nullptr) {
    const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), file.get());
    text.append(buffer.data(), got);
    if (got < buffer.size()) break;
  }
  if (file == nullptr || std::ferror(file.get()) != 0) {
    return Unexpected(CannotBeRead(path));
  }
  if (!IsUtf8(text)) return Unexpected(NotInUtf8(text, path));
  return ParseText(text, path);
}

constexpr std::string_view kExtensions[] = {".syt"};

}  // namespace

const Importer kTextImporter = {
    .name = "text",
    .extensions = kExtensions,
    // Almost any text is the beginning of a program; the extension tells.
    .sniff = [](std::string_view) { return false; },
    .read = ReadText,
    .summary = "Steelyard's own text form, for tests and for writing models by hand",
};

}  // namespace steelyard
