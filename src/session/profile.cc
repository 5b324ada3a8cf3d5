// SPDX-License-Identifier: Apache-2.0
#include "session/profile.h"

#include <filesystem>
#include <fstream>
#include <ios>
#include <optional>
#include <system_error>

#include "analyze/counting.h"
#include "document/recorded_trace.h"
#include "present/recorded_trace.h"
#include "record/recording.h"
#include "render/recorded_trace.h"
#include "session/call_weights.h"

namespace steelyard {

Result<ProfiledRun> ReadProfile(std::string_view bytes, std::string_view where,
                                const ProfileOptions& options) {
  Result<Recording> recording = ReadRecording(bytes, where);
  if (!recording) return Unexpected(std::move(recording).error());
  ProfiledRun profile{.spans = FindSpans(*std::move(recording)), .own_flops = {}};
  if (options.flops) {
    // As PyTorch counts them, by the sizes that ran.
    CallWeights weights(*FindConvention("torch"));
    profile.own_flops =
        OwnFlops(profile.spans, [&](const RecordedCall& call) -> std::optional<std::int64_t> {
          const std::optional<NodeWork>& work = weights.Of(call);
          if (!work) return std::nullopt;
          return work->flops;
        });
  }
  return profile;
}

std::vector<KeyAverage> Averages(const ProfiledRun& profile, const KeyAverageOptions& options) {
  return KeyAverages(profile.spans, profile.own_flops, options);
}

namespace {

report::RecordedTrace Presented(const ProfiledRun& profile, const ChromeTraceOptions& options) {
  report::RecordedTrace trace = present::PresentSpans(profile.spans);
  trace.name = options.name;
  trace.properties = options.properties;
  return trace;
}

}  // namespace

std::string ChromeTrace(const ProfiledRun& profile, const ChromeTraceOptions& options) {
  std::string out;
  render::WriteRecordedTrace(Presented(profile, options),
                             [&](std::string_view piece) { out += piece; });
  return out;
}

Status WriteChromeTrace(const ProfiledRun& profile, const std::string& path,
                        const ChromeTraceOptions& options) {
  const std::string unfinished = path + ".tmp";
  std::ofstream file(unfinished, std::ios::binary);
  render::WriteRecordedTrace(Presented(profile, options), [&](std::string_view piece) {
    file.write(piece.data(), static_cast<std::streamsize>(piece.size()));
  });
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(unfinished, path, error);
  if (file && !error) return {};
  std::filesystem::remove(unfinished, error);
  return Unexpected(InvalidInput("the trace cannot be written", path,
                                 "Name a file in a folder that is there and has room."));
}

}  // namespace steelyard
