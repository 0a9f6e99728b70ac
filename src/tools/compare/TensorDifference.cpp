// SPDX-License-Identifier: Apache-2.0
// See TensorDifference.hpp.
#include "tools/compare/TensorDifference.hpp"

#include "tools/common/Buffer.hpp"
#include "tools/common/Elements.hpp"
#include "tools/common/Quantize.hpp"
#include "tools/common/Storage.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace tenon::tools
{
namespace
{

/// The type of the parts of a complex type, else the type itself.
DataType PartType(DataType type)
{
    return type == DataType::Complex64 ? DataType::Float32 : type == DataType::Complex128 ? DataType::Float64 : type;
}

/// The elements of a tensor as real numbers.
class RealElements
{
public:
    explicit RealElements(const TensorView& tensor)
        : m_Type(PartType(tensor.m_Info->GetDataType())), m_Data(tensor.m_Data),
          m_Count(tensor.m_Info->GetShape().GetNumElements64())
    {
        if (m_Type != tensor.m_Info->GetDataType())
        {
            m_Count *= 2;
        }
        if (StandsForReals(*tensor.m_Info))
        {
            m_Floats = Buffer(m_Count * sizeof(float));
            DequantizeToFloats(tensor.m_Data, *tensor.m_Info, m_Floats.Data());
            m_Type = DataType::Float32;
            m_Data = m_Floats.Data();
        }
    }

    size_t Count() const { return m_Count; }
    double operator[](size_t i) const { return GetElement(m_Type, m_Data, i); }

private:
    DataType m_Type;
    const std::byte* m_Data;
    size_t m_Count;
    Buffer m_Floats; ///< of a quantized tensor
};

/// Floats between two finite ones whose bits, without further ones in front, are given.
template <typename Bits>
uint64_t CountUlps(Bits a, Bits b)
{
    constexpr Bits sign = static_cast<Bits>(Bits{1} << (sizeof(Bits) * 8 - 1));
    const uint64_t magnitudeA = a & static_cast<Bits>(~sign);
    const uint64_t magnitudeB = b & static_cast<Bits>(~sign);
    if ((a & sign) != (b & sign))
    {
        return magnitudeA + magnitudeB;
    }
    return std::max(magnitudeA, magnitudeB) - std::min(magnitudeA, magnitudeB);
}

/// 0 for types that are no floats.
uint64_t CountUlps(DataType type, const std::byte* a, const std::byte* b, size_t i)
{
    return VisitStorage(type,
                        [&](auto storage) -> uint64_t
                        {
                            using T = decltype(storage);
                            if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat>)
                            {
                                return CountUlps(Load<uint16_t>(a, i), Load<uint16_t>(b, i));
                            }
                            else if constexpr (std::is_floating_point_v<T>)
                            {
                                using Bits = std::conditional_t<sizeof(T) == sizeof(uint32_t), uint32_t, uint64_t>;
                                return CountUlps(Load<Bits>(a, i), Load<Bits>(b, i));
                            }
                            else
                            {
                                return 0;
                            }
                        });
}

/// Steps of quantized elements, or integers that differ.
uint64_t CountSteps(DataType type, const std::byte* a, const std::byte* b, size_t i)
{
    if (type == DataType::Signed64 || type == DataType::Unsigned64) // which doubles do not hold
    {
        return Load<uint64_t>(a, i) == Load<uint64_t>(b, i) ? 0 : 1;
    }
    return static_cast<uint64_t>(std::fabs(GetElement(type, a, i) - GetElement(type, b, i)));
}

} // namespace

std::optional<Measure> FindMeasure(const TensorInfo& tested, const TensorInfo& reference)
{
    const DataType type = PartType(tested.GetDataType());
    const bool isOneType = tested.GetDataType() == reference.GetDataType();
    const bool isReal = IsFloatType(type) || StandsForReals(tested);
    if (isReal && StandsForReals(tested) && tested.IsTypeSpaceMatch(reference))
    {
        return Measure::Steps;
    }
    if (isOneType && !StandsForReals(tested) && !StandsForReals(reference))
    {
        return IsFloatType(type) ? Measure::Floats : Measure::Exact;
    }
    const bool isOtherReal = IsFloatType(reference.GetDataType()) || StandsForReals(reference);
    const bool isComplex = type != tested.GetDataType();
    return isReal && isOtherReal && !isComplex ? std::optional(Measure::Reals) : std::nullopt;
}

