// SPDX-License-Identifier: Apache-2.0
// See Cases.hpp.
#include "Cases.hpp"

#include <cstring>
#include <utility>

namespace tenon::test
{

namespace
{

TensorInfo Floats(const TensorShape& shape)
{
    return TensorInfo(shape, DataType::Float32);
}

TensorInfo Typed(const TensorShape& shape, DataType type, float scale = 0.0f, int32_t offset = 0)
{
    return TensorInfo(shape, type, scale, offset);
}

template <typename T>
void Store(std::vector<uint8_t>& bytes, const std::vector<double>& values)
{
    bytes.resize(values.size() * sizeof(T));
    for (size_t i = 0; i < values.size(); ++i)
    {
        const auto value = static_cast<T>(values[i]);
        std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
    }
}

std::vector<double> Pattern(size_t count, DataType type)
{
    std::vector<double> values;
    for (size_t i = 0; i < count; ++i)
    {
        const double value = static_cast<double>(i * 7 % 11) - 5;
        values.push_back(type == DataType::Float32 ? value / 8 : type == DataType::QAsymmU8 ? value + 128 : value);
    }
    return values;
}

using Cases = std::vector<ArmnnCase>;
using Added = IConnectableLayer*;

/// Adds what `add(network, name)` adds.
template <typename Add>
auto Only(Add add)
{
    return [add](CaseMaker& make) -> Added { return add(*make.operator->(), "layer"); };
}

void AddElementwise(Cases& cases)
{
    const TensorInfo x = Floats({2, 3});
    const TensorInfo y = Floats({1, 3});
    const TensorInfo flags = Typed({2, 3}, DataType::Boolean);
    const TensorInfo bytes = Typed({2, 3}, DataType::QAsymmU8, 0.25f, 3);
    cases.push_back({"Activation",
                     {x},
                     {x},
                     Only(
                         [](INetwork& n, const char* name) {
                             return n.AddActivationLayer({ActivationFunction::BoundedReLu, 0.5f, -0.25f}, name);
                         })});
    cases.push_back({"Activation_without_identifier", {x}, {x}, cases.back().m_Add});
    for (const auto& [kind, operation] :
         {std::pair("Addition", BinaryOperation::Add), std::pair("Subtraction", BinaryOperation::Sub),
          std::pair("Multiplication", BinaryOperation::Mul), std::pair("Division", BinaryOperation::Div),
          std::pair("Maximum", BinaryOperation::Maximum), std::pair("Minimum", BinaryOperation::Minimum),
          std::pair("ElementwiseBinary", BinaryOperation::SqDiff)})
    {
        cases.push_back({kind,
                         {x, y},
                         {x},
                         Only([operation = operation](INetwork& n, const char* name)
                              { return n.AddElementwiseBinaryLayer(operation, name); })});
    }
    for (const auto& [kind, operation] :
         {std::pair("Equal", ComparisonOperation::Equal), std::pair("Greater", ComparisonOperation::Greater),
          std::pair("Comparison", ComparisonOperation::LessOrEqual)})
    {
        cases.push_back({kind,
                         {x, y},
                         {flags},
                         Only([operation = operation](INetwork& n, const char* name)
                              { return n.AddComparisonLayer(operation, name); })});
    }
    for (const auto& [kind, operation] :
         {std::pair("Abs", UnaryOperation::Abs), std::pair("Rsqrt", UnaryOperation::Rsqrt),
          std::pair("ElementwiseUnary", UnaryOperation::Neg)})
    {
        cases.push_back({kind,
                         {x},
                         {x},
                         Only([operation = operation](INetwork& n, const char* name)
                              { return n.AddElementwiseUnaryLayer(operation, name); })});
    }
    cases.push_back({"Floor", {x}, {x}, Only([](INetwork& n, const char* name) { return n.AddFloorLayer(name); })});
    cases.push_back({"LogicalBinary",
                     {flags, flags},
                     {flags},
                     Only([](INetwork& n, const char* name)
                          { return n.AddLogicalBinaryLayer(LogicalBinaryOperation::LogicalOr, name); })});
    cases.push_back({"Prelu", {x, y}, {x}, Only([](INetwork& n, const char* name) { return n.AddPreluLayer(name); })});
    cases.push_back({"Cast",
                     {x},
                     {Typed({2, 3}, DataType::Signed32)},
                     Only([](INetwork& n, const char* name) { return n.AddCastLayer(name); })});
    cases.push_back(
        {"Quantize", {x}, {bytes}, Only([](INetwork& n, const char* name) { return n.AddQuantizeLayer(name); })});
    const auto dequantize = Only([](INetwork& n, const char* name) { return n.AddDequantizeLayer(name); });
    cases.push_back({"Dequantize", {bytes}, {x}, dequantize});
    cases.push_back({"Dequantize_overridden", {bytes}, {x}, dequantize});
    cases.back().m_IsOverridden = true;
}

void AddArrangement(Cases& cases)
{
    const TensorInfo x = Floats({2, 3, 4});
    const TensorInfo image = Floats({1, 4, 6, 2});
    const TensorInfo deep = Floats({1, 2, 3, 8});
    const TensorInfo many = Floats({6, 3, 3, 2});
    const TensorInfo padded = Floats({3, 3, 7});
    cases.push_back({"Reshape",
                     {x},
                     {Floats({4, 6})},
                     Only(
                         [](INetwork& n, const char* name) {
                             return n.AddReshapeLayer(ReshapeDescriptor(TensorShape({4, 0}, {true, false})), name);
                         })});
    cases.push_back({"Permute",
                     {x},
                     {Floats({4, 2, 3})},
                     Only(
                         [](INetwork& n, const char* name) {
                             return n.AddPermuteLayer(PermutationVector{1, 2, 0}, name);
                         })});
    cases.push_back({"Transpose",
                     {x},
                     {Floats({3, 4, 2})},
                     Only(
                         [](INetwork& n, const char* name) {
                             return n.AddTransposeLayer(PermutationVector{1, 2, 0}, name);
                         })});
    cases.push_back({"SpaceToDepth",
                     {image},
                     {deep},
                     Only(
                         [](INetwork& n, const char* name) {
                             return n.AddSpaceToDepthLayer({2, DataLayout::NHWC}, name);
                         })});
    cases.push_back({"DepthToSpace",
                     {deep},
                     {image},
                     Only(
                         [](INetwork& n, const char* name) {
                             return n.AddDepthToSpaceLayer({2, DataLayout::NHWC}, name);
                         })});
    cases.push_back({"SpaceToBatchNd",
                     {image},
                     {many},
                     Only(
                         [](INetwork& n, const char* name)
                         {
                             SpaceToBatchNdDescriptor descriptor({2, 3}, {{1, 1}, {2, 1}});
                             descriptor.m_DataLayout = DataLayout::NHWC;
                             return n.AddSpaceToBatchNdLayer(descriptor, name);
                         })});
    cases.push_back({"BatchToSpaceNd",
                     {many},
                     {image},
                     Only(
                         [](INetwork& n, const char* name)
                         {
                             BatchToSpaceNdDescriptor descriptor({2, 3}, {{1, 1}, {2, 1}});
                             descriptor.m_DataLayout = DataLayout::NHWC;
                             return n.AddBatchToSpaceNdLayer(descriptor, name);
                         })});
    cases.push_back({"ChannelShuffle",
                     {x},
                     {x},
                     Only(
                         [](INetwork& n, const char* name) {
                             return n.AddChannelShuffleLayer({2, 2}, name);
                         })});
    cases.push_back({"Pad",
                     {x},
                     {padded},
                     Only(
                         [](INetwork& n, const char* name) {
                             return n.AddPadLayer({{{0, 1}, {0, 0}, {2, 1}}, 0.5f}, name);
                         })});
    cases.push_back({"Pad_mirrored",
                     {x},
                     {padded},
                     Only(
                         [](INetwork& n, const char* name) {
                             return n.AddPadLayer({{{0, 1}, {0, 0}, {2, 1}}, 0.0f, PaddingMode::Reflect}, name);
                         })});
    cases.push_back({"Tile",
                     {x},
                     {Floats({2, 6, 4})},
                     Only(
                         [](INetwork& n, const char* name) {
                             return n.AddTileLayer(TileDescriptor({1, 2, 1}), name);
                         })});
    cases.push_back({"Fill",
                     {},
                     {Floats({2, 3})},
                     [](CaseMaker& make)
                     {
                         const Added shape = make.Constant(make.Const(Typed({2}, DataType::Signed32), {2, 3}), "shape");
                         const Added layer = make->AddFillLayer(FillDescriptor(0.75f), "layer");
                         CaseMaker::Feed(shape, layer, 0);
                         return layer;
                     }});
    cases.push_back({"ReverseV2",
                     {x},
                     {x},
                     [](CaseMaker& make)
                     {
                         const Added axes = make.Constant(make.Const(Typed({1}, DataType::Signed32), {1}), "axes");
                         const Added layer = make->AddReverseV2Layer("layer");
                         CaseMaker::Feed(axes, layer, 1);
                         return layer;
                     }});
}

/// The layer `add` adds, behind weights and bias that are layers of their own, or before those that old files hold.
template <typename Add>
auto Weighted(Add add, const std::vector<TensorInfo>& constants, bool isOld,
              const std::vector<std::vector<double>>& values = {})
{
    return [=](CaseMaker& make) -> Added
    {
        static const char* const names[] = {"weights", "bias"};
        Added layer = isOld ? add(*make.operator->(), "layer") : nullptr;
        std::vector<Added> added;
        for (size_t i = 0; i < constants.size(); ++i)
        {
            const ConstTensor tensor = make.Const(constants[i], i < values.size() ? values[i] : std::vector<double>());
            added.push_back(make.Constant(tensor, isOld ? "" : names[i]));
        }
        layer = isOld ? layer : add(*make.operator->(), "layer");
        for (unsigned int i = 0; i < added.size(); ++i)
        {
            CaseMaker::Feed(added[i], layer, i + 1);
        }
        return layer;
    };
}

template <typename Descriptor>
Descriptor Window(bool hasBias)
{
    Descriptor descriptor;
    descriptor.m_PadLeft = 1;
    descriptor.m_PadTop = 1;
    descriptor.m_StrideX = 2;
    descriptor.m_StrideY = 2;
    descriptor.m_BiasEnabled = hasBias;
    descriptor.m_DataLayout = DataLayout::NHWC;
    return descriptor;
}

/// The pattern of [2, 2, 3, 3] turned to [1, 3, 3, 4].
std::vector<double> TurnedPattern(DataType type)
{
    const std::vector<double> stored = Pattern(36, type);
    std::vector<double> turned(36);
    for (size_t m = 0; m < 2; ++m)
    {
        for (size_t i = 0; i < 2; ++i)
        {
            for (size_t pixel = 0; pixel < 9; ++pixel)
            {
                turned[pixel * 4 + i * 2 + m] = stored[(m * 2 + i) * 9 + pixel];
            }
        }
    }
    return turned;
}

void AddConvolution(Cases& cases)
{
    const TensorInfo image = Floats({1, 5, 5, 2});
    const auto convolution = [](INetwork& n, const char* name)
    { return n.AddConvolution2dLayer(Window<Convolution2dDescriptor>(true), name); };
    const std::vector<TensorInfo> weights = {Floats({3, 3, 3, 2}), Floats({3})};
    cases.push_back({"Convolution2d", {image}, {Floats({1, 2, 2, 3})}, Weighted(convolution, weights, false)});
    cases.push_back({"Convolution2d_old", {image}, {Floats({1, 2, 2, 3})}, Weighted(convolution, weights, true)});

    const auto depthwise = [](bool hasBias)
    {
        return [hasBias](INetwork& n, const char* name)
        { return n.AddDepthwiseConvolution2dLayer(Window<DepthwiseConvolution2dDescriptor>(hasBias), name); };
    };
    const TensorInfo turned = Floats({1, 3, 3, 4});
    const TensorInfo results = Floats({1, 2, 2, 4});
    cases.push_back(
        {"DepthwiseConvolution2d", {image}, {results}, Weighted(depthwise(true), {turned, Floats({4})}, false)});
    cases.push_back({"DepthwiseConvolution2d_old",
                     {image},
                     {results},
                     Weighted(depthwise(true), {turned, Floats({4})}, true, {TurnedPattern(DataType::Float32)})});
    cases.push_back({"DepthwiseConvolution2d_constant_old",
                     {image},
                     {results},
                     Weighted(depthwise(false), {turned}, false, {TurnedPattern(DataType::Float32)})});
    const TensorInfo scaled({1, 3, 3, 4}, DataType::QSymmS8, std::vector<float>{0.5f, 0.25f, 1.0f, 0.125f}, 3);
    cases.push_back({"DepthwiseConvolution2d_scales_old",
                     {Typed({1, 5, 5, 2}, DataType::QAsymmS8, 0.5f, 1)},
                     {Typed({1, 2, 2, 4}, DataType::QAsymmS8, 2.0f, -1)},
                     Weighted(depthwise(false), {scaled}, true, {TurnedPattern(DataType::QSymmS8)})});

    const auto volume = [](INetwork& n, const char* name)
    {
        Convolution3dDescriptor descriptor;
        descriptor.m_PadFront = 1;
        descriptor.m_BiasEnabled = true;
        return n.AddConvolution3dLayer(descriptor, name);
    };
    cases.push_back({"Convolution3d",
                     {Floats({1, 2, 3, 3, 2})},
                     {Floats({1, 2, 2, 2, 3})},
                     Weighted(volume, {Floats({2, 2, 2, 2, 3}), Floats({3})}, false)});
    cases.push_back({"TransposeConvolution2d",
                     {Floats({1, 2, 2, 2})},
                     {Floats({1, 5, 4, 3})},
                     [](CaseMaker& make)
                     {
                         TransposeConvolution2dDescriptor descriptor;
                         descriptor.m_PadRight = 1;
                         descriptor.m_StrideX = 2;
                         descriptor.m_StrideY = 2;
                         descriptor.m_BiasEnabled = true;
                         descriptor.m_DataLayout = DataLayout::NHWC;
                         return make->AddTransposeConvolution2dLayer(descriptor, make.Const(Floats({3, 3, 3, 2})),
                                                                     Optional<ConstTensor>(make.Const(Floats({3}))),
                                                                     "layer");
                     }});
    const auto flat = [](INetwork& n, const char* name)
    {
        FullyConnectedDescriptor descriptor;
        descriptor.m_BiasEnabled = true;
        descriptor.m_TransposeWeightMatrix = true;
        return n.AddFullyConnectedLayer(descriptor, name);
    };
    for (const bool isOld : {false, true})
    {
        cases.push_back({isOld ? "FullyConnected_old" : "FullyConnected",
                         {Floats({2, 4})},
                         {Floats({2, 3})},
                         Weighted(flat, {Floats({3, 4}), Floats({3})}, isOld)});
    }
    cases.push_back({"BatchMatMul",
                     {Floats({2, 3, 4}), Floats({2, 5, 4})},
                     {Floats({2, 3, 5})},
                     Only([](INetwork& n, const char* name)
                          { return n.AddBatchMatMulLayer(BatchMatMulDescriptor(false, true), name); })});
}

void AddNormalization(Cases& cases)
{
    const TensorInfo image = Floats({1, 3, 4, 2});
    cases.push_back({"BatchNormalization",
                     {image},
                     {image},
                     [](CaseMaker& make)
                     {
                         BatchNormalizationDescriptor descriptor;
                         descriptor.m_Eps = 0.001f;
                         descriptor.m_DataLayout = DataLayout::NHWC;
                         const TensorInfo each = Floats({2});
                         return make->AddBatchNormalizationLayer(descriptor, make.Const(each),
                                                                 make.Const(each, {0.5, 2.0}), make.Const(each),
                                                                 make.Const(each), "layer");
                     }});
    cases.push_back({"InstanceNormalization",
                     {image},
                     {image},
                     Only(
                         [](INetwork& n, const char* name)
                         {
                             InstanceNormalizationDescriptor descriptor;
                             descriptor.m_Gamma = 2.0f;
                             descriptor.m_Beta = 0.5f;
                             descriptor.m_Eps = 0.001f;
                             descriptor.m_DataLayout = DataLayout::NHWC;
                             return n.AddInstanceNormalizationLayer(descriptor, name);
                         })});
    cases.push_back({"L2Normalization",
                     {image},
                     {image},
                     Only(
                         [](INetwork& n, const char* name)
                         {
                             L2NormalizationDescriptor descriptor;
                             descriptor.m_Eps = 0.001f;
                             descriptor.m_DataLayout = DataLayout::NHWC;
                             return n.AddL2NormalizationLayer(descriptor, name);
                         })});
    cases.push_back({"Normalization",
                     {image},
                     {image},
                     Only(
                         [](INetwork& n, const char* name)
                         {
                             NormalizationDescriptor descriptor;
                             descriptor.m_NormSize = 3;
                             descriptor.m_Alpha = 0.5f;
                             descriptor.m_Beta = 0.75f;
                             descriptor.m_K = 1.0f;
                             descriptor.m_DataLayout = DataLayout::NHWC;
                             return n.AddNormalizationLayer(descriptor, name);
                         })});
    cases.push_back({"Softmax",
                     {Floats({2, 5})},
                     {Floats({2, 5})},
                     Only(
                         [](INetwork& n, const char* name)
                         {
                             SoftmaxDescriptor descriptor;
                             descriptor.m_Beta = 0.5f;
                             descriptor.m_Axis = 1;
                             return n.AddSoftmaxLayer(descriptor, name);
                         })});
    cases.push_back({"LogSoftmax",
                     {Floats({2, 5})},
                     {Floats({2, 5})},
                     Only([](INetwork& n, const char* name) { return n.AddLogSoftmaxLayer({}, name); })});
}

template <typename Descriptor>
Descriptor Pool()
{
    Descriptor descriptor;
    descriptor.m_PadLeft = 1;
    descriptor.m_PoolWidth = 2;
    descriptor.m_PoolHeight = 2;
    descriptor.m_StrideX = 2;
    descriptor.m_StrideY = 1;
    descriptor.m_PaddingMethod = PaddingMethod::Exclude;
    descriptor.m_OutputShapeRounding = OutputShapeRounding::Ceiling;
    return descriptor;
}

void AddPooling(Cases& cases)
{
    cases.push_back({"Pooling2d",
                     {Floats({1, 4, 4, 2})},
                     {Floats({1, 3, 3, 2})},
                     Only(
                         [](INetwork& n, const char* name)
                         {
                             auto descriptor = Pool<Pooling2dDescriptor>();
                             descriptor.m_PoolType = PoolingAlgorithm::Average;
                             descriptor.m_DataLayout = DataLayout::NHWC;
                             return n.AddPooling2dLayer(descriptor, name);
                         })});
    cases.push_back({"Pooling3d",
                     {Floats({1, 3, 4, 4, 2})},
                     {Floats({1, 2, 3, 3, 2})},
                     Only(
                         [](INetwork& n, const char* name)
                         {
                             auto descriptor = Pool<Pooling3dDescriptor>();
                             descriptor.m_PoolDepth = 2;
                             descriptor.m_StrideZ = 1;
                             descriptor.m_DataLayout = DataLayout::NDHWC;
                             return n.AddPooling3dLayer(descriptor, name);
                         })});
}

void AddReduction(Cases& cases)
{
    const TensorInfo x = Floats({2, 3, 4});
    const auto extreme = [](ArgMinMaxFunction function, int axis, DataType type)
    {
        ArgMinMaxDescriptor descriptor;
        descriptor.m_Function = function;
        descriptor.m_Axis = axis;
        descriptor.m_Output_Type = type;
        return Only([descriptor](INetwork& n, const char* name) { return n.AddArgMinMaxLayer(descriptor, name); });
    };
    cases.push_back({"ArgMinMax",
                     {x},
                     {Typed({2, 4}, DataType::Signed32)},
                     extreme(ArgMinMaxFunction::Max, 1, DataType::Signed32)});
    cases.push_back({"ArgMinMax_64",
                     {x},
                     {Typed({2, 3}, DataType::Signed64)},
                     extreme(ArgMinMaxFunction::Min, -1, DataType::Signed64)});
    cases.push_back({"Mean",
                     {x},
                     {Floats({2, 1, 4})},
                     Only(
                         [](INetwork& n, const char* name) {
                             return n.AddMeanLayer({{1}, true}, name);
                         })});
    cases.push_back({"Mean_of_all",
                     {x},
                     {Floats(TensorShape(Dimensionality::Scalar))},
                     Only(
                         [](INetwork& n, const char* name) {
                             return n.AddMeanLayer({{0, 1, 2}, false}, name);
                         })});
    cases.push_back({"Reduce",
                     {x},
                     {Floats({2, 4})},
                     Only(
                         [](INetwork& n, const char* name)
                         {
                             ReduceDescriptor descriptor;
                             descriptor.m_vAxis = {1};
                             descriptor.m_ReduceOperation = ReduceOperation::Max;
                             return n.AddReduceLayer(descriptor, name);
                         })});
}

void AddSlicing(Cases& cases)
{
    const TensorInfo x = Floats({2, 3, 4});
    const TensorInfo left = Floats({2, 3});
    const TensorInfo right = Floats({2, 1});
    for (const char* kind : {"Concat", "Merger"})
    {
        cases.push_back({kind,
                         {left, right},
                         {Floats({2, 4})},
                         Only(
                             [](INetwork& n, const char* name)
                             {
                                 OriginsDescriptor descriptor(2, 2);
                                 descriptor.SetConcatAxis(1);
                                 descriptor.SetViewOriginCoord(1, 1, 3);
                                 return n.AddConcatLayer(descriptor, name);
                             })});
    }
    cases.push_back({"Splitter",
                     {Floats({2, 4})},
                     {left, right},
                     Only(
                         [](INetwork& n, const char* name)
                         {
                             ViewsDescriptor descriptor(2, 2);
                             const uint32_t sizes[] = {3, 1};
                             for (uint32_t view = 0; view < 2; ++view)
                             {
                                 descriptor.SetViewOriginCoord(view, 1, view * 3);
                                 descriptor.SetViewSize(view, 0, 2);
                                 descriptor.SetViewSize(view, 1, sizes[view]);
                             }
                             descriptor.SetAxis(1);
                             return n.AddSplitterLayer(descriptor, name);
                         })});
    cases.push_back({"Stack",
                     {left, left},
                     {Floats({2, 2, 3})},
                     Only(
                         [](INetwork& n, const char* name) {
                             return n.AddStackLayer(StackDescriptor(1, 2, {2, 3}), name);
                         })});
    cases.push_back({"Slice",
                     {x},
                     {Floats({1, 2, 4})},
                     Only(
                         [](INetwork& n, const char* name) {
                             return n.AddSliceLayer({{1, 1, 0}, {1, 2, 4}}, name);
                         })});
    cases.push_back({"StridedSlice",
                     {x},
                     {Floats({3, 2})},
                     Only(
                         [](INetwork& n, const char* name)
                         {
                             StridedSliceDescriptor descriptor({1, 2, 0}, {2, 0, 4}, {1, -1, 2});
                             descriptor.m_EndMask = 2;
                             descriptor.m_ShrinkAxisMask = 1;
                             descriptor.m_DataLayout = DataLayout::NHWC;
                             return n.AddStridedSliceLayer(descriptor, name);
                         })});
    cases.push_back(
        {"Gather",
         {x},
         {Floats({2, 2, 4})},
         [](CaseMaker& make)
         {
             const Added indices = make.Constant(make.Const(Typed({2}, DataType::Signed32), {2, 0}), "indices");
             const Added layer = make->AddGatherLayer(GatherDescriptor(1), "layer");
             CaseMaker::Feed(indices, layer, 1);
             return layer;
         }});
    cases.push_back({"GatherNd",
                     {x},
                     {Floats({2, 4})},
                     [](CaseMaker& make)
                     {
                         const Added indices =
                             make.Constant(make.Const(Typed({2, 2}, DataType::Signed32), {1, 2, 0, 1}), "indices");
                         const Added layer = make->AddGatherNdLayer("layer");
                         CaseMaker::Feed(indices, layer, 1);
                         return layer;
                     }});
}

void AddStructure(Cases& cases)
{
    const TensorInfo x = Floats({2, 3});
    cases.push_back({"Rank",
                     {x},
                     {Typed(TensorShape(Dimensionality::Scalar), DataType::Signed32)},
                     Only([](INetwork& n, const char* name) { return n.AddRankLayer(name); })});
    cases.push_back({"Shape",
                     {x},
                     {Typed({2}, DataType::Signed32)},
                     Only([](INetwork& n, const char* name) { return n.AddShapeLayer(name); })});
    cases.push_back({"Constant", {}, {TensorInfo({2, 3}, DataType::Float32, 0.0f, 0, true)}, [](CaseMaker& make) {
                         return make.Constant(make.Const(Floats({2, 3})), "layer");
                     }});
    cases.push_back(
        {"Merge", {x, x}, {x}, Only([](INetwork& n, const char* name) { return n.AddMergeLayer(name); }), false});
    cases.push_back({"Switch",
                     {x, Typed({1}, DataType::Boolean)},
                     {x, x},
                     Only([](INetwork& n, const char* name) { return n.AddSwitchLayer(name); }),
                     false});
    cases.push_back({"StandIn",
                     {x, x},
                     {x},
                     Only(
                         [](INetwork& n, const char* name) {
                             return n.AddStandInLayer({2, 1}, name);
                         }),
                     false});
}

void AddVision(Cases& cases)
{
    const auto resize = [](ResizeMethod method, bool isAligned)
    {
        ResizeDescriptor descriptor;
        descriptor.m_TargetHeight = 4;
        descriptor.m_TargetWidth = 5;
        descriptor.m_Method = method;
        descriptor.m_DataLayout = DataLayout::NHWC;
        descriptor.m_AlignCorners = isAligned;
        descriptor.m_HalfPixelCenters = !isAligned;
        return Only([descriptor](INetwork& n, const char* name) { return n.AddResizeLayer(descriptor, name); });
    };
    const TensorInfo image = Floats({1, 2, 3, 2});
    cases.push_back({"Resize", {image}, {Floats({1, 4, 5, 2})}, resize(ResizeMethod::NearestNeighbor, false)});
    cases.push_back({"ResizeBilinear", {image}, {Floats({1, 4, 5, 2})}, resize(ResizeMethod::Bilinear, true)});
    cases.push_back(
        {"DetectionPostProcess",
         {Floats({1, 6, 4}), Floats({1, 6, 3})},
         {Floats({1, 3, 4}), Floats({1, 3}), Floats({1, 3}), Floats({1})},
         [](CaseMaker& make)
         {
             DetectionPostProcessDescriptor descriptor;
             descriptor.m_MaxDetections = 3;
             descriptor.m_NmsScoreThreshold = 0.1f;
             descriptor.m_NmsIouThreshold = 0.5f;
             descriptor.m_NumClasses = 2;
             descriptor.m_UseRegularNms = true;
             descriptor.m_ScaleX = 10.0f;
             descriptor.m_ScaleY = 10.0f;
             descriptor.m_ScaleW = 5.0f;
             descriptor.m_ScaleH = 5.0f;
             std::vector<double> anchors;
             for (int i = 0; i < 24; ++i)
             {
                 anchors.push_back((i * 5 % 7 + 1) / 8.0);
             }
             return make->AddDetectionPostProcessLayer(descriptor, make.Const(Floats({6, 4}), anchors), "layer");
         }});
}

/// Weights of a cell with four units for data of three, by the infos of input weights, recurrent weights and biases.
struct CellInfos
{
    TensorInfo m_Input;
    TensorInfo m_Recurrent;
    TensorInfo m_Bias;
};

/// Keeps the tensors that the pointers of parameters lead to.
class CellMaker
{
public:
    explicit CellMaker(CaseMaker& make) : m_Make(make) {}

