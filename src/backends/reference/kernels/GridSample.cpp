// SPDX-License-Identifier: Apache-2.0
// GridSample: the value of images [N, C, spatial...] at points, from 1, 2 or 4 elements along each spatial dimension,
// as in ONNX. Elements without a weight are left out. Sums are taken in double precision; integers are rounded to the
// nearest, and saturate.
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/GridPoint.hpp"
#include "backends/reference/kernels/SampledValue.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeSet SampledTypes =
    backends::FloatTypes | backends::SignedTypes |
    backends::TypeSet{DataType::Unsigned8, DataType::Unsigned16, DataType::Unsigned32, DataType::Unsigned64};
constexpr backends::TypeRow GridSampleTypes[] = {backends::SameType(SampledTypes)};

SupportResult CheckGridSample(const LayerView& layer)
{
    const DataType type = layer.GetInput(1).GetDataType();
    return backends::FloatTypes.Has(type)
               ? SupportResult::Yes()
               : SupportResult::No(SupportCode::UnsupportedType,
                                   std::string("input 1, the points, is ") + GetDataTypeName(type) + "; it is floats");
}

struct Sizes
{
    size_t m_Batches = 0;
    size_t m_Channels = 0;
    size_t m_InputPlane = 0; ///< elements
    size_t m_OutputPlane = 0;
    Extents m_Strides{}; ///< strides of the images' spatial dimensions
    std::vector<GridAxis> m_Axes;
    double (*m_ReadPoint)(const void* points, size_t i) = nullptr;
};

template <typename P>
double ReadPoint(const void* points, size_t i)
{
    return static_cast<double>(static_cast<const P*>(points)[i]);
}

/// The weighted sum of elements over dimension `axis` and the dimensions after it.
template <typename T>
double SumTaps(const T* image, const Sizes& sizes, const std::array<GridTaps, MaxNumOfTensorDimensions>& taps,
               size_t axis)
{
    double sum = 0.0;
    for (size_t k = 0; k < taps[axis].m_Count; ++k)
    {
        if (taps[axis].m_Index[k] < 0 || taps[axis].m_Weight[k] == 0.0)
        {
            continue;
        }
        const T* const at = image + taps[axis].m_Index[k] * sizes.m_Strides[axis];
        const double value =
            axis + 1 == sizes.m_Axes.size() ? static_cast<double>(*at) : SumTaps(at, sizes, taps, axis + 1);
        sum += taps[axis].m_Weight[k] * value;
    }
    return sum;
}

template <typename T>
backends::Prepared MakeGridSample(std::shared_ptr<const Sizes> shared)
{
    return [shared = std::move(shared)](const ExecuteArgs& run)
    {
        const Sizes& sizes = *shared;
        const size_t spatial = sizes.m_Axes.size();
        const auto part = [&](size_t begin, size_t end)
        {
            for (size_t i = begin; i < end; ++i)
            {
                std::array<GridTaps, MaxNumOfTensorDimensions> taps;
                for (size_t axis = 0; axis < spatial; ++axis)
                {
                    taps[axis] =
                        sizes.m_Axes[axis].Find(sizes.m_ReadPoint(run.m_Inputs[1], (i + 1) * spatial - 1 - axis));
                }
                const size_t batch = i / sizes.m_OutputPlane;
                for (size_t channel = 0; channel < sizes.m_Channels; ++channel)
                {
                    const size_t plane = batch * sizes.m_Channels + channel;
                    const T* const image = run.GetInput<T>(0) + plane * sizes.m_InputPlane;
                    T* const out = run.GetOutput<T>(0) + plane * sizes.m_OutputPlane + i % sizes.m_OutputPlane;
                    *out = ToSampled<T>(SumTaps(image, sizes, taps, 0));
                }
            }
        };
        constexpr size_t Grain = 64; // points
        run.m_Parallel->Run(sizes.m_Batches * sizes.m_OutputPlane, Grain, std::ref(part));
    };
}

backends::Prepared PrepareGridSample(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorShape& input = args.GetInput(0).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    const unsigned int rank = input.GetNumDimensions();
    bool fits = rank >= 3 && output.GetNumDimensions() == rank && input[0] == output[0] && input[1] == output[1] &&
                args.GetInput(1).GetNumElements() == uint64_t{output[0]} * CountElements(output, 2, rank) * (rank - 2);
    fits = fits && (input.GetNumElements() != 0 || output.GetNumElements() == 0);
    if (!fits)
    {
        throw LayerValidationException("GridSample of " + input.ToString() + " to " + output.ToString() +
                                       " at the points of " + args.GetInput(1).GetShape().ToString() +
                                       ": images are [N, C, spatial...], and each output element has one point");
    }
    Sizes sizes{input[0], input[1], CountElements(input, 2, rank), CountElements(output, 2, rank), {}, {}, nullptr};
    const Extents strides = GetStrides(input);
    for (unsigned int i = 2; i < rank; ++i)
    {
        sizes.m_Strides[i - 2] = strides[i];
        sizes.m_Axes.emplace_back(input[i], args.GetDescriptor<GridSampleDescriptor>());
    }
    sizes.m_ReadPoint = DispatchType<float, double, Half, BFloat16>(
        args.GetInput(1).GetDataType(), [](auto tag) { return &ReadPoint<typename decltype(tag)::Type>; });
    return DispatchType<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                        uint64_t>(
        args.GetInput(0).GetDataType(), [&](auto tag)
        { return MakeGridSample<typename decltype(tag)::Type>(std::make_shared<const Sizes>(std::move(sizes))); });
}

} // namespace

extern const backends::Kernel RefGridSampleKernel = {"RefGridSample", GridSampleTypes, PrepareGridSample,
                                                     CheckGridSample};

} // namespace tenon::ref
