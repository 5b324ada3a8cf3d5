// SPDX-License-Identifier: Apache-2.0
#include "analyze/device_memory.h"

#include "ops/dispatch/program_rows.h"
#include "ops/op_def.h"

namespace steelyard {

ProcessUse ProcessUseOf(const Program& kernels) {
  ProcessUse use{.products = false};
  const std::vector<const OpDef*> rows = RowsOf(kernels);
  for (const Node& node : kernels.main().nodes) {
    if (rows[node.op] == nullptr) continue;
    const Family family = *rows[node.op]->family;
    use.products |= family == Family::kContraction;
    use.convolutions |= family == Family::kConvolution;
    use.attention |= family == Family::kAttention;
  }
  return use;
}

}  // namespace steelyard
