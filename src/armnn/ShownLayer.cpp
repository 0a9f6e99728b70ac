// SPDX-License-Identifier: Apache-2.0
// ShownLayer: see ShownLayer.hpp.
#include "armnn/ShownLayer.hpp"

#include <tenon/Descriptors.hpp>
#include <tenon/LstmParams.hpp>

#include <algorithm>
#include <exception>
#include <limits>
#include <type_traits>
#include <utility>

namespace tenon
{

namespace
{

/// The order of a layer's infos in Arm NN's questions for support.
enum class InfoOrder
{
    Slots,    ///< inputs, outputs
    Weights,  ///< input, output, weights, bias or a TensorInfo()
    Constants ///< input, output, then the constants
};

/// A row of the table of Arm NN's layer types.
struct Row
{
    LayerType m_Type;
    InfoOrder m_Order;
    size_t m_NumTensors; ///< leading inputs that are tensors of the workload; the others are constants
    bool (*m_Fits)(const BaseDescriptor& descriptor); ///< whether the descriptor is the type's own
    /// The name of a parameter that is set though Arm NN does not have it; null: there is none.
    const char* (*m_FindOwn)(const BaseDescriptor& descriptor, const char* parameters);
    /// The names of the descriptor's parameters in Arm NN 23.08, and PaddingScheme, which CompleteDescriptor resolves.
    const char* m_Parameters;
    std::shared_ptr<BaseDescriptor> (*m_Copy)(const BaseDescriptor& descriptor);
    std::unique_ptr<QueueDescriptor> (*m_Make)(const ShownLayer& layer, const ConstantHandles& constants,
                                               const void* blob);
};

/// Whether the name is one of a list that spaces separate.
bool IsOneOf(const char* name, const char* list)
{
    return (' ' + std::string(list) + ' ').find(' ' + std::string(name) + ' ') != std::string::npos;
}

/// A layer without parameters may have any descriptor.
template <typename D>
bool Fits(const BaseDescriptor& descriptor)
{
    return std::is_same_v<D, NullDescriptor> || dynamic_cast<const D*>(&descriptor) != nullptr;
}

template <typename D>
const char* FindOwnParameter(const BaseDescriptor& base, [[maybe_unused]] const char* parameters)
{
    if constexpr (std::is_same_v<D, NullDescriptor>)
    {
        return nullptr;
    }
    const D& descriptor = static_cast<const D&>(base);
    const D plain;
    const char* found = nullptr;
    D::Visit(
        [&](const char* name, auto member)
        {
            if (!IsOneOf(name, parameters) && !(descriptor.*member == plain.*member))
            {
                found = name;
            }
        });
    // Values of enumerations that came after Arm NN 23.08, or are Tenon's own.
    if constexpr (std::is_same_v<D, ElementwiseBinaryDescriptor>)
    {
        return descriptor.m_Operation > BinaryOperation::Sub ? "Operation" : found;
    }
    else if constexpr (std::is_same_v<D, ElementwiseUnaryDescriptor>)
    {
        return descriptor.m_Operation > UnaryOperation::Ceil ? "Operation" : found;
    }
    else if constexpr (std::is_same_v<D, ActivationDescriptor>)
    {
        return descriptor.m_Function > ActivationFunction::HardSwish ? "Function" : found;
    }
    else if constexpr (std::is_same_v<D, PadDescriptor>)
    {
        return descriptor.m_PaddingMode > PaddingMode::Symmetric ? "PaddingMode" : found;
    }
    else if constexpr (std::is_same_v<D, ReduceDescriptor>)
    {
        return descriptor.m_ReduceOperation > ReduceOperation::Prod ? "ReduceOperation" : found;
    }
    else if constexpr (std::is_same_v<D, LstmDescriptor>)
    {
        const bool isOwn = descriptor.m_ActivationFunc == 2 || descriptor.m_ActivationFunc == 5;
        return isOwn ? "ActivationFunc" : found;
    }
    return found;
}

template <typename D>
std::shared_ptr<BaseDescriptor> CopyDescriptor(const BaseDescriptor& descriptor)
{
    if constexpr (std::is_same_v<D, NullDescriptor>)
    {
        return std::make_shared<NullDescriptor>();
    }
    else
    {
        return std::make_shared<D>(static_cast<const D&>(descriptor));
    }
}

/// Sets the members of a queue descriptor other than parameters and tensors, from a layer, its constants and the blob
/// of a PreCompiled layer. The types that have no overload need nothing.
void FillQueue(QueueDescriptor&, const ShownLayer&, const ConstantHandles&, const void*) {}

const ConstTensorHandle* Handle(const ConstantHandles& constants, size_t slot)
{
    return slot < constants.size() ? constants[slot].get() : nullptr;
}

/// Where each of several boxes that stand one after the other along an axis begins.
std::vector<TensorBoxOrigin> StackBoxes(const std::vector<const TensorInfo*>& boxes, unsigned int axis)
{
    std::vector<TensorBoxOrigin> origins;
    unsigned int end = 0;
    for (const TensorInfo* box : boxes)
    {
        std::vector<unsigned int> origin(box->GetNumDimensions(), 0);
        origin.at(axis) = end;
        end += box->GetShape()[axis];
        origins.emplace_back(std::move(origin));
    }
    return origins;
}

template <typename Queue>
void FillCell(Queue& queue, const ConstantHandles& constants)
{
    detail::ForEachLstmWeight(queue,
                              [&](const ConstTensorHandle*& member, size_t slot) { member = Handle(constants, slot); });
}

void FillQueue(DetectionPostProcessQueueDescriptor& queue, const ShownLayer&, const ConstantHandles& constants,
               const void*)
{
    queue.m_Anchors = Handle(constants, 2);
}

void FillQueue(BatchNormalizationQueueDescriptor& queue, const ShownLayer&, const ConstantHandles& constants,
               const void*)
{
    queue.m_Mean = Handle(constants, 1);
    queue.m_Variance = Handle(constants, 2);
    queue.m_Beta = Handle(constants, 3);
    queue.m_Gamma = Handle(constants, 4);
}

void FillQueue(TransposeConvolution2dQueueDescriptor& queue, const ShownLayer&, const ConstantHandles& constants,
               const void*)
{
    queue.m_Weight = Handle(constants, 1);
    queue.m_Bias = Handle(constants, 2);
}

void FillQueue(PreCompiledQueueDescriptor& queue, const ShownLayer&, const ConstantHandles&, const void* blob)
{
    queue.m_PreCompiledObject = const_cast<void*>(blob); // as Arm NN has it; the backend made it
}

void FillQueue(ConcatQueueDescriptor& queue, const ShownLayer& layer, const ConstantHandles&, const void*)
{
    OriginsDescriptor& parameters = queue.m_Parameters;
    const unsigned int axis = parameters.GetConcatAxis();
    const unsigned int rank = layer.m_Outputs[0]->GetNumDimensions();
    queue.m_ViewOrigins = StackBoxes(layer.m_Inputs, axis);
    parameters = OriginsDescriptor(static_cast<uint32_t>(layer.m_Inputs.size()), rank);
    parameters.SetConcatAxis(axis);
    for (uint32_t i = 0; i < parameters.GetNumViews(); ++i)
    {
        parameters.SetViewOriginCoord(i, axis, queue.m_ViewOrigins[i].m_Origin[axis]);
    }
}

void FillQueue(SplitterQueueDescriptor& queue, const ShownLayer&, const ConstantHandles&, const void*)
{
    const ViewsDescriptor& parameters = queue.m_Parameters;
    for (uint32_t i = 0; i < parameters.GetNumViews(); ++i)
    {
        const uint32_t* const origin = parameters.GetViewOrigin(i);
        queue.m_ViewOrigins.emplace_back(std::vector<unsigned int>(origin, origin + parameters.GetNumDimensions()));
    }
}

void FillQueue(LstmQueueDescriptor& queue, const ShownLayer&, const ConstantHandles& constants, const void*)
{
    FillCell(queue, constants);
}
void FillQueue(QLstmQueueDescriptor& queue, const ShownLayer&, const ConstantHandles& constants, const void*)
{
    FillCell(queue, constants);
}
void FillQueue(UnidirectionalSequenceLstmQueueDescriptor& queue, const ShownLayer&, const ConstantHandles& constants,
               const void*)
{
    FillCell(queue, constants);
}

void FillQueue(QuantizedLstmQueueDescriptor& queue, const ShownLayer&, const ConstantHandles& constants, const void*)
{
    detail::ForEachQuantizedLstmWeight(queue, [&](const ConstTensorHandle*& member, size_t slot)
                                       { member = Handle(constants, slot); });
}

template <typename Queue>
std::unique_ptr<QueueDescriptor> Make(const ShownLayer& layer, const ConstantHandles& constants, const void* blob)
{
    auto queue = std::make_unique<Queue>();
    if constexpr (requires(Queue q) { q.m_Parameters; })
    {
        queue->m_Parameters = static_cast<const decltype(queue->m_Parameters)&>(*layer.m_Descriptor);
    }
    FillQueue(*queue, layer, constants, blob);
    return queue;
}

constexpr size_t All = std::numeric_limits<size_t>::max();

#define TENON_ROW(name, descriptor, order, numTensors, parameters)                                                     \
    {                                                                                                                  \
        LayerType::name, InfoOrder::order, numTensors, Fits<descriptor>, FindOwnParameter<descriptor>, parameters,     \
            CopyDescriptor<descriptor>, Make<name##QueueDescriptor>                                                    \
    }
#define TENON_PLAIN_ROW(name) TENON_ROW(name, NullDescriptor, Slots, All, "")
#define TENON_PARAMETERS_ROW(name, parameters) TENON_ROW(name, name##Descriptor, Slots, All, parameters)

const Row Rows[] = {
    TENON_PLAIN_ROW(Addition),
    TENON_PLAIN_ROW(Cast),
    TENON_PLAIN_ROW(ConvertFp16ToFp32),
    TENON_PLAIN_ROW(ConvertFp32ToFp16),
    TENON_PLAIN_ROW(Dequantize),
    TENON_PLAIN_ROW(Division),
    TENON_PLAIN_ROW(Floor),
    TENON_PLAIN_ROW(Maximum),
    TENON_PLAIN_ROW(Merge),
    TENON_PLAIN_ROW(Minimum),
    TENON_PLAIN_ROW(Multiplication),
    TENON_PLAIN_ROW(Prelu),
    TENON_ROW(Quantize, QuantizeDescriptor, Slots, All, ""),
    TENON_PLAIN_ROW(Rank),
    TENON_PLAIN_ROW(ReverseV2),
    TENON_PLAIN_ROW(Shape),
    TENON_PLAIN_ROW(Subtraction),
    TENON_PLAIN_ROW(Switch),
    TENON_PARAMETERS_ROW(Activation, "Function A B"),
    TENON_PARAMETERS_ROW(ArgMinMax, "Function Axis Output_Type"),
    TENON_PARAMETERS_ROW(BatchMatMul, "TransposeX TransposeY AdjointX AdjointY DataLayoutX DataLayoutY"),
    TENON_PARAMETERS_ROW(BatchToSpaceNd, "BlockShape Crops DataLayout"),
    TENON_PARAMETERS_ROW(ChannelShuffle, "NumGroups Axis"),
    TENON_PARAMETERS_ROW(Comparison, "Operation"),
    TENON_PARAMETERS_ROW(Concat, "ConcatAxis NumViews NumDimensions ViewOrigins"),
    TENON_PARAMETERS_ROW(DepthToSpace, "BlockSize DataLayout"),
    TENON_PARAMETERS_ROW(ElementwiseBinary, "Operation"),
    TENON_PARAMETERS_ROW(ElementwiseUnary, "Operation"),
    TENON_PARAMETERS_ROW(FakeQuantization, "Min Max"),
    TENON_PARAMETERS_ROW(Fill, "Value"),
    TENON_PARAMETERS_ROW(Gather, "Axis"),
    TENON_PARAMETERS_ROW(GatherNd, ""),
    TENON_PARAMETERS_ROW(InstanceNormalization, "Gamma Beta Eps DataLayout"),
    TENON_PARAMETERS_ROW(L2Normalization, "Eps DataLayout"),
    TENON_PARAMETERS_ROW(LogSoftmax, "Beta Axis"),
    TENON_PARAMETERS_ROW(LogicalBinary, "Operation"),
    TENON_PARAMETERS_ROW(Mean, "Axis KeepDims"),
    TENON_PARAMETERS_ROW(Normalization, "NormChannelType NormMethodType NormSize Alpha Beta K DataLayout"),
    TENON_PARAMETERS_ROW(Pad, "PadList PadValue PaddingMode"),
    TENON_PARAMETERS_ROW(Permute, "DimMappings"),
    TENON_PARAMETERS_ROW(Pooling2d, "PoolType PadLeft PadRight PadTop PadBottom PoolWidth PoolHeight StrideX StrideY "
                                    "OutputShapeRounding PaddingMethod DataLayout PaddingScheme"),
    TENON_PARAMETERS_ROW(Pooling3d,
                         "PoolType PadLeft PadRight PadTop PadBottom PadFront PadBack PoolWidth PoolHeight PoolDepth "
                         "StrideX StrideY StrideZ OutputShapeRounding PaddingMethod DataLayout PaddingScheme"),
    TENON_PARAMETERS_ROW(PreCompiled, "NumInputSlots NumOutputSlots"),
    TENON_PARAMETERS_ROW(Reduce, "KeepDims vAxis ReduceOperation"),
    TENON_PARAMETERS_ROW(Reshape, "TargetShape"),
    TENON_PARAMETERS_ROW(Resize, "TargetWidth TargetHeight Method DataLayout AlignCorners HalfPixelCenters"),
    TENON_PARAMETERS_ROW(Slice, "Begin Size"),
    TENON_PARAMETERS_ROW(Softmax, "Beta Axis"),
    TENON_PARAMETERS_ROW(SpaceToBatchNd, "BlockShape PadList DataLayout"),
    TENON_PARAMETERS_ROW(SpaceToDepth, "BlockSize DataLayout"),
    TENON_PARAMETERS_ROW(Splitter, "Origins ViewSizes IsAxisSet Axis"),
    TENON_PARAMETERS_ROW(Stack, "Axis NumInputs InputShape"),
    TENON_PARAMETERS_ROW(StridedSlice,
                         "Begin End Stride BeginMask EndMask ShrinkAxisMask EllipsisMask NewAxisMask DataLayout"),
    TENON_PARAMETERS_ROW(Tile, "Multiples"),
    TENON_PARAMETERS_ROW(Transpose, "DimMappings"),
    TENON_ROW(
        Convolution2d, Convolution2dDescriptor, Weights, All,
        "PadLeft PadRight PadTop PadBottom StrideX StrideY DilationX DilationY BiasEnabled DataLayout PaddingScheme"),
    TENON_ROW(Convolution3d, Convolution3dDescriptor, Weights, All,
              "PadLeft PadRight PadTop PadBottom PadFront PadBack StrideX StrideY StrideZ DilationX DilationY "
              "DilationZ BiasEnabled DataLayout PaddingScheme"),
    TENON_ROW(
        DepthwiseConvolution2d, DepthwiseConvolution2dDescriptor, Weights, All,
        "PadLeft PadRight PadTop PadBottom StrideX StrideY DilationX DilationY BiasEnabled DataLayout PaddingScheme"),
    TENON_ROW(FullyConnected, FullyConnectedDescriptor, Weights, All,
              "BiasEnabled TransposeWeightMatrix ConstantWeights"),
    TENON_ROW(TransposeConvolution2d, TransposeConvolution2dDescriptor, Weights, 1,
              "PadLeft PadRight PadTop PadBottom StrideX StrideY BiasEnabled DataLayout OutputShapeEnabled OutputShape "
              "PaddingScheme"),
    TENON_ROW(BatchNormalization, BatchNormalizationDescriptor, Constants, 1, "Eps DataLayout"),
    TENON_ROW(DetectionPostProcess, DetectionPostProcessDescriptor, Slots, 2,
              "MaxDetections MaxClassesPerDetection DetectionsPerClass NmsScoreThreshold NmsIouThreshold NumClasses "
              "UseRegularNms ScaleX ScaleY ScaleW ScaleH"),
    TENON_ROW(Lstm, LstmDescriptor, Slots, 3,
              "ActivationFunc ClippingThresCell ClippingThresProj CifgEnabled PeepholeEnabled ProjectionEnabled "
              "LayerNormEnabled TimeMajor InputIntermediateScale ForgetIntermediateScale CellIntermediateScale "
              "OutputIntermediateScale HiddenStateZeroPoint HiddenStateScale"),
    TENON_ROW(
        QLstm, QLstmDescriptor, Slots, 3,
        "CellClip ProjectionClip CifgEnabled PeepholeEnabled ProjectionEnabled LayerNormEnabled InputIntermediateScale "
        "ForgetIntermediateScale CellIntermediateScale OutputIntermediateScale HiddenStateZeroPoint HiddenStateScale"),
    TENON_ROW(UnidirectionalSequenceLstm, LstmDescriptor, Slots, 3,
              "ActivationFunc ClippingThresCell ClippingThresProj CifgEnabled PeepholeEnabled ProjectionEnabled "
              "LayerNormEnabled TimeMajor InputIntermediateScale ForgetIntermediateScale CellIntermediateScale "
              "OutputIntermediateScale HiddenStateZeroPoint HiddenStateScale"),
    TENON_ROW(QuantizedLstm, NullDescriptor, Slots, 3, ""),
};

#undef TENON_PARAMETERS_ROW
#undef TENON_PLAIN_ROW
#undef TENON_ROW

const Row* FindRow(LayerType type)
{
    const auto* const row =
        std::find_if(std::begin(Rows), std::end(Rows), [&](const Row& r) { return r.m_Type == type; });
    return row == std::end(Rows) ? nullptr : row;
}

bool IsCell(LayerType type)
{
    return type == LayerType::Lstm || type == LayerType::QLstm || type == LayerType::UnidirectionalSequenceLstm;
}

/// The info of input i, or null where it is not connected.
const TensorInfo* Input(const ShownLayer& layer, size_t i)
{
    return i < layer.m_Inputs.size() ? layer.m_Inputs[i] : nullptr;
}

std::vector<TensorInfo> MakeInfos(const ShownLayer& layer, const Row& row)
{
    std::vector<TensorInfo> infos;
    const auto add = [&](const TensorInfo* info) { infos.push_back(info != nullptr ? *info : TensorInfo()); };
    if (row.m_Order != InfoOrder::Slots)
    {
        add(layer.m_Inputs[0]);
        add(layer.m_Outputs[0]);
        const size_t end = row.m_Order == InfoOrder::Weights ? 3 : layer.m_Inputs.size();
        for (size_t i = 1; i < end; ++i)
        {
            add(Input(layer, i));
        }
        return infos;
    }
    // The weights of cells are in the infos of parameters; anchors are an input when support is asked.
    const bool hasCellWeights = IsCell(layer.m_Type) || layer.m_Type == LayerType::QuantizedLstm;
    for (size_t i = 0; i < (hasCellWeights ? row.m_NumTensors : layer.m_Inputs.size()); ++i)
    {
        if (layer.m_Inputs[i] != nullptr)
        {
            add(layer.m_Inputs[i]);
        }
    }
    for (const TensorInfo* output : layer.m_Outputs)
    {
        add(output);
    }
    return infos;
}

LstmInputParamsInfo MakeCellInfos(const ShownLayer& layer)
{
    LstmInputParamsInfo infos;
    detail::ForEachLstmWeight(infos, [&](const TensorInfo*& member, size_t slot) { member = Input(layer, slot); });
    return infos;
}

QuantizedLstmInputParamsInfo MakeQuantizedCellInfos(const ShownLayer& layer)
{
    QuantizedLstmInputParamsInfo infos;
    detail::ForEachQuantizedLstmWeight(infos,
                                       [&](const TensorInfo*& member, size_t slot) { member = Input(layer, slot); });
    return infos;
}

SupportResult AskAs(const ILayerSupport& support, const ShownLayer& layer, LayerType type,
                    const BaseDescriptor& descriptor)
{
    std::string reason;
    try
    {
        Optional<LstmInputParamsInfo> cell;
        Optional<QuantizedLstmInputParamsInfo> quantizedCell;
        if (IsCell(layer.m_Type))
        {
            cell = MakeCellInfos(layer);
        }
        if (layer.m_Type == LayerType::QuantizedLstm)
        {
            quantizedCell = MakeQuantizedCellInfos(layer);
        }
        if (support.IsLayerSupported(type, MakeInfos(layer, *FindRow(layer.m_Type)), descriptor, cell, quantizedCell,
                                     Optional<std::string&>(reason)))
        {
            return SupportResult::Yes();
        }
    }
    catch (const std::exception& e)
    {
        reason = std::string("its ILayerSupport throws: ") + e.what();
    }
    catch (...)
    {
        reason = "its ILayerSupport throws what is no std::exception";
    }
    return SupportResult::No(SupportCode::UnsupportedParameters,
                             reason.empty() ? "its ILayerSupport says no, without a reason" : reason);
}

/// The name that Arm NN calls deprecated for an ElementwiseBinary of this operation.
LayerType GetDeprecatedType(BinaryOperation operation)
{
    switch (operation)
    {
    case BinaryOperation::Add: return LayerType::Addition;
    case BinaryOperation::Div: return LayerType::Division;
    case BinaryOperation::Maximum: return LayerType::Maximum;
    case BinaryOperation::Minimum: return LayerType::Minimum;
    case BinaryOperation::Mul: return LayerType::Multiplication;
    case BinaryOperation::Sub: return LayerType::Subtraction;
    default: return LayerType::ElementwiseBinary; // which ShowLayer refuses
    }
}

SupportResult Show(const LayerView& view, ShownLayer& shown)
{
    const Row* const row = FindRow(view.m_Type);
    if (row == nullptr)
    {
        return SupportResult::No(SupportCode::UnknownLayer,
                                 std::string("Arm NN 23.08 has no layer ") + GetLayerTypeAsCString(view.m_Type));
    }
    if (!row->m_Fits(*view.m_Descriptor))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 std::string("the descriptor is not of a layer ") + GetLayerTypeAsCString(view.m_Type));
    }
    if (const char* const own = row->m_FindOwn(*view.m_Descriptor, row->m_Parameters))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 std::string("Arm NN 23.08 has no such value of m_") + own);
    }
    SupportResult result = CheckLayer(view);
    if (!result)
    {
        return result;
    }
    shown.m_Type = view.m_Type;
    shown.m_Name = view.m_Name != nullptr ? *view.m_Name : std::string();
    shown.m_Inputs.assign(view.m_Inputs.begin(), view.m_Inputs.end());
    shown.m_Outputs.assign(view.m_Outputs.begin(), view.m_Outputs.end());
    for (size_t i = 0; i < shown.m_Inputs.size(); ++i)
    {
        if (shown.m_Inputs[i] != nullptr && i < row->m_NumTensors)
        {
            shown.m_Tensors.push_back(i);
        }
        else if (shown.m_Inputs[i] != nullptr && !view.IsConstant(i))
        {
            return SupportResult::No(SupportCode::UnsupportedDynamic,
                                     "input " + std::to_string(i) +
                                         " must be constant for backends written for Arm NN");
        }
    }
    const std::shared_ptr<BaseDescriptor> descriptor = row->m_Copy(*view.m_Descriptor);
    CompleteDescriptor(view.m_Type, *descriptor, view);
    shown.m_Descriptor = descriptor;
    return SupportResult::Yes();
}

} // namespace

