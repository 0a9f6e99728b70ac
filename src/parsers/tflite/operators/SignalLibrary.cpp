// SPDX-License-Identifier: Apache-2.0
// Rows of the operators of TFLM's signal library, which audio front ends use. TFLM reads their options by position, so
// none may be missing.
#include "parsers/tflite/operators/Rows.hpp"

namespace tenon::tflite
{

namespace
{

void RequireOption(const OperatorView& op, const char* option)
{
    if (!op.Has(option))
    {
        op.Fail(fmt::format("option {} is missing", option));
    }
}

uint32_t ReadUnsigned(const OperatorView& op, const char* option, int32_t min = 0)
{
    RequireOption(op, option);
    return op.Unsigned(option, 0, min);
}

bool ReadBool(const OperatorView& op, const char* option)
{
    RequireOption(op, option);
    return op.Bool(option, false);
}

/// Throws ParseException if the data do not have the type in option T.
void CheckType(const OperatorView& op)
{
    RequireOption(op, "T");
    struct Row
    {
        int32_t m_Number;
        DataType m_Type;
    };
    static constexpr Row types[] = {{0, DataType::Float32}, {2, DataType::Signed32}, {7, DataType::Signed16}};
    const int32_t number = op.Int("T", 0);
    const DataType type = op.Input(0).m_Info.GetDataType();
    for (const Row& row : types)
    {
        if (row.m_Number == number && row.m_Type == type)
        {
            return;
        }
    }
    op.Fail(fmt::format("tensor {} is {}, which is not the type of option T, {}", op.Input(0).Label(),
                        GetDataTypeName(type), number));
}

/// The shape that input 0 has, or that the file gives it. Throws UnimplementedException if a size is unknown, or if it
/// has fewer dimensions.
TensorShape GetKnownShape(const OperatorView& op, unsigned int minRank)
{
    const TensorView& input = op.Input(0);
    for (const TensorShape* shape : {&input.m_Info.GetShape(), &input.m_DeclaredShape})
    {
        if (shape->AreAllDimensionsSpecified() && shape->GetNumDimensions() >= minRank)
        {
            return *shape;
        }
    }
    throw UnimplementedException(fmt::format("tensor {} has shape {}, which does not tell how much is to be kept from "
                                             "run to run: it needs {} or more known sizes",
                                             input.Label(), input.m_DeclaredShape.ToString(), minRank));
}

/// `shape` without its last dimensions, and with others.
TensorShape ReplaceLast(const TensorShape& shape, unsigned int dropped, const std::vector<unsigned int>& added)
{
    std::vector<unsigned int> sizes;
    for (unsigned int i = 0; i + dropped < shape.GetNumDimensions(); ++i)
    {
        sizes.push_back(shape[i]);
    }
    sizes.insert(sizes.end(), added.begin(), added.end());
    return {static_cast<unsigned int>(sizes.size()), sizes.data()};
}

void AddFeature(const OperatorView& op, NetworkBuilder& builder, const SignalFeatureDescriptor& descriptor)
{
    builder.Wire(op, builder.Network().AddSignalFeatureLayer(descriptor, op.LayerName().c_str()), AllInputs(op));
}

void AddWindow(const OperatorView& op, NetworkBuilder& builder)
{
    SignalFeatureDescriptor descriptor;
    descriptor.m_Function = SignalFeatureFunction::Window;
    descriptor.m_Shift = ReadUnsigned(op, "shift");
    AddFeature(op, builder, descriptor);
}

void AddFftAutoScale(const OperatorView& op, NetworkBuilder& builder)
{
    SignalFeatureDescriptor descriptor;
    descriptor.m_Function = SignalFeatureFunction::AutoScale;
    AddFeature(op, builder, descriptor);
}

void AddEnergy(const OperatorView& op, NetworkBuilder& builder)
{
    SignalFeatureDescriptor descriptor;
    descriptor.m_Function = SignalFeatureFunction::Energy;
    descriptor.m_Start = ReadUnsigned(op, "start_index");
    descriptor.m_End = ReadUnsigned(op, "end_index");
    AddFeature(op, builder, descriptor);
}

/// There is a start in front of those of the channels.
void AddFilterBank(const OperatorView& op, NetworkBuilder& builder)
{
    SignalFeatureDescriptor descriptor;
    descriptor.m_Function = SignalFeatureFunction::FilterBank;
    const uint64_t channels = ReadUnsigned(op, "num_channels");
    const TensorView& starts = op.Input(3);
    if (starts.m_IsConstant && starts.m_Info.GetNumElements() != channels + 1)
    {
        op.Fail(fmt::format("option num_channels is {}, but tensor {} has {} starts in place of {}", channels,
                            starts.Label(), starts.m_Info.GetNumElements(), channels + 1));
    }
    AddFeature(op, builder, descriptor);
}

void AddFilterBankSquareRoot(const OperatorView& op, NetworkBuilder& builder)
{
    SignalFeatureDescriptor descriptor;
    descriptor.m_Function = SignalFeatureFunction::SquareRoot;
    AddFeature(op, builder, descriptor);
}

void AddPcan(const OperatorView& op, NetworkBuilder& builder)
{
    SignalFeatureDescriptor descriptor;
    descriptor.m_Function = SignalFeatureFunction::Gain;
    descriptor.m_Shift = ReadUnsigned(op, "snr_shift");
    AddFeature(op, builder, descriptor);
}

void AddFilterBankLog(const OperatorView& op, NetworkBuilder& builder)
{
    SignalFeatureDescriptor descriptor;
    descriptor.m_Function = SignalFeatureFunction::Log;
    descriptor.m_Shift = ReadUnsigned(op, "input_correction_bits");
    descriptor.m_Scale = ReadUnsigned(op, "output_scale");
    AddFeature(op, builder, descriptor);
}

void AddFft(const OperatorView& op, NetworkBuilder& builder, bool isInverse)
{
    CheckType(op);
    SignalFftDescriptor descriptor;
    descriptor.m_Length = ReadUnsigned(op, "fft_length", 2);
    descriptor.m_Inverse = isInverse;
    builder.Wire(op, builder.Network().AddSignalFftLayer(descriptor, op.LayerName().c_str()), {0});
}

void AddRfft(const OperatorView& op, NetworkBuilder& builder)
{
    AddFft(op, builder, false);
}

void AddIrfft(const OperatorView& op, NetworkBuilder& builder)
{
    AddFft(op, builder, true);
}

void AddSpectralSubtraction(const OperatorView& op, NetworkBuilder& builder)
{
    SpectralSubtractionDescriptor descriptor;
    descriptor.m_Smoothing = ReadUnsigned(op, "smoothing");
    descriptor.m_OneMinusSmoothing = ReadUnsigned(op, "one_minus_smoothing");
    descriptor.m_AlternateSmoothing = ReadUnsigned(op, "alternate_smoothing");
    descriptor.m_AlternateOneMinusSmoothing = ReadUnsigned(op, "alternate_one_minus_smoothing");
    descriptor.m_SmoothingBits = ReadUnsigned(op, "smoothing_bits");
    descriptor.m_Bits = ReadUnsigned(op, "spectral_subtraction_bits");
    descriptor.m_MinSignalRemaining = ReadUnsigned(op, "min_signal_remaining");
    descriptor.m_Clamping = ReadBool(op, "clamping");
    const TensorInfo noise(TensorShape({ReadUnsigned(op, "num_channels")}), DataType::Unsigned32);
    builder.CountLayer();
    IConnectableLayer* layer = builder.Network().AddSpectralSubtractionLayer(descriptor, op.LayerName().c_str());
    builder.WireInput(op, 0, layer, 0);
    builder.WireOwnState(op, "noise", noise, layer->GetInputSlot(1), layer->GetOutputSlot(1));
    builder.WireSlot(op, layer, 0, 0);
    builder.WireSlot(op, layer, 1, 1);
}

/// The end of the signal, of this shape, is kept, and a count if the layer has one. Output 1 of the operator, if it has
/// one, tells whether all is complete.
void AddFrames(const OperatorView& op, NetworkBuilder& builder, const SignalFramesDescriptor& descriptor,
               const TensorShape& end)
{
    builder.CountLayer();
    IConnectableLayer* layer = builder.Network().AddSignalFramesLayer(descriptor, op.LayerName().c_str());
    builder.WireInput(op, 0, layer, 0);
    builder.WireOwnState(op, "end", TensorInfo(end, op.Input(0).m_Info.GetDataType()), layer->GetInputSlot(1),
                         layer->GetOutputSlot(1));
    builder.WireSlot(op, layer, 0, 0);
    if (descriptor.GetNumInputs() > 2)
    {
        builder.WireOwnState(op, "count", TensorInfo(TensorShape({1}), DataType::Signed32), layer->GetInputSlot(2),
                             layer->GetOutputSlot(3));
        builder.WireSlot(op, layer, 2, 1);
    }
}

/// A size of what is kept. Throws ParseException if it is too large.
unsigned int ToSize(const OperatorView& op, uint64_t size)
{
    if (size > UINT32_MAX)
    {
        op.Fail(fmt::format("{} samples would have to be kept from run to run, which is too many", size));
    }
    return static_cast<unsigned int>(size);
}

void AddFramer(const OperatorView& op, NetworkBuilder& builder)
{
    SignalFramesDescriptor descriptor;
    descriptor.m_Function = SignalFramesFunction::Cut;
    descriptor.m_FrameSize = ReadUnsigned(op, "frame_size", 1);
    descriptor.m_FrameStep = ReadUnsigned(op, "frame_step", 1);
    descriptor.m_Prefill = ReadBool(op, "prefill");
    AddFrames(op, builder, descriptor, ReplaceLast(GetKnownShape(op, 1), 1, {ToSize(op, descriptor.GetReach())}));
}

void AddStacker(const OperatorView& op, NetworkBuilder& builder)
{
    SignalFramesDescriptor descriptor;
    descriptor.m_Function = SignalFramesFunction::Stack;
    descriptor.m_LeftContext = ReadUnsigned(op, "stacker_left_context");
    const uint64_t frames = uint64_t{descriptor.m_LeftContext} + ReadUnsigned(op, "stacker_right_context") + 1;
    descriptor.m_FrameSize = ToSize(op, frames);
    descriptor.m_FrameStep = ReadUnsigned(op, "stacker_step", 1);
    AddFrames(op, builder, descriptor, TensorShape({ToSize(op, frames * ReadUnsigned(op, "num_channels", 1))}));
}

void AddOverlapAdd(const OperatorView& op, NetworkBuilder& builder)
{
    CheckType(op);
    SignalFramesDescriptor descriptor;
    descriptor.m_Function = SignalFramesFunction::OverlapAdd;
    descriptor.m_FrameStep = ReadUnsigned(op, "frame_step", 1);
    const TensorShape input = GetKnownShape(op, 2);
    AddFrames(op, builder, descriptor, ReplaceLast(input, 2, {input[input.GetNumDimensions() - 1]}));
}

/// The samples go behind those that are kept; the first ones come out, and the last ones are kept.
void AddDelay(const OperatorView& op, NetworkBuilder& builder)
{
    const uint32_t delay = ReadUnsigned(op, "delay_length");
    if (delay == 0)
    {
        builder.Alias(op);
        return;
    }
    const TensorShape input = GetKnownShape(op, 1);
    const unsigned int axis = input.GetNumDimensions() - 1;
    INetwork& network = builder.Network();
    ConcatDescriptor join(2, axis + 1);
    join.SetConcatAxis(axis);
    builder.CountLayer();
    IConnectableLayer* joined = network.AddConcatLayer(join, op.LayerName().c_str());
    const auto slice = [&](const char* what, unsigned int first, unsigned int size)
    {
        SliceDescriptor descriptor;
        descriptor.m_Begin = std::vector<unsigned int>(axis + 1);
        descriptor.m_Begin.back() = first;
        for (unsigned int i = 0; i < axis; ++i)
        {
            descriptor.m_Size.push_back(input[i]);
        }
        descriptor.m_Size.push_back(size);
        builder.CountLayer();
        IConnectableLayer* layer = network.AddSliceLayer(descriptor, op.LayerName(what).c_str());
        joined->GetOutputSlot(0).Connect(layer->GetInputSlot(0));
        return layer;
    };
    builder.WireInput(op, 0, joined, 1);
    builder.WireSlot(op, slice("output", 0, input[axis]), 0, 0);
    TensorInfo kept = op.Input(0).m_Info;
    kept.SetConstant(false);
    kept.SetShape(ReplaceLast(input, 1, {delay}));
    builder.WireOwnState(op, "delay", kept, joined->GetInputSlot(0),
                         slice("rest", input[axis], delay)->GetOutputSlot(0));
}

} // namespace

Span<const OperatorRow> GetSignalLibraryRows()
{
    static constexpr OperatorRow rows[] = {
        {"SignalDelay", AddDelay, 1, 1, 1, 1, IsCustom},
        {"SignalEnergy", AddEnergy, 1, 1, 1, 1, IsCustom},
        {"SignalFftAutoScale", AddFftAutoScale, 1, 1, 2, 2, IsCustom},
        {"SignalFilterBank", AddFilterBank, 6, 6, 1, 1, IsCustom},
        {"SignalFilterBankLog", AddFilterBankLog, 1, 1, 1, 1, IsCustom},
        {"SignalFilterBankSpectralSubtraction", AddSpectralSubtraction, 1, 1, 2, 2, IsCustom},
        {"SignalFilterBankSquareRoot", AddFilterBankSquareRoot, 2, 2, 1, 1, IsCustom},
        {"SignalFramer", AddFramer, 1, 1, 2, 2, IsCustom},
        {"SignalIrfft", AddIrfft, 1, 1, 1, 1, IsCustom},
        {"SignalOverlapAdd", AddOverlapAdd, 1, 1, 1, 1, IsCustom},
        {"SignalPCAN", AddPcan, 3, 3, 1, 1, IsCustom},
        {"SignalRfft", AddRfft, 1, 1, 1, 1, IsCustom},
        {"SignalStacker", AddStacker, 1, 1, 2, 2, IsCustom},
        {"SignalWindow", AddWindow, 2, 2, 1, 1, IsCustom},
    };
    return {rows, std::size(rows)};
}

} // namespace tenon::tflite
