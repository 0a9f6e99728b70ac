// SPDX-License-Identifier: Apache-2.0
// Rows of StableHLO's operators, as far as TFLite has kernels for them, and of those that came to TFLite with them.
//
#include "parsers/tflite/operators/Rows.hpp"

#include <algorithm>
#include <limits>

namespace tenon::tflite
{

namespace
{

/// Numbers of dimensions, or sizes; at most one for each dimension that there can be.
std::vector<uint32_t> GetUnsigneds(const OperatorView& op, const char* option)
{
    const std::vector<int64_t> values = op.Int64s(option);
    if (values.size() > MaxNumOfTensorDimensions)
    {
        op.Fail(fmt::format("option {} has {} elements, at most {} make sense", option, values.size(),
                            MaxNumOfTensorDimensions));
    }
    std::vector<uint32_t> result;
    for (const int64_t value : values)
    {
        if (value < 0 || value > std::numeric_limits<uint32_t>::max())
        {
            op.Fail(
                fmt::format("option {} has an element {}, which must not be negative or above 32 bits", option, value));
        }
        result.push_back(static_cast<uint32_t>(value));
    }
    return result;
}

uint32_t GetDimension(const OperatorView& op, const char* option)
{
    const int64_t value = op.Int64(option, 0);
    if (value < 0 || value > MaxNumOfTensorDimensions)
    {
        op.Fail(fmt::format("option {} is {}, should be 0 to {}", option, value, MaxNumOfTensorDimensions));
    }
    return static_cast<uint32_t>(value);
}

/// What a subgraph of one operator on two elements does with them; "" for a subgraph of none, nothing for other ones.
std::optional<std::string> GetBody(const OperatorView& op, NetworkBuilder& builder, const char* option)
{
    const std::vector<std::string> names = builder.NamesOfOperators(op.Int(option, 0));
    if (names.size() > 1)
    {
        return std::nullopt;
    }
    return names.empty() ? std::string() : names.front();
}

/// The function of a body's operator; StableHLO's or TFLite's own.
std::optional<ReduceWindowFunction> ToWindowFunction(const std::optional<std::string>& body)
{
    using enum ReduceWindowFunction;
    struct Row
    {
        const char* m_Name;
        ReduceWindowFunction m_Function;
    };
    static constexpr Row Rows[] = {
        {"ADD", Add},         {"STABLEHLO_ADD", Add},     {"MUL", Mul},        {"STABLEHLO_MULTIPLY", Mul},
        {"MINIMUM", Min},     {"STABLEHLO_MINIMUM", Min}, {"MAXIMUM", Max},    {"STABLEHLO_MAXIMUM", Max},
        {"LOGICAL_AND", All}, {"STABLEHLO_AND", All},     {"LOGICAL_OR", Any}, {"STABLEHLO_OR", Any},
    };
    const auto* row =
        std::find_if(std::begin(Rows), std::end(Rows), [&](const Row& each) { return body == each.m_Name; });
    return row != std::end(Rows) ? std::optional(row->m_Function) : std::nullopt;
}

std::optional<ScatterNdFunction> ToScatterFunction(const std::optional<std::string>& body)
{
    if (body == "")
    {
        return ScatterNdFunction::Update; // the body gives the update back as it is
    }
    switch (ToWindowFunction(body).value_or(ReduceWindowFunction::Any))
    {
    case ReduceWindowFunction::Add: return ScatterNdFunction::Add;
    case ReduceWindowFunction::Mul: return ScatterNdFunction::Mul;
    case ReduceWindowFunction::Min: return ScatterNdFunction::Min;
    case ReduceWindowFunction::Max: return ScatterNdFunction::Max;
    default: return std::nullopt;
    }
}

/// A pad in front of the windows, as far as there is one to do; null where the layer reads the operand itself.
IConnectableLayer* AddPadding(const OperatorView& op, NetworkBuilder& builder, size_t rank)
{
    const std::vector<uint32_t> dilations = GetUnsigneds(op, "base_dilations");
    const std::vector<int64_t> paddings = op.Int64s("padding");
    StablehloPadDescriptor descriptor;
    bool isNeeded = false;
    for (size_t i = 0; i < rank; ++i)
    {
        const int64_t dilation = dilations.empty() ? 1 : i < dilations.size() ? dilations[i] : 0;
        const int64_t low = paddings.empty() ? 0 : 2 * i + 1 < paddings.size() ? paddings[2 * i] : INT64_MAX;
        const int64_t high = paddings.empty() || low == INT64_MAX ? 0 : paddings[2 * i + 1];
        const auto fits = [](int64_t value)
        { return value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max(); };
        if (dilation < 1 || !fits(dilation) || !fits(low) || !fits(high))
        {
            op.Fail("options base_dilations and padding do not fit the window's dimensions, or 32 bits");
        }
        descriptor.m_EdgeLow.push_back(static_cast<int32_t>(low));
        descriptor.m_EdgeHigh.push_back(static_cast<int32_t>(high));
        descriptor.m_Interior.push_back(static_cast<int32_t>(dilation - 1));
        isNeeded = isNeeded || dilation != 1 || low != 0 || high != 0;
    }
    if (!isNeeded)
    {
        return nullptr;
    }
    IConnectableLayer* layer = builder.Network().AddStablehloPadLayer(descriptor, op.LayerName("pad").c_str());
    builder.WireInput(op, 0, layer, 0);
    builder.WireInput(op, 1, layer, 1);
    TensorInfo info = op.Input(0).m_Info;
    info.SetShape(TensorShape(Dimensionality::NotSpecified));
    layer->GetOutputSlot(0).SetTensorInfo(info);
    return layer;
}

void AddDilate(const OperatorView& op, NetworkBuilder& builder)
{
    DilateDescriptor descriptor;
    descriptor.m_ParametersAsInputs = true;
    builder.Wire(op, builder.Network().AddDilateLayer(descriptor, op.LayerName().c_str()), {0, 2, 1});
}

void AddReduceWindow(const OperatorView& op, NetworkBuilder& builder)
{
    ReduceWindowDescriptor descriptor;
    descriptor.m_Function = GetReduceWindowFunction(op);
    descriptor.m_ParametersAsInputs = true;
    builder.Wire(op, builder.Network().AddReduceWindowLayer(descriptor, op.LayerName().c_str()), {0, 1, 2, 3, 4});
}

void AddStablehloComposite(const OperatorView& op, NetworkBuilder& builder)
{
    builder.Inline(op, op.Int("decomposition_subgraph_index", 0));
}

void AddStablehloGather(const OperatorView& op, NetworkBuilder& builder)
{
    StablehloGatherDescriptor descriptor;
    descriptor.m_OffsetDims = GetUnsigneds(op, "offset_dims");
    descriptor.m_CollapsedSliceDims = GetUnsigneds(op, "collapsed_slice_dims");
    descriptor.m_StartIndexMap = GetUnsigneds(op, "start_index_map");
    descriptor.m_IndexVectorDim = GetDimension(op, "index_vector_dim");
    descriptor.m_SliceSizes = GetUnsigneds(op, "slice_sizes");
    builder.Wire(op, builder.Network().AddStablehloGatherLayer(descriptor, op.LayerName().c_str()), {0, 1});
}

void AddStablehloPad(const OperatorView& op, NetworkBuilder& builder)
{
    StablehloPadDescriptor descriptor;
    descriptor.m_EdgeLow = op.Ints("edge_padding_low");
    descriptor.m_EdgeHigh = op.Ints("edge_padding_high");
    descriptor.m_Interior = op.Ints("interior_padding");
    builder.Wire(op, builder.Network().AddStablehloPadLayer(descriptor, op.LayerName().c_str()), {0, 1});
}

/// Base dilations and paddings are a layer of their own.
void AddStablehloReduceWindow(const OperatorView& op, NetworkBuilder& builder)
{
    const auto function = ToWindowFunction(GetBody(op, builder, "body_subgraph_index"));
    if (!function.has_value())
    {
        builder.AddUnsupported(op); // a body that is more than one known operator
        return;
    }
    ReduceWindowDescriptor descriptor;
    descriptor.m_Function = *function;
    descriptor.m_WindowSizes = GetUnsigneds(op, "window_dimensions");
    descriptor.m_Strides = GetUnsigneds(op, "window_strides");
    descriptor.m_Dilations = GetUnsigneds(op, "window_dilations");
    const size_t rank = descriptor.m_WindowSizes.size();
    descriptor.m_Strides.resize(descriptor.m_Strides.empty() ? rank : descriptor.m_Strides.size(), 1);
    descriptor.m_Dilations.resize(descriptor.m_Dilations.empty() ? rank : descriptor.m_Dilations.size(), 1);
    IConnectableLayer* padding = AddPadding(op, builder, rank);
    IConnectableLayer* layer = builder.Network().AddReduceWindowLayer(descriptor, op.LayerName().c_str());
    if (padding == nullptr)
    {
        builder.Wire(op, layer, {0, 1});
        return;
    }
    padding->GetOutputSlot(0).Connect(layer->GetInputSlot(0));
    builder.WireInput(op, 1, layer, 1);
    builder.WireSlot(op, layer, 0, 0);
}

void AddStablehloRngBitGenerator(const OperatorView& op, NetworkBuilder& builder)
{
    RngBitGeneratorDescriptor descriptor;
    descriptor.m_Algorithm = GetRngAlgorithm(op);
    builder.Wire(op, builder.Network().AddRngBitGeneratorLayer(descriptor, op.LayerName().c_str()), {0});
}

void AddStablehloScatter(const OperatorView& op, NetworkBuilder& builder)
{
    const auto function = ToScatterFunction(GetBody(op, builder, "update_computation_subgraph_index"));
    if (!function.has_value())
    {
        builder.AddUnsupported(op); // a body that is more than one known operator
        return;
    }
    StablehloScatterDescriptor descriptor;
    descriptor.m_Function = *function;
    descriptor.m_UpdateWindowDims = GetUnsigneds(op, "update_window_dims");
    descriptor.m_InsertedWindowDims = GetUnsigneds(op, "inserted_window_dims");
    descriptor.m_ScatterDimsToOperandDims = GetUnsigneds(op, "scatter_dims_to_operand_dims");
    descriptor.m_IndexVectorDim = GetDimension(op, "index_vector_dim");
    builder.Wire(op, builder.Network().AddStablehloScatterLayer(descriptor, op.LayerName().c_str()), {0, 1, 2});
}

} // namespace

Span<const OperatorRow> GetStablehloRows()
{
    static constexpr OperatorRow rows[] = {
        {"DILATE", AddDilate, 3, 3, 1, 1},
        {"REDUCE_WINDOW", AddReduceWindow, 5, 5, 1, 1},
        {"STABLEHLO_COMPOSITE", AddStablehloComposite, 0, Any, 0, Any},
        {"STABLEHLO_GATHER", AddStablehloGather, 2, 2, 1, 1},
        {"STABLEHLO_PAD", AddStablehloPad, 2, 2, 1, 1},
        {"STABLEHLO_REDUCE_WINDOW", AddStablehloReduceWindow, 2, 2, 1, 1},
        {"STABLEHLO_RNG_BIT_GENERATOR", AddStablehloRngBitGenerator, 1, 1, 2, 2},
        {"STABLEHLO_SCATTER", AddStablehloScatter, 3, 3, 1, 1},
    };
    return {rows, std::size(rows)};
}

} // namespace tenon::tflite
