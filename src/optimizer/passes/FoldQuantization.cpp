// SPDX-License-Identifier: Apache-2.0
// Pass FoldQuantization: layers of floats between Dequantize and Quantize become quantized layers. ONNX models write
// quantized networks so (QDQ), and the parser gives QLinear operators the same form.
//
//     int8 -> [Dequantize] -> Convolution2d, Add ... -> [Quantize] -> int8     FloatHalfEven, see RequantizationMode
//     int8 -----------------> Convolution2d, Add ... ---------------> int8
//
// Only a Quantize of RequantizationMode::FloatHalfEven is such a root: TFLite's models never have this form, and their
// arithmetic is another. From a root, FindQuantized walks upwards:
//   - layers that only move values (reshapes, slices, maxima of windows ...) do so with stored values,
//   - each input of a Concat is quantized as its result is,
//   - a ReLu clamps stored values,
//   - convolutions, products, elementwise layers, averages become layers that requantize.
// Functions of one tensor stay: FoldFunctionsInt8 makes tables of them. All other layers stay floats, too.
//
// All quantized tensors become int8: 128 less than the stored uint8 with 128 less as the zero point is the same number.
// Kernels are best at int8, and the mixture of uint8 data and int8 weights, usual in ONNX, needs none of its own.
#include "common/AlignedMemory.hpp"
#include "graph/ChannelsLast.hpp"
#include "optimizer/Pass.hpp"
#include "optimizer/assignment/Assignment.hpp"
#include "optimizer/rewriting/ConstantRunner.hpp"
#include "optimizer/rewriting/Patterns.hpp"

