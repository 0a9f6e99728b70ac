// SPDX-License-Identifier: Apache-2.0
// Numbers of channels for kernels over channels, and names of their cases.
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

} // namespace tenon::test
