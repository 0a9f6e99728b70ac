// SPDX-License-Identifier: Apache-2.0
// LayerNormalization: each slice of the dimensions from an axis on is normalized to mean 0 and variance 1, or to a mean
// square of 1 only, then multiplied by scale; bias is added. Types are floats, computed in double precision.
#include "backends/common/KernelTable.hpp"
#include "backends/reference/AccumulatorType.hpp"
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/kernels/AxisRows.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Normalization.hpp>

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace tenon::ref
{

namespace
{

using backends::Prepared;

constexpr backends::TypeRow LayerNormalizationTypes[] = {
    backends::SameType({DataType::Float32, DataType::Float16, DataType::BFloat16, DataType::Float64}, 3)};

/// The stride of a parameter's elements: 0 if one element is used for all.
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
          m_Epsilon(args.GetDescriptor<LayerNormalizationDescriptor>().m_Epsilon),
          m_SubtractsMean(args.GetDescriptor<LayerNormalizationDescriptor>().m_SubtractMean)
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
    using C = double; // sums and what follows from them are in double precision

    void NormalizeRow(const T* in, const T* scale, const T* bias, T* out) const
    {
        const auto count = static_cast<C>(m_Depth);
        C sum = 0;
        for (size_t i = 0; i < m_Depth; ++i)
        {
            sum += static_cast<C>(in[i]);
        }
        const C mean = m_SubtractsMean ? sum / count : C{0};
        C squares = 0;
        for (size_t i = 0; i < m_Depth; ++i)
        {
            const C difference = static_cast<C>(in[i]) - mean;
            squares += difference * difference;
        }
        const C factor = C{1} / std::sqrt(squares / count + static_cast<C>(m_Epsilon));
        for (size_t i = 0; i < m_Depth; ++i)
        {
            // Parameters are read before the output is written, because the output may lie in their memory.
            const C s = scale != nullptr ? static_cast<C>(scale[i * m_ScaleStep]) : C{1};
            const C b = bias != nullptr ? static_cast<C>(bias[i * m_BiasStep]) : C{0};
            out[i] = FromAccumulator<T>((static_cast<C>(in[i]) - mean) * factor * s + b);
        }
    }

    size_t m_Rows;
    size_t m_Depth; ///< elements that are normalized together
    bool m_HasScale;
    bool m_HasBias;
    size_t m_ScaleStep;
    size_t m_BiasStep;
    float m_Epsilon;
    bool m_SubtractsMean;
};

/// The index in a broadcast parameter for an element of the data.
class BroadcastIndex
{
public:
    BroadcastIndex(const TensorShape& data, const TensorShape& parameter)
        : m_Sizes(data.GetNumDimensions()), m_Steps(m_Sizes)
    {
        size_t step = 1;
        for (unsigned int i = 0; i < data.GetNumDimensions(); ++i)
        {
            const unsigned int fromEnd = i + 1;
            const unsigned int rank = parameter.GetNumDimensions();
            const unsigned int size = fromEnd <= rank ? parameter[rank - fromEnd] : 1;
            m_Sizes[i] = data[data.GetNumDimensions() - fromEnd];
            m_Steps[i] = size == 1 ? 0 : static_cast<unsigned int>(step);
            step *= size;
        }
    }
    size_t Of(size_t element) const
    {
        size_t place = 0;
        for (size_t i = 0; i < m_Sizes.size(); element /= m_Sizes[i], ++i)
        {
            place += element % m_Sizes[i] * m_Steps[i];
        }
        return place;
    }

private:
    std::vector<unsigned int> m_Sizes; ///< last dimension first
    std::vector<unsigned int> m_Steps;
};

/// Normalization over dimensions in the middle: the elements of a slice are not contiguous.
template <typename T>
class MiddleNormalization
{
public:
    MiddleNormalization(const ReshapeArgs& args, unsigned int axis, unsigned int numAxes)
        : m_Epsilon(args.GetDescriptor<LayerNormalizationDescriptor>().m_Epsilon),
          m_SubtractsMean(args.GetDescriptor<LayerNormalizationDescriptor>().m_SubtractMean)
    {
        const TensorShape& shape = args.GetInput(0).GetShape();
        for (unsigned int i = 0; i < shape.GetNumDimensions(); ++i)
        {
            (i < axis ? m_Outer : (i < axis + numAxes ? m_Depth : m_Inner)) *= shape[i];
        }
        for (const size_t parameter : {size_t{1}, size_t{2}})
        {
            if (args.HasInput(parameter))
            {
                m_BroadcastIndices[parameter - 1].emplace(shape, args.GetInput(parameter).GetShape());
            }
        }
    }

    void operator()(const ExecuteArgs& args) const
    {
        for (size_t outer = 0; outer < m_Outer; ++outer)
        {
            for (size_t inner = 0; inner < m_Inner; ++inner)
            {
                Normalize(args, outer * m_Depth * m_Inner + inner);
            }
        }
    }

private:
    using C = double; // sums and what follows from them are in double precision

    void Normalize(const ExecuteArgs& args, size_t first) const
    {
        const T* in = args.GetInput<T>(0);
        T* out = args.GetOutput<T>(0);
        const auto count = static_cast<C>(m_Depth);
        const size_t end = first + m_Depth * m_Inner;
        C sum = 0;
        for (size_t i = first; i < end; i += m_Inner)
        {
            sum += static_cast<C>(in[i]);
        }
        const C mean = m_SubtractsMean ? sum / count : C{0};
        C squares = 0;
        for (size_t i = first; i < end; i += m_Inner)
        {
            const C difference = static_cast<C>(in[i]) - mean;
            squares += difference * difference;
        }
        const C factor = C{1} / std::sqrt(squares / count + static_cast<C>(m_Epsilon));
        for (size_t i = first; i < end; i += m_Inner)
        {
            const C s =
                m_BroadcastIndices[0] ? static_cast<C>(args.GetInput<T>(1)[m_BroadcastIndices[0]->Of(i)]) : C{1};
            const C b =
                m_BroadcastIndices[1] ? static_cast<C>(args.GetInput<T>(2)[m_BroadcastIndices[1]->Of(i)]) : C{0};
            out[i] = FromAccumulator<T>((static_cast<C>(in[i]) - mean) * factor * s + b);
        }
    }

    size_t m_Outer = 1;
    size_t m_Depth = 1;                                              ///< elements that are normalized together
    size_t m_Inner = 1;                                              ///< distance, in elements, of neighbours that are
                                                                     ///< normalized together
    std::array<std::optional<BroadcastIndex>, 2> m_BroadcastIndices; ///< indices of scale and bias
    float m_Epsilon;
    bool m_SubtractsMean;
};

/// Throws if dimensions or parameters do not fit the data; shape inference has checked that before.
void CheckMiddle(const ReshapeArgs& args, unsigned int axis, unsigned int numAxes)
{
    const TensorShape& data = args.GetInput(0).GetShape();
    const unsigned int rank = data.GetNumDimensions();
    if (axis >= rank || numAxes > rank - axis)
    {
        throw LayerValidationException(std::to_string(numAxes) + " dimensions from dimension " + std::to_string(axis) +
                                       " on are more than input 0 of shape " + data.ToString() + " has");
    }
    for (const size_t parameter : {size_t{1}, size_t{2}})
    {
        if (!args.HasInput(parameter))
        {
            continue;
        }
        const TensorShape& shape = args.GetInput(parameter).GetShape();
        const unsigned int own = shape.GetNumDimensions();
        bool fits = own <= rank;
        for (unsigned int i = 0; fits && i < own; ++i)
        {
            fits = shape[i] == 1 || shape[i] == data[rank - own + i];
        }
        if (!fits)
        {
            throw LayerValidationException("input " + std::to_string(parameter) + " of shape " + shape.ToString() +
                                           " does not broadcast to input 0 of shape " + data.ToString());
        }
    }
}

Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorShape& shape = args.GetInput(0).GetShape();
    const auto& descriptor = args.GetDescriptor<LayerNormalizationDescriptor>();
    if (descriptor.m_NumAxes != 0)
    {
        const int rank = static_cast<int>(shape.GetNumDimensions());
        const auto axis = static_cast<unsigned int>(descriptor.m_Axis + (descriptor.m_Axis < 0 ? rank : 0));
        CheckMiddle(args, axis, descriptor.m_NumAxes);
        const auto make = [&](auto tag) -> Prepared
        { return MiddleNormalization<typename decltype(tag)::Type>(args, axis, descriptor.m_NumAxes); };
        return DispatchType<float, double, Half, BFloat16>(args.GetInput(0).GetDataType(), make);
    }
    const AxisRows rows(shape, descriptor.m_Axis);
    const size_t depth = rows.m_Depth * rows.m_Step;
    return DispatchType<float, double, Half, BFloat16>(
        args.GetInput(0).GetDataType(),
        [&](auto tag) -> Prepared
        { return LayerNormalization<typename decltype(tag)::Type>(args, rows.m_Outer, depth); });
}

} // namespace

extern const backends::Kernel RefLayerNormalizationKernel = {"RefLayerNormalization", LayerNormalizationTypes, Prepare};

} // namespace tenon::ref
