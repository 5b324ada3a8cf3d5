// SPDX-License-Identifier: Apache-2.0
//
// Which files a model's safetensors are: one file, all that an index names, or the parts of one
// model in a folder.
#include "import/weights/safetensors_importer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/padded_text.h"
#include "import/unreadable.h"
#include "import/weights/build_program.h"
#include "import/weights/configuration.h"
#include "import/weights/file.h"
#include "import/weights/folder.h"
#include "import/weights/part_names.h"
#include "import/weights/safetensors_header.h"
#include "import/weights/shard_index.h"
#include "import/weights/stored.h"

namespace steelyard {
namespace {

namespace fs = std::filesystem;
using weights::StoredWeights;

constexpr std::string_view kExtension = ".safetensors";
constexpr std::string_view kIndexExtension = ".safetensors.index.json";
constexpr std::string_view kUsualFile = "model.safetensors";
constexpr std::string_view kUsualIndex = "model.safetensors.index.json";
constexpr std::string_view kExtensions[] = {kExtension};
constexpr std::int64_t kMaxIndexBytes = 100'000'000;

std::string StemOf(const std::string& path, std::string_view extension) {
  std::string name = fs::path(path).filename().string();
  if (name.ends_with(extension)) name.resize(name.size() - extension.size());
  return name;
}

std::string BesideIt(const std::string& path, std::string_view name) {
  return (fs::path(path).parent_path() / name).string();
}

// `path` is that of the first file or of the index, `stem` how its name begins.
Program Finish(StoredWeights stored, const std::string& path, std::string_view stem) {
  stored.program.name = stored.program.strings.Intern(weights::NameOfModel(path, stem));
  stored.program.producer = stored.program.strings.Intern("safetensors");
  return weights::BuildProgram(std::move(stored), weights::ReadHints(path));
}

Result<Program> ReadOne(const std::string& path) {
  StoredWeights stored;
  SY_RETURN_IF_ERROR(weights::ReadSafetensors(path, 0, &stored));
  const std::string file = fs::path(path).filename().string();
  const std::optional<weights::PartName> part = weights::PartOf(file, kExtension);
  if (part && part->count > 1) {
    stored.AddNote("This is part " + std::to_string(part->number) + " of " +
                   std::to_string(part->count) +
                   " of the model; its folder or its index is weighed as a whole.");
  }
  return Finish(std::move(stored), path, StemOf(path, kExtension));
}

// Whether each tensor is where the index says.
Status CheckIndex(const weights::ShardIndex& index, const StoredWeights& stored) {
  std::vector<std::uint32_t> file_of(stored.program.strings.size(), kNoId);
  for (const weights::StoredTensor& tensor : stored.tensors) file_of[tensor.name] = tensor.file;
  for (const auto& [name, file] : index.tensors) {
    const StringId id = stored.program.strings.Find(name);
    if (id < file_of.size() && file_of[id] == file) continue;
    return Unexpected(InvalidInput(
        "the index says that it is in " + index.files[file] + ", which does not have it",
        weights::QuotedName(name), "Are the files of one download? Download them again."));
  }
  return {};
}

Result<Program> ReadIndexed(const std::string& path) {
  SY_ASSIGN_OR_RETURN(const weights::File file, weights::File::Open(path));
  if (file.size() > kMaxIndexBytes) {
    return Unexpected(InvalidInput(
        "the index is absurdly long", path,
        "An index has some hundred bytes for each tensor: is it the file that was meant?"));
  }
  PaddedText text(static_cast<std::size_t>(file.size()));
  if (!file.Read(0, {text.data(), text.size()})) {
    return Unexpected(CannotBeRead(path));
  }
  Result<weights::ShardIndex> index = weights::ReadShardIndex(text);
  if (!index) return Unexpected(Within(path, std::move(index).error()));
  StoredWeights stored;
  for (std::uint32_t i = 0; i < index->files.size(); ++i) {
    SY_RETURN_IF_ERROR(weights::ReadSafetensors(BesideIt(path, index->files[i]), i, &stored));
  }
  Status checked = CheckIndex(*index, stored);
  if (!checked) return Unexpected(Within(path, std::move(checked).error()));
  return Finish(std::move(stored), path, StemOf(path, kIndexExtension));
}

Result<Program> ReadParts(const std::string& folder, weights::PartName part) {
  StoredWeights stored;
  std::string path;
  for (part.number = 1; part.number <= part.count; ++part.number) {
    path = (fs::path(folder) / weights::NameOfPart(part, kExtension)).string();
    SY_RETURN_IF_ERROR(
        weights::ReadSafetensors(path, static_cast<std::uint32_t>(part.number - 1), &stored));
  }
  return Finish(std::move(stored), path, part.model);
}

// An index comes first; beside it there may be files of other tools.
Result<Program> ReadFolder(const std::string& folder) {
  const std::vector<std::string> names = weights::NamesIn(folder);
  const auto in_folder = [&](const std::string& name) {
    return (fs::path(folder) / name).string();
  };
  std::vector<std::string> models = weights::ModelsAmong(names, kIndexExtension);
  if (std::ranges::find(models, kUsualIndex) != models.end()) models = {std::string(kUsualIndex)};
  if (models.size() == 1) return ReadIndexed(in_folder(models[0]));
  models = weights::ModelsAmong(names, kExtension);
  if (std::ranges::find(models, kUsualFile) != models.end()) models = {std::string(kUsualFile)};
  if (models.empty()) {
    return Unexpected(InvalidInput("the folder holds no safetensors files", folder));
  }
  if (models.size() > 1) return Unexpected(weights::SeveralModels(folder, models));
  if (auto part = weights::PartOf(models[0], kExtension)) return ReadParts(folder, *part);
  return ReadOne(in_folder(models[0]));
}

Result<Program> Read(const std::string& path, const ImportOptions&) {
  if (fs::is_directory(path)) return ReadFolder(path);
  return path.ends_with(".json") ? ReadIndexed(path) : ReadOne(path);
}

// The length of a header, and the header; or an index, which is JSON that begins with its metadata.
bool Sniff(std::string_view head) {
  constexpr std::size_t kLengthBytes = 8;
  if (head.size() > kLengthBytes && head[kLengthBytes] == '{') {
    std::uint64_t length = 0;
    for (std::size_t i = kLengthBytes; i-- > 0;) {
      length = length << 8U | static_cast<unsigned char>(head[i]);
    }
    if (length <= static_cast<std::uint64_t>(weights::kMaxHeaderBytes)) return true;
  }
  return head.starts_with('{') && head.find("\"weight_map\"") != std::string_view::npos;
}

}  // namespace

const Importer kSafetensorsImporter = {
    .name = "safetensors",
    .extensions = kExtensions,
    .sniff = Sniff,
    .read = Read,
    .summary = "weights of Hugging Face and others: a file, an index or a folder; headers only",
    .takes_folder =
        [](std::span<const std::string> names) {
          return std::ranges::any_of(names, [](const std::string& name) {
            return name.ends_with(kExtension) || name.ends_with(kIndexExtension);
          });
        },
};

}  // namespace steelyard
