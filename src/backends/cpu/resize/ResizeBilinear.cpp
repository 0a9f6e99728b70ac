// SPDX-License-Identifier: Apache-2.0
// Bilinear resizing. Each input row is resized along columns once, then pairs of such rows are blended; int16 blends
// rows first.
#include "backends/cpu/resize/ResizeBilinear.hpp"

#include "backends/common/Scratch.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/cpu/resize/BilinearVectors.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;
using backends::TypeSet;

constexpr TypeSet UnsignedBytes = {DataType::QAsymmU8, DataType::Unsigned8};
constexpr TypeSet Shorts = {DataType::QSymmS16, DataType::Signed16};

/// Calls f(run, range of rows, scratch memory) for one range of rows a task.
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

/// The number of tasks that rows are split into. Each has scratch memory of its own.
size_t CountParts(const ResizedImage& image, unsigned int maxThreads)
{
    constexpr size_t BytesPerElement = 8; // the cost of the arithmetic in bytes moved
    const size_t rowCost = static_cast<size_t>(image.m_Horizontal.m_Output) * image.m_Channels * BytesPerElement;
    return std::clamp<size_t>(image.m_Batches * image.Height() / GetGrain(rowCost), 1, GetMaxParts(maxThreads));
}

/// A cache of input rows resized along columns: the last two.
template <typename W>
class BlendedColumns
{
public:
    using Function = BlendColumnsFunction<W>;
    using AxisPlaces = ResizePlaces<ref::Blending<W>>;

    BlendedColumns(const ResizedImage& image, Function function, const AxisPlaces& places, W* memory)
        : m_Image(image), m_Function(function), m_Places(places), m_Rows{memory, memory + image.OutputRowElements()}
    {
    }

    /// Row y of an image. The two rows of one output row are neighbours.
    const W* Get(const std::byte* image, size_t y)
    {
        const std::byte* from = image + y * m_Image.InputRowBytes();
        if (std::exchange(m_Made[y % 2], from) != from)
        {
            m_Function(from, m_Places.m_Columns.data(), m_Places.m_Columns.size(), m_Image.m_Channels, m_Rows[y % 2]);
        }
        return m_Rows[y % 2];
    }

private:
    const ResizedImage& m_Image;
    Function m_Function;
    const AxisPlaces& m_Places;
    W* m_Rows[2];
    const std::byte* m_Made[2] = {};
};

/// Two rows and the output row that they are blended into.
template <typename W>
struct BlendedRows
{
    const std::byte* m_Image = nullptr; ///< input image
    const W* m_Lower = nullptr;         ///< resized along columns
    const W* m_Upper = nullptr;
    ref::Blend<W> m_Y;
    std::byte* m_Out = nullptr;
    std::byte* m_Memory = nullptr; ///< scratch memory, `rowBytes` of MakeBilinear
};

/// Calls blend(rows) for each output row.
template <typename W, typename F>
Prepared MakeBilinear(const ResizedImage& image, std::shared_ptr<const ResizePlaces<ref::Blending<W>>> places,
                      BlendColumnsFunction<W> blendColumns, size_t rowBytes, unsigned int maxThreads, const F& blend)
{
    backends::Scratch ofPart;
    const size_t columnsAt = ofPart.Add<W>(size_t{2}, image.OutputRowElements());
    const size_t rowAt = ofPart.Add<std::byte>(rowBytes);
    return RunInParts(image.m_Batches * image.Height(), CountParts(image, maxThreads), ofPart,
                      [=](const ExecuteArgs& run, const Part& part, std::byte* memory)
                      {
                          BlendedColumns<W> columns(image, blendColumns, *places,
                                                    backends::Scratch::At<W>(memory, columnsAt));
                          ForEachResizedRow(image, run, part.m_Begin, part.m_End,
                                            [&](const std::byte* in, size_t row, std::byte* out)
                                            {
                                                const ref::Blend<W>& y = places->m_Rows[row];
                                                const W* lower = columns.Get(in, y.m_Lower);
                                                const W* upper = columns.Get(in, y.m_Upper);
                                                blend(BlendedRows<W>{in, lower, upper, y, out, memory + rowAt});
                                            });
                      });
}

Prepared MakeBilinearOfFloats(const ResizedImage& image, const FloatResize& functions, unsigned int maxThreads)
{
    return MakeBilinear<float>(
        image, std::make_shared<const ResizePlaces<ref::Blending<float>>>(image), functions.m_BlendColumns, 0,
        maxThreads,
        [function = functions.m_BlendRows, count = image.OutputRowElements()](const BlendedRows<float>& rows)
        { function(rows.m_Lower, rows.m_Upper, rows.m_Y, count, rows.m_Out); });
}

Prepared MakeBilinearOfSignedBytes(const ResizedImage& image, const SignedResize& functions, unsigned int maxThreads)
{
    return MakeBilinear<int32_t>(
        image, std::make_shared<const ResizePlaces<ref::Blending<int32_t>>>(image), functions.m_BlendColumns, 0,
        maxThreads,
        [function = functions.m_BlendRows, count = image.OutputRowElements()](const BlendedRows<int32_t>& rows) {
            function(rows.m_Lower, rows.m_Upper, rows.m_Y.m_UpperWeight, count, reinterpret_cast<int8_t*>(rows.m_Out));
        });
}

