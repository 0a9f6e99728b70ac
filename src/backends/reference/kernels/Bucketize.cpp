// SPDX-License-Identifier: Apache-2.0
// Bucketize: the number of boundaries that are not above each element.
#include "backends/common/KernelTable.hpp"
#include "backends/reference/ElementTypes.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Elementwise.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow BucketizeTypes[] = {
    backends::Types({{DataType::Float16, DataType::Float32, DataType::Float64, DataType::BFloat16, DataType::Signed32,
                      DataType::Signed64}},
                    DataType::Signed32)};

/// Integers are compared as floats, as in TFLite; doubles as doubles.
template <typename T>
using ComparedType = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <typename T>
backends::Prepared MakeBucketize(const ReshapeArgs& args)
{
    const std::vector<float>& boundaries = args.GetDescriptor<BucketizeDescriptor>().m_Boundaries;
    return [boundaries, count = args.GetInput(0).GetNumElements()](const ExecuteArgs& run)
    {
        const T* in = run.GetInput<T>(0);
        auto* out = run.GetOutput<int32_t>(0);
        for (size_t i = 0; i < count; ++i)
        {
            const auto value = static_cast<ComparedType<T>>(in[i]);
            const auto above =
                std::partition_point(boundaries.begin(), boundaries.end(), [value](float b) { return !(value < b); });
            out[i] = static_cast<int32_t>(above - boundaries.begin());
        }
    };
}

SupportResult CheckBucketize(const LayerView& layer)
{
    const std::vector<float>& boundaries = layer.GetDescriptor<BucketizeDescriptor>().m_Boundaries;
    const bool isSorted = std::is_sorted(boundaries.begin(), boundaries.end());
    const bool hasNan = std::any_of(boundaries.begin(), boundaries.end(), [](float b) { return std::isnan(b); });
    if (!isSorted || hasNan || boundaries.size() > std::numeric_limits<int32_t>::max())
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "its boundaries must be numbers in ascending order");
    }
    return SupportResult::Yes();
}

backends::Prepared PrepareBucketize(const ReshapeArgs& args, const backends::PackedWeights*)
{
    if (args.GetInput(0).GetShape() != args.GetOutput(0).GetShape())
    {
        throw LayerValidationException("Bucketize of " + args.GetInput(0).GetShape().ToString() + " to " +
                                       args.GetOutput(0).GetShape().ToString() + ": the shapes must be the same");
    }
    return DispatchType<float, double, Half, BFloat16, int32_t, int64_t>(
        args.GetInput(0).GetDataType(), [&](auto tag) { return MakeBucketize<typename decltype(tag)::Type>(args); });
}

} // namespace

extern const backends::Kernel RefBucketizeKernel = {"RefBucketize", BucketizeTypes, PrepareBucketize, CheckBucketize};

} // namespace tenon::ref
