// SPDX-License-Identifier: Apache-2.0
// What tests of bytes call their tensors.
#pragma once

#include <tenon/Tensor.hpp>

#include <cstdint>

namespace tenon::test
{

/// int8 or uint8, with one scale.
inline TensorInfo InfoInt8(const TensorShape& shape, bool isSigned, float scale, int32_t zeroPoint)
{
    return TensorInfo(shape, isSigned ? DataType::QAsymmS8 : DataType::QAsymmU8, scale, zeroPoint);
}

} // namespace tenon::test
