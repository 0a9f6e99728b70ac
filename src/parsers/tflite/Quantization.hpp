// SPDX-License-Identifier: Apache-2.0
// Type and quantization of a tensor as a TensorInfo. Used for DeclaredTensors.
#pragma once

#include "common/ModelBytes.hpp"
#include "parsers/tflite/IntegerList.hpp"

#include <tenon/Span.hpp>
#include <tenon/Tensor.hpp>

#include <cstdint>

namespace tenon::tflite
{

namespace schema
{
enum class TensorType : int8_t;
}

/// Quantization that a model declares.
struct DeclaredQuantization
{
    Span<const float> m_Scales;        ///< none: plain numbers
    IntegerList m_ZeroPoints;          ///< one for all scales, or one each; missing zero points are 0
    int32_t m_Dimension = 0;           ///< dimension of several scales
    const char* m_OtherKind = nullptr; ///< the name of a kind that scales and zero points do not describe; null: none
};

/// The info of a tensor of this shape. Throws ParseException when the quantization contradicts itself or the shape,
/// UnimplementedException for types that no layer takes. The caller adds the tensor's name.
TensorInfo MakeInfo(schema::TensorType type, const DeclaredQuantization& quantization, const TensorShape& shape,
                    ReadBudget& budget);

} // namespace tenon::tflite
