// SPDX-License-Identifier: Apache-2.0
// Quantized layers through Float32: tensors are dequantized into scratch memory, the layer's own reference kernel runs
// on floats, and its results are quantized. There is a kernel for each layer type that Arm NN's CpuRef runs on
// quantized tensors. It accepts the types, scales and zero points that the type's own kernel refuses because TFLite has
// no kernel for them; for convolutions and BatchNormalization also mixtures of float types. Layers whose results
// RequantizationMode::FloatHalfEven defines by floats run here with any types, scales and zero points.
#include "backends/common/FusedActivation.hpp"
#include "backends/common/QuantizationCheck.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/reference/ChannelQuantization.hpp"
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/TensorQuantization.hpp"
#include "backends/reference/kernels/F16AsF32.hpp"
#include "common/OneThread.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Elementwise.hpp>
#include <tenon/descriptors/Normalization.hpp>
#include <tenon/descriptors/Pooling.hpp>
#include <tenon/descriptors/Products.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tenon::ref
{

namespace
{

using backends::AskKernel;
using backends::F16Types;
using backends::Kernel;
using backends::Prepared;
using backends::QuantizedTypes;
using backends::SameType;
using backends::Scratch;
using backends::TypeRow;
using backends::Types;
using backends::TypeSet;

constexpr size_t MaxTensors = 24; // inputs or outputs: an Lstm has that many
constexpr TypeSet SumTypes = {DataType::Signed32, DataType::Signed64};

/// The integers without a scale of their own that become floats, too.
enum class Integers : uint8_t
{
    None,
    Bias, ///< input 2: sums of products of inputs 0 and 1, whose scales give its scale
    All   ///< plain numbers
};

constexpr size_t Data = 0; // inputs
constexpr size_t Weights = 1;
constexpr size_t BiasInput = 2;

bool IsConverted(const TensorInfo* info, bool isBias, Integers integers)
{
    if (info == nullptr)
    {
        return false;
    }
    const DataType type = info->GetDataType();
    return QuantizedTypes.Has(type) || F16Types.Has(type) ||
           (SumTypes.Has(type) && (integers == Integers::All || (integers == Integers::Bias && isBias)));
}

/// Tensors with Float32 in place of the types that are converted.
struct FloatInfos
{
    std::vector<const TensorInfo*> m_Infos;
    std::vector<size_t> m_Converted;
    std::vector<TensorInfo> m_Floats; ///< targets of m_Infos

    FloatInfos(Span<const TensorInfo* const> tensors, bool isInputList, Integers integers)
        : m_Infos(tensors.begin(), tensors.end())
    {
        m_Floats.reserve(tensors.size());
        for (size_t i = 0; i < tensors.size(); ++i)
        {
            if (IsConverted(tensors[i], isInputList && i == BiasInput, integers))
            {
                m_Floats.emplace_back(tensors[i]->GetShape(), DataType::Float32);
                m_Floats.back().SetConstant(tensors[i]->IsConstant());
                m_Infos[i] = &m_Floats.back();
                m_Converted.push_back(i);
            }
        }
    }
    FloatInfos(const FloatInfos&) = delete;
    FloatInfos& operator=(const FloatInfos&) = delete;

    /// The constants of unconverted tensors.
    std::vector<const void*> Keep(Span<const void* const> constants) const
    {
        std::vector<const void*> kept(constants.begin(), constants.end());
        for (const size_t i : m_Converted)
        {
            if (i < kept.size())
            {
                kept[i] = nullptr;
            }
        }
        return kept;
    }
};

/// `weightsAxis`: the dimension of input 1 that may have a scale for each slice; null: all tensors have one scale.
SupportResult CheckScales(Span<const TensorInfo* const> tensors, const char* kind, const unsigned int* weightsAxis)
{
    for (size_t i = 0; i < tensors.size(); ++i)
    {
        if (tensors[i] == nullptr || !QuantizedTypes.Has(tensors[i]->GetDataType()))
        {
            continue;
        }
        const TensorInfo& info = *tensors[i];
        const bool isPerSlice = weightsAxis != nullptr && i == Weights && info.HasMultipleQuantizationScales() &&
                                info.GetQuantizationDim() == Optional<unsigned int>(*weightsAxis);
        const std::string place = kind + std::to_string(i);
        const SupportResult result =
            isPerSlice ? backends::CheckScalesAlone(info, place) : backends::CheckOneScale(info, place);
        if (!result)
        {
            return result;
        }
    }
    return SupportResult::Yes();
}

SupportResult CheckAsFloat(const Kernel& kernel, Integers integers, const unsigned int* weightsAxis,
                           const LayerView& layer)
{
    if (AskKernel(kernel, layer))
    {
        return SupportResult::No(SupportCode::UnsupportedType, "the kernel for its own types runs it");
    }
    if (layer.m_Inputs.size() > MaxTensors || layer.m_Outputs.size() > MaxTensors)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "it has more than " + std::to_string(MaxTensors) + " inputs or outputs");
    }
    const SupportResult scales = backends::FirstRefusal(
        {CheckScales(layer.m_Inputs, "input ", weightsAxis), CheckScales(layer.m_Outputs, "output ", nullptr)});
    if (!scales)
    {
        return scales;
    }
    const FloatInfos inputs(layer.m_Inputs, true, integers);
    const FloatInfos outputs(layer.m_Outputs, false, integers);
    const std::vector<const void*> constants = inputs.Keep(layer.m_ConstantData);
    LayerView floats = layer;
    floats.m_Inputs = inputs.m_Infos;
    floats.m_Outputs = outputs.m_Infos;
    floats.m_ConstantData = constants;
    return AskKernel(kernel, floats);
}

