// SPDX-License-Identifier: Apache-2.0
// Shapes as lists of sizes, for the makers of RandomNetwork.
#pragma once

#include <tenon/Tensor.hpp>

#include <vector>

namespace tenon::test
{

inline TensorShape ShapeOf(const std::vector<unsigned int>& sizes)
{
    return TensorShape(static_cast<unsigned int>(sizes.size()), sizes.data());
}

inline std::vector<unsigned int> SizesOf(const TensorShape& shape)
{
    std::vector<unsigned int> sizes;
    for (unsigned int i = 0; i < shape.GetNumDimensions(); ++i)
    {
        sizes.push_back(shape[i]);
    }
    return sizes;
}

inline unsigned int LastOf(const TensorShape& shape)
{
    return shape[shape.GetNumDimensions() - 1];
}

/// The same but for the size of one dimension.
inline TensorShape Resized(TensorShape shape, unsigned int dimension, unsigned int size)
{
    shape.SetDimensionSize(dimension, size);
    return shape;
}

} // namespace tenon::test
