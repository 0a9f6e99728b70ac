// SPDX-License-Identifier: Apache-2.0
// Kernel row of Resize: bilinear of floats, BFloat16 and integers of 8 and 16 bits, nearest neighbour of any type. The
// tables of both axes are computed when shapes are known.
#include "backends/cpu/resize/ResizedImage.hpp"
#include "backends/reference/Kernels.hpp"

#include <tenon/descriptors/Vision.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;

constexpr backends::TypeRow ResizeTypes[] = {backends::SameType(backends::WholeByteType)};
/// Layers with longer axes run on the reference kernel, which needs no tables.
constexpr int64_t MaxAxisLength = 1 << 16;
constexpr uint64_t MaxRowElements = std::numeric_limits<uint32_t>::max(); // in elements, see MakeResizeBilinear

Prepared RefineResize(const ReshapeArgs& args, const backends::PackedWeights*, Prepared&)
{
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
        std::max(image.m_Vertical.m_Output, image.m_Horizontal.m_Output) > MaxAxisLength ||
        uint64_t{image.OutputRowElements()} > MaxRowElements)
    {
        return Prepared::Declined("it is empty, or its rows or axes are very long");
    }
    if (descriptor.m_Method == ResizeMethod::NearestNeighbor)
    {
        ResizeTables<ref::Nearest> tables(image);
        return MakeResizeNearest(image, std::move(tables.m_Rows), tables.m_Columns);
    }
    return MakeResizeBilinear(image, type, args.m_MaxThreads);
}

SupportResult CheckResize(const LayerView& layer)
{
    if (layer.GetDescriptor<ResizeDescriptor>().m_Method == ResizeMethod::Bilinear &&
        layer.GetInput(0).GetDataType() == DataType::Float16)
    {
        return SupportResult::No(SupportCode::UnsupportedType, "it has no arithmetic of Float16");
    }
    return SupportResult::Yes();
}

} // namespace

extern const backends::Kernel CpuResizeKernel = {.m_Name = "CpuResize",
                                                 .m_Types = ResizeTypes,
                                                 .m_Check = CheckResize,
                                                 .m_Reference = &ref::RefResizeKernel,
                                                 .m_Refine = RefineResize};

} // namespace tenon::cpu
