// SPDX-License-Identifier: Apache-2.0
// Resize of CpuAcc: bilinear of floats, BFloat16 and integers of 8 and 16 bits, nearest of any. Where rows and columns
// come from is found when shapes are known.
#include "backends/common/KernelTable.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/Parts.hpp"
#include "backends/cpu/kernels/ResizeVectors.hpp"
#include "backends/cpu/moves/CopyPlane.hpp"
#include "backends/reference/CpuRefBackend.hpp"

#include <tenon/Descriptors.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;
using backends::TypeSet;

constexpr backends::TypeRow ResizeTypes[] = {backends::SameType(backends::WholeByteType)};
constexpr TypeSet SignedBytes = {DataType::QAsymmS8, DataType::QSymmS8, DataType::Signed8};
constexpr TypeSet UnsignedBytes = {DataType::QAsymmU8, DataType::Unsigned8};
/// Longer axes are the reference kernel's, which needs no tables for them.
constexpr int64_t LongestAxis = 1 << 16;

struct Image
{
    size_t m_Batches = 0;
    ref::ResizeAxis m_Vertical;
    ref::ResizeAxis m_Horizontal;
    size_t m_Channels = 0;
    size_t m_ElementBytes = 1;

    size_t PixelBytes() const { return m_Channels * m_ElementBytes; }
    size_t InputRowBytes() const { return static_cast<size_t>(m_Horizontal.m_Input) * PixelBytes(); }
    size_t OutputRowBytes() const { return static_cast<size_t>(m_Horizontal.m_Output) * PixelBytes(); }
    size_t InputBytes() const { return static_cast<size_t>(m_Vertical.m_Input) * InputRowBytes(); }
    size_t Height() const { return static_cast<size_t>(m_Vertical.m_Output); }
};

/// The places of all elements of both output axes.
template <typename Locate>
struct Places
{
    std::vector<typename Locate::Place> m_Rows;
    std::vector<typename Locate::Place> m_Columns;

    explicit Places(const Image& image)
    {
        Fill(image.m_Vertical, m_Rows);
        Fill(image.m_Horizontal, m_Columns);
    }

private:
    static void Fill(const ref::ResizeAxis& axis, std::vector<typename Locate::Place>& places)
    {
        const Locate locate(axis);
        for (size_t i = 0; i < static_cast<size_t>(axis.m_Output); ++i)
        {
            places.push_back(locate(i));
        }
    }
};

/// Calls f(input image, row of the output image, output row) for the output rows [begin, end) of all images.
template <typename F>
void ForEachRow(const Image& image, const ExecuteArgs& run, size_t begin, size_t end, const F& f)
{
    for (size_t row = begin; row < end; ++row)
    {
        f(run.GetInput<std::byte>(0) + row / image.Height() * image.InputBytes(), row % image.Height(),
          run.GetOutput<std::byte>(0) + row * image.OutputRowBytes());
    }
}

/// Calls f(run, part, its scratch memory) for as many parts of rows as there are threads.
template <typename F>
Prepared RunInParts(size_t rows, size_t parts, const backends::Scratch& ofPart, const F& f)
{
    backends::Scratch scratch;
    scratch.AddParts(ofPart, parts);
    return {[=, partBytes = ofPart.GetBytes()](const ExecuteArgs& run)
            {
                const size_t used = std::min<size_t>(parts, run.m_Parallel->GetNumThreads());
                RunParts(*run.m_Parallel, used,
                         [&](size_t index) {
                             f(run, GetPart(rows, used, index),
                               backends::Scratch::At<std::byte>(run.m_Scratch, index * partBytes));
                         });
            },
            scratch.GetBytes()};
}

/// How many parts rows are split into, each with scratch memory of its own.
size_t CountParts(const Image& image)
{
    constexpr size_t BytesPerElement = 8; // what the arithmetic costs, in bytes moved
    const size_t rowCost = static_cast<size_t>(image.m_Horizontal.m_Output) * image.m_Channels * BytesPerElement;
    return std::clamp<size_t>(image.m_Batches * image.Height() / GetGrain(rowCost), 1, GetMostParts());
}

