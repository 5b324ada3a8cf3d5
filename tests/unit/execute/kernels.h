// SPDX-License-Identifier: Apache-2.0
//
// Programs of kernels to lower and run, and an engine that computes nothing and remembers all.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "execute/engine_abi.h"
#include "ir/text_reader.h"
#include "ops/dispatch/dispatcher.h"

namespace steelyard {

inline Program Kernels(std::string_view text, const Target& target = {}) {
  const Result<Program> program = ParseText(text, "test.syt");
  EXPECT_TRUE(program) << Describe(program.error());
  Result<Program> kernels = Dispatcher(*program, target).Run();
  EXPECT_TRUE(kernels) << Describe(kernels.error());
  return *std::move(kernels);
}

// A linear with its loss, and the step of plain SGD.
inline constexpr std::string_view kStep =
    "parameter %w: f32[4,8] \"fc.weight\"\n"
    "input %x: f32[2,8]\n"
    "%y: f32[2,4] = aten::linear(%x, %w)\n"
    "%l: f32[] = aten::sum(%y)\n"
    "steelyard::backward(%l) phase backward\n"
    "steelyard::sgd([%w], False) phase optimizer\n"
    "return %l\n";

// What the engine was asked, in order. The sessions of all tests are one.
struct Asked {
  std::vector<std::string> words;
  std::size_t fails_at = SY_NO_CALL;
  SyProblem problem = SY_OTHER_PROBLEM;
  std::unordered_map<std::uint32_t, float> holds;  // values that are read as another number
};
inline Asked& Remembered() {
  static Asked asked;
  return asked;
}

inline SyEngine FakeEngine() {
  Remembered() = {};
  SyEngine engine{};
  engine.abi = SY_ENGINE_ABI;
  engine.torch = "0.0";
  engine.open_device = [](const char*, SyDevice*, SyError*) { return true; };
  engine.memory_of = [](const char*) {
    return SyDeviceMemory{.allocated_peak = 1024, .reserved_peak = 4096, .reserved = 4096};
  };
  engine.reset_peaks = [](const char* device) {
    Remembered().words.push_back(std::string("reset peaks of ") + device);
  };
  engine.open = [](const SyProgram* program, SyError*) {
    Remembered().words.push_back("open " + std::to_string(program->call_count));
    return reinterpret_cast<SySession*>(&Remembered());
  };
  engine.close = [](SySession*) { Remembered().words.emplace_back("close"); };
  engine.reload = [](SySession*, const SyProgram*, SyError*) {
    Remembered().words.emplace_back("reload");
    return true;
  };
  engine.place = [](SySession*, std::uint32_t value, bool on_host, const SyLayout* layout,
                    const SyContent*, SyError*) {
    Remembered().words.push_back("place " + std::to_string(value) + " " + layout->dtype +
                                 (on_host ? " on the host" : ""));
    return true;
  };
  engine.share = [](SySession*, std::uint32_t value, std::uint32_t of) {
    Remembered().words.push_back("share " + std::to_string(value) + " " + std::to_string(of));
  };
  engine.keep = [](SySession*, std::uint32_t) { Remembered().words.emplace_back("keep"); };
  engine.run = [](SySession*, std::size_t begin, std::size_t end, const SyRecord* record,
                  SyError* error) {
    Remembered().words.push_back("run " + std::to_string(begin) + " " + std::to_string(end));
    for (std::size_t i = begin; i < end; ++i) {
      if (i == Remembered().fails_at) {
        *error = {.message = "no kernel", .call = i, .problem = Remembered().problem};
        return false;
      }
      if (record->on_memory != nullptr) {
        record->on_memory(record->who, 8, &error->message[i], i);
        record->on_memory(record->who, -8, &error->message[i], i);
      }
      if (record->seconds != nullptr) record->seconds[i] += 1;
    }
    return true;
  };
  engine.release = [](SySession*, const std::uint32_t*, std::size_t count, const SyRecord*) {
    Remembered().words.push_back("release " + std::to_string(count));
  };
  engine.read = [](SySession*, std::uint32_t value, SyElements* elements, SyError*) {
    static constexpr float kLoss = 2.5F;
    const auto found = Remembered().holds.find(value);
    const float* const number = found == Remembered().holds.end() ? &kLoss : &found->second;
    *elements = {{"float32", nullptr, nullptr, 0}, number, sizeof(kLoss)};
    return true;
  };
  engine.clear = [](SySession*) { Remembered().words.emplace_back("clear"); };
  return engine;
}

}  // namespace steelyard
