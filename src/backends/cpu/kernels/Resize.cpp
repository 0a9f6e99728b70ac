// SPDX-License-Identifier: Apache-2.0
// Resize of CpuAcc: bilinear of floats, BFloat16 and integers of 8 and 16 bits, nearest of any. Where rows and columns
// come from is found when shapes are known.
#include "backends/cpu/Parts.hpp"
#include "backends/cpu/kernels/ResizeBilinear.hpp"
#include "backends/cpu/moves/CopyPlane.hpp"
#include "backends/cpu/moves/CopyRepeated.hpp"
#include "backends/reference/Kernels.hpp"
#include "common/CopyBlock.hpp"

#include <tenon/descriptors/Vision.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <ranges>
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

/// How often each column comes in turn, where it is as often for all of them. 0: it differs.
size_t CountTimes(const std::vector<size_t>& columns, size_t input)
{
    const size_t times = columns.size() / input;
    const auto isRepeated = [&](size_t i) { return columns[i] == i / times; };
    const bool areRepeated = times != 0 && columns.size() % input == 0 &&
                             std::ranges::all_of(std::views::iota(size_t{0}, columns.size()), isRepeated);
    return areRepeated ? times : 0;
}

class NearestImage
{
public:
    NearestImage(const ResizedImage& image, const ResizePlaces<ref::Nearest>& places)
        : m_Image(image), m_Rows(places.m_Rows), m_Columns(places.m_Columns.begin(), places.m_Columns.end()),
          m_InputWidth(static_cast<size_t>(image.m_Horizontal.m_Input)),
          m_Times(CountTimes(places.m_Columns, m_InputWidth)),
          m_Repeat(m_Times > 1 ? ChooseCopyRepeated(image.PixelBytes(), m_Times) : nullptr),
          m_Pick(ChooseCopyPicked(image.PixelBytes()))
    {
    }

    /// The rows [begin, end) of all images, together those that come from one row.
    void MakeRows(const std::byte* input, size_t begin, size_t end, std::byte* output) const
    {
        for (size_t row = begin; row < end;)
        {
            const size_t y = row % m_Image.Height();
            const size_t last = std::min(y + end - row, m_Image.Height());
            size_t next = y + 1;
            while (next < last && m_Rows[next] == m_Rows[y])
            {
                ++next;
            }
            const std::byte* image = input + row / m_Image.Height() * m_Image.InputBytes();
            MakeSame(image + m_Rows[y] * m_Image.InputRowBytes(), next - y, output + row * m_Image.OutputRowBytes());
            row += next - y;
        }
    }

private:
    void MakeSame(const std::byte* from, size_t rows, std::byte* to) const
    {
        if (m_Repeat != nullptr)
        {
            m_Repeat({m_InputWidth, m_Image.PixelBytes(), m_Times, rows}, from, to);
            return;
        }
        if (m_Times != 1)
        {
            m_Pick(from, m_InputWidth, m_Columns.data(), m_Columns.size(), m_Image.PixelBytes(), to);
            from = to;
        }
        const size_t rowBytes = m_Image.OutputRowBytes();
        for (size_t row = m_Times != 1 ? 1 : 0; row < rows; ++row)
        {
            CopyBlock(to + row * rowBytes, from, rowBytes);
        }
    }

    ResizedImage m_Image;
    std::vector<size_t> m_Rows;
    std::vector<uint32_t> m_Columns;
    size_t m_InputWidth;
    size_t m_Times;
    CopyRepeatedFunction m_Repeat; ///< null: columns are picked, or are those of the input
    CopyPickedFunction m_Pick;
};

Prepared MakeNearest(const ResizedImage& image)
{
    const auto nearest = std::make_shared<const NearestImage>(image, ResizePlaces<ref::Nearest>(image));
    return [nearest, rows = image.m_Batches * image.Height(),
            grain = GetGrain(2 * image.OutputRowBytes())](const ExecuteArgs& run)
    {
        RunRanges(*run.m_Parallel, rows, grain,
                  [&](size_t begin, size_t end)
                  { nearest->MakeRows(run.GetInput<std::byte>(0), begin, end, run.GetOutput<std::byte>(0)); });
    };
}

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
        std::max(image.m_Vertical.m_Output, image.m_Horizontal.m_Output) > LongestAxis ||
        uint64_t{image.OutputRowElements()} > LongestRow)
    {
        return Prepared::Declined("it is empty, or its rows or axes are very long");
    }
    if (descriptor.m_Method == ResizeMethod::NearestNeighbor)
    {
        return MakeNearest(image);
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
