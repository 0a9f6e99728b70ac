// SPDX-License-Identifier: Apache-2.0
// Rows of pools, [N, C, spatial...]. Images and volumes go to the layers Pooling2d and Pooling3d where these can do
// what is asked for, all else to PoolingNd.
#include "parsers/onnx/Rows.hpp"
#include "parsers/onnx/operators/SlidingWindow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace tenon::onnx::rows
{

namespace
{

std::vector<uint32_t> ToUnsigned(const std::vector<int64_t>& numbers)
{
    return {numbers.begin(), numbers.end()};
}

struct Pool
{
    PoolingNdFunction m_Function;
    SlidingWindow m_Window;
    bool m_RoundsUp = false;
    bool m_CountsPads = false;
    uint32_t m_P = 2;
    bool m_HasIndices = false;
    bool m_IsColumnMajor = false;
};

/// Makes sizes that are rounded up exact, by paddings behind known sizes that windows just reach. An average that
/// counts paddings would count these, too; without any there is nothing to count.
void RoundUp(Pool& pool, const Value& x)
{
    SlidingWindow& windows = pool.m_Window;
    const auto isZero = [](int64_t n) { return n == 0; };
    const bool hasPads = !std::all_of(windows.m_Before.begin(), windows.m_Before.end(), isZero) ||
                         !std::all_of(windows.m_After.begin(), windows.m_After.end(), isZero);
    if (!pool.m_RoundsUp || windows.m_AutoPad != SlidingWindow::AutoPad::NotSet || (pool.m_CountsPads && hasPads))
    {
        return;
    }
    std::vector<int64_t> after;
    for (size_t i = 0; i < windows.Rank(); ++i)
    {
        const int64_t size = x.Size(static_cast<unsigned int>(i) + 2);
        const int64_t rest = size + windows.m_Before[i] + windows.m_After[i] - windows.Extent(i);
        if (size == OpenSize || rest <= -windows.m_Strides[i])
        {
            return;
        }
        // The last window begins within the data or the paddings before them.
        const int64_t steps = std::min((rest + windows.m_Strides[i] - 1) / windows.m_Strides[i],
                                       (size + windows.m_Before[i] - 1) / windows.m_Strides[i]);
        after.push_back(steps * windows.m_Strides[i] + windows.Extent(i) - size - windows.m_Before[i]);
        if (after.back() < 0)
        {
            return;
        }
    }
    windows.m_After = after;
    pool.m_RoundsUp = false;
    pool.m_CountsPads = false;
}

bool IsByte(DataType type)
{
    return type == DataType::Signed8 || type == DataType::Unsigned8;
}

/// Integers of 8 bits as quantized ones, which Pooling2d takes; other values as they are.
Value AsImage(GraphBuilder& graph, const Value& x)
{
    if (!IsByte(x.Type()))
    {
        return x;
    }
    const DataType type = x.Type() == DataType::Unsigned8 ? DataType::QAsymmU8 : DataType::QAsymmS8;
    return graph.AddQuantizedLayer(LayerType::Bitcast, NullDescriptor(), {x}, TensorInfo(x.Shape(), type, 1.0f));
}

/// Whether no window that rounding up adds hangs over the end in a way that the layers of images see differently.
bool IsPlain(const Pool& pool, const Value& x)
{
    const SlidingWindow& windows = pool.m_Window;
    const bool isMaxOfBytes = pool.m_Function == PoolingNdFunction::Max && IsByte(x.Type());
    if (pool.m_Function == PoolingNdFunction::Lp || pool.m_HasIndices || windows.HasDilation() || windows.Rank() > 2 ||
        windows.m_AutoPad != SlidingWindow::AutoPad::NotSet ||
        (x.Type() != DataType::Float32 && x.Type() != DataType::Float16 && !isMaxOfBytes))
    {
        return false;
    }
    for (size_t i = 0; i < windows.Rank(); ++i)
    {
        if (windows.m_Before[i] >= windows.m_Kernel[i] || windows.m_After[i] >= windows.m_Kernel[i])
        {
            return false;
        }
        const int64_t size = x.Size(static_cast<unsigned int>(i) + 2);
        const bool fits =
            size != OpenSize &&
            (size + windows.m_Before[i] + windows.m_After[i] - windows.m_Kernel[i]) % windows.m_Strides[i] == 0;
        if (pool.m_RoundsUp && !fits)
        {
            return false;
        }
    }
    return true;
}

void AddPool(Operator& op, GraphBuilder& graph, Pool pool)
{
    const Value& x = op.Input(0);
    const std::vector<int64_t> sizes = SpatialSizes(x);
    SlidingWindow& windows = pool.m_Window;
    if (windows.m_AutoPad == SlidingWindow::AutoPad::SameUpper &&
        std::find(sizes.begin(), sizes.end(), OpenSize) == sizes.end())
    {
        ResolvePads(op, windows, sizes, true);
    }
    RoundUp(pool, x);
    if (IsPlain(pool, x))
    {
        const bool isOneDimensional = windows.Rank() == 1;
        if (isOneDimensional)
        {
            windows.AddDimension();
        }
        Pooling2dDescriptor descriptor;
        descriptor.m_PoolType =
            pool.m_Function == PoolingNdFunction::Max ? PoolingAlgorithm::Max : PoolingAlgorithm::Average;
        descriptor.m_PoolHeight = static_cast<uint32_t>(windows.m_Kernel[0]);
        descriptor.m_PoolWidth = static_cast<uint32_t>(windows.m_Kernel[1]);
        descriptor.m_StrideY = static_cast<uint32_t>(windows.m_Strides[0]);
        descriptor.m_StrideX = static_cast<uint32_t>(windows.m_Strides[1]);
        descriptor.m_PadTop = static_cast<uint32_t>(windows.m_Before[0]);
        descriptor.m_PadBottom = static_cast<uint32_t>(windows.m_After[0]);
        descriptor.m_PadLeft = static_cast<uint32_t>(windows.m_Before[1]);
        descriptor.m_PadRight = static_cast<uint32_t>(windows.m_After[1]);
        descriptor.m_PaddingMethod = pool.m_CountsPads ? PaddingMethod::IgnoreValue : PaddingMethod::Exclude;
        descriptor.m_DataLayout = DataLayout::NCHW;
        const Value image = AsImage(graph, isOneDimensional ? graph.Unsqueeze(x, {2}) : x);
        Value result = graph.AddImageLayer(LayerType::Pooling2d, descriptor, {image});
        if (IsByte(x.Type()))
        {
            result = graph.AddLayer(LayerType::Bitcast, NullDescriptor(), {result}, x.Type(), result.Shape());
        }
        op.SetOutput(0, isOneDimensional ? graph.Squeeze(result, {2}) : result);
        return;
    }
    PoolingNdDescriptor descriptor;
    descriptor.m_Function = pool.m_Function;
    descriptor.m_PoolSizes = ToUnsigned(windows.m_Kernel);
    descriptor.m_Strides = ToUnsigned(windows.m_Strides);
    descriptor.m_Dilations = ToUnsigned(windows.m_Dilations);
    descriptor.m_PadsBefore = ToUnsigned(windows.m_Before);
    descriptor.m_PadsAfter = ToUnsigned(windows.m_After);
    if (windows.m_AutoPad != SlidingWindow::AutoPad::NotSet)
    {
        descriptor.m_PaddingScheme = PaddingScheme::Same;
        descriptor.m_OddPadBefore = windows.m_AutoPad == SlidingWindow::AutoPad::SameLower;
    }
    descriptor.m_OutputShapeRounding = pool.m_RoundsUp ? OutputShapeRounding::Ceiling : OutputShapeRounding::Floor;
    descriptor.m_PaddingMethod = pool.m_CountsPads ? PaddingMethod::IgnoreValue : PaddingMethod::Exclude;
    descriptor.m_P = pool.m_P;
    descriptor.m_IndicesEnabled = pool.m_HasIndices;
    descriptor.m_IndicesColumnMajor = pool.m_IsColumnMajor;
    if (!pool.m_HasIndices)
    {
        op.SetOutput(0, graph.AddImageLayer(LayerType::PoolingNd, descriptor, {x}));
        return;
    }
    std::vector<int64_t> shape(x.Rank(), OpenSize);
    shape[0] = x.Size(0);
    shape[1] = x.Size(1);
    const std::vector<Value> values = graph.AddLayers(
        LayerType::PoolingNd, descriptor, {x}, {{x.Type(), ToShape(shape)}, {DataType::Signed64, ToShape(shape)}});
    op.SetOutput(0, values[0]);
    op.SetOutput(1, values[1]);
}

SlidingWindow ReadPoolWindow(const Operator& op)
{
    if (!op.Has("kernel_shape"))
    {
        op.Fail("attribute 'kernel_shape' is missing");
    }
    return ReadSlidingWindow(op, SpatialSizes(op.Input(0)).size(), {});
}

Pool ReadPool(const Operator& op, PoolingNdFunction function)
{
    Pool pool{function, ReadPoolWindow(op)};
    pool.m_RoundsUp = op.Int64("ceil_mode", 0) != 0;
    return pool;
}

std::vector<unsigned int> SpatialAxes(const Value& x)
{
    std::vector<unsigned int> axes(SpatialSizes(x).size());
    std::iota(axes.begin(), axes.end(), 2U);
    return axes;
}

/// (sum of |x|^p)^(1/p) over all spatial dimensions.
Value GlobalLp(GraphBuilder& graph, const Value& x, int64_t p)
{
    const Value absolute = graph.Unary(UnaryOperation::Abs, x);
    const auto power = static_cast<double>(p);
    const Value powers = p == 1   ? absolute
                         : p == 2 ? graph.Multiply(x, x)
                                  : graph.WithNumber(BinaryOperation::Power, absolute, power);
    const Value sum = graph.Reduce(ReduceOperation::Sum, powers, SpatialAxes(x), true);
    return p == 1   ? sum
           : p == 2 ? graph.Unary(UnaryOperation::Sqrt, sum)
                    : graph.WithNumber(BinaryOperation::Power, sum, 1.0 / power);
}

int64_t ReadP(const Operator& op)
{
    const double p =
        op.Version() == 1 ? static_cast<double>(op.Float("p", 2.0f)) : static_cast<double>(op.Int64("p", 2));
    if (!(p >= 1.0 && p <= 1024.0))
    {
        op.Fail(fmt::format("attribute 'p' is {}; it must be from 1 to 1024", p));
    }
    return static_cast<int64_t>(p);
}

} // namespace

void AddMaxPool(Operator& op, GraphBuilder& graph)
{
    Pool pool = ReadPool(op, PoolingNdFunction::Max);
    pool.m_HasIndices = op.HasOutput(1);
    pool.m_IsColumnMajor = op.Int64("storage_order", 0) != 0;
    AddPool(op, graph, pool);
}

/// Before version 7 padded elements are not counted.
void AddAveragePool(Operator& op, GraphBuilder& graph)
{
    Pool pool = ReadPool(op, PoolingNdFunction::Average);
    pool.m_CountsPads = op.Int64("count_include_pad", 0) != 0;
    AddPool(op, graph, pool);
}

void AddLpPool(Operator& op, GraphBuilder& graph)
{
    Pool pool = ReadPool(op, PoolingNdFunction::Lp);
    pool.m_P = static_cast<uint32_t>(ReadP(op));
    AddPool(op, graph, pool);
}

void AddGlobalAveragePool(Operator& op, GraphBuilder& graph)
{
    op.SetOutput(0, graph.Reduce(ReduceOperation::Mean, op.Input(0), SpatialAxes(op.Input(0)), true));
}

void AddGlobalMaxPool(Operator& op, GraphBuilder& graph)
{
    op.SetOutput(0, graph.Reduce(ReduceOperation::Max, op.Input(0), SpatialAxes(op.Input(0)), true));
}

void AddGlobalLpPool(Operator& op, GraphBuilder& graph)
{
    const Value norm = GlobalLp(graph, Widened(graph, op.Input(0)), ReadP(op));
    op.SetOutput(0, graph.Cast(norm, op.Input(0).Type()));
}

void AddMaxUnpool(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    const SlidingWindow windows = ReadPoolWindow(op);
    MaxUnpoolDescriptor descriptor;
    descriptor.m_PoolSizes = ToUnsigned(windows.m_Kernel);
    descriptor.m_Strides = ToUnsigned(windows.m_Strides);
    descriptor.m_PadsBefore = ToUnsigned(windows.m_Before);
    descriptor.m_PadsAfter = ToUnsigned(windows.m_After);
    std::vector<Value> inputs = {x, op.Input(1)};
    if (op.HasInput(2))
    {
        const auto known = op.Input(2).FindInts();
        if (known.has_value())
        {
            if (std::any_of(known->begin(), known->end(),
                            [](int64_t n) { return n < 0 || n > std::numeric_limits<uint32_t>::max(); }))
            {
                op.Fail(fmt::format("a tensor cannot have the output_shape [{}]", fmt::join(*known, ", ")));
            }
            descriptor.m_OutputShape = ToUnsigned(*known);
        }
        else
        {
            descriptor.m_ParametersAsInputs = true;
            inputs.push_back(op.Input(2));
        }
    }
    op.SetOutput(0, graph.AddLayer(LayerType::MaxUnpool, descriptor, inputs, x.Type(), TensorShape(x.Rank(), false)));
}

} // namespace tenon::onnx::rows
