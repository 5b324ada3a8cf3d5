// SPDX-License-Identifier: Apache-2.0
//
// The least any reader of a .pt2 can do: open the archive, inflate the model's JSON and walk every
// token of it. Prints the number of values, so that nothing is optimised away.

#include <simdjson.h>
#include <unzip.h>

#include <array>
#include <cstdio>
#include <string_view>
#include <vector>

namespace {

std::size_t Walk(simdjson::ondemand::value value) {
  std::size_t count = 1;
  simdjson::ondemand::json_type type;
  if (value.type().get(type) != simdjson::SUCCESS) return 0;
  if (type == simdjson::ondemand::json_type::array) {
    simdjson::ondemand::array array;
    if (value.get_array().get(array) != simdjson::SUCCESS) return 0;
    for (auto element : array) {
      simdjson::ondemand::value child;
      if (element.get(child) == simdjson::SUCCESS) count += Walk(child);
    }
  } else if (type == simdjson::ondemand::json_type::object) {
    simdjson::ondemand::object object;
    if (value.get_object().get(object) != simdjson::SUCCESS) return 0;
    for (auto field : object) {
      simdjson::ondemand::value child;
      if (field.value().get(child) == simdjson::SUCCESS) count += Walk(child);
    }
  }
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const unzFile archive = unzOpen64(argv[1]);
  if (archive == nullptr) return 1;
  for (int status = unzGoToFirstFile(archive); status == UNZ_OK;
       status = unzGoToNextFile(archive)) {
    unz_file_info64 entry;
    std::array<char, 65536> name;
    if (unzGetCurrentFileInfo64(archive, &entry, name.data(), name.size(), nullptr, 0, nullptr,
                                0) != UNZ_OK) {
      return 1;
    }
    const std::string_view path(name.data(), entry.size_filename);
    if (!path.ends_with("models/model.json")) continue;
    std::vector<char> text(entry.uncompressed_size + simdjson::SIMDJSON_PADDING);
    if (unzOpenCurrentFile(archive) != UNZ_OK ||
        unzReadCurrentFile(archive, text.data(), static_cast<unsigned>(entry.uncompressed_size)) <
            0) {
      return 1;
    }
    simdjson::ondemand::parser parser;
    simdjson::ondemand::document document;
    if (parser.iterate(text.data(), entry.uncompressed_size, text.size()).get(document) !=
        simdjson::SUCCESS)
      return 1;
    simdjson::ondemand::value root;
    if (document.get_value().get(root) != simdjson::SUCCESS) return 1;
    std::printf("%zu\n", Walk(root));
    unzCloseCurrentFile(archive);
  }
  unzClose(archive);
  return 0;
}
