// SPDX-License-Identifier: Apache-2.0
#include "session/learned_size.h"

#include <string_view>
#include <vector>

#include "analyze/parameters.h"
#include "ops/op_def.h"
#include "pass/tie_parameters.h"

namespace steelyard {

Result<LearnedSize> LearnedSizeOf(const Program& program) {
  SY_ASSIGN_OR_RETURN(const Program tied, TieParameters(program));
  LearnedSize size;
  std::vector<bool> seen(tied.storage_count, false);
  for (const NamedTensor& parameter : tied.parameters) {
    const TensorView tensor(tied, parameter.value);
    const StorageId storage = tensor.value().storage;
    if (storage < seen.size()) {
      if (seen[storage]) continue;
      seen[storage] = true;
    }
    const std::string_view dtype = tied.stored_as(parameter);
    const bool learns = dtype.find("float") != dtype.npos || dtype.find("complex") != dtype.npos;
    if (!learns) continue;
    size.count += tensor.count();
    size.bytes += BytesOf(tied, parameter);
  }
  return size;
}

}  // namespace steelyard
