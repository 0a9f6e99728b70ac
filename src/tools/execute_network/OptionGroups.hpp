// SPDX-License-Identifier: Apache-2.0
// The groups in which --help lists the options. Each option belongs to one of them.
#pragma once

namespace tenon::tools::groups
{

constexpr const char* General = "General";
constexpr const char* Model = "Model";
constexpr const char* Backends = "Backends";
constexpr const char* Inputs = "Inputs";
constexpr const char* Outputs = "Outputs";
constexpr const char* Benchmark = "Benchmark";
constexpr const char* Profile = "Profile";
constexpr const char* Compare = "Compare";
constexpr const char* Files = "Files";

} // namespace tenon::tools::groups
