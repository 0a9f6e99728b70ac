// SPDX-License-Identifier: Apache-2.0
// SlidingWindow: see SlidingWindow.hpp.
#include "parsers/onnx/operators/SlidingWindow.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace tenon::onnx
{

namespace
{

std::vector<int64_t> ReadList(const Operator& op, const char* name, size_t count, int64_t fallback, int64_t min)
{
    std::vector<int64_t> list = op.Int64s(name);
    if (list.empty())
    {
        list.assign(count, fallback);
    }
    const bool fits = std::all_of(list.begin(), list.end(),
                                  [&](int64_t n) { return n >= min && n <= std::numeric_limits<int32_t>::max(); });
    if (list.size() != count || !fits)
    {
        op.Fail(fmt::format("attribute '{}' is [{}]; it must have {} numbers, none of which is below {}", name,
                            fmt::join(list, ", "), count, min));
    }
    return list;
}

} // namespace

std::vector<int64_t> SpatialSizes(const Value& x)
{
    if (x.Rank() < 3)
    {
        throw ParseException(
            fmt::format("a tensor of shape {} has no batch, channels and spatial dimensions", x.Shape().ToString()));
    }
    const std::vector<int64_t> sizes = x.Sizes();
    return {sizes.begin() + 2, sizes.end()};
}

bool SlidingWindow::HasDilation() const
{
    return std::any_of(m_Dilations.begin(), m_Dilations.end(), [](int64_t d) { return d != 1; });
}

void SlidingWindow::AddDimension()
{
    for (std::vector<int64_t>* list : {&m_Kernel, &m_Strides, &m_Dilations})
    {
        list->insert(list->begin(), 1);
    }
    m_Before.insert(m_Before.begin(), 0);
    m_After.insert(m_After.begin(), 0);
}

SlidingWindow ReadSlidingWindow(const Operator& op, size_t spatialRank, const std::vector<int64_t>& kernel)
{
    SlidingWindow windows;
    windows.m_Kernel = op.Has("kernel_shape") ? ReadList(op, "kernel_shape", spatialRank, 1, 1) : kernel;
    for (size_t i = 0; i < spatialRank; ++i)
    {
        if (i >= windows.m_Kernel.size() || windows.m_Kernel[i] == OpenSize)
        {
            op.Refuse("the size of the windows is not known before the run");
        }
        if (i < kernel.size() && kernel[i] != OpenSize && kernel[i] != windows.m_Kernel[i])
        {
            op.Fail(fmt::format("kernel_shape is [{}], but the weights' sizes are [{}]",
                                fmt::join(windows.m_Kernel, ", "), fmt::join(kernel, ", ")));
        }
    }
    windows.m_Strides = ReadList(op, "strides", spatialRank, 1, 1);
    windows.m_Dilations = ReadList(op, "dilations", spatialRank, 1, 1);
    for (size_t i = 0; i < spatialRank; ++i)
    {
        if (windows.Extent(i) > std::numeric_limits<int32_t>::max())
        {
            op.Fail(fmt::format("windows of [{}] elements with dilations [{}] span more than 2^31 elements",
                                fmt::join(windows.m_Kernel, ", "), fmt::join(windows.m_Dilations, ", ")));
        }
    }
    const std::vector<int64_t> pads = ReadList(op, "pads", 2 * spatialRank, 0, 0);
    windows.m_Before.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(spatialRank));
    windows.m_After.assign(pads.begin() + static_cast<std::ptrdiff_t>(spatialRank), pads.end());
    static constexpr std::pair<const char*, SlidingWindow::AutoPad> names[] = {
        {"NOTSET", SlidingWindow::AutoPad::NotSet},
        {"SAME_UPPER", SlidingWindow::AutoPad::SameUpper},
        {"SAME_LOWER", SlidingWindow::AutoPad::SameLower},
        {"VALID", SlidingWindow::AutoPad::Valid}};
    const bool isEmpty = op.Has("auto_pad") && op.Text("auto_pad").empty(); // in files of some tools
    windows.m_AutoPad = isEmpty ? SlidingWindow::AutoPad::NotSet : op.Choose("auto_pad", "NOTSET", names);
    if (windows.m_AutoPad != SlidingWindow::AutoPad::NotSet)
    {
        windows.m_Before.assign(spatialRank, 0);
        windows.m_After.assign(spatialRank, 0);
    }
    if (windows.m_AutoPad == SlidingWindow::AutoPad::Valid)
    {
        windows.m_AutoPad = SlidingWindow::AutoPad::NotSet;
    }
    return windows;
}

void ResolvePads(const Operator& op, SlidingWindow& windows, const std::vector<int64_t>& sizes, bool upperToo)
{
    const bool isUpper = windows.m_AutoPad == SlidingWindow::AutoPad::SameUpper;
    if (windows.m_AutoPad == SlidingWindow::AutoPad::NotSet || (isUpper && !upperToo))
    {
        return;
    }
    for (size_t i = 0; i < windows.Rank(); ++i)
    {
        const int64_t stride = windows.m_Strides[i];
        if (sizes[i] == OpenSize && stride != 1)
        {
            op.RefuseOpen("paddings follow from a size that is not known before the run");
        }
        const int64_t size = sizes[i] == OpenSize ? 1 : sizes[i];
        const int64_t count = (size + stride - 1) / stride;
        const int64_t total = std::max((count - 1) * stride + windows.Extent(i) - size, int64_t{0});
        windows.m_Before[i] = isUpper ? total / 2 : total - total / 2;
        windows.m_After[i] = total - windows.m_Before[i];
    }
    windows.m_AutoPad = SlidingWindow::AutoPad::NotSet;
}

} // namespace tenon::onnx
