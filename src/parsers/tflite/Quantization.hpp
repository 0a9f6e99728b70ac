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

/// As the model declares it.
struct DeclaredQuantization
{
    Span<const float> m_Scales;        ///< none: plain numbers
    IntegerList m_ZeroPoints;          ///< one for all scales, or one each; missing ones are 0
    int32_t m_Dimension = 0;           ///< of several scales
    const char* m_OtherKind = nullptr; ///< the name of a kind that scales and zero points do not describe; null: none
};

/// The info of a tensor of this shape. Throws ParseException when the quantization contradicts itself or the shape,
/// UnimplementedException for types that no layer takes. The tensor's name is added by the caller.
TensorInfo MakeInfo(schema::TensorType type, const DeclaredQuantization& quantization, const TensorShape& shape,
                    ReadBudget& budget);

} // namespace tenon::tflite
