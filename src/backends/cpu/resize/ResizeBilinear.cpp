// SPDX-License-Identifier: Apache-2.0
// Bilinear resizing. Each input row is resized along columns once, then pairs of such rows are blended; int16 blends
// rows first.
#include "backends/common/Scratch.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/cpu/resize/BilinearVectors.hpp"
#include "backends/cpu/resize/ResizedImage.hpp"

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

constexpr TypeSet TypesUint8 = {DataType::QAsymmU8, DataType::Unsigned8};
constexpr TypeSet TypesInt16 = {DataType::QSymmS16, DataType::Signed16};

/// Calls f(run, range of rows, scratch memory) for one range of rows a task.
template <typename F>
Prepared RunInTasks(size_t rows, size_t tasks, const backends::Scratch& taskScratch, const F& f)
{
    backends::Scratch scratch;
    scratch.AddPerTask(taskScratch, tasks);
    return {[=, taskBytes = taskScratch.GetBytes()](const ExecuteArgs& run)
            {
                const size_t used = std::min<size_t>(tasks, run.m_Parallel->GetNumThreads());
                RunTasks(*run.m_Parallel, used,
                         [&](size_t index) {
                             f(run, GetTaskRange(rows, used, index),
                               backends::Scratch::At<std::byte>(run.m_Scratch, index * taskBytes));
                         });
            },
            scratch.GetBytes()};
}

/// The number of tasks that rows are split into. Each has scratch memory of its own.
size_t CountTasks(const ResizedImage& image, unsigned int maxThreads)
{
    constexpr size_t BytesPerElement = 8; // the cost of the arithmetic in bytes moved
    const size_t rowCost = static_cast<size_t>(image.m_Horizontal.m_Output) * image.m_Channels * BytesPerElement;
    return std::clamp<size_t>(image.m_Batches * image.Height() / GetGrain(rowCost), 1, GetMaxTasks(maxThreads));
}

/// A cache of input rows resized along columns: the last two.
template <typename W>
class BlendedColumns
{
public:
    using Function = BlendColumnsFunction<W>;
    using AxisTables = ResizeTables<ref::Blending<W>>;

    BlendedColumns(const ResizedImage& image, Function function, const AxisTables& tables, W* memory)
        : m_Image(image), m_Function(function), m_Tables(tables), m_Rows{memory, memory + image.OutputRowElements()}
    {
    }