/// A tensor that is converted.
struct Converted
{
    size_t m_Index; ///< index of the input or output
    DataType m_Type;
    size_t m_Count;
    size_t m_Floats; ///< offset in the scratch memory
    ChannelQuantization m_Quantization;
    backends::QuantizedRange m_Range; ///< of stored results, within which a fused activation leaves them
};

/// The quantization of a bias: one scale, or one for each output channel, from the scales of the data and the weights.
TensorInfo DescribeBias(const TensorInfo& bias, const TensorInfo& data, const TensorInfo& weights)
{
    std::vector<float> scales = weights.IsQuantized() ? weights.GetQuantizationScales() : std::vector<float>{1.0f};
    for (float& scale : scales)
    {
        scale *= data.GetQuantizationScale();
    }
    const TensorShape shape({bias.GetNumElements()});
    return scales.size() == 1 ? TensorInfo(shape, bias.GetDataType(), scales[0], 0)
                              : TensorInfo(shape, bias.GetDataType(), scales, 0);
}

TensorInfo DescribePlain(const TensorInfo& info)
{
    return TensorInfo(TensorShape({info.GetNumElements()}), info.GetDataType(), 1.0f, 0);
}

/// `activation`: the one that is fused into the layer, for outputs.
std::vector<Converted> PlaceConverted(const FloatInfos& floats, Span<const TensorInfo* const> tensors,
                                      const TensorInfo* bias, const ActivationDescriptor* activation, Scratch& scratch)
{
    std::vector<Converted> converted;
    for (const size_t i : floats.m_Converted)
    {
        const TensorInfo& info = *tensors[i];
        const bool isSum = SumTypes.Has(info.GetDataType());
        converted.push_back({i, info.GetDataType(), info.GetNumElements(), scratch.Add<float>(info.GetNumElements()),
                             ChannelQuantization(isSum && bias != nullptr ? *bias
                                                 : info.IsQuantized()     ? info
                                                                          : DescribePlain(info)),
                             info.IsQuantized() ? backends::GetFusedRange(info, i == 0 ? activation : nullptr)
                                                : backends::QuantizedRange()});
    }
    return converted;
}

