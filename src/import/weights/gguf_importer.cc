// SPDX-License-Identifier: Apache-2.0
//
// One GGUF file, or all parts of a model that llama.cpp has split, whichever of them is named.
#include "import/weights/gguf_importer.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/names.h"
#include "import/weights/build_program.h"
#include "import/weights/folder.h"
#include "import/weights/gguf_config.h"
#include "import/weights/gguf_header.h"
#include "import/weights/part_names.h"
#include "import/weights/stored.h"

namespace steelyard {
namespace {

namespace fs = std::filesystem;
using weights::GgufSplit;
using weights::StoredWeights;

constexpr std::string_view kExtension = ".gguf";
constexpr std::string_view kExtensions[] = {kExtension};

Program Finish(StoredWeights stored, const std::string& name) {
  stored.program.name = stored.program.strings.Intern(name);
  stored.program.producer = stored.program.strings.Intern("GGUF");
  return weights::BuildProgram(std::move(stored), {});
}

Result<Program> ReadParts(const std::string& folder, weights::PartName part) {
  StoredWeights stored;
  std::optional<std::int64_t> tensors;
  for (part.number = 1; part.number <= part.count; ++part.number) {
    const std::string path = (fs::path(folder) / weights::NameOfPart(part, kExtension)).string();
    SY_ASSIGN_OR_RETURN(
        const GgufSplit split,
        weights::ReadGguf(path, static_cast<std::uint32_t>(part.number - 1), &stored));
    if (split.number != part.number - 1 || split.count != part.count) {
      return Unexpected(InvalidInput("it says that it is part " + std::to_string(split.number + 1) +
                                         " of " + std::to_string(split.count),
                                     path, "Was the file renamed, or is it of another model?"));
    }
    if (split.tensors) tensors = split.tensors;
  }
  const auto found = static_cast<std::int64_t>(stored.tensors.size());
  if (tensors && *tensors != found) {
    return Unexpected(InvalidInput("the parts have " + std::to_string(found) +
                                       " tensors together, and say that there are " +
                                       std::to_string(*tensors),
                                   folder, "Are they parts of one model?"));
  }
  return Finish(std::move(stored), std::string(part.model));
}

Result<Program> ReadFile(const std::string& path) {
  const fs::path named(path);
  const std::string file = named.filename().string();
  StoredWeights stored;
  SY_ASSIGN_OR_RETURN(const GgufSplit split, weights::ReadGguf(path, 0, &stored));
  if (split.count <= 1) return Finish(std::move(stored), named.stem().string());
  const std::optional<weights::PartName> part = weights::PartOf(file, kExtension);
  if (part) return ReadParts(named.parent_path().string(), *part);
  return Unexpected(InvalidInput("it is part " + std::to_string(split.number + 1) + " of " +
                                     std::to_string(split.count) +
                                     ", and its name does not say where the others are",
                                 path, "llama.cpp calls them model-00001-of-00005.gguf."));
}

Result<Program> ReadFolder(const std::string& folder) {
  const std::vector<std::string> models =
      weights::ModelsAmong(weights::NamesIn(folder), kExtension);
  if (models.size() == 1) return ReadFile((fs::path(folder) / models[0]).string());
  if (models.empty()) {
    return Unexpected(InvalidInput("the folder holds no GGUF files", folder));
  }
  return Unexpected(weights::SeveralModels(folder, models));
}

// The file whose metadata are those of the model: of several parts it is the first.
std::string FirstOf(const std::string& path) {
  const fs::path named(path);
  if (fs::is_directory(path)) {
    return (named / weights::ModelsAmong(weights::NamesIn(path), kExtension).at(0)).string();
  }
  const std::string file = named.filename().string();
  std::optional<weights::PartName> part = weights::PartOf(file, kExtension);
  if (!part) return path;
  part->number = 1;
  const fs::path first = named.parent_path() / weights::NameOfPart(*part, kExtension);
  return fs::exists(first) ? first.string() : path;
}

Result<std::string> Config(const std::string& path, const Program& weights) {
  SY_ASSIGN_OR_RETURN(const weights::GgufMetadata metadata,
                      weights::ReadGgufMetadata(FirstOf(path)));
  return weights::ConfigOf(metadata, weights);
}

Result<Program> Read(const std::string& path, const ImportOptions&) {
  return WithNamesInUtf8(fs::is_directory(path) ? ReadFolder(path) : ReadFile(path), path);
}

}  // namespace

const Importer kGgufImporter = {
    .name = "gguf",
    .extensions = kExtensions,
    .sniff = [](std::string_view head) { return head.starts_with("GGUF"); },
    .read = Read,
    .summary =
        "weights of llama.cpp, quantised or not: a file, its parts or a folder; headers only",
    .takes_folder =
        [](std::span<const std::string> names) {
          return std::ranges::any_of(
              names, [](const std::string& name) { return name.ends_with(kExtension); });
        },
    .config = Config,
};

}  // namespace steelyard