#include <tenon/Descriptors.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace tenon::passes
{

namespace
{

/// The walk upwards is recursive; longer chains of layers stay floats.
constexpr unsigned int MaxDepth = 100;
constexpr int32_t SignBias = 128;

bool IsUnsigned(DataType type)
{
    return type == DataType::QAsymmU8 || type == DataType::Unsigned8;
}

bool IsQuantizedInt8(const TensorInfo& info)
{
    if (info.HasBlockwiseQuantization())
    {
        return false;
    }
    switch (info.GetDataType())
    {
    case DataType::QAsymmU8: return !info.HasMultipleQuantizationScales();
    case DataType::QAsymmS8:
    case DataType::QSymmS8: return true;
    default: return false;
    }
}

bool IsByte(DataType type)
{
    return IsUnsigned(type) || type == DataType::Signed8 || type == DataType::QAsymmS8 || type == DataType::QSymmS8;
}

bool IsFloat32(const OutputSlot& slot)
{
    return slot.GetTensorInfo().GetDataType() == DataType::Float32;
}

/// The type and quantization of an int8 tensor that holds the numbers of this one.
TensorInfo ToSigned(const TensorInfo& info)
{
    TensorInfo result = info;
    result.SetConstant(false);
    if (IsUnsigned(info.GetDataType()))
    {
        result.SetDataType(DataType::QAsymmS8);
        result.SetQuantizationOffset(info.GetQuantizationOffset() - SignBias);
    }
    return result;
}

TensorInfo WithShapeOf(TensorInfo type, const TensorInfo& shape)
{
    type.SetShape(shape.GetShape());
    type.SetConstant(false);
    return type;
}

/// Whether stored values mean the same numbers in both.
bool HasSameQuantization(const TensorInfo& a, const TensorInfo& b)
{
    return a.GetQuantizationScales() == b.GetQuantizationScales() && a.GetQuantizationDim() == b.GetQuantizationDim() &&
           (a.HasMultipleQuantizationScales() || a.GetQuantizationOffset() == b.GetQuantizationOffset());
}

bool IsFoldable(const Layer& layer)
{
    return layer.GetFusedActivation() == nullptr && !layer.GetBackendHint().has_value();
}

bool HasPlainInputs(const Layer& layer)
{
    for (unsigned int i = 0; i < layer.NumInputs(); ++i)
    {
        if (layer.Input(i).GetConnectedOutputSlot() != nullptr && !IsPlainInput(layer, i))
        {
            return false;
        }
    }
    return true;
}

OutputSlot* GetSource(const Layer& layer, unsigned int input)
{
    return input < layer.NumInputs() && IsPlainInput(layer, input) ? layer.Input(input).GetConnectedOutputSlot()
                                                                   : nullptr;
}

/// Whether the outputs hold values of input 0 and of nothing else, so that a tensor may be dequantized after it as
/// well.
bool MovesValues(const Layer& layer)
{
    switch (layer.GetType())
    {
    case LayerType::Concat:
    case LayerType::Dilate:
    case LayerType::DynamicUpdateSlice:
    case LayerType::MatrixDiag:
    case LayerType::MatrixSetDiag:
    case LayerType::Merge:
    case LayerType::Pad:
    case LayerType::SpaceToBatchNd:
    case LayerType::StablehloPad:
    case LayerType::Stack:
    case LayerType::Switch: return false; // of several tensors, or with values of their own
    case LayerType::Pooling2d: return layer.Descriptor<Pooling2dDescriptor>().m_PoolType == PoolingAlgorithm::Max;
    case LayerType::PoolingNd:
    {
        const auto& pool = layer.Descriptor<PoolingNdDescriptor>();
        return pool.m_Function == PoolingNdFunction::Max && !pool.m_IndicesEnabled;
    }
    case LayerType::Resize: return layer.Descriptor<ResizeDescriptor>().m_Method == ResizeMethod::NearestNeighbor;
    case LayerType::Interpolate:
    {
        const auto& resize = layer.Descriptor<InterpolateDescriptor>();
        return resize.m_Mode == InterpolationMode::Nearest &&
               resize.m_Coordinates != InterpolationCoordinates::TfCropAndResize;
    }
    case LayerType::Reduce:
    {
        const ReduceOperation operation = layer.Descriptor<ReduceDescriptor>().m_ReduceOperation;
        return operation == ReduceOperation::Max || operation == ReduceOperation::Min;
    }
    default: return layer.GetSchema().Has(OpFlags::Moves);
    }
}

/// The dimension of a reshaped tensor that is dimension `dim` of the original.
std::optional<unsigned int> FindReshaped(const TensorShape& from, const TensorShape& to, unsigned int dim)
{
    if (!from.AreAllDimensionsSpecified() || !to.AreAllDimensionsSpecified() || dim >= from.GetNumDimensions())
    {
        return std::nullopt;
    }
    uint64_t before = 1;
    for (unsigned int i = 0; i < dim; ++i)
    {
        before *= from[i];
    }
    uint64_t passed = 1;
    for (unsigned int i = 0; i < to.GetNumDimensions(); ++i)
    {
        if (passed == before && to[i] == from[dim])
        {
            return i;
        }
        passed *= to[i];
    }
    return std::nullopt;
}

/// The info of a moved tensor with the quantization of `stored`; nothing where scales by slices do not move with it.
std::optional<TensorInfo> MakeMovedInfo(const Layer& mover, const TensorInfo& stored, const TensorInfo& shape)
{
    TensorInfo info = WithShapeOf(stored, shape);
    if (!stored.HasMultipleQuantizationScales())
    {
        return info;
    }
    const unsigned int dim = stored.GetQuantizationDim().value();
    std::optional<unsigned int> moved;
    switch (mover.GetType())
    {
    case LayerType::Transpose:
    {
        const PermutationVector& mappings = mover.Descriptor<TransposeDescriptor>().m_DimMappings;
        return mappings.GetSize() == stored.GetNumDimensions()
                   ? std::optional(WithShapeOf(Transposed(stored, mappings), shape))
                   : std::nullopt;
    }
    case LayerType::Reshape:
    case LayerType::ExpandDims:
    case LayerType::Squeeze: moved = FindReshaped(stored.GetShape(), shape.GetShape(), dim); break;
    default: break;
    }
    if (!moved.has_value())
    {
        return std::nullopt;
    }
    info.SetQuantizationDim(*moved);
    return info;
}

/// The channels of a result that weights of `layer` have a scale for: a dimension of input 1.
unsigned int GetWeightsAxis(const Layer& layer)
{
    switch (layer.GetType())
    {
    case LayerType::DepthwiseConvolution2d: return 3;
    case LayerType::FullyConnected: return layer.Descriptor<FullyConnectedDescriptor>().m_TransposeWeightMatrix ? 0 : 1;
    default: return 0;
    }
}

/// Whether a tensor has one scale, or one for each slice of dimension `axis`.
bool HasScalesAlong(const TensorInfo& info, unsigned int axis)
{
    return !info.HasMultipleQuantizationScales() || info.GetQuantizationDim().value() == axis;
}

/// Constants of this size are copied with other signs.
constexpr uint64_t MaxConstantBytes = uint64_t{1} << 31;

class QuantizationFolder
{
public:
    QuantizationFolder(Graph& graph, PassContext& context)
        : m_Graph(graph), m_Context(context), m_Runner(context.m_Registry, context.m_Options), m_Budget(graph)
    {
    }

    void Run();

private:
    using Sources = std::vector<OutputSlot*>; ///< null: not connected

    void Fold(Layer& root);
    OutputSlot* FindDequantized(OutputSlot& real, unsigned int depth);
    OutputSlot* MakeDequantized(OutputSlot& real, unsigned int depth);
    OutputSlot* FindBytes(OutputSlot& stored, const TensorInfo& target, const Layer& reader, unsigned int depth);
    OutputSlot* MakeBytes(OutputSlot& stored, const TensorInfo& target, const Layer& reader, unsigned int depth);
    OutputSlot* Relabel(OutputSlot& stored, const TensorInfo& target, const Layer& reader);
    OutputSlot* AddSignedConstant(const Layer& constant, const TensorInfo& target);
    OutputSlot* FindQuantized(OutputSlot& real, const TensorInfo& target, unsigned int depth);
    OutputSlot* QuantizeParts(const Layer& concat, const TensorInfo& target, unsigned int depth);
    OutputSlot* Clamp(const Layer& activation, const TensorInfo& target, unsigned int depth);
    OutputSlot* FillWithZero(const Layer& pad, const TensorInfo& target, unsigned int depth);
    template <typename Descriptor>
    OutputSlot* QuantizeWeighted(const Layer& layer, const TensorInfo& target, unsigned int depth);
    OutputSlot* QuantizeProduct(const Layer& product, const Layer& last, OutputSlot* bias, const TensorInfo& target,
                                unsigned int depth);
    OutputSlot* QuantizeSum(const Layer& sum, const TensorInfo& target, unsigned int depth);
    OutputSlot* QuantizeBinary(const Layer& layer, const TensorInfo& target, unsigned int depth);
    template <typename Descriptor>
    OutputSlot* QuantizeAverage(const Layer& layer, const TensorInfo& target, unsigned int depth);
    OutputSlot* AddBias(OutputSlot& real, const TensorInfo& data, const TensorInfo& weights, const TensorInfo& target);
    OutputSlot* Move(const Layer& mover, const OutputSlot& output, OutputSlot& stored,
                     const BaseDescriptor* descriptor = nullptr);
    OutputSlot* Compute(const Layer& last, unsigned int output);
    OutputSlot* Requantize(const Layer& like, OutputSlot& source, const TensorInfo& target);
    OutputSlot* AddLike(const Layer& like, LayerType type, std::unique_ptr<BaseDescriptor> descriptor,
                        const Sources& sources, const TensorInfo& info);

    Graph& m_Graph;
    PassContext& m_Context;
    ConstantRunner m_Runner;
    ConstantBudget m_Budget;
    std::unordered_map<const OutputSlot*, OutputSlot*> m_Dequantized; ///< results of FindDequantized
    std::unordered_map<const OutputSlot*, OutputSlot*> m_Bytes;       ///< results of FindBytes
};

void QuantizationFolder::Run()
{
    for (Layer* layer : m_Graph.TopologicalOrder({LayerType::Quantize}))
    {
        const OutputSlot* const source = GetSource(*layer, 0);
        const TensorInfo& info = layer->Output(0).GetTensorInfo();
        if (layer->Descriptor<QuantizeDescriptor>().m_Requantization == RequantizationMode::FloatHalfEven &&
            IsFoldable(*layer) && source != nullptr && IsFloat32(*source) && IsQuantizedInt8(info) &&
            !info.HasMultipleQuantizationScales())
        {
            Fold(*layer);
        }
    }
}

/// Puts quantized layers in the place of what `root` quantizes. If that stays floats, an uint8 result becomes int8, for
/// the layers that read it.
void QuantizationFolder::Fold(Layer& root)
{
    OutputSlot& output = root.Output(0);
    const TensorInfo given = output.GetTensorInfo();
    const TensorInfo target = ToSigned(given);
    OutputSlot* result = FindQuantized(*GetSource(root, 0), target, 0);
    if (!IsUnsigned(given.GetDataType()))
    {
        if (result != nullptr)
        {
            output.MoveAllConnections(*result);
        }
        return;
    }
    std::vector<InputSlot*> dequantizes;
    for (InputSlot* reader : output.GetConnections())
    {
        if (reader->GetOwningLayer().GetType() == LayerType::Dequantize && !reader->IsTensorInfoOverridden())
        {
            dequantizes.push_back(reader);
        }
    }
    const bool hasOtherReaders = dequantizes.size() != output.GetNumConnections();
    if (result == nullptr && !hasOtherReaders)
    {
        result = Requantize(root, *GetSource(root, 0), target);
    }
    if (result == nullptr)
    {
        return;
    }
    for (InputSlot* reader : dequantizes)
    {
        Rewire(*reader, *result);
    }
    if (hasOtherReaders)
    {
        Rewire(root.Input(0), *result); // from int8 to uint8 of the same scale: the number that is stored, plus 128
    }
}

/// An int8 tensor of which `real` holds the numbers; null: there is none.
OutputSlot* QuantizationFolder::FindDequantized(OutputSlot& real, unsigned int depth)
{
    if (const auto found = m_Dequantized.find(&real); found != m_Dequantized.end())
    {
        return found->second;
    }
    OutputSlot* const result = depth < MaxDepth ? MakeDequantized(real, depth + 1) : nullptr;
    m_Dequantized.emplace(&real, result);
    return result;
}

OutputSlot* QuantizationFolder::MakeDequantized(OutputSlot& real, unsigned int depth)
{
    const Layer& layer = real.GetOwningLayer();
    OutputSlot* const source = GetSource(layer, 0);
    if (source == nullptr || !IsFloat32(real) || !IsFoldable(layer))
    {
        return nullptr;
    }
    if (layer.GetType() == LayerType::Dequantize)
    {
        const TensorInfo& info = source->GetTensorInfo();
        return IsQuantizedInt8(info) ? FindBytes(*source, ToSigned(info), layer, depth) : nullptr;
    }
    if (!MovesValues(layer) || !HasPlainInputs(layer))
    {
        return nullptr;
    }
    OutputSlot* const stored = FindDequantized(*source, depth);
    return stored != nullptr ? Move(layer, real, *stored) : nullptr;
}

/// An int8 tensor of the type and quantization of `target` that has the bytes of `stored`, less 128 if these are
/// unsigned. It is found through Bitcasts and movements, so that these do not stand between quantized layers.
OutputSlot* QuantizationFolder::FindBytes(OutputSlot& stored, const TensorInfo& target, const Layer& reader,
                                          unsigned int depth)
{
    const auto found = m_Bytes.find(&stored);
    if (found != m_Bytes.end())
    {
        return found->second != nullptr ? Relabel(*found->second, target, reader) : nullptr;
    }
    OutputSlot* const result = depth < MaxDepth ? MakeBytes(stored, target, reader, depth + 1) : nullptr;
    m_Bytes.emplace(&stored, result);
    return result;
}

OutputSlot* QuantizationFolder::MakeBytes(OutputSlot& stored, const TensorInfo& target, const Layer& reader,
                                          unsigned int depth)
{
    const Layer& layer = stored.GetOwningLayer();
    const TensorInfo& info = stored.GetTensorInfo();
    const bool isUnsigned = IsUnsigned(info.GetDataType());
    OutputSlot* const source = GetSource(layer, 0);
    if (layer.GetType() == LayerType::Constant)
    {
        return isUnsigned || !HasSameQuantization(info, target) ? AddSignedConstant(layer, target) : &stored;
    }
    if (!isUnsigned && layer.GetType() != LayerType::Bitcast && info.IsQuantized() && HasSameQuantization(info, target))
    {
        return &stored;
    }
    if (source != nullptr && IsByte(source->GetTensorInfo().GetDataType()) && IsFoldable(layer))
    {
        const TensorInfo& before = source->GetTensorInfo();
        const bool keepsSign = IsUnsigned(before.GetDataType()) == isUnsigned;
        if (layer.GetType() == LayerType::Bitcast && keepsSign)
        {
            if (OutputSlot* const result = FindBytes(*source, target, reader, depth))
            {
                return result;
            }
        }
        else if (MovesValues(layer) && HasPlainInputs(layer) && keepsSign)
        {
            OutputSlot* const unmoved = FindBytes(*source, target, reader, depth);
            OutputSlot* const result = unmoved != nullptr ? Move(layer, stored, *unmoved) : nullptr;
            if (result != nullptr)
            {
                return result;
            }
        }
        else if (layer.GetType() == LayerType::Quantize && isUnsigned && !keepsSign &&
                 HasSameQuantization(ToSigned(info), before))
        {
            return Relabel(*source, target, reader); // made by Fold
        }
    }
    if (!isUnsigned)
    {
        return Relabel(stored, target, reader);
    }
    TensorInfo asUnsigned = target;
    asUnsigned.SetDataType(DataType::QAsymmU8);
    asUnsigned.SetQuantizationOffset(target.GetQuantizationOffset() + SignBias);
    OutputSlot* const labelled = Relabel(stored, asUnsigned, reader);
    return labelled != nullptr ? Requantize(reader, *labelled, target) : nullptr;
}

/// The same bytes with another quantization.
OutputSlot* QuantizationFolder::Relabel(OutputSlot& stored, const TensorInfo& target, const Layer& reader)
{
    const TensorInfo& info = stored.GetTensorInfo();
    if (info.IsQuantized() && HasSameQuantization(info, target))
    {
        return &stored;
    }
    return AddLike(reader, LayerType::Bitcast, nullptr, {&stored}, WithShapeOf(target, info));
}

OutputSlot* QuantizationFolder::AddSignedConstant(const Layer& constant, const TensorInfo& target)
{
    const ConstTensor& tensor = constant.GetConstant()->m_Tensor;
    const uint64_t bytes = tensor.GetInfo().GetNumBytes();
    if (bytes > MaxConstantBytes || !m_Budget.Take(bytes))
    {
        return nullptr;
    }
    const auto memory = std::make_shared<AlignedMemory>(bytes);
    const auto* from = static_cast<const uint8_t*>(tensor.GetMemoryArea());
    const uint8_t sign = IsUnsigned(tensor.GetInfo().GetDataType()) ? SignBias : 0;
    std::transform(from, from + bytes, reinterpret_cast<uint8_t*>(memory->Data()),
                   [sign](uint8_t byte) { return static_cast<uint8_t>(byte ^ sign); });
    TensorInfo info = WithShapeOf(target, tensor.GetInfo());
    info.SetConstant(true);
    return &m_Graph.AddConstant(ConstTensor(info, memory->Data()), memory, constant.GetNameStr()).Output(0);
}

/// An int8 tensor that is `real` quantized as `target` is; null where floats are as good.
OutputSlot* QuantizationFolder::FindQuantized(OutputSlot& real, const TensorInfo& target, unsigned int depth)
{
    if (depth == MaxDepth || !IsFloat32(real))
    {
        return nullptr;
    }
    const Layer& layer = real.GetOwningLayer();
    if (OutputSlot* const stored = FindDequantized(real, depth))
    {
        return HasSameQuantization(stored->GetTensorInfo(), target) ? stored : Requantize(layer, *stored, target);
    }
    if (real.GetNumConnections() != 1 || layer.GetNumOutputSlots() != 1 || !IsFoldable(layer) || !HasPlainInputs(layer))
    {
        return nullptr;
    }
    ++depth;
    switch (layer.GetType())
    {
    case LayerType::Activation: return Clamp(layer, target, depth);
    case LayerType::BatchMatMul: return QuantizeProduct(layer, layer, nullptr, target, depth);
    case LayerType::Concat: return QuantizeParts(layer, target, depth);
    case LayerType::Convolution2d: return QuantizeWeighted<Convolution2dDescriptor>(layer, target, depth);
    case LayerType::DepthwiseConvolution2d:
        return QuantizeWeighted<DepthwiseConvolution2dDescriptor>(layer, target, depth);
    case LayerType::TransposeConvolution2d:
        return QuantizeWeighted<TransposeConvolution2dDescriptor>(layer, target, depth);
    case LayerType::FullyConnected: return QuantizeWeighted<FullyConnectedDescriptor>(layer, target, depth);
    case LayerType::ElementwiseBinary:
    {
        OutputSlot* const sum = QuantizeSum(layer, target, depth);
        return sum != nullptr ? sum : QuantizeBinary(layer, target, depth);
    }
    case LayerType::Mean: return QuantizeAverage<MeanDescriptor>(layer, target, depth);
    case LayerType::Pad: return FillWithZero(layer, target, depth);
    case LayerType::Pooling2d:
        if (layer.Descriptor<Pooling2dDescriptor>().m_PoolType == PoolingAlgorithm::Average)
        {
            return QuantizeAverage<Pooling2dDescriptor>(layer, target, depth);
        }
        break;
    default: break;
    }
    if (!MovesValues(layer))
    {
        return nullptr;
    }
    OutputSlot* const stored = FindQuantized(*GetSource(layer, 0), target, depth);
    return stored != nullptr ? Move(layer, real, *stored) : nullptr;
}

/// quantize(concat(a, b ...)) = concat(quantize(a), quantize(b) ...)
OutputSlot* QuantizationFolder::QuantizeParts(const Layer& concat, const TensorInfo& target, unsigned int depth)
{
    Sources parts;
    bool isAnyFound = false;
    for (unsigned int i = 0; i < concat.NumInputs(); ++i)
    {
        parts.push_back(GetSource(concat, i) != nullptr ? FindQuantized(*GetSource(concat, i), target, depth)
                                                        : nullptr);
        isAnyFound = isAnyFound || parts.back() != nullptr;
    }
    if (!isAnyFound)
    {
        return nullptr;
    }
    for (unsigned int i = 0; i < concat.NumInputs(); ++i)
    {
        OutputSlot* const source = GetSource(concat, i);
        parts[i] = parts[i] != nullptr ? parts[i] : source != nullptr ? Requantize(concat, *source, target) : nullptr;
        if (parts[i] == nullptr)
        {
            return nullptr;
        }
    }
    return AddLike(concat, LayerType::Concat, std::make_unique<ConcatDescriptor>(concat.Descriptor<ConcatDescriptor>()),
                   parts, WithShapeOf(target, concat.Output(0).GetTensorInfo()));
}

/// quantize(clamp(x)) = clamp(quantize(x)), with quantized bounds: rounding keeps the order of numbers.
OutputSlot* QuantizationFolder::Clamp(const Layer& activation, const TensorInfo& target, unsigned int depth)
{
    auto descriptor = std::make_unique<ActivationDescriptor>(activation.Descriptor<ActivationDescriptor>());
    const bool isReLu = descriptor->m_Function == ActivationFunction::ReLu;
    if (!isReLu && descriptor->m_Function != ActivationFunction::BoundedReLu)
    {
        return nullptr;
    }
    OutputSlot* const stored = FindQuantized(*GetSource(activation, 0), target, depth);
    if (stored == nullptr)
    {
        return nullptr;
    }
    const auto quantize = [&](float bound) {
        return std::nearbyint(bound / target.GetQuantizationScale()) +
               static_cast<float>(target.GetQuantizationOffset());
    };
    const bool hasAllAbove = quantize(isReLu ? 0.0f : descriptor->m_B) <= std::numeric_limits<int8_t>::min();
    const bool hasAllBelow = isReLu || quantize(descriptor->m_A) >= std::numeric_limits<int8_t>::max();
    if (hasAllAbove && hasAllBelow)
    {
        return stored; // saturation clamps as much
    }
    descriptor->m_Requantization = RequantizationMode::FloatHalfEven;
    return AddLike(activation, LayerType::Activation, std::move(descriptor), {stored},
                   WithShapeOf(target, activation.Output(0).GetTensorInfo()));
}

/// Padding with 0 is padding with the zero point.
OutputSlot* QuantizationFolder::FillWithZero(const Layer& pad, const TensorInfo& target, unsigned int depth)
{
    auto descriptor = pad.Descriptor<PadDescriptor>();
    if (descriptor.m_ValueAsInput || descriptor.m_ParametersAsInputs ||
        (descriptor.m_PaddingMode == PaddingMode::Constant && descriptor.m_PadValue != 0.0f))
    {
        return nullptr;
    }
    OutputSlot* const stored = FindQuantized(*GetSource(pad, 0), target, depth);
    if (stored == nullptr)
    {
        return nullptr;
    }
    descriptor.m_PadValue = static_cast<float>(target.GetQuantizationOffset());
    return Move(pad, pad.Output(0), *stored, &descriptor);
}

/// Convolutions and FullyConnected: data, constant weights, a constant bias.
template <typename Descriptor>
OutputSlot* QuantizationFolder::QuantizeWeighted(const Layer& layer, const TensorInfo& target, unsigned int depth)
{
    OutputSlot* const data = FindDequantized(*GetSource(layer, 0), depth);
    OutputSlot* const weights = data != nullptr ? FindDequantized(*GetSource(layer, 1), depth) : nullptr;
    if (weights == nullptr || data->GetTensorInfo().HasMultipleQuantizationScales() ||
        !HasScalesAlong(weights->GetTensorInfo(), GetWeightsAxis(layer)))
    {
        return nullptr;
    }
    OutputSlot* bias = nullptr;
    if (layer.NumInputs() > 2 && layer.Input(2).GetConnectedOutputSlot() != nullptr)
    {
        bias = AddBias(*GetSource(layer, 2), data->GetTensorInfo(), weights->GetTensorInfo(), target);
        if (bias == nullptr)
        {
            return nullptr;
        }
    }
    Sources sources = {data, weights, bias};
    for (unsigned int i = 3; i < layer.NumInputs(); ++i)
    {
        sources.push_back(GetSource(layer, i));
    }
    auto descriptor = std::make_unique<Descriptor>(layer.Descriptor<Descriptor>());
    descriptor->m_Requantization = RequantizationMode::FloatHalfEven;
    return AddLike(layer, layer.GetType(), std::move(descriptor), sources,
                   WithShapeOf(target, layer.Output(0).GetTensorInfo()));
}

/// A product of two tensors, and the bias that `last` adds to it, if there is one. With a constant matrix it becomes a
/// FullyConnected.
OutputSlot* QuantizationFolder::QuantizeProduct(const Layer& product, const Layer& last, OutputSlot* bias,
                                                const TensorInfo& target, unsigned int depth)
{
    OutputSlot* const x = FindDequantized(*GetSource(product, 0), depth);
    OutputSlot* const y = x != nullptr ? FindDequantized(*GetSource(product, 1), depth) : nullptr;
    if (y == nullptr || x->GetTensorInfo().HasMultipleQuantizationScales())
    {
        return nullptr;
    }
    const TensorInfo info = WithShapeOf(target, last.Output(0).GetTensorInfo());
    const auto& d = product.Descriptor<BatchMatMulDescriptor>();
    const TensorInfo& matrix = y->GetTensorInfo();
    const bool isMatrix = y->GetOwningLayer().GetType() == LayerType::Constant &&
                          matrix.GetShape().AreAllDimensionsSpecified() && matrix.GetNumDimensions() == 2 &&
                          matrix.GetNumElements() != 0; // a FullyConnected of nothing leaves out its bias
    if (isMatrix && !d.m_TransposeX && !d.m_AdjointX && !d.m_AdjointY && d.m_DataLayoutX == DataLayout::NCHW &&
        d.m_DataLayoutY == DataLayout::NCHW)
    {
        auto descriptor = std::make_unique<FullyConnectedDescriptor>();
        descriptor->m_BiasEnabled = bias != nullptr;
        descriptor->m_KeepDims = true;
        descriptor->m_TransposeWeightMatrix = d.m_TransposeY;
        descriptor->m_Requantization = RequantizationMode::FloatHalfEven;
        const unsigned int columns = d.m_TransposeY ? 0 : 1;
        OutputSlot* sum = nullptr;
        if (!HasScalesAlong(matrix, columns) ||
            (bias != nullptr && (sum = AddBias(*bias, x->GetTensorInfo(), matrix, target)) == nullptr))
        {
            return nullptr;
        }
        return AddLike(last, LayerType::FullyConnected, std::move(descriptor), {x, y, sum}, info);
    }
    if (bias != nullptr || matrix.HasMultipleQuantizationScales())
    {
        return nullptr;
    }
    auto descriptor = std::make_unique<BatchMatMulDescriptor>(d);
    descriptor->m_Requantization = RequantizationMode::FloatHalfEven;
    return AddLike(last, LayerType::BatchMatMul, std::move(descriptor), {x, y}, info);
}

/// A product plus a constant row.
OutputSlot* QuantizationFolder::QuantizeSum(const Layer& sum, const TensorInfo& target, unsigned int depth)
{
    if (!IsBinary(&sum, BinaryOperation::Add))
    {
        return nullptr;
    }
    for (const unsigned int i : {0U, 1U})
    {
        const Layer* const product = GetSoleProducer(sum, i);
        OutputSlot& row = *GetSource(sum, 1 - i);
        constexpr unsigned int MaxRank = 2; // no more than the product has
        if (product != nullptr && product->GetType() == LayerType::BatchMatMul && IsFoldable(*product) &&
            HasPlainInputs(*product) && row.GetOwningLayer().GetConstant() != nullptr &&
            row.GetTensorInfo().GetNumDimensions() <= MaxRank)
        {
            return QuantizeProduct(*product, sum, &row, target, depth);
        }
    }
    return nullptr;
}

OutputSlot* QuantizationFolder::QuantizeBinary(const Layer& layer, const TensorInfo& target, unsigned int depth)
{
    OutputSlot* const a = FindDequantized(*GetSource(layer, 0), depth);
    OutputSlot* const b = a != nullptr ? FindDequantized(*GetSource(layer, 1), depth) : nullptr;
    if (b == nullptr || a->GetTensorInfo().HasMultipleQuantizationScales() ||
        b->GetTensorInfo().HasMultipleQuantizationScales())
    {
        return nullptr;
    }
    auto descriptor = std::make_unique<ElementwiseBinaryDescriptor>(layer.Descriptor<ElementwiseBinaryDescriptor>());
    descriptor->m_Requantization = RequantizationMode::FloatHalfEven;
    return AddLike(layer, LayerType::ElementwiseBinary, std::move(descriptor), {a, b},
                   WithShapeOf(target, layer.Output(0).GetTensorInfo()));
}

/// Mean and average Pooling2d.
template <typename Descriptor>
OutputSlot* QuantizationFolder::QuantizeAverage(const Layer& layer, const TensorInfo& target, unsigned int depth)
{
    OutputSlot* const data = FindDequantized(*GetSource(layer, 0), depth);
    if (data == nullptr || data->GetTensorInfo().HasMultipleQuantizationScales())
    {
        return nullptr;
    }
    Sources sources = {data};
    for (unsigned int i = 1; i < layer.NumInputs(); ++i)
    {
        sources.push_back(GetSource(layer, i));
    }
    auto descriptor = std::make_unique<Descriptor>(layer.Descriptor<Descriptor>());
    descriptor->m_Requantization = RequantizationMode::FloatHalfEven;
    return AddLike(layer, layer.GetType(), std::move(descriptor), sources,
                   WithShapeOf(target, layer.Output(0).GetTensorInfo()));
}

/// A constant bias of floats as int32, in units of the sums. In most files it was stored so; else it is rounded, by
/// half a unit, where that is far less than a step of the result. Null where it is no such constant.
OutputSlot* QuantizationFolder::AddBias(OutputSlot& real, const TensorInfo& data, const TensorInfo& weights,
                                        const TensorInfo& target)
{
    constexpr double MaxBias = 0x1p30;
    constexpr double MaxUnit = 1.0 / 16.0; // in steps of the result
    constexpr double Whole = 1e-3;         // how far a number of units is from one that was stored
    const ConstantPayload* const constant = real.GetOwningLayer().GetConstant();
    const std::vector<float> scales = weights.GetQuantizationScales();
    if (constant == nullptr || !IsFloat32(real) || !constant->m_Tensor.GetShape().AreAllDimensionsSpecified())
    {
        return nullptr;
    }
    const size_t count = constant->m_Tensor.GetNumElements();
    if (count == 0 || (scales.size() != 1 && scales.size() != count) || !m_Budget.Take(count * sizeof(int32_t)))
    {
        return nullptr;
    }
    const auto* from = static_cast<const float*>(constant->m_Tensor.GetMemoryArea());
    const auto memory = std::make_shared<AlignedMemory>(count * sizeof(int32_t));
    auto* to = reinterpret_cast<int32_t*>(memory->Data());
    const auto dataScale = static_cast<double>(data.GetQuantizationScale());
    for (size_t i = 0; i < count; ++i)
    {
        const double unit = dataScale * static_cast<double>(scales[scales.size() == 1 ? 0 : i]);
        const double units = static_cast<double>(from[i]) / unit;
        const double rounded = std::nearbyint(units);
        const bool isStored = std::abs(units - rounded) <= std::max(Whole, std::abs(units) * 0x1p-20);
        const bool isSmall = unit / static_cast<double>(target.GetQuantizationScale()) <= MaxUnit;
        if (!(std::abs(rounded) <= MaxBias) || (!isStored && !isSmall))
        {
            return nullptr;
        }
        to[i] = static_cast<int32_t>(rounded);
    }
    TensorInfo info(TensorShape({static_cast<unsigned int>(count)}), DataType::Signed32, 0.0f, 0, true);
    return &m_Graph.AddConstant(ConstTensor(info, memory->Data()), memory, real.GetOwningLayer().GetNameStr())
                .Output(0);
}

/// What `mover` does with its input 0, done with stored values.
OutputSlot* QuantizationFolder::Move(const Layer& mover, const OutputSlot& output, OutputSlot& stored,
                                     const BaseDescriptor* descriptor)
{
    const auto info = MakeMovedInfo(mover, stored.GetTensorInfo(), output.GetTensorInfo());
    if (!info.has_value())
    {
        return nullptr;
    }
    Layer& layer = m_Graph.AddLayer(mover.GetType(), descriptor != nullptr ? *descriptor : mover.GetParameters(),
                                    mover.GetNameStr());
    stored.Connect(layer.Input(0));
    for (unsigned int i = 1; i < mover.NumInputs(); ++i)
    {
        if (OutputSlot* const source = GetSource(mover, i))
        {
            source->Connect(layer.Input(i));
        }
    }
    for (unsigned int i = 0; i < mover.GetNumOutputSlots(); ++i)
    {
        layer.Output(i).SetTensorInfo(WithShapeOf(*info, mover.Output(i).GetTensorInfo()));
    }
    if (stored.GetOwningLayer().GetType() == LayerType::Constant)
    {
        return Compute(layer, output.CalculateIndexOnOwner());
    }
    if (!m_Context.m_Chooser.TakesAsWell(mover, layer))
    {
        m_Graph.RemoveLast();
        return nullptr;
    }
    OutputSlot& result = layer.Output(output.CalculateIndexOnOwner());
    if (layer.GetNumOutputSlots() > 1)
    {
        // All results of a Splitter at once.
        auto& results = IsFloat32(output) ? m_Dequantized : m_Bytes;
        for (unsigned int i = 0; i < mover.GetNumOutputSlots(); ++i)
        {
            if (&mover.Output(i) != &output)
            {
                results.emplace(&mover.Output(i), &layer.Output(i));
            }
        }
    }
    return &result;
}

/// The constant that the last layer of the graph gives, in its place: backends are asked about layers of constant
/// weights.
OutputSlot* QuantizationFolder::Compute(const Layer& last, unsigned int output)
{
    const std::string name = last.GetNameStr();
    std::vector<ConstantResult> results = m_Runner.Run(last, MaxConstantBytes);
    m_Graph.RemoveLast();
    if (results.empty() || !m_Budget.Take(results[output].m_Info.GetNumBytes()))
    {
        return nullptr;
    }
    ConstantResult& result = results[output];
    result.m_Info.SetConstant(true);
    return &m_Graph.AddConstant(ConstTensor(result.m_Info, result.m_Memory->Data()), result.m_Memory, name).Output(0);
}

/// A Quantize of `source`, floats or stored values, that runs where `like` runs.
OutputSlot* QuantizationFolder::Requantize(const Layer& like, OutputSlot& source, const TensorInfo& target)
{
    return AddLike(like, LayerType::Quantize, std::make_unique<QuantizeDescriptor>(RequantizationMode::FloatHalfEven),
                   {&source}, WithShapeOf(target, source.GetTensorInfo()));
}

/// A layer whose output 0 has this info, if it runs where `like` runs; else null.
OutputSlot* QuantizationFolder::AddLike(const Layer& like, LayerType type, std::unique_ptr<BaseDescriptor> descriptor,
                                        const Sources& sources, const TensorInfo& info)
{
    Layer& layer = m_Graph.AddLayer(type, descriptor, like.GetNameStr());
    for (unsigned int i = 0; i < sources.size(); ++i)
    {
        if (sources[i] != nullptr)
        {
            sources[i]->Connect(layer.Input(i));
        }
    }
    layer.Output(0).SetTensorInfo(info);
    if (!m_Context.m_Chooser.TakesAsWell(like, layer))
    {
        m_Graph.RemoveLast();
        return nullptr;
    }
    return &layer.Output(0);
}

} // namespace

void FoldQuantization(Graph& graph, PassContext& context)
{
    if (HasHalfEvenQuantize(graph))
    {
        QuantizationFolder(graph, context).Run();
    }
}

} // namespace tenon::passes