void ToFloats(const Converted& tensor, IParallelFor& parallel, const void* stored, float* floats)
{
    if (F16Types.Has(tensor.m_Type))
    {
        PlainF16Loops.m_Widen(parallel, stored, tensor.m_Type, tensor.m_Count, floats);
        return;
    }
    DispatchType<int8_t, uint8_t, int16_t, int32_t, int64_t>(
        tensor.m_Type,
        [&](auto tag)
        {
            const auto* from = static_cast<const typename decltype(tag)::Type*>(stored);
            tensor.m_Quantization.ForEachRun(
                [&](size_t first, size_t count, float scale, int32_t zeroPoint)
                {
                    std::transform(from + first, from + first + count, floats + first,
                                   [&](auto x) {
                                       return ToReal(x, {scale, zeroPoint});
                                   });
                });
        });
}

template <typename T>
void StoreQuantized(const Converted& tensor, RequantizationMode mode, const float* floats, T* stored)
{
    const bool isHalfEven = mode == RequantizationMode::FloatHalfEven;
    const backends::QuantizedRange range = tensor.m_Range;
    const auto low = static_cast<T>(range.m_Min);
    const auto high = static_cast<T>(range.m_Max);
    tensor.m_Quantization.ForEachRun(
        [&](size_t first, size_t count, float scale, int32_t zeroPoint)
        {
            std::transform(floats + first, floats + first + count, stored + first,
                           [&](float x)
                           {
                               const TensorQuantization quantization{scale, zeroPoint};
                               return isHalfEven ? ToStoredHalfEven<T>(x, quantization, range)
                                                 : std::clamp(ToStored<T>(x, quantization), low, high);
                           });
        });
}

void FromFloats(const Converted& tensor, RequantizationMode mode, IParallelFor& parallel, const float* floats,
                void* stored)
{
    if (F16Types.Has(tensor.m_Type))
    {
        PlainF16Loops.m_Narrow(parallel, floats, tensor.m_Type, tensor.m_Count, stored);
        return;
    }
    if (tensor.m_Type == DataType::Signed32) // truncated, as in Arm NN
    {
        std::transform(floats, floats + tensor.m_Count, static_cast<int32_t*>(stored),
                       [](float x) {
                           return ToStored<int32_t>(std::trunc(x), {1.0f, 0});
                       });
        return;
    }
    DispatchType<int8_t, uint8_t, int16_t>(tensor.m_Type,
                                           [&](auto tag)
                                           {
                                               using T = typename decltype(tag)::Type;
                                               StoreQuantized(tensor, mode, floats, static_cast<T*>(stored));
                                           });
}

struct AsFloatExecutor
{
    backends::Executor m_Run;
    std::vector<Converted> m_Inputs;
    std::vector<Converted> m_Outputs;
    RequantizationMode m_Mode;

    void operator()(const ExecuteArgs& args) const
    {
        std::array<const void*, MaxTensors> inputs{};
        std::array<void*, MaxTensors> outputs{};
        std::copy(args.m_Inputs.begin(), args.m_Inputs.end(), inputs.begin());
        std::copy(args.m_Outputs.begin(), args.m_Outputs.end(), outputs.begin());
        for (const Converted& input : m_Inputs)
        {
            float* floats = Scratch::At<float>(args.m_Scratch, input.m_Floats);
            ToFloats(input, *args.m_Parallel, inputs[input.m_Index], floats);
            inputs[input.m_Index] = floats;
        }
        for (const Converted& output : m_Outputs)
        {
            outputs[output.m_Index] = Scratch::At<float>(args.m_Scratch, output.m_Floats);
        }
        ExecuteArgs floats = args;
        floats.m_Inputs = {inputs.data(), args.m_Inputs.size()};
        floats.m_Outputs = {outputs.data(), args.m_Outputs.size()};
        m_Run(floats);
        for (const Converted& output : m_Outputs)
        {
            FromFloats(output, m_Mode, *args.m_Parallel, static_cast<const float*>(outputs[output.m_Index]),
                       args.m_Outputs[output.m_Index]);
        }
    }
};