bool OnlyRenamesDimensions(LayerType type)
{
    return type == LayerType::ExpandDims || type == LayerType::Squeeze;
}

SupportResult ShowLayer(const LayerView& view, ShownLayer& shown)
{
    try
    {
        return Show(view, shown);
    }
    catch (const std::exception& e)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, e.what());
    }
}

std::shared_ptr<const BaseDescriptor> KeepDescriptor(const LayerView& view)
{
    // Axes of Concat and views of Splitter may stand for others, which their queue descriptors need.
    const bool isCompletedLater = view.m_Type == LayerType::Concat || view.m_Type == LayerType::Splitter;
    const Row* const row = isCompletedLater ? nullptr : FindRow(view.m_Type);
    return row != nullptr && row->m_Fits(*view.m_Descriptor) ? row->m_Copy(*view.m_Descriptor) : nullptr;
}

SupportResult AskBackend(const ILayerSupport& support, ShownLayer& shown)
{
    if (shown.m_Type == LayerType::PreCompiled)
    {
        return SupportResult::Yes(); // the backend compiled it
    }
    SupportResult result = AskAs(support, shown, shown.m_Type, *shown.m_Descriptor);
    if (!result && shown.m_Type == LayerType::ElementwiseBinary)
    {
        const LayerType deprecated =
            GetDeprecatedType(static_cast<const ElementwiseBinaryDescriptor&>(*shown.m_Descriptor).m_Operation);
        if (AskAs(support, shown, deprecated, BaseDescriptor()))
        {
            shown.m_Type = deprecated;
            shown.m_Descriptor = std::make_shared<NullDescriptor>();
            return SupportResult::Yes();
        }
    }
    return result;
}

std::unique_ptr<QueueDescriptor> MakeQueueDescriptor(const ShownLayer& layer, const ConstantHandles& constants,
                                                     const void* blob)
{
    return FindRow(layer.m_Type)->m_Make(layer, constants, blob);
}

WorkloadInfo MakeWorkloadInfo(const ShownLayer& layer, const std::vector<bool>& isConstant)
{
    WorkloadInfo info;
    info.m_Name = layer.m_Name;
    const auto get = [&](size_t slot)
    {
        TensorInfo copy = *layer.m_Inputs[slot];
        copy.SetConstant(isConstant[slot]);
        return copy;
    };
    for (const size_t slot : layer.m_Tensors)
    {
        info.m_InputTensorInfos.push_back(get(slot));
    }
    for (const TensorInfo* output : layer.m_Outputs)
    {
        info.m_OutputTensorInfos.push_back(*output);
    }
    if (FindRow(layer.m_Type)->m_Order == InfoOrder::Weights)
    {
        info.m_WeightsTensorInfo = get(1);
        if (Input(layer, 2) != nullptr)
        {
            info.m_BiasTensorInfo = get(2);
        }
    }
    return info;
}

} // namespace tenon
