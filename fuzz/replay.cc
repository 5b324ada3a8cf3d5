// SPDX-License-Identifier: Apache-2.0
//
// Runs a fuzz target over files, without libFuzzer and so with any compiler: what the fuzzer once
// found worth keeping (fuzz/corpus) stays an ordinary test.
//
//   replay_pt2 FILE|FOLDER...
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

// Returns how many files there were.
int Replay(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) {
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path)) files += Replay(entry);
    return files;
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return 0;
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::fprintf(stderr, "%s\n", path.c_str());  // the last one is the one that crashes
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  int files = 0;
  for (int i = 1; i < argc; ++i) files += Replay(argv[i]);
  std::printf("%d files\n", files);
  return files > 0 ? 0 : 1;
}
