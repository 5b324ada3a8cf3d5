// SPDX-License-Identifier: Apache-2.0
#include "execute/library.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace steelyard {
namespace {

constexpr std::string_view kFile = "libsteelyard_engine.so";
constexpr std::string_view kHowToBuild =
    "Build it against your PyTorch, in Steelyard's folder: cmake --preset engine "
    "-DSTEELYARD_TORCH=$(which python3) && cmake --build --preset engine; then name it with "
    "--engine or put it beside steelyard.";

// What dlopen says of a symbol or library that the other PyTorch does not have.
bool IsOfAnotherTorch(std::string_view reason) {
  return reason.find("undefined symbol") != std::string_view::npos ||
         reason.find("version `") != std::string_view::npos;
}

Error CannotLoad(const std::string& path) {
  const char* const said = dlerror();
  const std::string reason = said == nullptr ? "it cannot be loaded" : said;
  if (!std::filesystem::exists(path)) {
    return NotFound("the engine, which runs programs, is not there", path,
                    std::string(kHowToBuild));
  }
  if (reason.find("failed to map segment") != std::string::npos ||
      reason.find("cannot allocate memory") != std::string::npos) {
    return Unsupported(fmt::format("there is not memory enough to load the engine ({})", reason),
                       path, "PyTorch alone takes some 400 MiB of address space.");
  }
  const std::string_view what = IsOfAnotherTorch(reason)
                                    ? "the engine was built against another PyTorch"
                                    : "the engine cannot be loaded";
  return Unsupported(fmt::format("{} ({})", what, reason), path, std::string(kHowToBuild));
}

// The folder of the program or library that this function is in.
std::filesystem::path OwnFolder() {
  Dl_info info = {};
  if (dladdr(reinterpret_cast<const void*>(&LoadEngine), &info) == 0 || info.dli_fname == nullptr) {
    return {};
  }
  std::error_code ignored;
  const std::filesystem::path file = std::filesystem::canonical(info.dli_fname, ignored);
  return (file.empty() ? std::filesystem::path(info.dli_fname) : file).parent_path();
}

}  // namespace

Result<const SyEngine*> LoadEngine(const std::string& path) {
  // A name without a folder would be looked for where the linker looks.
  const std::filesystem::path found = path.empty() ? OwnFolder() / kFile
                                      : std::filesystem::path(path).has_parent_path()
                                          ? std::filesystem::path(path)
                                          : std::filesystem::path(".") / path;
  const std::string file = found.string();
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return Unexpected(CannotLoad(file));
  const auto entry = reinterpret_cast<SyEngineEntry>(dlsym(library, SY_ENGINE_ENTRY));
  if (entry == nullptr) {
    return Unexpected(
        InvalidInput("it is no engine of Steelyard's", file, std::string(kHowToBuild)));
  }
  const SyEngine* const engine = entry();
  if (engine->abi != SY_ENGINE_ABI) {
    return Unexpected(Unsupported(fmt::format("the engine speaks ABI {}, this Steelyard {}",
                                              engine->abi, static_cast<int>(SY_ENGINE_ABI)),
                                  file, std::string(kHowToBuild)));
  }
  return engine;
}

Result<void*> FindInEngine(const SyEngine& engine, const char* name) {
  Dl_info info = {};
  const bool found = dladdr(&engine, &info) != 0 && info.dli_fname != nullptr;
  void* const library = found ? dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD) : nullptr;
  void* const function = library == nullptr ? nullptr : dlsym(library, name);
  if (function != nullptr) return function;
  return Unexpected(Unsupported(fmt::format("the engine is an older one, without {}", name),
                                found ? info.dli_fname : "", std::string(kHowToBuild)));
}

}  // namespace steelyard
