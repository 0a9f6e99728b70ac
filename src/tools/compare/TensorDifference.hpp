// SPDX-License-Identifier: Apache-2.0
// TensorDifference: figures of how much tensors differ from those of a reference, over one run or many.
#pragma once

#include "tools/common/OutputStore.hpp"
#include "tools/compare/Tolerance.hpp"

#include <tenon/Tensor.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tenon::tools
{

/// A tensor in memory of the caller.
struct TensorView
{
    TensorView(const TensorInfo& info, const std::byte* data) : m_Info(&info), m_Data(data) {}
    explicit TensorView(const OutputData& output) : TensorView(output.m_Info, output.m_Data.Data()) {}

    const TensorInfo* m_Info;
    const std::byte* m_Data;
};

/// Nothing if tensors of these types cannot be compared. Shapes are not looked at.
std::optional<Measure> FindMeasure(const TensorInfo& tested, const TensorInfo& reference);

/// The largest value of each class of a histogram, of ULP or steps; values above the last one are in a class of their
/// own.
constexpr std::array<uint64_t, 12> HistogramBounds = {0, 1, 2, 3, 4, 8, 16, 64, 256, 1024, 65536, 16777216};

/// The two elements that differ the most, by their error.
struct WorstElement
{
    size_t m_Run = 0;
    size_t m_Index = 0; ///< in the order of memory
    double m_Tested = 0.0;
    double m_Reference = 0.0;
};

/// The sums of complex elements are over their real and imaginary parts. Errors are of real numbers; those of quantized
/// elements are of the numbers that they stand for.
class TensorDifference
{
public:
    explicit TensorDifference(Measure measure, const Tolerance& tolerance = {})
        : m_Measure(measure), m_Tolerance(tolerance)
    {
    }

    /// Adds the tensors of a run, which have as many elements as each other and types of the measure.
    void AddRun(const TensorView& tested, const TensorView& reference);

    Measure GetMeasure() const { return m_Measure; }
    uint64_t NumElements() const { return m_NumElements; }
    uint64_t NumDifferent() const { return m_NumDifferent; }
    uint64_t NumOutOfTolerance() const { return m_NumOut; }
    /// Elements that are NaN or infinite in one of the two alone, or infinite with another sign. The figures below are
    /// without them.
    uint64_t NumOddNonFinite() const { return m_NumOddNonFinite; }
    /// Elements that are NaN, or the same infinity, in both. The figures below are without them, too.
    uint64_t NumEqualNonFinite() const { return m_NumEqualNonFinite; }

    double MeanError() const { return m_MeanError; } ///< of absolute errors
    double MaxError() const { return m_MaxError; }
    double StdError() const; ///< of absolute errors
    double RmsError() const;
    double Bias() const { return m_Bias; } ///< the mean of errors with their signs: tested less reference
    /// The largest of error / |reference|, where the reference is not 0.
    double MaxRelativeError() const { return m_MaxRelativeError; }
    double LargestReference() const { return m_LargestReference; }
    /// The root mean square of the error by that of the reference; nothing if the reference is 0 and the error is not.
    std::optional<double> RelativeRmsError() const;
    /// 1 for two tensors of zeros; nothing if one of them alone is 0, or if sums overflow.
    std::optional<double> Cosine() const;
    const std::optional<WorstElement>& Worst() const { return m_Worst; } ///< nothing if no finite elements differ

    /// The number of elements in each class of HistogramBounds; all 0 for measures without ULP and steps.
    const std::array<uint64_t, HistogramBounds.size() + 1>& Histogram() const { return m_Histogram; }

    /// The mean absolute error of each run.
    const std::vector<double>& MeanErrorsOfRuns() const { return m_MeanErrorsOfRuns; }
    /// Whether all elements so far are whole numbers of 0 or more that are not quantized, as classes and indices are.
    bool IsWhole() const { return m_IsWhole; }

private:
    void AddElement(size_t index, double tested, double reference, uint64_t units);
    void AddFinite(size_t index, double tested, double reference, uint64_t units);

    Measure m_Measure;
    Tolerance m_Tolerance;
    uint64_t m_NumElements = 0;
    uint64_t m_NumFinite = 0;
    uint64_t m_NumDifferent = 0;
    uint64_t m_NumOut = 0;
    uint64_t m_NumOddNonFinite = 0;
    uint64_t m_NumEqualNonFinite = 0;
    double m_MeanError = 0.0;
    double m_SquaredDeviations = 0.0; ///< of absolute errors from their mean
    double m_MaxError = 0.0;
    double m_Bias = 0.0;
    double m_MaxRelativeError = 0.0;
    double m_LargestReference = 0.0;
    double m_SumOfProducts = 0.0;
    double m_SumOfTestedSquares = 0.0;
    double m_SumOfReferenceSquares = 0.0;
    std::optional<WorstElement> m_Worst;
    std::array<uint64_t, HistogramBounds.size() + 1> m_Histogram = {};
    double m_SumOfRun = 0.0; ///< of absolute errors of the present run
    uint64_t m_NumFiniteOfRun = 0;
    std::vector<double> m_MeanErrorsOfRuns;
    bool m_IsWhole = true;
};

} // namespace tenon::tools
