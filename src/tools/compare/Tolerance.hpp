// SPDX-License-Identifier: Apache-2.0
// The tolerance of a comparison: bounds on the difference of two elements.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tenon::tools
{

/// The way in which the elements of two tensors are compared.
enum class Measure : uint8_t
{
    Floats, ///< of one float type: as real numbers, and by the floats between them (ULP)
    Steps,  ///< of one quantization: as the real numbers that they stand for, and by steps of the scale
    Reals,  ///< floats and quantized elements of different types or scales: as real numbers alone
    Exact   ///< integers and Booleans: equal or not
};

/// Two elements are within the tolerance if one of the bounds holds. Elements of Measure::Exact must be equal, and NaN
/// and infinity must be the same in both.
struct Tolerance
{
    std::optional<double> m_Absolute;
    std::optional<double> m_Relative; ///< of the reference's element
    std::optional<uint64_t> m_Ulp;    ///< for Measure::Floats
    std::optional<uint64_t> m_Steps;  ///< for Measure::Steps
};

/// "1e-5" is an absolute bound; "rel=1e-3,abs=1e-6,ulp=4,steps=1" any of them. Throws UsageError.
Tolerance ParseTolerance(const std::string& text);

/// "abs=1e-06, rel=0.001"
std::string DescribeTolerance(const Tolerance& tolerance);

/// Whether a bound is for elements that are compared in this way.
bool HasBoundFor(const Tolerance& tolerance, Measure measure);

/// For any measure but Exact. `error` is the absolute difference of two finite elements, `units` the ULP or steps
/// between them (0 for Measure::Reals) and `reference` the element of the reference.
bool IsWithin(const Tolerance& tolerance, Measure measure, double error, uint64_t units, double reference);

} // namespace tenon::tools
