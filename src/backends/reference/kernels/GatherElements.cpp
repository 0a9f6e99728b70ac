// SPDX-License-Identifier: Apache-2.0
// GatherElements: out[..., i, ...] = data[..., indices[..., i, ...], ...] along an axis, as ONNX defines it.
#include "backends/reference/kernels/AxisIndices.hpp"
#include "backends/reference/kernels/MovedElement.hpp"

#include <tenon/descriptors/Indexing.hpp>

#include <functional>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow GatherElementsTypes[] = {backends::SameType(backends::AnyType)};

backends::Prepared PrepareGatherElements(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorInfo& input = args.GetInput(0);
    const TensorInfo& output = args.GetOutput(0);
    const AxisIndices places(args, args.GetDescriptor<GatherElementsDescriptor>().m_Axis);
    RequireElements(output, "output 0", places.GetCount());
    if (places.GetCount() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    const DataType moved = GetDataTypeBits(input.GetDataType()) < 8 ? DataType::Signed8 : input.GetDataType();
    return DispatchMoved(moved,
                         [&](auto tag)
                         {
                             using T = typename decltype(tag)::Type;
                             return PrepareIndexedMove(
                                 input, output,
                                 [places](const ExecuteArgs& run, const std::byte* data, std::byte* to)
                                 {
                                     const T* from = reinterpret_cast<const T*>(data);
                                     T* out = reinterpret_cast<T*>(to);
                                     const auto gather = [&](size_t begin, size_t end)
                                     {
                                         places.ForEachBlock(run, begin, end,
                                                             [&](size_t first, size_t count, const size_t* found)
                                                             {
                                                                 for (size_t k = 0; k < count; ++k)
                                                                 {
                                                                     out[first + k] = from[found[k]];
                                                                 }
                                                             });
                                     };
                                     constexpr size_t Grain = 16384; // the minimum number of elements per thread
                                     run.m_Parallel->Run(places.GetNumRows(), Grain / places.GetRowSize() + 1,
                                                         std::ref(gather));
                                 });
                         });
}

SupportResult CheckGatherElements(const LayerView& layer)
{
    return CheckIndexType(layer, 1);
}

} // namespace

extern const backends::Kernel RefGatherElementsKernel = {"RefGatherElements", GatherElementsTypes,
                                                         PrepareGatherElements, CheckGatherElements};

} // namespace tenon::ref
