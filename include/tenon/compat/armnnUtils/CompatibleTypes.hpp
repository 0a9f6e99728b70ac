// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: whether a C++ type holds elements of a data type.
#pragma once

#include <armnn/Types.hpp>
#include <cstdint>

namespace armnnUtils
{

/// Whether T holds elements of `dataType`. T is float, uint8_t, int8_t, int16_t or int32_t; the answer is false for
/// other types.
template <typename T>
bool CompatibleTypes(armnn::DataType)
{
    return false;
}
template <>
inline bool CompatibleTypes<float>(armnn::DataType dataType)
{
    return dataType == armnn::DataType::Float32;
}
template <>
inline bool CompatibleTypes<uint8_t>(armnn::DataType dataType)
{
    return dataType == armnn::DataType::Boolean || dataType == armnn::DataType::QAsymmU8;
}
template <>
inline bool CompatibleTypes<int8_t>(armnn::DataType dataType)
{
    return dataType == armnn::DataType::QSymmS8 || dataType == armnn::DataType::QAsymmS8;
}
template <>
inline bool CompatibleTypes<int16_t>(armnn::DataType dataType)
{
    return dataType == armnn::DataType::QSymmS16;
}
template <>
inline bool CompatibleTypes<int32_t>(armnn::DataType dataType)
{
    return dataType == armnn::DataType::Signed32;
}

} // namespace armnnUtils
