// SPDX-License-Identifier: Apache-2.0
//
// As torch.ops.load_library does it. What a library registers stays until the process ends.
#include "op_library.h"

#include <c10/util/Exception.h>
#include <dlfcn.h>

#include <array>
#include <filesystem>

#include "device.h"

namespace steelyard::engine {
namespace {

// Packages whose operators Steelyard weighs, and where they keep them: of recent releases first.
struct Package {
  std::string_view name;  // of its operators, too
  std::array<std::string_view, 2> files;
};
constexpr std::array<Package, 1> kPackages{{{"torchvision", {"_C_stable.so", "_C.so"}}}};

void* Load(const std::filesystem::path& file) { return dlopen(file.c_str(), RTLD_NOW); }

}  // namespace

void LoadOperators(const std::string& file) {
  // All of PyTorch, of which a library may need more than the engine does: CUDA's half, if it is
  // there. What it needs and does not find is then told of the library itself.
  Load(FolderOfTorch() / "libtorch.so");
  const void* const library = Load(file);
  const char* const said = library == nullptr ? dlerror() : nullptr;
  TORCH_CHECK_VALUE(library != nullptr, "the library of operators cannot be loaded (",
                    said == nullptr ? "no reason is told" : said, ")");
}

bool LoadPackageOf(std::string_view op) {
  const std::string_view name = op.substr(0, op.find("::"));
  for (const Package& package : kPackages) {
    if (package.name != name) continue;
    // PyTorch's libraries are in torch/lib.
    const auto folder = FolderOfTorch().parent_path().parent_path() / package.name;
    for (const std::string_view file : package.files) {
      if (!std::filesystem::exists(folder / file)) continue;
      LoadOperators(folder / file);
      return true;
    }
  }
  return false;
}

}  // namespace steelyard::engine