Prepared PrepareAsFloat(const Kernel& kernel, Integers integers, RequantizationMode mode, const ReshapeArgs& args)
{
    const FloatInfos inputs(args.m_Inputs, true, integers);
    const FloatInfos outputs(args.m_Outputs, false, integers);
    const std::vector<const void*> constants = inputs.Keep(args.m_ConstantData);
    ReshapeArgs floats = args;
    floats.m_Inputs = inputs.m_Infos;
    floats.m_Outputs = outputs.m_Infos;
    floats.m_ConstantData = constants;
    floats.m_FusedActivation = nullptr; // the stored results are clamped
    Prepared inner = kernel.Prepare(floats, nullptr);

    Scratch scratch;
    scratch.Add<std::byte>(inner.m_ScratchBytes);
    TensorInfo bias;
    if (integers == Integers::Bias && args.HasInput(BiasInput))
    {
        bias = DescribeBias(args.GetInput(BiasInput), args.GetInput(Data), args.GetInput(Weights));
    }
    std::vector<Converted> convertedInputs =
        PlaceConverted(inputs, args.m_Inputs, integers == Integers::Bias ? &bias : nullptr, nullptr, scratch);
    std::vector<Converted> convertedOutputs =
        PlaceConverted(outputs, args.m_Outputs, nullptr, args.m_FusedActivation, scratch);
    return Prepared(
        AsFloatExecutor{std::move(inner.m_Run), std::move(convertedInputs), std::move(convertedOutputs), mode},
        scratch.GetBytes());
}

/// The dimension of the output channels in the weights of a layer that has Integers::Bias.
template <LayerType Type>
unsigned int GetWeightsAxis(const LayerView& layer)
{
    switch (Type)
    {
    case LayerType::Convolution3d: return 4;
    case LayerType::DepthwiseConvolution2d: return 3;
    case LayerType::FullyConnected:
        return layer.GetDescriptor<FullyConnectedDescriptor>().m_TransposeWeightMatrix ? 0 : 1;
    default: return 0;
    }
}

/// Whether RequantizationMode::FloatHalfEven defines the results by integers.
template <LayerType Type>
bool SumsIntegers(const LayerView& layer)
{
    if constexpr (Type == LayerType::Pooling2d)
    {
        const auto& pool = layer.GetDescriptor<Pooling2dDescriptor>();
        return pool.m_PoolType == PoolingAlgorithm::Average &&
               pool.m_Requantization == RequantizationMode::FloatHalfEven;
    }
    return false;
}

/// Whether the parameters map numbers to numbers, because NaN cannot be stored. Bounds may be infinite.
template <LayerType Type>
bool HasNumbers(const LayerView& layer)
{
    if constexpr (Type == LayerType::Activation)
    {
        const auto& activation = layer.GetDescriptor<ActivationDescriptor>();
        return !std::isnan(activation.m_A) && !std::isnan(activation.m_B);
    }
    else if constexpr (Type == LayerType::Softmax)
    {
        return std::isfinite(layer.GetDescriptor<SoftmaxDescriptor>().m_Beta);
    }
    else if constexpr (Type == LayerType::LogSoftmax)
    {
        return std::isfinite(layer.GetDescriptor<LogSoftmaxDescriptor>().m_Beta);
    }
    return true;
}

template <LayerType Type, Integers Which>
SupportResult CheckOf(const LayerView& layer)
{
    if (!HasNumbers<Type>(layer))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "a parameter is no number, or infinite");
    }
    if (SumsIntegers<Type>(layer))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "averages of RequantizationMode::FloatHalfEven are sums of integers");
    }
    if constexpr (Which == Integers::Bias)
    {
        const unsigned int axis = GetWeightsAxis<Type>(layer);
        return CheckAsFloat(*RefKernel<Type>, Which, &axis, layer);
    }
    else
    {
        return CheckAsFloat(*RefKernel<Type>, Which, nullptr, layer);
    }
}

constexpr size_t NumInt16Values = 65536;

/// The result of each stored value, by its bit pattern.
using TableInt16 = std::array<int16_t, NumInt16Values>;

