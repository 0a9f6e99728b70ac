// SPDX-License-Identifier: Apache-2.0
// Splitter: output i is the box of view i.
#include "backends/reference/kernels/DataMovement.hpp"
#include "common/FourBits.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Slicing.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow SplitterTypes[] = {backends::SameType(backends::AnyType)};

BoxCopy MakeView(const ReshapeArgs& args, const SplitterDescriptor& descriptor, uint32_t view)
{
    const TensorInfo& input = args.GetInput(0);
    const TensorShape& output = args.GetOutput(view).GetShape();
    const unsigned int rank = input.GetNumDimensions();
    const uint32_t* const origin = descriptor.GetViewOrigin(view);
    const uint32_t* const size = descriptor.GetViewSizes(view);
    bool fits = output.GetNumDimensions() == rank;
    for (unsigned int i = 0; fits && i < rank; ++i)
    {
        fits = uint64_t{origin[i]} + size[i] <= input.GetShape()[i] && output[i] == size[i];
    }
    if (!fits)
    {
        throw LayerValidationException("Splitter of " + input.GetShape().ToString() + ": view " + std::to_string(view) +
                                       " must lie inside and be as large as output " + output.ToString());
    }
    const Extents strides = GetStrides(input.GetShape());
    int64_t first = 0;
    if (output.GetNumElements64() != 0) // otherwise strides may be out of range
    {
        for (unsigned int i = 0; i < rank; ++i)
        {
            first += origin[i] * strides[i];
        }
    }
    return {rank, GetExtents(output), strides, first, GetMovedBytes(input.GetDataType())};
}

/// 4-bit elements: the input is unpacked once, and each view is copied, then packed.
backends::Prepared PreparePacked(const ReshapeArgs& shapes, std::vector<BoxCopy> views)
{
    const size_t inputCount = shapes.GetInput(0).GetNumElements();
    std::vector<size_t> counts;
    for (const TensorInfo* output : shapes.m_Outputs)
    {
        counts.push_back(output->GetNumElements());
    }
    const size_t largest = *std::max_element(counts.begin(), counts.end());
    const auto run = [views = std::move(views), counts, inputCount](const ExecuteArgs& args)
    {
        auto* unpacked = static_cast<std::byte*>(args.m_Scratch);
        std::byte* copy = unpacked + inputCount;
        UnpackFourBits(args.GetInput<std::byte>(0), inputCount, true, unpacked);
        for (size_t i = 0; i < views.size(); ++i)
        {
            views[i](unpacked, copy);
            PackFourBits(copy, counts[i], args.GetOutput<std::byte>(i));
        }
    };
    return {run, inputCount + largest};
}

backends::Prepared PrepareSplitter(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<SplitterDescriptor>();
    const TensorInfo& input = args.GetInput(0);
    const uint32_t numViews = descriptor.GetNumViews();
    if (numViews == 0 || numViews != args.m_Outputs.size() || descriptor.GetNumDimensions() != input.GetNumDimensions())
    {
        throw LayerValidationException(
            "Splitter of " + input.GetShape().ToString() + " into " + std::to_string(args.m_Outputs.size()) +
            " outputs has " + std::to_string(numViews) + " views of " + std::to_string(descriptor.GetNumDimensions()) +
            " dimensions: there must be one of the input's rank for each output");
    }
    std::vector<BoxCopy> views;
    for (uint32_t view = 0; view < numViews; ++view)
    {
        views.push_back(MakeView(args, descriptor, view));
    }
    if (GetDataTypeBits(input.GetDataType()) < 8)
    {
        return PreparePacked(args, std::move(views));
    }
    TensorAliases shared;
    for (const BoxCopy& view : views)
    {
        shared.m_OutputsInInput.push_back(view.FindContiguousOffset());
    }
    backends::Prepared prepared = [views = std::move(views)](const ExecuteArgs& run)
    {
        for (size_t i = 0; i < views.size(); ++i)
        {
            views[i](run.GetInput<std::byte>(0), run.GetOutput<std::byte>(i));
        }
    };
    prepared.m_Aliases = std::move(shared);
    return prepared;
}

SupportResult CheckSplitter(const LayerView& layer)
{
    const DataType type = layer.GetInput(0).GetDataType();
    for (size_t i = 0; i < layer.GetNumOutputs(); ++i)
    {
        if (layer.GetOutput(i).GetDataType() != type)
        {
            return SupportResult::No(SupportCode::UnsupportedType,
                                     "output " + std::to_string(i) + " is " +
                                         GetDataTypeName(layer.GetOutput(i).GetDataType()) + " and the input " +
                                         GetDataTypeName(type) + "; they must be of one type");
        }
    }
    return SupportResult::Yes();
}

} // namespace

extern const backends::Kernel RefSplitterKernel = {"RefSplitter", SplitterTypes, PrepareSplitter, CheckSplitter};

} // namespace tenon::ref