    const ConstTensor* Get(const TensorInfo& info) { return &m_Tensors.emplace_back(m_Make.Const(info)); }

    template <typename Params>
    Params Gates(const CellInfos& infos, bool hasInputGate)
    {
        Params params;
        if (hasInputGate)
        {
            params.m_InputToInputWeights = Get(infos.m_Input);
            params.m_RecurrentToInputWeights = Get(infos.m_Recurrent);
            params.m_InputGateBias = Get(infos.m_Bias);
        }
        params.m_InputToForgetWeights = Get(infos.m_Input);
        params.m_InputToCellWeights = Get(infos.m_Input);
        params.m_InputToOutputWeights = Get(infos.m_Input);
        params.m_RecurrentToForgetWeights = Get(infos.m_Recurrent);
        params.m_RecurrentToCellWeights = Get(infos.m_Recurrent);
        params.m_RecurrentToOutputWeights = Get(infos.m_Recurrent);
        params.m_ForgetGateBias = Get(infos.m_Bias);
        params.m_CellBias = Get(infos.m_Bias);
        params.m_OutputGateBias = Get(infos.m_Bias);
        return params;
    }

private:
    CaseMaker& m_Make;
    std::deque<ConstTensor> m_Tensors;
};

void AddRecurrent(Cases& cases)
{
    const CellInfos floats = {Floats({4, 3}), Floats({4, 4}), Floats({4})};
    const TensorInfo state = Floats({2, 4});
    const auto plain = [](bool isTimeMajor)
    {
        LstmDescriptor descriptor;
        descriptor.m_ActivationFunc = 4;
        descriptor.m_ClippingThresCell = 2.0f;
        descriptor.m_CifgEnabled = false;
        descriptor.m_TimeMajor = isTimeMajor;
        return descriptor;
    };
    cases.push_back({"Lstm",
                     {Floats({2, 3}), state, state},
                     {Floats({2, 16}), state, state, state},
                     [=](CaseMaker& make)
                     {
                         CellMaker cell(make);
                         return make->AddLstmLayer(plain(false), cell.Gates<LstmInputParams>(floats, true), "layer");
                     }});
    cases.push_back({"Lstm_coupled",
                     {Floats({2, 3}), state, state},
                     {Floats({2, 12}), state, state, state},
                     [=](CaseMaker& make)
                     {
                         LstmDescriptor descriptor;
                         descriptor.m_ActivationFunc = 4;
                         descriptor.m_ClippingThresProj = 1.0f;
                         descriptor.m_PeepholeEnabled = true;
                         descriptor.m_ProjectionEnabled = true;
                         descriptor.m_LayerNormEnabled = true;
                         CellMaker cell(make);
                         auto params = cell.Gates<LstmInputParams>(floats, false);
                         for (const ConstTensor** member :
                              {&params.m_CellToForgetWeights, &params.m_CellToOutputWeights, &params.m_ProjectionBias,
                               &params.m_ForgetLayerNormWeights, &params.m_CellLayerNormWeights,
                               &params.m_OutputLayerNormWeights})
                         {
                             *member = cell.Get(floats.m_Bias);
                         }
                         params.m_ProjectionWeights = cell.Get(Floats({4, 4}));
                         return make->AddLstmLayer(descriptor, params, "layer");
                     }});
    for (const bool isTimeMajor : {false, true})
    {
        const TensorInfo data = isTimeMajor ? Floats({5, 2, 3}) : Floats({2, 5, 3});
        const TensorInfo output = isTimeMajor ? Floats({5, 2, 4}) : Floats({2, 5, 4});
        cases.push_back({isTimeMajor ? "UnidirectionalSequenceLstm_time" : "UnidirectionalSequenceLstm",
                         {data, state, state},
                         {state, state, output},
                         [=](CaseMaker& make)
                         {
                             CellMaker cell(make);
                             return make->AddUnidirectionalSequenceLstmLayer(
                                 plain(isTimeMajor), cell.Gates<LstmInputParams>(floats, true), "layer");
                         }});
    }
    const TensorInfo hidden = Typed({2, 4}, DataType::QAsymmS8, 0.007f, 0);
    const TensorInfo cellState = Typed({2, 4}, DataType::QSymmS16, 0.000030517578125f, 0);
    cases.push_back({"QLstm",
                     {Typed({2, 3}, DataType::QAsymmS8, 0.0078125f, 0), hidden, cellState},
                     {hidden, cellState, hidden},
                     [](CaseMaker& make)
                     {
                         QLstmDescriptor descriptor;
                         descriptor.m_CifgEnabled = false;
                         descriptor.m_HiddenStateScale = 0.007f;
                         for (float QLstmDescriptor::*scale :
                              {&QLstmDescriptor::m_InputIntermediateScale, &QLstmDescriptor::m_ForgetIntermediateScale,
                               &QLstmDescriptor::m_CellIntermediateScale, &QLstmDescriptor::m_OutputIntermediateScale})
                         {
                             descriptor.*scale = 0.007812f;
                         }
                         CellMaker cell(make);
                         const CellInfos infos = {Typed({4, 3}, DataType::QSymmS8, 0.0078125f),
                                                  Typed({4, 4}, DataType::QSymmS8, 0.0078125f),
                                                  Typed({4}, DataType::Signed32)};
                         return make->AddQLstmLayer(descriptor, cell.Gates<LstmInputParams>(infos, true), "layer");
                     }});
    const TensorInfo bytes = Typed({2, 4}, DataType::QAsymmU8, 0.0078125f, 128);
    const TensorInfo longState = Typed({2, 4}, DataType::QSymmS16, 0.00048828125f, 0);
    cases.push_back({"QuantizedLstm",
                     {Typed({2, 3}, DataType::QAsymmU8, 0.0078125f, 128), longState, bytes},
                     {longState, bytes},
                     [](CaseMaker& make)
                     {
                         CellMaker cell(make);
                         const CellInfos infos = {Typed({4, 3}, DataType::QAsymmU8, 0.0078125f, 100),
                                                  Typed({4, 4}, DataType::QAsymmU8, 0.0078125f, 100),
                                                  Typed({4}, DataType::Signed32)};
                         return make->AddQuantizedLstmLayer(cell.Gates<QuantizedLstmInputParams>(infos, true), "layer");
                     }});
}

void AddVersions(Cases& cases)
{
    const auto relu =
        Only([](INetwork& n, const char* name) { return n.AddActivationLayer(ActivationFunction::ReLu, name); });
    const TensorInfo bytes = Typed({2, 3}, DataType::QAsymmU8, 0.25f, 3);
    const TensorInfo shorts = Typed({2, 3}, DataType::QSymmS16, 0.25f);
    cases.push_back({"Activation_old", {bytes}, {bytes}, relu});
    cases.push_back({"Activation_16_old", {shorts}, {shorts}, relu});
    cases.push_back(
        {"Subtraction_turned",
         {Floats({2, 3}), Floats({1, 3})},
         {Floats({2, 3})},
         Only([](INetwork& n, const char* name) { return n.AddElementwiseBinaryLayer(BinaryOperation::Sub, name); })});
    cases.back().m_IsTurned = true;
    const auto abs =
        Only([](INetwork& n, const char* name) { return n.AddElementwiseUnaryLayer(UnaryOperation::Abs, name); });
    const TensorInfo open = Floats(TensorShape({0, 3}, {false, true}));
    const TensorInfo any = Floats(TensorShape(Dimensionality::NotSpecified));
    cases.push_back({"Abs_open", {open}, {open}, abs});
    cases.push_back({"Abs_of_any_rank", {any}, {any}, abs});
}

} // namespace

ConstTensor CaseMaker::Const(TensorInfo info, const std::vector<double>& values)
{
    info.SetConstant();
    const DataType type = info.GetDataType();
    const std::vector<double> used = values.empty() ? Pattern(info.GetNumElements(), type) : values;
    std::vector<uint8_t>& bytes = m_Memory.emplace_back();
    switch (type)
    {
    case DataType::Float32: Store<float>(bytes, used); break;
    case DataType::Signed32: Store<int32_t>(bytes, used); break;
    case DataType::QAsymmU8: Store<uint8_t>(bytes, used); break;
    default: Store<int8_t>(bytes, used); break;
    }
    return {info, bytes};
}

IConnectableLayer* CaseMaker::Constant(const ConstTensor& tensor, const char* name)
{
    return m_Network.AddConstantLayer(tensor, name);
}

TensorInfo ArmnnCase::Override()
{
    return Typed({2, 3}, DataType::QAsymmU8, 0.5f, 1);
}

std::vector<ArmnnCase> ArmnnCases()
{
    std::vector<ArmnnCase> cases;
    for (void (*const add)(Cases&) : {AddElementwise, AddArrangement, AddConvolution, AddNormalization, AddPooling,
                                      AddReduction, AddSlicing, AddStructure, AddVision, AddRecurrent, AddVersions})
    {
        add(cases);
    }
    return cases;
}

CaseNetwork::CaseNetwork(const ArmnnCase& tested) : m_Network(INetwork::Create())
{
    constexpr LayerBindingId firstInput = 10;
    constexpr LayerBindingId firstOutput = 20;
    std::vector<Added> inputs(tested.m_Inputs.size());
    for (size_t k = 0; k < inputs.size(); ++k)
    {
        const size_t i = tested.m_IsTurned ? inputs.size() - 1 - k : k;
        inputs[i] =
            m_Network->AddInputLayer(firstInput + static_cast<LayerBindingId>(i), ("in" + std::to_string(i)).c_str());
        inputs[i]->GetOutputSlot(0).SetTensorInfo(tested.m_Inputs[i]);
    }
    CaseMaker make(*m_Network, m_Memory);
    const Added layer = tested.m_Add(make);
    for (unsigned int i = 0; i < inputs.size(); ++i)
    {
        inputs[i]->GetOutputSlot(0).Connect(layer->GetInputSlot(i));
    }
    if (tested.m_IsOverridden)
    {
        layer->GetInputSlot(0).SetTensorInfo(ArmnnCase::Override());
    }
    for (unsigned int i = 0; i < tested.m_Outputs.size(); ++i)
    {
        layer->GetOutputSlot(i).SetTensorInfo(tested.m_Outputs[i]);
        const Added output = m_Network->AddOutputLayer(firstOutput + static_cast<LayerBindingId>(i),
                                                       ("out" + std::to_string(i)).c_str());
        layer->GetOutputSlot(i).Connect(output->GetInputSlot(0));
    }
}

} // namespace tenon::test