    /// Row y of an image. The two rows of one output row are neighbours.
    const W* Get(const std::byte* image, size_t y)
    {
        const std::byte* from = image + y * m_Image.InputRowBytes();
        if (std::exchange(m_Made[y % 2], from) != from)
        {
            m_Function(from, m_Tables.m_Columns.data(), m_Tables.m_Columns.size(), m_Image.m_Channels, m_Rows[y % 2]);
        }
        return m_Rows[y % 2];
    }

private:
    const ResizedImage& m_Image;
    Function m_Function;
    const AxisTables& m_Tables;
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
Prepared MakeBilinear(const ResizedImage& image, std::shared_ptr<const ResizeTables<ref::Blending<W>>> tables,
                      BlendColumnsFunction<W> blendColumns, size_t rowBytes, unsigned int maxThreads, const F& blend)
{
    backends::Scratch taskScratch;
    const size_t columnsAt = taskScratch.Add<W>(size_t{2}, image.OutputRowElements());
    const size_t rowAt = taskScratch.Add<std::byte>(rowBytes);
    return RunInTasks(image.m_Batches * image.Height(), CountTasks(image, maxThreads), taskScratch,
                      [=](const ExecuteArgs& run, const IndexRange& task, std::byte* memory)
                      {
                          BlendedColumns<W> columns(image, blendColumns, *tables,
                                                    backends::Scratch::At<W>(memory, columnsAt));
                          ForEachResizedRow(image, run, task.m_Begin, task.m_End,
                                            [&](const std::byte* in, size_t row, std::byte* out)
                                            {
                                                const ref::Blend<W>& y = tables->m_Rows[row];
                                                const W* lower = columns.Get(in, y.m_Lower);
                                                const W* upper = columns.Get(in, y.m_Upper);
                                                blend(BlendedRows<W>{in, lower, upper, y, out, memory + rowAt});
                                            });
                      });
}

Prepared MakeBilinearFloat(const ResizedImage& image, const BilinearFunctionsFloat& functions, unsigned int maxThreads)
{
    return MakeBilinear<float>(
        image, std::make_shared<const ResizeTables<ref::Blending<float>>>(image), functions.m_BlendColumns, 0,
        maxThreads,
        [function = functions.m_BlendRows, count = image.OutputRowElements()](const BlendedRows<float>& rows)
        { function(rows.m_Lower, rows.m_Upper, rows.m_Y, count, rows.m_Out); });
}

Prepared MakeBilinearInt8(const ResizedImage& image, const BilinearFunctionsInt8& functions, unsigned int maxThreads)
{
    return MakeBilinear<int32_t>(
        image, std::make_shared<const ResizeTables<ref::Blending<int32_t>>>(image), functions.m_BlendColumns, 0,
        maxThreads,
        [function = functions.m_BlendRows, count = image.OutputRowElements()](const BlendedRows<int32_t>& rows) {
            function(rows.m_Lower, rows.m_Upper, rows.m_Y.m_UpperWeight, count, reinterpret_cast<int8_t*>(rows.m_Out));
        });
}

/// Whether products of an 8-bit element and two weights are exact in float, as they are if factors are powers of two.
bool HasExactProducts(const ResizeTables<ref::Blending<float>>& tables)
{
    constexpr float One = 1 << 6;
    const auto fits = [](const ref::Blend<float>& blend)
    {
        const float upper = blend.m_UpperWeight * One;
        const float lower = blend.m_LowerWeight * One;
        return std::trunc(upper) == upper && std::trunc(lower) == lower;
    };
    return std::all_of(tables.m_Rows.begin(), tables.m_Rows.end(), fits) &&
           std::all_of(tables.m_Columns.begin(), tables.m_Columns.end(), fits);
}

Prepared MakeBilinearUint8(const ResizedImage& image, const BilinearFunctionsUint8& functions, unsigned int maxThreads)
{
    const auto tables = std::make_shared<const ResizeTables<ref::Blending<float>>>(image);
    const auto blend = [image, tables, isExact = HasExactProducts(*tables),
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
            const ref::Blend<float>& x = tables->m_Columns[unsure[i] / channels];
            const size_t left = x.m_Lower * channels + unsure[i] % channels;
            const size_t right = x.m_Upper * channels + unsure[i] % channels;
            const float sum =
                ref::BlendFour<float>({static_cast<float>(lower[left]), static_cast<float>(lower[right])},
                                      {static_cast<float>(upper[left]), static_cast<float>(upper[right])}, rows.m_Y, x);
            out[unsure[i]] = static_cast<uint8_t>(sum + 0.5f);
        }
    };
    const size_t maxUnsure = image.OutputRowElements() + BilinearFunctionsUint8::MaxRepeatedUnsure;
    return MakeBilinear<float>(image, tables, functions.m_BlendColumns, maxUnsure * sizeof(uint32_t), maxThreads,
                               blend);
}

Prepared MakeBilinearInt16(const ResizedImage& image, void (*function)(const BlendedRowInt16& row),
                           unsigned int maxThreads)
{
    const auto tables = std::make_shared<const ResizeTables<ref::Blending<int32_t>>>(image);
    const size_t elements = image.InputRowBytes() / image.m_ElementBytes;
    backends::Scratch weighed;
    weighed.Add<int32_t>(size_t{2}, elements);
    return RunInTasks(image.m_Batches * image.Height(), CountTasks(image, maxThreads), weighed,
                      [=](const ExecuteArgs& run, const IndexRange& task, std::byte* memory)
                      {
                          BlendedRowInt16 blended;
                          blended.m_InputElements = elements;
                          blended.m_HighBits = reinterpret_cast<int32_t*>(memory);
                          blended.m_LowBits = blended.m_HighBits + elements;
                          blended.m_Columns = tables->m_Columns.data();
                          blended.m_Count = tables->m_Columns.size();
                          blended.m_Channels = image.m_Channels;
                          ForEachResizedRow(image, run, task.m_Begin, task.m_End,
                                            [&](const std::byte* in, size_t y, std::byte* out)
                                            {
                                                blended.m_Y = tables->m_Rows[y];
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
        return MakeBilinearFloat(image, type == DataType::Float32 ? functions.m_F32 : functions.m_Bf16, maxThreads);
    }
    if (TypesUint8.Has(type))
    {
        return MakeBilinearUint8(image, functions.m_Uint8, maxThreads);
    }
    return TypesInt16.Has(type) ? MakeBilinearInt16(image, functions.m_Int16, maxThreads)
                                : MakeBilinearInt8(image, functions.m_Int8, maxThreads);
}

} // namespace tenon::cpu
