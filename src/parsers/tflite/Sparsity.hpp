// SPDX-License-Identifier: Apache-2.0
// Sparse constants of a model, written out in full: no kernel computes with the sparse form. Used for DeclaredTensors.
#pragma once

#include "common/ModelBytes.hpp"
#include "parsers/tflite/IntegerList.hpp"

#include <tenon/Span.hpp>
#include <tenon/Tensor.hpp>

#include <cstdint>
#include <vector>

namespace tenon::tflite
{

/// How the stored values of a sparse tensor lie, as the model declares it (see Sparsity.cpp).
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

/// All elements of the tensor, zeros included, as `info` describes it; `values` are those that are stored. Throws
/// ParseException when the description does not fit the shape or the values, UnimplementedException for 4-bit types.
std::vector<uint8_t> Densify(const DeclaredSparsity& sparsity, const TensorInfo& info, Span<const uint8_t> values,
                             ReadBudget& budget);

} // namespace tenon::tflite
