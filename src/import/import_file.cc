// SPDX-License-Identifier: Apache-2.0
//
// Which importer reads a file, and what can be said of files before any does.
#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "import/foreign.h"
#include "import/json_fault.h"
#include "import/memory_map.h"
#include "import/unreadable.h"
#include "import/with_weights.h"
#include "steelyard/import.h"
#include "support/choices.h"

namespace steelyard {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

enum class PathKind : std::uint8_t { kFile, kFolder };

// Everything but a folder and a non-empty regular file is refused before it is opened: reading a
// pipe or a device could wait for ever.
Result<PathKind> KindOf(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  // The system takes a path to end at its first NUL, and would read another file.
  if (status.type() == fs::file_type::not_found || path.find('\0') != std::string::npos) {
    return Unexpected(NotFound("there is no such file", path, "Is the path right?"));
  }
  if (code) return Unexpected(CannotBeRead(path, code.message()));
  if (status.type() == fs::file_type::directory) return PathKind::kFolder;
  if (status.type() != fs::file_type::regular) {
    return Unexpected(InvalidInput("it is no regular file", path, "Save it to a file first."));
  }
  if (fs::file_size(path, code) == 0 && !code) {
    return Unexpected(InvalidInput("the file is empty", path,
                                   "Was it written completely? Export the model again."));
  }
  return PathKind::kFile;
}

Result<std::string> ReadHead(const std::string& path) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) {
    return Unexpected(CannotBeRead(path, std::generic_category().message(errno)));
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

// Names of the files in a folder, sorted. More than this are no model's.
constexpr std::size_t kMaxFiles = 100'000;
std::vector<std::string> FilesIn(const std::string& folder) {
  namespace fs = std::filesystem;
  std::vector<std::string> names;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    std::error_code ignored;
    if (it->is_regular_file(ignored)) names.push_back(it->path().filename().string());
    if (names.size() == kMaxFiles) break;
  }
  std::ranges::sort(names);
  return names;
}

// What reads the weights that lie beside the config of which `importer` builds the model; nullptr
// where there are none, or where the importer was chosen by its name.
const Importer* ReaderOfWeightsBeside(const Importer& importer, const std::string& folder,
                                      const ImportOptions& options) {
  if (!importer.builds || !options.from.empty()) return nullptr;
  const std::vector<std::string> names = FilesIn(folder);
  for (const Importer& other : Importers()) {
    if (!other.builds && other.takes_folder != nullptr && other.takes_folder(names)) return &other;
  }
  return nullptr;
}

Result<const Importer*> ChooseForFolder(const std::string& path) {
  const std::vector<std::string> names = FilesIn(path);
  for (const Importer& importer : Importers()) {
    if (importer.takes_folder != nullptr && importer.takes_folder(names)) return &importer;
  }
  if (auto foreign = ForeignFolder(names)) return Unexpected(Within(path, *std::move(foreign)));
  return Unexpected(InvalidInput(
      "it is a directory, and holds no model that is known", path,
      "Name the model file, or a folder with a config.json, .safetensors or .gguf files in it."));
}

Result<const Importer*> ImporterNamed(const std::string& name) {
  if (const Importer* importer = FindByName(name)) return importer;
  return Unexpected(NoSuch("importer", name, NamesOf(Importers())));
}

// What would tell what a JSON file is may stand behind the place where it breaks off.
Status RefuseBrokenJson(const std::string& path, std::string_view head) {
  if (!IsJson(head)) return {};
  SY_ASSIGN_OR_RETURN(const MemoryMap file, MemoryMap::Open(path));
  const std::optional<std::string> fault = JsonFault(file.bytes());
  if (!fault) return {};
  return Unexpected(InvalidInput(*fault, path, "Download it or write it again."));
}

// What the file says it is counts more than what it is called.
Result<const Importer*> Choose(const std::string& path, PathKind kind,
                               const ImportOptions& options) {
  const bool folder = kind == PathKind::kFolder;
  if (!options.from.empty()) {
    SY_ASSIGN_OR_RETURN(const Importer* importer, ImporterNamed(options.from));
    if (!folder || importer->takes_folder != nullptr) return importer;
    return Unexpected(InvalidInput("it is a directory, which " + options.from + " does not read",
                                   path, "Name the model file in it."));
  }
  if (folder) return ChooseForFolder(path);
  SY_ASSIGN_OR_RETURN(const std::string head, ReadHead(path));
  for (const Importer& importer : Importers()) {
    if (importer.sniff(head)) return &importer;
  }
  if (auto foreign = ForeignFormat(head)) {
    SY_RETURN_IF_ERROR(RefuseBrokenJson(path, head));
    return Unexpected(Within(path, *std::move(foreign)));
  }
  const std::string extension = LowerExtension(path);
  for (const Importer& importer : Importers()) {
    if (std::ranges::find(importer.extensions, extension) != importer.extensions.end()) {
      return &importer;
    }
  }
  return Unexpected(
      Unsupported("the format of the file is not known", path,
                  fmt::format("Importers are {}; --from chooses one whatever the file is called.",
                              fmt::join(NamesOf(Importers()), ", "))));
}

// "model" of "model.pt2" and of "models/model/".
std::string NameOf(const std::string& path, PathKind kind) {
  const std::filesystem::path named = std::filesystem::absolute(path).lexically_normal();
  if (!named.has_filename()) return named.parent_path().filename().string();
  return (kind == PathKind::kFolder ? named.filename() : named.stem()).string();
}

}  // namespace

Result<Program> ImportFile(const std::string& path, const ImportOptions& options) {
  SY_ASSIGN_OR_RETURN(const PathKind kind, KindOf(path));
  SY_ASSIGN_OR_RETURN(const Importer* importer, Choose(path, kind, options));
  // A file that describes its model, unless what was asked for is the file's weights.
  const bool described = importer->config != nullptr && options.from.empty();
  const bool built = importer->builds || described;
  if (!built && (options.dtype || !options.attention.empty())) {
    return Unexpected(UsageError("the dtypes and the attention of this file are its own",
                                 options.dtype ? "--dtype" : "--attention",
                                 "They are chosen for models that are built from a config.json."));
  }
  if (!built && options.cache) {
    return Unexpected(UsageError("the calls of this file are its own",
                                 options.cache->every ? "--use-cache" : "--generate",
                                 "Calls that keep keys and values are built from a config.json."));
  }
  const Importer* weights =
      kind == PathKind::kFolder ? ReaderOfWeightsBeside(*importer, path, options) : nullptr;
  ImportOptions asked = options;
  asked.quantised = weights != nullptr && !options.dtype;
  Result<Program> program =
      described ? DescribedByWeights(*importer, path, options) : importer->read(path, asked);
  if (weights != nullptr) program = WithWeights(std::move(program), *weights, path, options);
  if (program && program->name == kNoString) {
    program->name = program->strings.Intern(NameOf(path, kind));
  }
  return program;
}

}  // namespace steelyard
