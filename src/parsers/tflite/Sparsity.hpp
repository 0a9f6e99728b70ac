// SPDX-License-Identifier: Apache-2.0
// Conversion of a model's sparse constants to dense ones: no kernel computes with the sparse form. Used for
// DeclaredTensors.
#pragma once

#include "common/ModelBytes.hpp"
#include "parsers/tflite/IntegerList.hpp"

#include <tenon/Span.hpp>
#include <tenon/Tensor.hpp>

#include <cstdint>
#include <vector>

namespace tenon::tflite
{

/// The declared layout of a sparse tensor's stored values (see Sparsity.cpp).
struct DeclaredSparsity
{
    struct Level
    {
        int32_t m_Format = 0; ///< a number of schema::DimensionType
        int32_t m_DenseSize = 0;
        IntegerList m_Segments;
        IntegerList m_Indices;
    };

    IntegerList m_TraversalOrder;
    IntegerList m_BlockMap;
    std::vector<Level> m_Levels; ///< in traversal order
};

/// All elements of the tensor of `info`, zeros included; `values` are the stored ones. Throws ParseException when the
/// description does not fit the shape or the values, UnimplementedException for 4-bit types.
std::vector<uint8_t> Densify(const DeclaredSparsity& sparsity, const TensorInfo& info, Span<const uint8_t> values,
                             ReadBudget& budget);

} // namespace tenon::tflite
