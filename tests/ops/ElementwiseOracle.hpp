// SPDX-License-Identifier: Apache-2.0
// What the tests of elementwise operators and reductions share: infos of every type, values on a grid that all of them
// hold exactly, and oracles that broadcast.
#pragma once

#include "harness/OpTest.hpp"

#include <cstdint>
#include <vector>

namespace tenon::test
{

/// A shape of any rank; none at all is a scalar.
inline TensorShape ShapeOf(const std::vector<unsigned int>& sizes)
{
    return sizes.empty() ? TensorShape(Dimensionality::Scalar)
                         : TensorShape(static_cast<unsigned int>(sizes.size()), sizes.data());
}

/// How far results of a type may be off, relative to the oracle, when a single operation is rounded to it.
inline double GetRounding(DataType type)
{
    switch (type)
    {
    case DataType::Float16: return 1e-3;
    case DataType::BFloat16: return 8e-3;
    case DataType::Float64: return 1e-14;
    default: return 1e-6;
    }
}

/// first, first + step, ... around in `period` values, each a multiple of `step`.
inline std::vector<double> Grid(size_t count, double first, double step, size_t period)
{
    std::vector<double> values(count);
    for (size_t i = 0; i < count; ++i)
    {
        values[i] = first + step * static_cast<double>(i * 7 % period);
    }
    return values;
}

/// All values that an 8-bit type stores, in order.
inline TestTensor AllBytes(const TensorInfo& info)
{
    const bool isSigned = info.GetDataType() == DataType::QAsymmS8 || info.GetDataType() == DataType::QSymmS8;
    std::vector<double> stored(256);
    for (size_t i = 0; i < stored.size(); ++i)
    {
        stored[i] = static_cast<double>(i) - (isSigned ? 128.0 : 0.0);
    }
    return Stored(info, stored);
}

/// f(a, b) under numpy's broadcasting rules.
template <typename F>
Oracle Broadcast(const TensorShape& output, F f)
{
    return [output, f](const std::vector<RealTensor>& in)
    {
        const unsigned int rank = output.GetNumDimensions();
        const auto at = [&](const RealTensor& tensor, size_t element)
        {
            const unsigned int own = tensor.m_Shape.GetNumDimensions();
            size_t offset = 0;
            size_t stride = 1;
            for (unsigned int i = 0; i < rank; ++i)
            {
                const size_t size = output[rank - 1 - i];
                const size_t index = element % size;
                element /= size;
                if (i < own)
                {
                    const size_t ownSize = tensor.m_Shape[own - 1 - i];
                    offset += ownSize == 1 ? 0 : index * stride;
                    stride *= ownSize;
                }
            }
            return tensor.m_Values.at(offset);
        };
        std::vector<double> values(output.GetNumElements());
        for (size_t i = 0; i < values.size(); ++i)
        {
            values[i] = f(at(in[0], i), at(in[1], i));
        }
        return values;
    };
}

/// Reduces over the axes: result = finish(step(... step(first, x0) ..., xn), number of elements).
template <typename Step, typename Finish>
Oracle Reduction(const std::vector<unsigned int>& axes, double first, Step step, Finish finish)
{
    return [=](const std::vector<RealTensor>& in)
    {
        const TensorShape& shape = in[0].m_Shape;
        const unsigned int rank = shape.GetNumDimensions();
        std::vector<bool> isReduced(rank, false);
        size_t outputs = 1;
        size_t elements = 1;
        for (const unsigned int axis : axes)
        {
            isReduced[axis] = true;
        }
        for (unsigned int i = 0; i < rank; ++i)
        {
            (isReduced[i] ? elements : outputs) *= shape[i];
        }
        std::vector<double> values(outputs, first);
        for (size_t i = 0; i < in[0].m_Values.size(); ++i)
        {
            size_t rest = i;
            size_t offset = 0;
            size_t stride = 1;
            for (unsigned int d = rank; d-- > 0;)
            {
                if (!isReduced[d])
                {
                    offset += rest % shape[d] * stride;
                    stride *= shape[d];
                }
                rest /= shape[d];
            }
            values[offset] = step(values[offset], in[0].m_Values[i]);
        }
        for (double& value : values)
        {
            value = finish(value, static_cast<double>(elements));
        }
        return values;
    };
}

} // namespace tenon::test
