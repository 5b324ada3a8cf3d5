// SPDX-License-Identifier: Apache-2.0
//
// The operators that Steelyard knows, and the machine that they are weighed to run on. What it
// knows of each is a row of the operator table, which is its own: src/ops.
//
//   for (const KnownOp& op : KnownOps()) {
//     // "aten::addmm", "contraction", "A matrix product with something added."
//   }
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace steelyard {

enum class Device : std::uint8_t { kCpu, kCuda };

// Where the program is weighed to run.
struct Target {
  Device device = Device::kCpu;
  // Of a kCpu: one thread, AVX-512 with bfloat16, oneDNN blocks of 16 channels and the caches of
  // one core, in bytes, whatever the host is.
  int threads = 1;
  int channel_block = 16;
  std::int64_t first_cache = std::int64_t{48} << 10;
  std::int64_t second_cache = std::int64_t{1} << 20;
  // Of a kCuda.
  std::string_view name = "cpu";  // of its row: "h100"
  int capability = 0;             // 10 x major + minor: 90
  int multiprocessors = 0;
  int multiprocessor_threads = 0;  // that reside on one
  std::int64_t memory = 0;         // bytes that programs may take, as cudaMemGetInfo says
  bool cudnn_attention = true;     // torch.backends.cuda.enable_cudnn_sdp
  bool deterministic = false;      // torch.use_deterministic_algorithms
  int torch_minor = 15;            // whose code of CUDA it is: PyTorch 2.15
};

// The machines that are known by a name, "cpu" first; and one of them, nothing where there is none.
[[nodiscard]] std::vector<std::string_view> TargetNames();
[[nodiscard]] std::optional<Target> TargetNamed(std::string_view name);

// The releases of PyTorch whose code of CUDA is known, the oldest first ("2.4"); and the
// `torch_minor` of one of them, nothing where there is none.
[[nodiscard]] std::vector<std::string_view> TorchReleases();
[[nodiscard]] std::optional<int> TorchMinorOf(std::string_view release);

// One operator of the table. The texts live as long as the program.
struct KnownOp {
  std::string_view name;  // "aten::softmax.int": namespace, name, overload if not default
  std::string_view
      signature;  // PyTorch's schema: "(Tensor self, int dim, ScalarType? dtype=None) ..."
  std::string_view family;   // "reduction"
  std::string_view summary;  // "Exponentials along `dim`, scaled to sum to one."
  std::string_view
      example;  // A call in the text form: "aten::softmax.int(bf16[2,8], -1, dtype=f32)".
  // Whether it is weighed as itself, or as the operators that PyTorch dispatches it to.
  bool is_kernel = true;
};

// Returns them by family, and within one in the order of the table.
[[nodiscard]] std::vector<KnownOp> KnownOps();

}  // namespace steelyard
