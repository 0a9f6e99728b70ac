// SPDX-License-Identifier: Apache-2.0
// See PoolGeometry.hpp.
#include "backends/reference/kernels/PoolGeometry.hpp"

#include "backends/reference/kernels/DataMovement.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Pooling.hpp>

#include <algorithm>

namespace tenon::ref
{

namespace
{

std::vector<PoolReach> FindReaches(int64_t input, int64_t output, int64_t size, int64_t stride, int64_t dilation,
                                   int64_t before, int64_t after)
{
    std::vector<PoolReach> reaches(static_cast<size_t>(output));
    for (int64_t o = 0; o < output; ++o)
    {
        const int64_t start = o * stride - before;
        const int64_t skipped = start < 0 ? (-start + dilation - 1) / dilation : 0;
        const auto countBelow = [&](int64_t end)
        { return std::clamp<int64_t>((end - start + dilation - 1) / dilation, 0, size); };
        reaches[static_cast<size_t>(o)] = {
            start + skipped * dilation, std::max<int64_t>(countBelow(input) - skipped, 0), countBelow(input + after)};
    }
    return reaches;
}

} // namespace

PoolGeometry MakePoolGeometry(const ReshapeArgs& args)
{
    const auto& pool = args.GetDescriptor<PoolingNdDescriptor>();
    const TensorShape& input = args.GetInput(0).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    const size_t spatial = pool.m_PoolSizes.size();
    const bool fits = input.GetNumDimensions() == spatial + 2 && output.GetNumDimensions() == spatial + 2 &&
                      input[0] == output[0] && input[1] == output[1] && pool.m_Strides.size() == spatial &&
                      pool.m_Dilations.size() == spatial && pool.m_PadsBefore.size() == spatial &&
                      pool.m_PadsAfter.size() == spatial &&
                      (args.m_Outputs.size() < 2 || args.GetOutput(1).GetShape() == output);
    if (!fits)
    {
        throw LayerValidationException("PoolingNd of " + input.ToString() + " to " + output.ToString() +
                                       ": both must be [N, C, spatial...] and differ in spatial dimensions only, with "
                                       "a pool size for each of these");
    }
    PoolGeometry geometry;
    geometry.m_Planes = size_t{input[0]} * input[1];
    const Extents strides = GetStrides(input);
    for (unsigned int i = 0; i < spatial; ++i)
    {
        geometry.m_Dimensions.push_back(
            {input[i + 2], output[i + 2], pool.m_Dilations[i], strides[i + 2],
             static_cast<int64_t>(geometry.m_InputPlane),
             FindReaches(input[i + 2], output[i + 2], pool.m_PoolSizes[i], pool.m_Strides[i], pool.m_Dilations[i],
                         pool.m_PadsBefore[i], pool.m_PadsAfter[i])});
        geometry.m_InputPlane *= input[i + 2];
        geometry.m_OutputPlane *= output[i + 2];
    }
    return geometry;
}

} // namespace tenon::ref
