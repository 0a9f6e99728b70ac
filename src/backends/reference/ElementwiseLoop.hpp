// SPDX-License-Identifier: Apache-2.0
// The loop of kernels that map each element independently: ElementwiseUnary and quantized activations.
#pragma once

#include "backends/common/KernelTable.hpp"

#include <cstddef>

namespace tenon::ref
{

/// out[i] = f(in[i])
template <typename T, typename F>
backends::Prepared MakeElementwise(const ReshapeArgs& args, const F& f)
{
    return [count = args.GetInput(0).GetNumElements(), f](const ExecuteArgs& run)
    {
        const T* in = run.GetInput<T>(0);
        T* out = run.GetOutput<T>(0);
        for (size_t i = 0; i < count; ++i)
        {
            out[i] = f(in[i]);
        }
    };
}

} // namespace tenon::ref
