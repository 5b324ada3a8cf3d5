// SPDX-License-Identifier: Apache-2.0
//
// The table of devices. Memory is what was printed on such a device: by
// torch.cuda.get_device_properties, by a program that prints it (Ultralytics' "CUDA:0 (NVIDIA L4,
// 22563MiB)"), by deviceQuery, or in an out-of-memory message ("a total capacity of 44.39 GiB"). A
// figure that was rounded is taken at the lower end of what it can stand for. Rates and bandwidth
// are NVIDIA's data sheets', their figures with sparsity halved.
#include "hardware/devices.h"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "steelyard/units.h"

namespace steelyard {
namespace {

constexpr std::int64_t kGB = 1'000'000'000;

constexpr std::string_view kHopperSheet =
    "NVIDIA H100 and H200 Tensor Core GPU data sheets, figures with sparsity halved; NVIDIA H100 "
    "architecture white paper, table 2";
constexpr std::string_view kA100Sheet = "NVIDIA A100 Tensor Core GPU data sheet (June 2021)";
constexpr std::string_view kV100Sheet =
    "NVIDIA V100 Tensor Core GPU data sheet (January 2020); bandwidth 877 MHz x 4096 bits, as "
    "OpenXLA's target_config/specs/v100.txtpb has it, where the data sheet rounds to 900 GB/s";
constexpr std::string_view kAmpereGraphicsPaper =
    "NVIDIA Ampere GA102 GPU architecture white paper, appendix A: tensor rates with float32 "
    "accumulation";
constexpr std::string_view kAdaPaper =
    "NVIDIA Ada GPU architecture white paper, appendix A: tensor rates with float32 accumulation";

constexpr PeakRates kH100Peak = {.float64 = 67,
                                 .float32 = 67,
                                 .tf32 = 494.5,
                                 .float16 = 989.5,
                                 .bfloat16 = 989.5,
                                 .float8 = 1979};
constexpr PeakRates kA100Peak = {
    .float64 = 19.5, .float32 = 19.5, .tf32 = 156, .float16 = 312, .bfloat16 = 312};
constexpr PeakRates kV100Peak = {.float64 = 7.8, .float32 = 15.7, .float16 = 125};

constexpr std::array kDevices{
    DeviceSpec{.name = "b300",
               .torch_name = "NVIDIA B300 SXM6 AC",
               .capability = 103,
               .multiprocessors = 148,
               .memory_bytes = 274'109 * kMiB,
               .memory_source = "out-of-memory messages of nodes of eight: a total capacity of "
                                "267.69 GiB, of nvidia-smi's 275040 MiB",
               .bandwidth = 8000 * kGB,
               .peak = {.float64 = 1.25,
                        .float32 = 75,
                        .tf32 = 1100,
                        .float16 = 2250,
                        .bfloat16 = 2250,
                        .float8 = 4500},
               .peak_source = "NVIDIA HGX B300 data sheet, an eighth of a board, figures with "
                              "sparsity halved; 148 multiprocessors as torch and audits of the "
                              "device print them"},
    DeviceSpec{.name = "gb200",
               .torch_name = "NVIDIA GB200",
               .capability = 100,
               .multiprocessors = 152,
               .memory_bytes = 197'897'748'480,
               .memory_source = "OpenXLA's target_config/specs/gb200.txtpb (197897748480 bytes); "
                                "out-of-memory messages say 184.31 GiB",
               .bandwidth = 8000 * kGB,
               .peak = {.float64 = 40,
                        .float32 = 80,
                        .tf32 = 1250,
                        .float16 = 2500,
                        .bfloat16 = 2500,
                        .float8 = 5000},
               .peak_source = "NVIDIA GB200 NVL72 data sheet, a 72nd of a rack, figures with "
                              "sparsity halved; multiprocessors: OpenXLA's gb200.txtpb"},
    DeviceSpec{
        .name = "b200",
        .torch_name = "NVIDIA B200",
        .capability = 100,
        .multiprocessors = 148,
        .memory_bytes = 182'631 * kMiB,
        .memory_source = "github pytorch/ao pull request 4002 (178.35 GiB); torch has "
                         "printed 182631MB and 182642MB (github ai-bot-pro/achatbot, "
                         "skywork_r1v.py; OpenXLA's b200.txtpb, 191514411008 bytes)",
        .bandwidth = 7672 * kGB,
        .peak = {.float64 = 37,
                 .float32 = 75,
                 .tf32 = 1100,
                 .float16 = 2250,
                 .bfloat16 = 2250,
                 .float8 = 4500},
        .peak_source =
            "NVIDIA HGX B200 data sheet, an eighth of a board, figures with sparsity halved; "
            "bandwidth: 7680 bits x 3996 MHz (github pytorch/ao pull request 4002), the "
            "data sheet says 7.7 TB/s"},
    DeviceSpec{.name = "rtx-pro-6000",
               .torch_name = "NVIDIA RTX PRO 6000 Blackwell Server Edition",
               .capability = 120,
               .multiprocessors = 188,
               .memory_bytes = 97'250 * kMiB,
               .memory_source = "torch 2.7.1+cu128 prints total_memory=97250MB; out-of-memory "
                                "messages say 94.97 GiB",
               .bandwidth = 1597 * kGB,
               .peak = {.float64 = 1.9,
                        .float32 = 120,
                        .tf32 = 250,
                        .float16 = 500,
                        .bfloat16 = 500,
                        .float8 = 1000},
               .peak_source = "NVIDIA RTX PRO 6000 Blackwell Server Edition data sheet: 120 TFLOPS "
                              "float32 and 4 PFLOPS sparse float4, of which each wider type has a "
                              "half; the workstation edition has 1792 GB/s"},
    DeviceSpec{.name = "rtx5090",
               .torch_name = "NVIDIA GeForce RTX 5090",
               .capability = 120,
               .multiprocessors = 170,
               .memory_bytes = 32'102 * kMiB,
               .memory_source =
                   "Ultralytics 8.4.61 with torch 2.12.0+cu130 prints 32102MiB; deviceQuery of "
                   "driver 570 33677180928 bytes (github aikitoria/open-gpu-kernel-modules issue "
                   "1), torch 2.6 32120MiB (github ultralytics/ultralytics pull request 19833)",
               .bandwidth = 1792 * kGB,
               .peak = {.float64 = 1.6,
                        .float32 = 104.8,
                        .tf32 = 104.8,
                        .float16 = 209.5,
                        .bfloat16 = 209.5,
                        .float8 = 419},
               .peak_source = "NVIDIA RTX Blackwell GPU architecture white paper, appendix A: "
                              "tensor rates with float32 accumulation"},
    DeviceSpec{.name = "gh200",
               .torch_name = "NVIDIA GH200 480GB",
               .capability = 90,
               .multiprocessors = 132,
               .memory_bytes = 96'762 * kMiB,
               .memory_source = "out-of-memory messages say 94.50 GiB, of nvidia-smi's 97871 MiB; "
                                "an older driver 94.88 GiB (github Lightning-AI/litgpt issue 1892)",
               .bandwidth = 4000 * kGB,
               .peak = kH100Peak,
               .peak_source = "NVIDIA GH200 Grace Hopper superchip data sheet (96 GB HBM3), "
                              "figures with sparsity halved"},
    DeviceSpec{.name = "h200",
               .torch_name = "NVIDIA H200",
               .capability = 90,
               .multiprocessors = 132,
               .memory_bytes = 143'156 * kMiB,
               .memory_source =
                   "torch prints total_memory=143156MB (github ai-bot-pro/achatbot, "
                   "skywork_r1v.py); out-of-memory messages say 139.80 and 139.81 GiB (github "
                   "stas00/ml-engineering, debug/pytorch.md)",
               .bandwidth = 4800 * kGB,
               .peak = kH100Peak,
               .peak_source = kHopperSheet},
    DeviceSpec{.name = "h100",
               .torch_name = "NVIDIA H100 80GB HBM3",
               .capability = 90,
               .multiprocessors = 132,
               .memory_bytes = 81'079 * kMiB,
               .memory_source =
                   "nvidia-smi of an idle H100 SXM: 81079 of 81559 MiB free, and out-of-memory "
                   "messages 79.18 GiB; older drivers gave torch 81008 MiB (OpenXLA's "
                   "target_config/specs/h100_sxm.txtpb), later ones 81079 to 81090",
               .bandwidth = 3350 * kGB,
               .peak = kH100Peak,
               .peak_source = kHopperSheet},
    DeviceSpec{.name = "h100-nvl",
               .torch_name = "NVIDIA H100 NVL",
               .capability = 90,
               .multiprocessors = 132,
               .memory_bytes = 95'320 * kMiB,
               .memory_source = "Ultralytics 8.4.124 with torch 2.13.0+cu130 prints 95320MiB",
               .bandwidth = 3900 * kGB,
               .peak = {.float64 = 60,
                        .float32 = 60,
                        .tf32 = 417.5,
                        .float16 = 835.5,
                        .bfloat16 = 835.5,
                        .float8 = 1670.5},
               .peak_source = kHopperSheet},
    DeviceSpec{.name = "h100-pcie",
               .torch_name = "NVIDIA H100 PCIe",
               .capability = 90,
               .multiprocessors = 114,
               .memory_bytes = 81'008 * kMiB,
               .memory_source = "torch prints total_memory=81008MB, multi_processor_count=114",
               .bandwidth = 2000 * kGB,
               .peak = {.float64 = 51,
                        .float32 = 51,
                        .tf32 = 378,
                        .float16 = 756,
                        .bfloat16 = 756,
                        .float8 = 1513},
               .peak_source = "NVIDIA H100 PCIe product brief, figures with sparsity halved; H100 "
                              "architecture white paper, table 1 (github qoofyk/LLM_Sizing_Guide "
                              "issue 3)"},
    DeviceSpec{.name = "l40s",
               .torch_name = "NVIDIA L40S",
               .capability = 89,
               .multiprocessors = 142,
               .memory_bytes = 45'450 * kMiB,
               .memory_source =
                   "out-of-memory messages on L40S: 44.39 GiB, of nvidia-smi's 46068 MiB "
                   "(github modal-labs/modal-client pull request 2797); older drivers gave "
                   "torch 45495MiB and 45589MB",
               .bandwidth = 864 * kGB,
               .peak = {.float64 = 1.4,
                        .float32 = 91.6,
                        .tf32 = 183,
                        .float16 = 362,
                        .bfloat16 = 362,
                        .float8 = 733},
               .peak_source = "NVIDIA L40S data sheet, dense figures"},
    DeviceSpec{.name = "l4",
               .torch_name = "NVIDIA L4",
               .capability = 89,
               .multiprocessors = 58,
               .memory_bytes = 22'563 * kMiB,
               .memory_source = "Ultralytics 8.4 with torch 2.11.0+cu128 prints 22563MiB, of "
                                "nvidia-smi's 23034; older drivers gave 22693MiB",
               .bandwidth = 300 * kGB,
               .peak = {.float64 = 0.49,
                        .float32 = 30.3,
                        .tf32 = 60,
                        .float16 = 121,
                        .bfloat16 = 121,
                        .float8 = 242.5},
               .peak_source = "NVIDIA L4 Tensor Core GPU data sheet, figures with sparsity halved"},
    DeviceSpec{.name = "rtx6000-ada",
               .torch_name = "NVIDIA RTX 6000 Ada Generation",
               .capability = 89,
               .multiprocessors = 142,
               .memory_bytes = 48'497 * kMiB,
               .memory_source =
                   "Ultralytics 8.3.149 with torch 2.7.0+cu128 prints 48497MiB; 50865307648 bytes "
                   "with torch 2.10+cu130 (github unslothai/unsloth-zoo pull request 1053). With "
                   "error correction on, a sixteenth less",
               .bandwidth = 960 * kGB,
               .peak = {.float64 = 1.4,
                        .float32 = 91.1,
                        .tf32 = 182.1,
                        .float16 = 364.2,
                        .bfloat16 = 364.2,
                        .float8 = 728.5},
               .peak_source = kAdaPaper},
    DeviceSpec{.name = "rtx4090",
               .torch_name = "NVIDIA GeForce RTX 4090",
               .capability = 89,
               .multiprocessors = 128,
               .memory_bytes = 24'080 * kMiB,
               .memory_source =
                   "driver 595 gives torch 24080 MiB, and out-of-memory messages say 23.52 GiB "
                   "(github sgl-project/sglang issue 12496); older drivers gave 24217MiB",
               .bandwidth = 1008 * kGB,
               .peak = {.float64 = 1.3,
                        .float32 = 82.6,
                        .tf32 = 82.6,
                        .float16 = 165.2,
                        .bfloat16 = 165.2,
                        .float8 = 330.3},
               .peak_source = kAdaPaper},
    DeviceSpec{.name = "a100-80gb",
               .torch_name = "NVIDIA A100-SXM4-80GB",
               .capability = 80,
               .multiprocessors = 108,
               .memory_bytes = 81'038 * kMiB,
               .memory_source =
                   "Ultralytics 8.2.48 with torch 2.3.1 prints 81038MiB; out-of-memory messages "
                   "say 79.15 GiB (github Lightning-AI/litgpt, tutorials/oom.md), other drivers "
                   "gave torch 81153 and 81251MiB",
               .bandwidth = 2039 * kGB,
               .peak = kA100Peak,
               .peak_source = kA100Sheet},
    DeviceSpec{.name = "a100-80gb-pcie",
               .torch_name = "NVIDIA A100 80GB PCIe",
               .capability = 80,
               .multiprocessors = 108,
               .memory_bytes = 81'049 * kMiB,
               .memory_source = "81049 MB of driver 12.3 (github ekondis/mixbench issue 47); "
                                "Ultralytics 8.3.153 with torch 2.6 prints 81154MiB",
               .bandwidth = 1935 * kGB,
               .peak = kA100Peak,
               .peak_source = kA100Sheet},
    DeviceSpec{.name = "a100-40gb",
               .torch_name = "NVIDIA A100-SXM4-40GB",
               .capability = 80,
               .multiprocessors = 108,
               .memory_bytes = 42'298'834'944,
               .memory_source =
                   "deviceQuery of driver 535, 42298834944 bytes (github "
                   "bottlerocket-os/bottlerocket pull request 3873); out-of-memory messages say "
                   "39.39 to 39.56 GiB, Paddle's documentation prints 40536MB",
               .bandwidth = 1555 * kGB,
               .peak = kA100Peak,
               .peak_source = kA100Sheet},
    DeviceSpec{
        .name = "a10",
        .torch_name = "NVIDIA A10",
        .capability = 86,
        .multiprocessors = 72,
        .memory_bytes = 22'594 * kMiB,
        .memory_source = "torch 2.7 on a cloud's A10: 22.07 GiB, of nvidia-smi's 23028 MiB (github "
                         "modal-labs/modal-client pull request 2797); older drivers 22.18 GiB",
        .bandwidth = 600 * kGB,
        .peak = {.float64 = 0.97, .float32 = 31.2, .tf32 = 62.5, .float16 = 125, .bfloat16 = 125},
        .peak_source = "NVIDIA A10 Tensor Core GPU data sheet, dense figures"},
    DeviceSpec{
        .name = "a10g",
        .torch_name = "NVIDIA A10G",
        .capability = 86,
        .multiprocessors = 80,
        .memory_bytes = 22'587 * kMiB,
        .memory_source = "torch prints total_memory=22587MB, multi_processor_count=80, and "
                         "out-of-memory messages 22.06 GiB; older drivers gave 22723MB",
        .bandwidth = 600 * kGB,
        .peak = {.float64 = 1.1, .float32 = 35, .tf32 = 35, .float16 = 70, .bfloat16 = 70},
        .peak_source = "NVIDIA A10G Tensor Core GPU data sheet (of Amazon EC2 G5), dense figures"},
    DeviceSpec{
        .name = "a40",
        .torch_name = "NVIDIA A40",
        .capability = 86,
        .multiprocessors = 84,
        .memory_bytes = 45'416 * kMiB,
        .memory_source = "torch prints total_memory=45416MB, multi_processor_count=84; "
                         "out-of-memory messages say 44.35 to 44.42 GiB. Error correction is on",
        .bandwidth = 696 * kGB,
        .peak =
            {.float64 = 1.2, .float32 = 37.4, .tf32 = 74.8, .float16 = 149.7, .bfloat16 = 149.7},
        .peak_source = "NVIDIA A40 data sheet, dense figures"},
    DeviceSpec{
        .name = "a6000",
        .torch_name = "NVIDIA RTX A6000",
        .capability = 86,
        .multiprocessors = 84,
        .memory_bytes = 48'670 * kMiB,
        .memory_source = "Ultralytics 8.3.59 with torch 2.3 prints 48670MiB (github "
                         "ultralytics/ultralytics issue 19084); OpenXLA's "
                         "target_config/specs/a6000.txtpb has 48676 MiB. With error correction on, "
                         "a sixteenth less",
        .bandwidth = 768 * kGB,
        .peak =
            {.float64 = 1.2, .float32 = 38.7, .tf32 = 77.4, .float16 = 154.8, .bfloat16 = 154.8},
        .peak_source = kAmpereGraphicsPaper},
    DeviceSpec{
        .name = "a5000",
        .torch_name = "NVIDIA RTX A5000",
        .capability = 86,
        .multiprocessors = 64,
        .memory_bytes = 24'138 * kMiB,
        .memory_source = "torch prints total_memory=24138MB, multi_processor_count=64; older "
                         "drivers gave 24248MiB. With error correction on, 22721MiB",
        .bandwidth = 768 * kGB,
        .peak =
            {.float64 = 0.87, .float32 = 27.8, .tf32 = 55.6, .float16 = 111.1, .bfloat16 = 111.1},
        .peak_source = "NVIDIA RTX A5000 data sheet: 27.8 TFLOPS float32 and 222.2 sparse tensor "
                       "TFLOPS, of which a half is dense, and tf32 a half of that"},
    DeviceSpec{
        .name = "rtx3090",
        .torch_name = "NVIDIA GeForce RTX 3090",
        .capability = 86,
        .multiprocessors = 82,
        .memory_bytes = 24'124 * kMiB,
        .memory_source = "Ultralytics 8.4.102 with torch 2.13.0+cu130 prints 24124MiB; the "
                         "documentation of transformers shows 24268MB",
        .bandwidth = 936 * kGB,
        .peak = {.float64 = 0.56, .float32 = 35.6, .tf32 = 35.6, .float16 = 71, .bfloat16 = 71},
        .peak_source = kAmpereGraphicsPaper},
    DeviceSpec{
        .name = "t4",
        .torch_name = "Tesla T4",
        .capability = 75,
        .multiprocessors = 40,
        .memory_bytes = 14'912 * kMiB,
        .memory_source =
            "Ultralytics 8.4 with torch 2.10.0+cu128 prints 14912MiB, out-of-memory messages "
            "say 14.56 GiB; older drivers gave 15109MB and 14.75 GiB (github "
            "hpcaitech/Open-Sora issue 697)",
        .bandwidth = 320 * kGB,
        .peak = {.float64 = 0.25, .float32 = 8.1, .float16 = 65},
        .peak_source = "NVIDIA T4 Tensor Core GPU data sheet"},
    DeviceSpec{.name = "v100-32gb",
               .torch_name = "Tesla V100-SXM2-32GB",
               .capability = 70,
               .multiprocessors = 80,
               .memory_bytes = 32'494 * kMiB,
               .memory_source = "Ultralytics 8.3.78 with torch 2.6.0+cu124 prints 32494MiB; "
                                "out-of-memory messages say 31.73 to 31.75 GiB (github "
                                "hiyouga/LlamaFactory issue 182)",
               .bandwidth = 898 * kGB,
               .peak = kV100Peak,
               .peak_source = kV100Sheet},
    DeviceSpec{.name = "v100-16gb",
               .torch_name = "Tesla V100-SXM2-16GB",
               .capability = 70,
               .multiprocessors = 80,
               .memory_bytes = 16'130 * kMiB,
               .memory_source = "torch prints total_memory=16130MB in logs of ultralytics/yolov3, "
                                "16160MB in later ones of yolov5; OpenXLA's "
                                "target_config/specs/v100.txtpb has 16935682048 bytes",
               .bandwidth = 898 * kGB,
               .peak = kV100Peak,
               .peak_source = kV100Sheet},
};

}  // namespace

// CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability", row
// "Maximum number of resident threads per SM".
int DeviceSpec::multiprocessor_threads() const {
  if (capability == 75) return 1024;
  const bool is_graphics_chip = capability == 86 || capability == 87 || capability == 89;
  return is_graphics_chip || capability >= 110 ? 1536 : 2048;
}

std::int64_t DeviceSpec::resident_threads() const {
  return std::int64_t{multiprocessors} * multiprocessor_threads();
}

std::span<const DeviceSpec> Devices() { return kDevices; }

const DeviceSpec* FindDevice(std::string_view name) {
  for (const DeviceSpec& device : kDevices) {
    if (device.name == name) return &device;
  }
  return nullptr;
}

}  // namespace steelyard
