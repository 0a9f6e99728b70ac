// SPDX-License-Identifier: Apache-2.0
// The rows of a tensor along one axis, and the condition on beta that Softmax and LogSoftmax share. Used by these and
// by CpuAcc's ArgMinMax.
#pragma once

#include <tenon/Exceptions.hpp>
#include <tenon/Tensor.hpp>
#include <tenon/backend/ILayerSupport.hpp>
#include <tenon/backend/IWorkload.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

namespace tenon::ref
{

/// The fixed-point arithmetic of quantized tensors needs a positive, finite beta.
inline SupportResult CheckBeta(const LayerView& layer, float beta)
{
    if (layer.GetInput(0).IsQuantized() && (!(beta > 0.0f) || !std::isfinite(beta)))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "beta is " + std::to_string(beta) +
                                     "; beside quantized tensors it must be positive and finite");
    }
    return SupportResult::Yes();
}

/// A row has m_Depth elements that lie m_Step apart; there are m_Outer * m_Step of them.
struct AxisRows
{
    size_t m_Outer = 1;
    size_t m_Depth = 1;
    size_t m_Step = 1;

    /// A negative axis counts from the end. Throws LayerValidationException for an axis that the shape does not have.
    AxisRows(const TensorShape& shape, int axis)
    {
        const auto rank = static_cast<int>(shape.GetNumDimensions());
        const int positive = axis < 0 ? axis + rank : axis;
        if (rank == 0)
        {
            return; // one number
        }
        if (positive < 0 || positive >= rank)
        {
            throw LayerValidationException("axis " + std::to_string(axis) + " is outside the input's shape " +
                                           shape.ToString());
        }
        for (int i = 0; i < rank; ++i)
        {
            size_t& extent = i < positive ? m_Outer : (i == positive ? m_Depth : m_Step);
            extent *= shape[static_cast<unsigned int>(i)];
        }
    }

    /// Calls row(in, out) for each row of input 0 and its place in output 0, unless rows are empty.
    template <typename In, typename Out, typename F>
    void ForEach(const ExecuteArgs& run, const F& row) const
    {
        for (size_t outer = 0; m_Depth != 0 && outer < m_Outer; ++outer)
        {
            for (size_t inner = 0; inner < m_Step; ++inner)
            {
                const size_t first = outer * m_Depth * m_Step + inner;
                row(run.GetInput<In>(0) + first, run.GetOutput<Out>(0) + first);
            }
        }
    }

    /// The largest element of a row that is not empty.
    template <typename T>
    T FindMax(const T* row) const
    {
        T max = row[0];
        for (size_t i = 1; i < m_Depth; ++i)
        {
            max = std::max(max, row[i * m_Step]);
        }
        return max;
    }
};

} // namespace tenon::ref