/// Whether products of an 8-bit element and two weights are exact in float, as they are if factors are powers of two.
bool AreProductsExact(const ResizePlaces<ref::Blending<float>>& places)
{
    constexpr float One = 1 << 6;
    const auto fits = [](const ref::Blend<float>& blend)
    {
        const float upper = blend.m_UpperWeight * One;
        const float lower = blend.m_LowerWeight * One;
        return std::trunc(upper) == upper && std::trunc(lower) == lower;
    };
    return std::all_of(places.m_Rows.begin(), places.m_Rows.end(), fits) &&
           std::all_of(places.m_Columns.begin(), places.m_Columns.end(), fits);
}

Prepared MakeBilinearOfUnsignedBytes(const ResizedImage& image, const UnsignedResize& functions,
                                     unsigned int maxThreads)
{
    const auto places = std::make_shared<const ResizePlaces<ref::Blending<float>>>(image);
    const auto blend = [image, places, isExact = AreProductsExact(*places),
                        function = functions.m_BlendRows](const BlendedRows<float>& rows)
    {
        auto* out = reinterpret_cast<uint8_t*>(rows.m_Out);
        auto* unsure = reinterpret_cast<uint32_t*>(rows.m_Memory);
        const size_t count =
            function(rows.m_Lower, rows.m_Upper, rows.m_Y, isExact, image.OutputRowElements(), out, unsure);
        const auto rowOf = [&](size_t y)
        { return reinterpret_cast<const uint8_t*>(rows.m_Image + y * image.InputRowBytes()); };
        const uint8_t* lower = rowOf(rows.m_Y.m_Lower);
        const uint8_t* upper = rowOf(rows.m_Y.m_Upper);
        const auto channels = static_cast<uint32_t>(image.m_Channels);
        for (size_t i = 0; i < count; ++i)
        {
            const ref::Blend<float>& x = places->m_Columns[unsure[i] / channels];
            const size_t left = x.m_Lower * channels + unsure[i] % channels;
            const size_t right = x.m_Upper * channels + unsure[i] % channels;
            const float sum =
                ref::BlendFour<float>({static_cast<float>(lower[left]), static_cast<float>(lower[right])},
                                      {static_cast<float>(upper[left]), static_cast<float>(upper[right])}, rows.m_Y, x);
            out[unsure[i]] = static_cast<uint8_t>(sum + 0.5f);
        }
    };
    const size_t mostUnsure = image.OutputRowElements() + UnsignedResize::MostUnsureTwice;
    return MakeBilinear<float>(image, places, functions.m_BlendColumns, mostUnsure * sizeof(uint32_t), maxThreads,
                               blend);
}

Prepared MakeBilinearOfShorts(const ResizedImage& image, void (*function)(const BlendedShorts& row),
                              unsigned int maxThreads)
{
    const auto places = std::make_shared<const ResizePlaces<ref::Blending<int32_t>>>(image);
    const size_t elements = image.InputRowBytes() / image.m_ElementBytes;
    backends::Scratch weighed;
    weighed.Add<int32_t>(size_t{2}, elements);
    return RunInParts(image.m_Batches * image.Height(), CountParts(image, maxThreads), weighed,
                      [=](const ExecuteArgs& run, const Part& part, std::byte* memory)
                      {
                          BlendedShorts blended;
                          blended.m_InputElements = elements;
                          blended.m_WeighedLower = reinterpret_cast<int32_t*>(memory);
                          blended.m_WeighedUpper = blended.m_WeighedLower + elements;
                          blended.m_Columns = places->m_Columns.data();
                          blended.m_Count = places->m_Columns.size();
                          blended.m_Channels = image.m_Channels;
                          ForEachResizedRow(image, run, part.m_Begin, part.m_End,
                                            [&](const std::byte* in, size_t y, std::byte* out)
                                            {
                                                blended.m_Y = places->m_Rows[y];
                                                blended.m_Lower = in + blended.m_Y.m_Lower * image.InputRowBytes();
                                                blended.m_Upper = in + blended.m_Y.m_Upper * image.InputRowBytes();
                                                blended.m_Out = out;
                                                function(blended);
                                            });
                      });
}

} // namespace

Prepared MakeResizeBilinear(const ResizedImage& image, DataType type, unsigned int maxThreads)
{
    const ResizeFunctions& functions = GetResizeFunctions();
    if (type == DataType::Float32 || type == DataType::BFloat16)
    {
        return MakeBilinearOfFloats(image, type == DataType::Float32 ? functions.m_Float : functions.m_BFloat16,
                                    maxThreads);
    }
    if (UnsignedBytes.Has(type))
    {
        return MakeBilinearOfUnsignedBytes(image, functions.m_Unsigned, maxThreads);
    }
    return Shorts.Has(type) ? MakeBilinearOfShorts(image, functions.m_Short, maxThreads)
                            : MakeBilinearOfSignedBytes(image, functions.m_Signed, maxThreads);
}

} // namespace tenon::cpu