/// The table of a layer that computes each element of its output from one element of input 0, both QSymmS16.
std::shared_ptr<const TableInt16> MakeTableInt16(const Kernel& kernel, Integers integers, RequantizationMode mode,
                                                 const ReshapeArgs& args)
{
    const TensorShape shape({NumInt16Values});
    TensorInfo input = args.GetInput(0);
    TensorInfo output = args.GetOutput(0);
    input.SetShape(shape);
    output.SetShape(shape);
    const TensorInfo* const inputs[] = {&input};
    const TensorInfo* const outputs[] = {&output};
    ReshapeArgs all = args;
    all.m_Inputs = {inputs, 1};
    all.m_Outputs = {outputs, 1};
    all.m_ConstantData = {};
    const Prepared prepared = PrepareAsFloat(kernel, integers, mode, all);

    std::vector<int16_t> stored(NumInt16Values); // stored values by bit pattern
    for (size_t i = 0; i < NumInt16Values; ++i)
    {
        stored[i] = static_cast<int16_t>(static_cast<uint16_t>(i));
    }
    constexpr size_t Alignment = 64;
    std::vector<std::byte> memory(prepared.m_ScratchBytes + Alignment);
    void* scratch = memory.data();
    size_t space = memory.size();
    std::align(Alignment, prepared.m_ScratchBytes, scratch, space);
    const auto table = std::make_shared<TableInt16>();
    const void* const from[] = {stored.data()};
    void* const to[] = {table->data()};
    OneThread parallel;
    ExecuteArgs run;
    run.m_Inputs = {from, 1};
    run.m_Outputs = {to, 1};
    run.m_Scratch = scratch;
    run.m_Parallel = &parallel;
    prepared.m_Run(run);
    return table;
}

Prepared LookUp(const std::shared_ptr<const TableInt16>& table, size_t count)
{
    return [table, count](const ExecuteArgs& run)
    {
        const auto* in = run.GetInput<int16_t>(0);
        auto* out = run.GetOutput<int16_t>(0);
        const auto body = [&, in, out](size_t begin, size_t end) {
            std::transform(in + begin, in + end, out + begin,
                           [&](int16_t x) { return (*table)[static_cast<uint16_t>(x)]; });
        };
        constexpr size_t Grain = 16384;
        run.m_Parallel->Run(count, Grain, std::ref(body));
    };
}

template <LayerType Type, Integers Which>
Prepared PrepareOf(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const RequantizationMode mode = backends::GetRequantization(Type, args.m_Descriptor);
    if constexpr (Type == LayerType::Activation || Type == LayerType::ElementwiseUnary)
    {
        // A table costs as much as four times this number of elements.
        const size_t count = args.GetInput(0).GetNumElements();
        if (args.GetInput(0).GetDataType() == DataType::QSymmS16 && count >= NumInt16Values / 4)
        {
            return LookUp(MakeTableInt16(*RefKernel<Type>, Which, mode, args), count);
        }
    }
    return PrepareAsFloat(*RefKernel<Type>, Which, mode, args);
}

struct Entry
{
    LayerType m_Type;
    Kernel m_Kernel;
};

template <LayerType Type, Integers Which = Integers::None>
constexpr Entry MakeEntry(const char* name, std::span<const TypeRow> types)
{
    // The layers whose results RequantizationMode::FloatHalfEven defines by floats.
    constexpr bool RoundsHalfToEven =
        Type == LayerType::Activation || Type == LayerType::ElementwiseBinary || Type == LayerType::Pooling2d;
    return {Type,
            {.m_Name = name,
             .m_Types = types,
             .m_Prepare = PrepareOf<Type, Which>,
             .m_Check = CheckOf<Type, Which>,
             .m_Fuse = Type == LayerType::ElementwiseBinary ? backends::FuseClamp : nullptr,
             .m_RoundsHalfToEven = RoundsHalfToEven}};
}

constexpr TypeSet Numbers = backends::SingleFloatTypes | QuantizedTypes;

