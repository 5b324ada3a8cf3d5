// SPDX-License-Identifier: Apache-2.0
//
// Feeds bytes to the reader of the JSON in a .pt2, without the archive around it, whose checksum
// would stop nearly every mutation. Whatever they are, it must return a program that verifies or an
// error. A good corpus is the models/*.json of a few exports; pt2_json.dict has the schema's words.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "import/pt2/model_reader.h"
#include "ir/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const bool holds_variables : {false, true}) {
    const auto model = steelyard::pt2::ReadModel(steelyard::PaddedText(text), holds_variables);
    if (model ? !steelyard::Verify(model->program).has_value()
              : model.error().code == steelyard::ErrorCode::kInternal) {
      std::abort();
    }
  }
  return 0;
}
