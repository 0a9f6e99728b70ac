// SPDX-License-Identifier: Apache-2.0
// CountBytes: the size of a tensor that may be of any shape.
#pragma once

#include <tenon/Exceptions.hpp>
#include <tenon/Tensor.hpp>

#include <cstddef>

namespace tenon
{

/// The bytes of a tensor. Throws LimitExceededException, after the text that `describe` gives, for one that is too
/// large for any memory.
template <typename F>
size_t CountBytes(const TensorInfo& info, const F& describe)
{
    try
    {
        return info.GetNumBytes();
    }
    catch (const InvalidArgumentException& error)
    {
        throw LimitExceededException(describe() + ": " + error.what());
    }
}

} // namespace tenon
