// SPDX-License-Identifier: Apache-2.0
//
// Which Steelyard this is. The numbers follow semantic versioning for the public headers; the
// report's JSON contract is versioned apart from them, by its own schema name.
#pragma once

namespace steelyard {

// The version of the library and of all that is built with it. The build system reads the string
// from this line, so that it is written in one place.
inline constexpr char kVersion[] = "0.1.0";

// Names the JSON contract that a report follows. The number after the slash changes only when a
// key that other programs rely on is renamed, removed or given another meaning; new keys do not
// change it. The schema itself is docs/report.schema.json.
inline constexpr char kReportSchema[] = "steelyard.report/1";

}  // namespace steelyard
