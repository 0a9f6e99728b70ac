// SPDX-License-Identifier: Apache-2.0
// Cases of the layers that combine elements: of windows, along dimensions, of pictures, by their statistics.
#include "CaseParts.hpp"

namespace tenon::test
{

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
    cases.push_back({"Softmax_defaults",
                     {Floats({2, 5})},
                     {Floats({2, 5})},
                     Only(
                         [](INetwork& n, const char* name)
                         {
                             SoftmaxDescriptor descriptor;
                             descriptor.m_Beta = 0.0f;
                             return n.AddSoftmaxLayer(descriptor, name);
                         })});
    cases.push_back({"L2Normalization_defaults",
                     {Floats({1, 2, 3, 4})},
                     {Floats({1, 2, 3, 4})},
                     Only([](INetwork& n, const char* name) { return n.AddL2NormalizationLayer({}, name); })});
    cases.push_back({"LogSoftmax",
                     {Floats({2, 5})},
                     {Floats({2, 5})},
                     Only([](INetwork& n, const char* name) { return n.AddLogSoftmaxLayer({}, name); })});
}

namespace
{

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

} // namespace

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
    cases.push_back({"Pooling2d_defaults",
                     {Floats({1, 2, 4, 4})},
                     {Floats({1, 2, 3, 2})},
                     Only(
                         [](INetwork& n, const char* name)
                         {
                             auto descriptor = Pool<Pooling2dDescriptor>();
                             descriptor.m_PoolType = PoolingAlgorithm::Average;
                             descriptor.m_PaddingMethod = PaddingMethod::IgnoreValue;
                             descriptor.m_OutputShapeRounding = OutputShapeRounding::Floor;
                             descriptor.m_DataLayout = DataLayout::NCHW;
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
    const TensorShape scalar(Dimensionality::Scalar);
    const auto mean = [=](CaseMaker& make, const char* name)
    {
        const Added layer = make->AddMeanLayer({{0, 1, 2}, false}, name);
        make.TakeInputs(layer);
        return make.Reshape(layer, Floats(scalar), TensorShape({1}));
    };
    cases.push_back({"Mean_of_all", {x}, {Floats({1})}, [=](CaseMaker& make) { return mean(make, "layer"); }});
    cases.push_back({"Mean_concat",
                     {x},
                     {Floats({2})},
                     [=](CaseMaker& make)
                     {
                         const Added one = mean(make, "mean");
                         OriginsDescriptor descriptor(2, 1);
                         descriptor.SetConcatAxis(0);
                         descriptor.SetViewOriginCoord(1, 0, 1);
                         const Added layer = make->AddConcatLayer(descriptor, "layer");
                         CaseMaker::Feed(one, layer, 0);
                         CaseMaker::Feed(one, layer, 1);
                         return layer;
                     }});
    cases.push_back({"ArgMinMax_gather",
                     {Floats({5})},
                     {Floats({1, 3})},
                     [=](CaseMaker& make)
                     {
                         const Added table = make.Constant(make.Const(Floats({5, 3})), "table");
                         ArgMinMaxDescriptor descriptor;
                         descriptor.m_Axis = 0;
                         const Added index = make->AddArgMinMaxLayer(descriptor, "extreme");
                         make.TakeInputs(index);
                         const Added one = make.Reshape(index, Typed(scalar, DataType::Signed32), TensorShape({1}));
                         const Added layer = make->AddGatherLayer(GatherDescriptor(0), "layer");
                         CaseMaker::Feed(table, layer, 0);
                         CaseMaker::Feed(one, layer, 1);
                         return layer;
                     }});
    cases.push_back({"Reduce_scalar",
                     {Floats({5})},
                     {Floats(scalar)},
                     [=](CaseMaker& make)
                     {
                         ReduceDescriptor descriptor;
                         descriptor.m_vAxis = {0};
                         descriptor.m_KeepDims = true;
                         const Added layer = make->AddReduceLayer(descriptor, "layer");
                         make.TakeInputs(layer);
                         return make.Reshape(layer, Floats({1}), scalar);
                     }});
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

} // namespace tenon::test
