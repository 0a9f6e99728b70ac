// SPDX-License-Identifier: Apache-2.0
// The parameters of layers that combine the elements along dimensions, or the slices of a segment.
#pragma once

#include <tenon/Types.hpp>
#include <tenon/descriptors/Base.hpp>

#include <cstdint>
#include <vector>

namespace tenon
{

/// Mean over some axes. With m_ParametersAsInputs input 1 holds the axes (negative ones count from the end).
struct MeanDescriptor : detail::Described<MeanDescriptor>
{
    MeanDescriptor() = default;
    MeanDescriptor(const std::vector<unsigned int>& axis, bool keepDims) : m_Axis(axis), m_KeepDims(keepDims) {}

    std::vector<unsigned int> m_Axis; ///< empty: all
    bool m_KeepDims = false;
    bool m_ParametersAsInputs = false;
    RequantizationMode m_Requantization = RequantizationMode::FixedPoint; ///< Tenon; of quantized outputs

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 2 : 1; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("Axis", &MeanDescriptor::m_Axis);
        v("KeepDims", &MeanDescriptor::m_KeepDims);
        v("ParametersAsInputs", &MeanDescriptor::m_ParametersAsInputs);
        v("Requantization", &MeanDescriptor::m_Requantization);
    }
};

/// Reduce over some axes. With m_ParametersAsInputs input 1 holds the axes (negative ones count from the end).
struct ReduceDescriptor : detail::Described<ReduceDescriptor>
{
    bool m_KeepDims = false;
    std::vector<uint32_t> m_vAxis; ///< empty: all
    ReduceOperation m_ReduceOperation = ReduceOperation::Sum;
    bool m_ParametersAsInputs = false;

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 2 : 1; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("KeepDims", &ReduceDescriptor::m_KeepDims);
        v("vAxis", &ReduceDescriptor::m_vAxis);
        v("ReduceOperation", &ReduceDescriptor::m_ReduceOperation);
        v("ParametersAsInputs", &ReduceDescriptor::m_ParametersAsInputs);
    }
};

/// ArgMinMax: index of the smallest or largest element along an axis.
/// With m_ParametersAsInputs input 1 is the axis.
struct ArgMinMaxDescriptor : detail::Described<ArgMinMaxDescriptor>
{
    ArgMinMaxFunction m_Function = ArgMinMaxFunction::Min;
    int m_Axis = -1;                             ///< negative counts from the end
    DataType m_Output_Type = DataType::Signed32; ///< Signed32 or Signed64
    bool m_ParametersAsInputs = false;
    bool m_SelectLastIndex = false; ///< Tenon: of equal elements the last one, else the first

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 2 : 1; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("Function", &ArgMinMaxDescriptor::m_Function);
        v("Axis", &ArgMinMaxDescriptor::m_Axis);
        v("Output_Type", &ArgMinMaxDescriptor::m_Output_Type);
        v("ParametersAsInputs", &ArgMinMaxDescriptor::m_ParametersAsInputs);
        v("SelectLastIndex", &ArgMinMaxDescriptor::m_SelectLastIndex);
    }
};

/// CumSum (Tenon): sums, or products, from the first element along an axis on. With m_ParametersAsInputs input 1 is the
/// axis.
struct CumSumDescriptor : detail::Described<CumSumDescriptor>
{
    int32_t m_Axis = 0;       ///< negative counts from the end
    bool m_Exclusive = false; ///< an element's own value is not in its sum
    bool m_Reverse = false;   ///< from the last element on
    bool m_ParametersAsInputs = false;
    ReduceOperation m_Operation = ReduceOperation::Sum; ///< Sum or Prod

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 2 : 1; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("Axis", &CumSumDescriptor::m_Axis);
        v("Exclusive", &CumSumDescriptor::m_Exclusive);
        v("Reverse", &CumSumDescriptor::m_Reverse);
        v("ParametersAsInputs", &CumSumDescriptor::m_ParametersAsInputs);
        v("Operation", &CumSumDescriptor::m_Operation);
    }
};

/// UnsortedSegment (Tenon): reduces the slices that have the same number.
struct UnsortedSegmentDescriptor : detail::Described<UnsortedSegmentDescriptor>
{
    ReduceOperation m_Operation = ReduceOperation::Sum; ///< Sum, Max, Min or Prod

    template <typename V>
    static void Visit(V&& v)
    {
        v("Operation", &UnsortedSegmentDescriptor::m_Operation);
    }
};

} // namespace tenon
