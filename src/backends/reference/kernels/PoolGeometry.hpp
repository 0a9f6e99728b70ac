// SPDX-License-Identifier: Apache-2.0
// The elements that the windows of PoolingNd read. Used by its kernels on CpuRef and CpuAcc.
#pragma once

#include "backends/common/KernelTable.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::ref
{

/// The elements of one window along one dimension.
struct PoolReach
{
    int64_t m_First = 0;   ///< index in the input
    int64_t m_Count = 0;   ///< number of elements in the input
    int64_t m_Counted = 0; ///< number of elements in the input or its paddings
};

/// One spatial dimension.
struct PoolDimension
{
    int64_t m_Input;
    int64_t m_Output;
    int64_t m_Dilation;
    int64_t m_Stride;                 ///< elements of the input from one index to the next
    int64_t m_Column;                 ///< the same with the first spatial dimension running fastest
    std::vector<PoolReach> m_Reaches; ///< one for each output
};

/// [N, C, spatial...].
struct PoolGeometry
{
    std::vector<PoolDimension> m_Dimensions;
    size_t m_Planes = 0;
    size_t m_InputPlane = 1; ///< elements
    size_t m_OutputPlane = 1;
};

/// The geometry of a PoolingNd. Its descriptor is as shape inference has resolved it. Throws LayerValidationException
/// if it does not fit the shapes.
PoolGeometry MakePoolGeometry(const ReshapeArgs& args);

} // namespace tenon::ref
