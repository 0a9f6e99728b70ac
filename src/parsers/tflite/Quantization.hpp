// SPDX-License-Identifier: Apache-2.0
// Type and quantization of a tensor as a TensorInfo. Used for DeclaredTensors.
#pragma once

#include "common/ModelBytes.hpp"
#include "parsers/tflite/IntegerList.hpp"

#include <tenon/Span.hpp>
#include <tenon/Tensor.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace tenon::tflite
{

namespace schema
{
enum class TensorType : int8_t;
}

/// The values of a tensor that the quantization of another one names.
struct DeclaredValues
{
    std::string m_Label; ///< of the tensor, for messages
    schema::TensorType m_Type{};
    Span<const uint8_t> m_Data; ///< none: the tensor is no constant
};

/// A scale for each block of a constant: BlockwiseQuantization. Blocks lie along the last dimension.
struct DeclaredBlocks
{
    int32_t m_Size = 0;
    Span<const int32_t> m_Shape; ///< sizes of a block; none: 1, but for the last one
    DeclaredValues m_Scales;
    std::optional<DeclaredValues> m_ZeroPoints; ///< none: all 0
};

/// Quantization that a model declares.
struct DeclaredQuantization
{
    Span<const float> m_Scales;             ///< none: plain numbers
    IntegerList m_ZeroPoints;               ///< one for all scales, or one each; missing zero points are 0
    int32_t m_Dimension = 0;                ///< dimension of several scales
    std::optional<DeclaredBlocks> m_Blocks; ///< in place of all of the above
    const char* m_OtherKind = nullptr; ///< the name of a kind that scales and zero points do not describe; null: none
};

/// Whether tensors of the type may have blocks.
bool HasBlocks(schema::TensorType type);

/// The info of a tensor of this shape. Throws ParseException when the quantization contradicts itself or the shape,
/// UnimplementedException for types that no layer takes. The caller adds the tensor's name.
TensorInfo MakeInfo(schema::TensorType type, const DeclaredQuantization& quantization, const TensorShape& shape,
                    ReadBudget& budget);

} // namespace tenon::tflite
