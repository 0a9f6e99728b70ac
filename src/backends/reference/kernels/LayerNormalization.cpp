// SPDX-License-Identifier: Apache-2.0
// LayerNormalization: each slice of the dimensions from an axis on brought to mean 0 and variance 1, then times scale
// plus bias. Float types; 16-bit ones are computed in float.
#include "backends/common/KernelTable.hpp"
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/kernels/AxisRows.hpp"

#include <tenon/Descriptors.hpp>
#include <tenon/Exceptions.hpp>

#include <cmath>
#include <string>

namespace tenon::ref
{

namespace
{

using backends::Prepared;

constexpr backends::TypeRow LayerNormalizationTypes[] = {
    backends::SameType({DataType::Float32, DataType::Float16, DataType::BFloat16, DataType::Float64}, 3)};

/// Elements from one to the next of a parameter: 0 where one stands for all.
size_t GetStep(const ReshapeArgs& args, size_t input, size_t depth)
{
    if (!args.HasInput(input) || args.GetInput(input).GetShape().GetNumElements64() == 1)
    {
        return 0;
    }
    if (args.GetInput(input).GetShape().GetNumElements64() != depth)
    {
        throw LayerValidationException("input " + std::to_string(input) + " of shape " +
                                       args.GetInput(input).GetShape().ToString() +
                                       " needs one element for each of the " + std::to_string(depth) +
                                       " that are normalized together, or one for all");
    }
    return 1;
}

template <typename T>
class LayerNormalization
{
public:
    LayerNormalization(const ReshapeArgs& args, size_t rows, size_t depth)
        : m_Rows(rows), m_Depth(depth), m_HasScale(args.HasInput(1)), m_HasBias(args.HasInput(2)),
          m_ScaleStep(GetStep(args, 1, depth)), m_BiasStep(GetStep(args, 2, depth)),
          m_Epsilon(args.GetDescriptor<LayerNormalizationDescriptor>().m_Epsilon)
    {
    }

    void operator()(const ExecuteArgs& args) const
    {
        const T* in = args.GetInput<T>(0);
        T* out = args.GetOutput<T>(0);
        const T* scale = m_HasScale ? args.GetInput<T>(1) : nullptr;
        const T* bias = m_HasBias ? args.GetInput<T>(2) : nullptr;
        for (size_t row = 0; row < m_Rows; ++row, in += m_Depth, out += m_Depth)
        {
            NormalizeRow(in, scale, bias, out);
        }
    }

private:
    using C = ComputeType<T>;

    void NormalizeRow(const T* in, const T* scale, const T* bias, T* out) const
    {
        const auto count = static_cast<C>(m_Depth);
        C sum = 0;
        for (size_t i = 0; i < m_Depth; ++i)
        {
            sum += static_cast<C>(in[i]);
        }
        const C mean = sum / count;
        C squares = 0;
        for (size_t i = 0; i < m_Depth; ++i)
        {
            const C difference = static_cast<C>(in[i]) - mean;
            squares += difference * difference;
        }
        const C factor = C{1} / std::sqrt(squares / count + static_cast<C>(m_Epsilon));
        for (size_t i = 0; i < m_Depth; ++i)
        {
            // Parameters are read before the output is written, which may lie in their memory.
            const C s = scale != nullptr ? static_cast<C>(scale[i * m_ScaleStep]) : C{1};
            const C b = bias != nullptr ? static_cast<C>(bias[i * m_BiasStep]) : C{0};
            out[i] = static_cast<T>((static_cast<C>(in[i]) - mean) * factor * s + b);
        }
    }

    size_t m_Rows;
    size_t m_Depth; ///< elements that are normalized together
    bool m_HasScale;
    bool m_HasBias;
    size_t m_ScaleStep;
    size_t m_BiasStep;
    float m_Epsilon;
};

Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorShape& shape = args.GetInput(0).GetShape();
    const AxisRows rows(shape, args.GetDescriptor<LayerNormalizationDescriptor>().m_Axis);
    const size_t depth = rows.m_Depth * rows.m_Step;
    return DispatchType<float, double, Half, BFloat16>(
        args.GetInput(0).GetDataType(),
        [&](auto tag) -> Prepared
        { return LayerNormalization<typename decltype(tag)::Type>(args, rows.m_Outer, depth); });
}

} // namespace

extern const backends::Kernel RefLayerNormalizationKernel = {"RefLayerNormalization", LayerNormalizationTypes, Prepare};

} // namespace tenon::ref
