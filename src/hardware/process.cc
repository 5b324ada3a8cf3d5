// SPDX-License-Identifier: Apache-2.0
//
// The measured constants of a process. Most come from pairs of public figures: what NVML or
// cudaMemGetInfo says is taken, less what PyTorch says it has reserved. PyTorch's out-of-memory
// message prints both ("this process has 78.93 GiB memory in use. Of the allocated memory 76.28 GiB
// is allocated by PyTorch, and 2.14 GiB is reserved by PyTorch but unallocated": 0.51 GiB are the
// process's), rounded to a hundredth of a GiB, hence to 15 MiB between the three. Interval ends
// leave that much room, and what other drivers were seen to differ by. The measurements that the
// unit tests hold the table against were not used to make it.
#include "hardware/process.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "steelyard/units.h"

namespace steelyard {
namespace {

constexpr Interval Mebibytes(std::int64_t low, std::int64_t high) {
  return {.low = low * kMiB, .high = high * kMiB};
}

constexpr TorchRelease kFirstToLoadAtFirstUse = {.major = 1, .minor = 13};
// torch 2.6 comes with NCCL 2.21.5, 2.7 with 2.26.2; NCCL connects at first use since 2.22.
constexpr TorchRelease kFirstToConnectAtFirstUse = {.major = 2, .minor = 7};

std::int64_t ResidentThreads(const DeviceSpec& device, const ProcessUse& /*use*/) {
  return device.resident_threads();
}

std::int64_t Always(const DeviceSpec& /*device*/, const ProcessUse& /*use*/) { return 1; }

std::int64_t IfProducts(const DeviceSpec& /*device*/, const ProcessUse& use) {
  return use.products ? 1 : 0;
}

std::int64_t IfConvolutions(const DeviceSpec& /*device*/, const ProcessUse& use) {
  return use.convolutions ? 1 : 0;
}

std::int64_t IfAttention(const DeviceSpec& /*device*/, const ProcessUse& use) {
  return use.attention ? 1 : 0;
}

bool IsOfOldLoading(const ProcessUse& use) {
  return use.loading == KernelLoading::kAsReleased && use.torch < kFirstToLoadAtFirstUse;
}

std::int64_t IfOldRelease(const DeviceSpec& /*device*/, const ProcessUse& use) {
  return IsOfOldLoading(use) ? 1 : 0;
}

std::int64_t IfLoadedAtOnce(const DeviceSpec& /*device*/, const ProcessUse& use) {
  return use.loading == KernelLoading::kAtOnce ? 1 : 0;
}

std::int64_t Groups(const ProcessUse& use) { return std::max(use.groups, use.ranks > 1 ? 1 : 0); }

std::int64_t GroupsConnectedAtOnce(const DeviceSpec& /*device*/, const ProcessUse& use) {
  return use.torch < kFirstToConnectAtFirstUse ? Groups(use) : 0;
}

std::int64_t GroupsConnectedAtFirstUse(const DeviceSpec& /*device*/, const ProcessUse& use) {
  return use.torch < kFirstToConnectAtFirstUse ? 0 : Groups(use);
}

std::int64_t Peers(const DeviceSpec& /*device*/, const ProcessUse& use) {
  return use.connects_all_pairs ? use.ranks - 1 : 0;
}

constexpr std::array kConstants{
    ProcessConstant{
        .name = "CUDA context",
        .each = "thread that can be resident",
        // 1.8 and 2.15 KiB.
        .bytes = {.low = 1843, .high = 2202},
        .source =
            "bare contexts: Titan V 320.19 MiB (pytorch issue 28394, PyCUDA) and RTX 6000 Ada 426 "
            "MiB (unsloth-zoo pull request 1053, torch 2.10+cu130) are both 2.0 KiB for each "
            "thread that the multiprocessors can hold; the driver keeps their stacks",
        .count = ResidentThreads},
    ProcessConstant{
        .name = "kernels of PyTorch",
        .each = "process",
        .bytes = Mebibytes(8, 112),
        .source =
            "B200 after rand, div, add, mul and sum: 0.695 GiB (ml-engineering, debug/pytorch.md), "
            "of which a context of 2.0 to 2.1 KiB a thread leaves 90 to 120 MiB; T4, a model in "
            "float16: 0.10 GiB (Open-Sora issue 697), which leaves 20",
        .count = Always},
    ProcessConstant{
        .name = "cuBLAS",
        .each = "process",
        .bytes = Mebibytes(8, 64),
        .source = "A100, fine-tuning: 0.51 GiB (litgpt, tutorials/oom.md), of which context and "
                  "PyTorch's kernels leave up to 60 MiB; a handle alone is 8.5 MiB. The workspaces "
                  "are the caching allocator's",
        .count = IfProducts},
    ProcessConstant{
        .name = "cuDNN",
        .each = "process",
        .bytes = Mebibytes(16, 272),
        .source = "GPUMemNet, one A100: the smallest of 6,000 training runs of linear layers takes "
                  "1443 MiB of the device, the smallest of 5,085 with convolutions 1731, of which "
                  "its tensors are 23: 265 MiB at most. RTX A6000 and V100 in training: 0.30 and "
                  "0.38 GiB for the whole process, 15 to 50 MiB above a context with kernels",
        .count = IfConvolutions},
    ProcessConstant{
        .name = "attention kernels",
        .each = "process",
        .bytes = Mebibytes(0, 48),
        .source = "not measured by itself: within the rounding of processes that use it (litgpt's, "
                  "above)",
        .count = IfAttention},
    ProcessConstant{
        .name = "every kernel of PyTorch before 1.13",
        .each = "process",
        .bytes = Mebibytes(600, 1400),
        .source = "Titan V, torch 1.3: 1008 MiB with one small tensor, 688 above the bare context "
                  "(pytorch issue 28394); A100, torch 1.10: 1.78 GiB, some 1350 MiB above it "
                  "(ml-engineering). 1.13 built for CUDA before 11.7 loads as those do",
        .count = IfOldRelease},
    ProcessConstant{
        .name = "every kernel of PyTorch",
        .each = "process",
        .bytes = Mebibytes(350, 1400),
        .source = "CUDA_MODULE_LOADING, 667 MB at once and 287 MB at first use (pytorch pull "
                  "request 86509); A100, torch 2.1: 0.92 and 0.47 GiB (ml-engineering). Wheels "
                  "have grown since",
        .count = IfLoadedAtOnce},
    ProcessConstant{
        .name = "NCCL before 2.22",
        .each = "process group",
        .bytes = Mebibytes(100, 1640),
        .source = "4 x A100 with NVLink: 544 MB for a group of two, 688 MB for one of three or "
                  "four (nccl issue 964); 1.6 GB after an all-reduce (nccl issue 864)",
        .count = GroupsConnectedAtOnce},
    ProcessConstant{
        .name = "NCCL",
        .each = "process group",
        .bytes = Mebibytes(24, 1500),
        .source = "a ring of c channels takes c x 12 MiB (10 to receive, 2 to send: nccl issue "
                  "1685), two channels at the least; two ranks from 0.55 to 2.00 GiB at the first "
                  "barrier (ml-engineering, release not told)",
        .count = GroupsConnectedAtFirstUse},
    ProcessConstant{
        .name = "NCCL, pairs of ranks",
        .each = "peer",
        .bytes = Mebibytes(24, 448),
        .source = "8 x H100, 32 channels a pair: from 1.06 to 4.34 GB at the first all-to-all "
                  "(nccl issue 1685), 447 MiB for each of seven peers; two channels at the least",
        .count = Peers},
};

}  // namespace

std::span<const ProcessConstant> ProcessConstants() { return kConstants; }

std::vector<ProcessPart> ProcessParts(const DeviceSpec& device, const ProcessUse& use) {
  std::vector<ProcessPart> parts;
  for (const ProcessConstant& constant : kConstants) {
    const std::int64_t count = constant.count(device, use);
    if (count == 0) continue;
    parts.push_back(
        {.constant = &constant,
         .count = count,
         .bytes = {.low = count * constant.bytes.low, .high = count * constant.bytes.high}});
  }
  return parts;
}

Interval ProcessBytes(const DeviceSpec& device, const ProcessUse& use) {
  Interval sum;
  for (const ProcessPart& part : ProcessParts(device, use)) {
    sum.low += part.bytes.low;
    sum.high += part.bytes.high;
  }
  return sum;
}

}  // namespace steelyard