void TensorDifference::AddRun(const TensorView& tested, const TensorView& reference)
{
    m_SumOfRun = 0.0;
    m_NumFiniteOfRun = 0;
    const RealElements testedReals(tested);
    const RealElements referenceReals(reference);
    const DataType type = PartType(tested.m_Info->GetDataType());
    const size_t numParts = type == tested.m_Info->GetDataType() ? 1 : 2;
    const bool isUlp = m_Measure == Measure::Floats;
    const bool isSteps = m_Measure == Measure::Steps || m_Measure == Measure::Exact;
    for (size_t i = 0; i < testedReals.Count(); ++i)
    {
        const uint64_t units = isUlp     ? CountUlps(type, tested.m_Data, reference.m_Data, i)
                               : isSteps ? CountSteps(type, tested.m_Data, reference.m_Data, i)
                                         : 0;
        AddElement(i / numParts, testedReals[i], referenceReals[i], units);
    }
    m_MeanErrorsOfRuns.push_back(m_NumFiniteOfRun > 0 ? m_SumOfRun / static_cast<double>(m_NumFiniteOfRun) : 0.0);
}

void TensorDifference::AddElement(size_t index, double tested, double reference, uint64_t units)
{
    ++m_NumElements;
    m_IsWhole = m_IsWhole && tested >= 0.0 && reference >= 0.0 && tested == std::floor(tested) &&
                reference == std::floor(reference) && (m_Measure == Measure::Floats || m_Measure == Measure::Exact);
    if (std::isfinite(tested) && std::isfinite(reference))
    {
        AddFinite(index, tested, reference, units);
    }
    else if (tested == reference || (std::isnan(tested) && std::isnan(reference)))
    {
        ++m_NumEqualNonFinite;
    }
    else
    {
        ++m_NumOddNonFinite;
        ++m_NumDifferent;
        ++m_NumOut;
    }
}

void TensorDifference::AddFinite(size_t index, double tested, double reference, uint64_t units)
{
    const double error = std::fabs(tested - reference);
    const bool isDifferent = m_Measure == Measure::Exact ? units != 0 : error != 0.0;
    m_NumDifferent += isDifferent ? 1 : 0;
    const bool isOut = m_Measure == Measure::Exact || !IsWithin(m_Tolerance, m_Measure, error, units, reference);
    m_NumOut += isDifferent && isOut ? 1 : 0;
    ++m_NumFinite;
    const double deviation = error - m_MeanError; // Welford's sums, without differences of large numbers
    m_MeanError += deviation / static_cast<double>(m_NumFinite);
    m_SquaredDeviations += deviation * (error - m_MeanError);
    m_Bias += (tested - reference - m_Bias) / static_cast<double>(m_NumFinite);
    m_SumOfRun += error;
    ++m_NumFiniteOfRun;
    if (isDifferent && (!m_Worst || error > m_MaxError))
    {
        m_Worst = WorstElement{m_MeanErrorsOfRuns.size(), index, tested, reference};
    }
    m_MaxError = std::max(m_MaxError, error);
    if (reference != 0.0)
    {
        m_MaxRelativeError = std::max(m_MaxRelativeError, error / std::fabs(reference));
    }
    m_LargestReference = std::max(m_LargestReference, std::fabs(reference));
    m_SumOfProducts += tested * reference;
    m_SumOfTestedSquares += tested * tested;
    m_SumOfReferenceSquares += reference * reference;
    if (m_Measure == Measure::Floats || m_Measure == Measure::Steps)
    {
        const auto* const place = std::lower_bound(HistogramBounds.begin(), HistogramBounds.end(), units);
        ++m_Histogram[static_cast<size_t>(place - HistogramBounds.begin())];
    }
}

double TensorDifference::StdError() const
{
    return m_NumFinite > 0 ? std::sqrt(m_SquaredDeviations / static_cast<double>(m_NumFinite)) : 0.0;
}

double TensorDifference::RmsError() const
{
    return std::hypot(m_MeanError, StdError());
}

std::optional<double> TensorDifference::RelativeRmsError() const
{
    const double error = RmsError();
    if (error == 0.0)
    {
        return 0.0;
    }
    if (m_SumOfReferenceSquares == 0.0)
    {
        return {};
    }
    return error / std::sqrt(m_SumOfReferenceSquares / static_cast<double>(m_NumFinite));
}

std::optional<double> TensorDifference::Cosine() const
{
    if (m_SumOfTestedSquares == 0.0 && m_SumOfReferenceSquares == 0.0)
    {
        return 1.0;
    }
    const double cosine = m_SumOfProducts / (std::sqrt(m_SumOfTestedSquares) * std::sqrt(m_SumOfReferenceSquares));
    return std::isfinite(cosine) ? std::optional(std::clamp(cosine, -1.0, 1.0)) : std::nullopt;
}

} // namespace tenon::tools
