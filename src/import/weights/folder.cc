// SPDX-License-Identifier: Apache-2.0
#include "import/weights/folder.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <system_error>

#include "support/choices.h"

namespace steelyard::weights {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxNames = 100'000;
constexpr std::size_t kNamedModels = 5;
constexpr std::array<std::string_view, 3> kCommonStems = {"model", "pytorch_model",
                                                          "diffusion_pytorch_model"};

}  // namespace

std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    if (names.size() == kMaxNames) break;
    names.push_back(it->path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

Error SeveralModels(const std::string& folder, const std::vector<std::string>& models) {
  const auto name = [&](std::size_t i) { return models[i]; };
  return InvalidInput(
      "the folder holds several models: " + Listed(models.size(), kNamedModels, name), folder,
      "Name one of them.");
}

std::string NameOfModel(const std::string& path, std::string_view stem) {
  const bool common = std::ranges::find(kCommonStems, stem) != kCommonStems.end();
  const fs::path folder = fs::absolute(path).lexically_normal().parent_path();
  std::string name = folder.filename().string();
  return common && !name.empty() ? name : std::string(stem);
}

}  // namespace steelyard::weights
