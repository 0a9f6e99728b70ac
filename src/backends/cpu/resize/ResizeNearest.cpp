// SPDX-License-Identifier: Apache-2.0
// Resizing by the nearest element: rows and columns of images are picked by index. Output rows of the same input row
// are written together.
#include "backends/cpu/move/CopyPlane.hpp"
#include "backends/cpu/move/CopyRepeated.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/cpu/resize/ResizedImage.hpp"
#include "common/CopyBlock.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <ranges>
#include <utility>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;

/// How many times each input column is repeated; 0 if the number differs among columns.
size_t CountTimes(const std::vector<size_t>& columns, size_t input)
{
    const size_t times = columns.size() / input;
    const auto isRepeated = [&](size_t i) { return columns[i] == i / times; };
    const bool isEachRepeated = times != 0 && columns.size() % input == 0 &&
                                std::ranges::all_of(std::views::iota(size_t{0}, columns.size()), isRepeated);
    return isEachRepeated ? times : 0;
}

class NearestImage
{
public:
    NearestImage(const ResizedImage& image, std::vector<size_t> rows, const std::vector<size_t>& columns,
                 std::vector<size_t> images)
        : m_Image(image), m_Rows(std::move(rows)), m_Columns(columns.begin(), columns.end()),
          m_Images(std::move(images)), m_InputWidth(static_cast<size_t>(image.m_Horizontal.m_Input)),
          m_Times(CountTimes(columns, m_InputWidth)),
          m_Repeat(m_Times > 1 ? ChooseCopyRepeated(image.PixelBytes(), m_Times) : nullptr),
          m_Pick(ChooseCopyGathered(image.PixelBytes()))
    {
    }

    /// Writes rows [begin, end) of all images; neighbouring rows of one input row are written together.
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
            const size_t image = row / m_Image.Height();
            const std::byte* from = input + (m_Images.empty() ? image : m_Images[image]) * m_Image.InputBytes();
            MakeSame(from + m_Rows[y] * m_Image.InputRowBytes(), next - y, output + row * m_Image.OutputRowBytes());
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
    std::vector<size_t> m_Images;
    size_t m_InputWidth;
    size_t m_Times;
    CopyRepeatedFunction m_Repeat; ///< null: columns are picked by index, or copied unchanged
    CopyGatheredFunction m_Pick;
};

} // namespace

Prepared MakeResizeNearest(const ResizedImage& image, std::vector<size_t> rows, const std::vector<size_t>& columns,
                           std::vector<size_t> images)
{
    const auto nearest = std::make_shared<const NearestImage>(image, std::move(rows), columns, std::move(images));
    return [nearest, rows = image.m_Batches * image.Height(),
            grain = GetGrain(2 * image.OutputRowBytes())](const ExecuteArgs& run)
    {
        RunRanges(*run.m_Parallel, rows, grain,
                  [&](size_t begin, size_t end)
                  { nearest->MakeRows(run.GetInput<std::byte>(0), begin, end, run.GetOutput<std::byte>(0)); });
    };
}

} // namespace tenon::cpu