template <typename W>
Prepared MakeBilinear(const Image& image, void (*function)(const BlendedRow<W>& row))
{
    const auto places = std::make_shared<const Places<ref::Blending<W>>>(image);
    const size_t rows = image.m_Batches * image.Height();
    const size_t parts = CountParts(image);
    const size_t elements = image.InputRowBytes() / image.m_ElementBytes;
    backends::Scratch rowsOfPart; // two weighed rows, see BlendedRow
    rowsOfPart.Add<W>(2 * elements + 1);
    const auto runPart = [=](const ExecuteArgs& run, const Part& part, W* weighed)
    {
        const auto row = [&](const std::byte* in, size_t y, std::byte* out)
        {
            BlendedRow<W> blended;
            blended.m_InputElements = elements;
            blended.m_WeighedLower = weighed;
            blended.m_WeighedUpper = weighed + elements;
            blended.m_Y = places->m_Rows[y];
            blended.m_Lower = in + blended.m_Y.m_Lower * image.InputRowBytes();
            blended.m_Upper = in + blended.m_Y.m_Upper * image.InputRowBytes();
            blended.m_Columns = places->m_Columns.data();
            blended.m_Count = places->m_Columns.size();
            blended.m_Channels = image.m_Channels;
            blended.m_Out = out;
            function(blended);
        };
        ForEachRow(image, run, part.m_Begin, part.m_End, row);
    };
    return RunInParts(rows, parts, rowsOfPart,
                      [=](const ExecuteArgs& run, const Part& part, std::byte* memory)
                      { runPart(run, part, reinterpret_cast<W*>(memory)); });
}

/// Input rows of int8 with blended columns: the last two that were asked for.
class BlendedColumns
{
public:
    BlendedColumns(const Image& image, const Places<ref::Blending<int32_t>>& places, int32_t* memory)
        : m_Image(image), m_Places(places), m_Rows{memory, memory + image.OutputRowBytes()}
    {
    }

    /// Row y of an image. Two rows that are needed at once are neighbours.
    const int32_t* Get(const std::byte* image, size_t y)
    {
        const std::byte* from = image + y * m_Image.InputRowBytes();
        if (std::exchange(m_Made[y % 2], from) != from)
        {
            GetResizeFunctions().m_BlendColumns(reinterpret_cast<const int8_t*>(from), m_Places.m_Columns.data(),
                                                m_Places.m_Columns.size(), m_Image.m_Channels, m_Rows[y % 2]);
        }
        return m_Rows[y % 2];
    }

private:
    const Image& m_Image;
    const Places<ref::Blending<int32_t>>& m_Places;
    int32_t* m_Rows[2];
    const std::byte* m_Made[2] = {};
};

Prepared MakeBilinearOfBytes(const Image& image)
{
    const auto places = std::make_shared<const Places<ref::Blending<int32_t>>>(image);
    backends::Scratch rowsOfPart;
    rowsOfPart.Add<int32_t>(size_t{2}, image.OutputRowBytes());
    return RunInParts(image.m_Batches * image.Height(), CountParts(image), rowsOfPart,
                      [=](const ExecuteArgs& run, const Part& part, std::byte* memory)
                      {
                          BlendedColumns columns(image, *places, reinterpret_cast<int32_t*>(memory));
                          ForEachRow(image, run, part.m_Begin, part.m_End,
                                     [&](const std::byte* in, size_t row, std::byte* out)
                                     {
                                         const auto& y = places->m_Rows[row];
                                         const int32_t* lower = columns.Get(in, y.m_Lower);
                                         const int32_t* upper = columns.Get(in, y.m_Upper);
                                         GetResizeFunctions().m_BlendRows(lower, upper, y.m_UpperWeight,
                                                                          image.OutputRowBytes(),
                                                                          reinterpret_cast<int8_t*>(out));
                                     });
                      });
}

/// Rows that come from one row are made once and copied.
Prepared MakeNearest(const Image& image)
{
    const auto places = std::make_shared<const Places<ref::Nearest>>(image);
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
                      ForEachRow(image, run, begin, end,
                                 [&](const std::byte* in, size_t y, std::byte* out)
                                 {
                                     const std::byte* from = in + places->m_Rows[y] * image.InputRowBytes();
                                     if (from == last)
                                     {
                                         std::memcpy(out, out - image.OutputRowBytes(), image.OutputRowBytes());
                                     }
                                     else
                                     {
                                         copy(from, static_cast<size_t>(image.m_Horizontal.m_Input), columns->data(),
                                              columns->size(), image.PixelBytes(), out);
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
    const Image image{input[0],
                      {input[1], output[1], descriptor.m_AlignCorners, descriptor.m_HalfPixelCenters},
                      {input[2], output[2], descriptor.m_AlignCorners, descriptor.m_HalfPixelCenters},
                      input[3],
                      GetDataTypeSize(type)};
    if (output.GetNumElements() == 0 || std::max(image.m_Vertical.m_Output, image.m_Horizontal.m_Output) > LongestAxis)
    {
        return reference;
    }
    if (descriptor.m_Method == ResizeMethod::NearestNeighbor)
    {
        return MakeNearest(image);
    }
    if (type == DataType::Float32)
    {
        return MakeBilinear(image, GetResizeFunctions().m_Float);
    }
    if (type == DataType::BFloat16)
    {
        return MakeBilinear(image, GetResizeFunctions().m_BFloat16);
    }
    if (UnsignedBytes.Has(type))
    {
        return MakeBilinear(image, GetResizeFunctions().m_Unsigned);
    }
    return SignedBytes.Has(type) ? MakeBilinearOfBytes(image) : MakeBilinear(image, GetResizeFunctions().m_Short);
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