/// Input 0 and output 0 have one type.
constexpr TypeRow DataTypes[] = {SameType(QuantizedTypes)};
constexpr TypeRow PairTypes[] = {SameType(QuantizedTypes, 2)};
/// Parameters may have other float types than the data.
constexpr TypeRow BatchTypes[] = {SameType(Numbers)};
constexpr TypeRow UnaryTypes[] = {SameType(QuantizedTypes | DataType::Signed32)};
constexpr TypeRow ComparisonTypes[] = {Types({QuantizedTypes, QuantizedTypes}, DataType::Boolean)};
constexpr TypeRow LstmTypes[] = {SameType(DataType::QSymmS16)};
constexpr TypeRow DetectionTypes[] = {Types({Numbers, Numbers, Numbers}, DataType::Float32)};

constexpr TypeRow MakeSumRow(DataType data)
{
    return Types({data, QuantizedTypes, SumTypes | TypeSet{DataType::Float16, DataType::Float32}}, data);
}
constexpr TypeRow WeightedSumTypes[] = {
    MakeSumRow(DataType::QAsymmU8), MakeSumRow(DataType::QAsymmS8), MakeSumRow(DataType::QSymmS8),
    MakeSumRow(DataType::QSymmS16),
    // The bias has another float type.
    Types({DataType::Float32, DataType::Float32, F16Types}, DataType::Float32),
    Types({DataType::Float16, DataType::Float16, DataType::Float32}, DataType::Float16)};

constexpr Entry Entries[] = {
    MakeEntry<LayerType::Activation>("RefActivationAsFloat", DataTypes),
    MakeEntry<LayerType::BatchMatMul>("RefBatchMatMulAsFloat", PairTypes),
    MakeEntry<LayerType::BatchNormalization>("RefBatchNormalizationAsFloat", BatchTypes),
    MakeEntry<LayerType::Comparison>("RefComparisonAsFloat", ComparisonTypes),
    MakeEntry<LayerType::Convolution2d, Integers::Bias>("RefConvolution2dAsFloat", WeightedSumTypes),
    MakeEntry<LayerType::Convolution3d, Integers::Bias>("RefConvolution3dAsFloat", WeightedSumTypes),
    MakeEntry<LayerType::DepthwiseConvolution2d, Integers::Bias>("RefDepthwiseConvolution2dAsFloat", WeightedSumTypes),
    MakeEntry<LayerType::DetectionPostProcess>("RefDetectionPostProcessAsFloat", DetectionTypes),
    MakeEntry<LayerType::ElementwiseBinary>("RefElementwiseBinaryAsFloat", PairTypes),
    MakeEntry<LayerType::ElementwiseUnary, Integers::All>("RefElementwiseUnaryAsFloat", UnaryTypes),
    MakeEntry<LayerType::FullyConnected, Integers::Bias>("RefFullyConnectedAsFloat", WeightedSumTypes),
    MakeEntry<LayerType::L2Normalization>("RefL2NormalizationAsFloat", DataTypes),
    MakeEntry<LayerType::LogSoftmax>("RefLogSoftmaxAsFloat", DataTypes),
    MakeEntry<LayerType::Lstm>("RefLstmAsFloat", LstmTypes),
    MakeEntry<LayerType::Mean>("RefMeanAsFloat", DataTypes),
    MakeEntry<LayerType::Normalization>("RefNormalizationAsFloat", DataTypes),
    MakeEntry<LayerType::Pooling2d>("RefPooling2dAsFloat", DataTypes),
    MakeEntry<LayerType::Pooling3d>("RefPooling3dAsFloat", DataTypes),
    MakeEntry<LayerType::Prelu>("RefPreluAsFloat", PairTypes),
    MakeEntry<LayerType::Reduce>("RefReduceAsFloat", DataTypes),
    MakeEntry<LayerType::Softmax>("RefSoftmaxAsFloat", DataTypes),
    MakeEntry<LayerType::TransposeConvolution2d, Integers::Bias>("RefTransposeConvolution2dAsFloat", WeightedSumTypes),
};

} // namespace

const Kernel* FindKernelAsFloat(LayerType type)
{
    const auto* found = std::find_if(std::begin(Entries), std::end(Entries),
                                     [type](const Entry& entry) { return entry.m_Type == type; });
    return found != std::end(Entries) ? &found->m_Kernel : nullptr;
}

} // namespace tenon::ref
