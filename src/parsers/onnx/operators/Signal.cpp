// SPDX-License-Identifier: Apache-2.0
// Rows of operators of signal processing. Complex numbers are pairs in a last dimension of size 2.
#include "parsers/common/ConstantData.hpp"
#include "parsers/onnx/Rows.hpp"
#include "parsers/onnx/TensorReader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tenon::onnx::rows
{

namespace
{

constexpr double Pi = 3.14159265358979323846;

/// Sizes of a transform: the axis loses its upper half where only one side is wanted, or gets it back.
std::vector<int64_t> TransformedSizes(const Value& x, unsigned int axis, const DftDescriptor& d)
{
    std::vector<int64_t> sizes = x.Sizes();
    int64_t& size = sizes[axis];
    if (d.m_ParametersAsInputs)
    {
        size = OpenSize;
    }
    else if (d.m_Length != 0)
    {
        size = d.m_Length;
    }
    else if (size != OpenSize && d.m_Inverse && d.m_Onesided)
    {
        size = 2 * (size - 1);
    }
    if (size != OpenSize && d.m_Onesided && !d.m_Inverse)
    {
        size = size / 2 + 1;
    }
    sizes.back() = d.m_Onesided && d.m_Inverse ? 1 : 2;
    return sizes;
}

Value Transform(GraphBuilder& graph, const Value& x, DftDescriptor descriptor, unsigned int axis, const Value& length)
{
    descriptor.m_Axis = static_cast<int32_t>(axis);
    std::vector<Value> inputs = {x};
    if (length)
    {
        const auto known = length.FindInts();
        if (known.has_value() && known->size() == 1 && known->front() > 0 &&
            known->front() <= std::numeric_limits<int32_t>::max())
        {
            descriptor.m_Length = static_cast<uint32_t>(known->front());
        }
        else
        {
            descriptor.m_ParametersAsInputs = true;
            inputs.push_back(graph.AsScalar(length));
        }
    }
    return graph.AddLayer(LayerType::Dft, descriptor, inputs, x.Type(), ToShape(TransformedSizes(x, axis, descriptor)));
}

/// a0 - a1 * cos(2 pi n / N) + a2 * cos(4 pi n / N) for n in [0, size); N is the size, less 1 for a symmetric window.
void AddWindow(Operator& op, GraphBuilder& graph, double a0, double a1, double a2)
{
    const DataType type = ToLayerType(static_cast<ElementType>(op.Int64("output_datatype", 1)));
    const Value size = graph.AsScalar(op.Input(0));
    const bool isPeriodic = op.Int64("periodic", 1) != 0;
    const Value number = graph.Cast(size, DataType::Float32);
    const Value period = isPeriodic ? number : graph.WithNumber(BinaryOperation::Sub, number, 1.0);
    const Value places = graph.Cast(
        graph.AddLayer(LayerType::Range, NullDescriptor(),
                       {GraphBuilder::ScalarInt(size.Type(), 0), size, GraphBuilder::ScalarInt(size.Type(), 1)},
                       size.Type(), TensorShape(1, false)),
        DataType::Float32);
    const Value angle = graph.Divide(graph.WithNumber(BinaryOperation::Mul, places, 2.0 * Pi), period);
    const Value first = graph.WithNumber(BinaryOperation::Mul, graph.Unary(UnaryOperation::Cos, angle), a1);
    Value window = graph.NumberWith(BinaryOperation::Sub, a0, first);
    if (a2 != 0.0)
    {
        const Value twice = graph.WithNumber(BinaryOperation::Mul, angle, 2.0);
        window = graph.Add(window, graph.WithNumber(BinaryOperation::Mul, graph.Unary(UnaryOperation::Cos, twice), a2));
    }
    op.SetOutput(0, graph.Cast(window, type));
}

} // namespace

/// The axis is an attribute in version 17 and an input since.
void AddDft(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    const unsigned int rank = x.Rank();
    DftDescriptor descriptor;
    descriptor.m_Inverse = op.Int64("inverse", 0) != 0;
    descriptor.m_Onesided = op.Int64("onesided", 0) != 0;
    const int64_t axis = op.Version() < 20 ? op.Int64("axis", 1) : op.HasInput(2) ? op.ConstantInt(2, "axis") : -2;
    op.SetOutput(0, Transform(graph, x, descriptor, op.Axis(axis, rank), op.FindInput(1)));
}

/// Transforms of windows that slide over signals [batch, length, 1 or 2]: [batch, frames, frequencies, 2].
void AddStft(Operator& op, GraphBuilder& graph)
{
    const Value& signal = op.Input(0);
    const int64_t step = op.ConstantInt(1, "step");
    const Value window = op.FindInput(2);
    const int64_t length = signal.Rank() == 3 ? signal.Size(1) : OpenSize;
    const int64_t frame = op.HasInput(3) ? op.ConstantInt(3, "length of a frame") : window ? window.Size(0) : OpenSize;
    if (length == OpenSize || frame == OpenSize)
    {
        op.RefuseOpen("the length of the signal or of a frame is not known before the run");
    }
    if (step < 1 || frame < 1 || frame > length)
    {
        op.Fail(fmt::format("frames of {} elements every {} do not fit a signal of {}", frame, step, length));
    }
    const int64_t frames = (length - frame) / step + 1;
    const TensorInfo indicesInfo(ToShape({frames, frame}), DataType::Signed32);
    parsers::CheckTensorBytes(indicesInfo, graph.GetLimits());
    std::vector<uint8_t> bytes(static_cast<size_t>(frames * frame) * sizeof(int32_t));
    auto* next = reinterpret_cast<int32_t*>(bytes.data());
    for (int64_t i = 0; i < frames; ++i)
    {
        for (int64_t k = 0; k < frame; ++k)
        {
            *next++ = static_cast<int32_t>(i * step + k);
        }
    }
    const Value places = graph.Constant(indicesInfo, std::move(bytes));
    Value framed = graph.Gather(signal, places, 1);
    if (window)
    {
        framed = graph.Multiply(framed, graph.Unsqueeze(window, {1}));
    }
    const bool isComplex = signal.Size(2) == 2;
    DftDescriptor descriptor;
    descriptor.m_Onesided = op.Int64("onesided", 1) != 0 && !isComplex;
    op.SetOutput(0, Transform(graph, framed, descriptor, 2, {}));
}

void AddHannWindow(Operator& op, GraphBuilder& graph)
{
    AddWindow(op, graph, 0.5, 0.5, 0.0);
}

void AddHammingWindow(Operator& op, GraphBuilder& graph)
{
    AddWindow(op, graph, 25.0 / 46.0, 1.0 - 25.0 / 46.0, 0.0);
}

void AddBlackmanWindow(Operator& op, GraphBuilder& graph)
{
    AddWindow(op, graph, 0.42, 0.5, 0.08);
}

/// Weights [spectrogram bins, mel bins] of triangles that are spaced evenly on the mel scale.
void AddMelWeightMatrix(Operator& op, GraphBuilder& graph)
{
    const int64_t bands = op.ConstantInt(0, "number of mel bins");
    const int64_t length = op.ConstantInt(1, "length of the transform");
    const int64_t rate = op.ConstantInt(2, "sample rate");
    const double low = op.ConstantReal(3, "lower frequency");
    const double high = op.ConstantReal(4, "upper frequency");
    const int64_t bins = length / 2 + 1;
    if (bands < 1 || length < 1 || rate < 1 || bands > (int64_t{1} << 20) || bins > (int64_t{1} << 26) / bands)
    {
        op.Fail(
            fmt::format("{} mel bins, a transform of {} elements and a rate of {} do not fit", bands, length, rate));
    }
    const auto toMel = [](double frequency) { return 2595.0 * std::log10(1.0 + frequency / 700.0); };
    const double step = (toMel(high) - toMel(low)) / static_cast<double>(bands + 2);
    std::vector<int64_t> places;
    for (int64_t i = 0; i < bands + 2; ++i)
    {
        const double mel = static_cast<double>(i) * step + toMel(low);
        const double frequency = 700.0 * (std::pow(10.0, mel / 2595.0) - 1.0);
        const double place = std::floor(static_cast<double>(length + 1) * frequency / static_cast<double>(rate));
        if (!(std::abs(place) < 1e15))
        {
            op.Fail(fmt::format("the frequencies {} and {} do not fit", low, high));
        }
        places.push_back(static_cast<int64_t>(place));
    }
    std::vector<uint8_t> bytes(static_cast<size_t>(bins * bands) * sizeof(float));
    auto* const weights = reinterpret_cast<float*>(bytes.data());
    const auto set = [&](int64_t bin, int64_t band, double value)
    {
        if (bin >= 0 && bin < bins)
        {
            weights[bin * bands + band] = static_cast<float>(value);
        }
    };
    for (int64_t band = 0; band < bands; ++band)
    {
        const int64_t first = places[static_cast<size_t>(band)];
        const int64_t center = places[static_cast<size_t>(band) + 1];
        const int64_t last = places[static_cast<size_t>(band) + 2];
        if (center == first)
        {
            set(center, band, 1.0);
        }
        for (int64_t bin = std::max(first, int64_t{0}); bin <= std::min(center, bins) && center != first; ++bin)
        {
            set(bin, band, static_cast<double>(bin - first) / static_cast<double>(center - first));
        }
        for (int64_t bin = std::max(center, int64_t{0}); bin < std::min(last, bins) && last > center; ++bin)
        {
            set(bin, band, static_cast<double>(last - bin) / static_cast<double>(last - center));
        }
    }
    const DataType type = ToLayerType(static_cast<ElementType>(op.Int64("output_datatype", 1)));
    op.SetOutput(
        0, graph.Cast(graph.Constant(TensorInfo(ToShape({bins, bands}), DataType::Float32), std::move(bytes)), type));
}

} // namespace tenon::onnx::rows
