// SPDX-License-Identifier: Apache-2.0
// Resize of CpuAcc: bilinear of floats, BFloat16 and integers of 8 and 16 bits, nearest of any. Where rows and columns
// come from is found when shapes are known.
#include "backends/cpu/Parts.hpp"
#include "backends/cpu/kernels/ResizeBilinear.hpp"
#include "backends/cpu/moves/CopyPlane.hpp"
#include "backends/reference/CpuRefBackend.hpp"

#include <tenon/Descriptors.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;

constexpr backends::TypeRow ResizeTypes[] = {backends::SameType(backends::WholeByteType)};
/// Longer axes are the reference kernel's, which needs no tables for them.
constexpr int64_t LongestAxis = 1 << 16;
constexpr uint64_t LongestRow = std::numeric_limits<uint32_t>::max(); // in elements, see MakeResizeBilinear

/// Rows that come from one row are made once and copied.
Prepared MakeNearest(const ResizedImage& image)
{
    const auto places = std::make_shared<const ResizePlaces<ref::Nearest>>(image);
    const auto columns = std::make_shared<std::vector<uint32_t>>();
    for (const size_t column : places->m_Columns)
    {
        columns->push_back(static_cast<uint32_t>(column));
    }
    const CopyPickedFunction copy = ChooseCopyPicked(image.PixelBytes());
    return [image, places, columns, copy](const ExecuteArgs& run)
    {
        RunRanges(*run.m_Parallel, image.m_Batches * image.Height(), GetGrain(2 * image.OutputRowBytes()),
                  [&](size_t begin, size_t end)
                  {
                      const std::byte* last = nullptr; // what the row above was made of
                      ForEachResizedRow(image, run, begin, end,
                                        [&](const std::byte* in, size_t y, std::byte* out)
                                        {
                                            const std::byte* from = in + places->m_Rows[y] * image.InputRowBytes();
                                            if (from == last)
                                            {
                                                std::memcpy(out, out - image.OutputRowBytes(), image.OutputRowBytes());
                                            }
                                            else
                                            {
                                                copy(from, static_cast<size_t>(image.m_Horizontal.m_Input),
                                                     columns->data(), columns->size(), image.PixelBytes(), out);
                                            }
                                            last = from;
                                        });
                  });
    };
}

Prepared PrepareResize(const ReshapeArgs& args, const backends::PackedWeights*)
{
    Prepared reference = ref::FindKernel(LayerType::Resize)->Prepare(args, nullptr); // checks shapes
    const auto& descriptor = args.GetDescriptor<ResizeDescriptor>();
    const TensorShape& input = args.GetInput(0).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    const DataType type = args.GetInput(0).GetDataType();
    const ResizedImage image{input[0],
                             {input[1], output[1], descriptor.m_AlignCorners, descriptor.m_HalfPixelCenters},
                             {input[2], output[2], descriptor.m_AlignCorners, descriptor.m_HalfPixelCenters},
                             input[3],
                             GetDataTypeSize(type)};
    if (output.GetNumElements() == 0 ||
        std::max(image.m_Vertical.m_Output, image.m_Horizontal.m_Output) > LongestAxis ||
        uint64_t{image.OutputRowElements()} > LongestRow)
    {
        return reference;
    }
    if (descriptor.m_Method == ResizeMethod::NearestNeighbor)
    {
        return MakeNearest(image);
    }
    return MakeResizeBilinear(image, type);
}

SupportResult CheckResize(const LayerView& layer)
{
    if (layer.GetDescriptor<ResizeDescriptor>().m_Method == ResizeMethod::Bilinear &&
        layer.GetInput(0).GetDataType() == DataType::Float16)
    {
        return SupportResult::No(SupportCode::UnsupportedType, "it has no arithmetic of Float16");
    }
    return ref::FindKernel(LayerType::Resize)->m_Check(layer);
}

} // namespace

extern const backends::Kernel CpuResizeKernel = {"CpuResize", ResizeTypes, PrepareResize, CheckResize};

} // namespace tenon::cpu
