// SPDX-License-Identifier: Apache-2.0
// Numbers of channels for kernels over channels, names and types of their cases.
#pragma once

#include <tenon/Tensor.hpp>

#include <string>

namespace tenon::test
{

/// Around those of vectors.
inline constexpr unsigned int Channels[] = {1, 2, 3, 4, 5, 8, 15, 16, 17, 31, 40, 64, 67, 130, 257};

inline std::string Name(const char* what, const TensorInfo& input)
{
    return std::string(what) + " of " + GetDataTypeName(input.GetDataType()) + " " + input.GetShape().ToString();
}

/// The types of tensors, by `using namespace` in the namespace of a test.
namespace channel_types
{

inline const TensorInfo Float({1}, DataType::Float32);
inline const TensorInfo Unsigned({1}, DataType::QAsymmU8, 0.05f, 100);
inline const TensorInfo Signed({1}, DataType::QAsymmS8, 0.05f, -20);
inline const TensorInfo Shorts({1}, DataType::QSymmS16, 0.001f, 0);
inline const TensorInfo Types[] = {Float, Unsigned, Signed, Shorts};

/// Sums may come in another order, and divisions be multiplications.
inline double Tolerance(const TensorInfo& info)
{
    return info.IsQuantized() ? 0 : info.GetDataType() == DataType::Float32 ? 1e-6 : 1.0 / 128;
}

} // namespace channel_types

} // namespace tenon::test
