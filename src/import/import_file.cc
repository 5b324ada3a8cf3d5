// SPDX-License-Identifier: Apache-2.0
//
// Which importer reads a file, and what can be said of files before any does.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "import/foreign.h"
#include "steelyard/import.h"
#include "support/choices.h"

namespace steelyard {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

std::string KnownImporters() {
  std::string names;
  for (const Importer& importer : Importers()) {
    names.append(names.empty() ? "" : ", ").append(importer.name);
  }
  return names;
}

// Everything but a non-empty regular file is refused before it is opened: reading a pipe or a
// device could wait for ever.
Status CheckFile(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  if (status.type() == fs::file_type::not_found) {
    return Unexpected(NotFound("there is no such file", path, "Is the path right?"));
  }
  if (status.type() == fs::file_type::directory) {
    return Unexpected(InvalidInput("it is a directory", path, "Name the model file in it."));
  }
  if (code) return Unexpected(InvalidInput("it cannot be read: " + code.message(), path));
  if (status.type() != fs::file_type::regular) {
    return Unexpected(InvalidInput("it is no regular file", path, "Save it to a file first."));
  }
  if (fs::file_size(path, code) == 0 && !code) {
    return Unexpected(InvalidInput("the file is empty", path,
                                   "Was it written completely? Export the model again."));
  }
  return {};
}

// Of a folder of the Hub, its config.
std::string FileOf(const std::string& path) {
  std::error_code code;
  const std::filesystem::path config = std::filesystem::path(path) / "config.json";
  return std::filesystem::is_regular_file(config, code) ? config.string() : path;
}

Result<std::string> ReadHead(const std::string& path) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) {
    return Unexpected(
        InvalidInput("it cannot be opened: " + std::generic_category().message(errno), path));
  }
  std::array<char, kHeadBytes> bytes;
  return std::string(bytes.data(), std::fread(bytes.data(), 1, bytes.size(), file.get()));
}

const Importer* FindByName(std::string_view name) {
  for (const Importer& importer : Importers()) {
    if (importer.name == name) return &importer;
  }
  return nullptr;
}

std::string LowerExtension(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension().string();
  std::ranges::transform(extension, extension.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return extension;
}

// What the file says it is counts more than what it is called.
Result<const Importer*> Choose(const std::string& path, const ImportOptions& options) {
  if (!options.from.empty()) {
    const Importer* importer = FindByName(options.from);
    if (importer != nullptr) return importer;
    return Unexpected(NoSuch("importer", options.from, NamesOf(Importers())));
  }
  SY_ASSIGN_OR_RETURN(const std::string head, ReadHead(path));
  for (const Importer& importer : Importers()) {
    if (importer.sniff(head)) return &importer;
  }
  if (auto foreign = ForeignFormat(head)) return Unexpected(Within(path, *std::move(foreign)));
  const std::string extension = LowerExtension(path);
  for (const Importer& importer : Importers()) {
    if (std::ranges::find(importer.extensions, extension) != importer.extensions.end()) {
      return &importer;
    }
  }
  return Unexpected(Unsupported(
      "the format of the file is not known", path,
      "Importers are " + KnownImporters() + "; --from chooses one whatever the file is called."));
}

}  // namespace

Result<Program> ImportFile(const std::string& path, const ImportOptions& options) {
  const std::string file = FileOf(path);
  SY_RETURN_IF_ERROR(CheckFile(file));
  SY_ASSIGN_OR_RETURN(const Importer* importer, Choose(file, options));
  if (!importer->builds && (options.dtype || !options.attention.empty())) {
    return Unexpected(UsageError("the file holds a graph, whose dtypes and attention are its own",
                                 options.dtype ? "--dtype" : "--attention",
                                 "They are chosen for models that are built from a config.json."));
  }
  Result<Program> program = importer->read(file, options);
  if (program && program->name == kNoString) {
    program->name = program->strings.Intern(std::filesystem::path(file).stem().string());
  }
  return program;
}

}  // namespace steelyard
