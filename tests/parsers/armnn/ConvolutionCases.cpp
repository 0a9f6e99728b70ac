// SPDX-License-Identifier: Apache-2.0
// Cases of convolutions and matrix products, with weights as layers and in layers.
#include "CaseParts.hpp"

namespace tenon::test
{

namespace
{

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

} // namespace

void AddConvolution(Cases& cases)
{
    const TensorInfo image = Floats({1, 5, 5, 2});
    const auto convolution = [](INetwork& n, const char* name)
    { return n.AddConvolution2dLayer(Window<Convolution2dDescriptor>(true), name); };
    const std::vector<TensorInfo> weights = {Floats({3, 3, 3, 2}), Floats({3})};
    cases.push_back({"Convolution2d", {image}, {Floats({1, 2, 2, 3})}, Weighted(convolution, weights, false)});
    cases.push_back({"Convolution2d_old", {image}, {Floats({1, 2, 2, 3})}, Weighted(convolution, weights, true)});

    cases.push_back({"Convolution2d_without_identifier",
                     {image},
                     {Floats({1, 2, 2, 3})},
                     [=](CaseMaker& make)
                     {
                         Added layer = Weighted([&](INetwork& n, const char*) { return convolution(n, "convolution"); },
                                                weights, true)(make);
                         make.TakeInputs(layer);
                         for (const char* name : {"relu", "layer"})
                         {
                             const Added relu = make->AddActivationLayer(ActivationFunction::ReLu, name);
                             layer->GetOutputSlot(0).SetTensorInfo(Floats({1, 2, 2, 3}));
                             CaseMaker::Feed(layer, relu, 0);
                             layer = relu;
                         }
                         return layer;
                     }});
    const auto min = [](INetwork& n, const char* name)
    {
        Convolution2dDescriptor descriptor;
        descriptor.m_DataLayout = DataLayout::NCHW;
        return n.AddConvolution2dLayer(descriptor, name);
    };
    const TensorInfo channels({3, 2, 2, 2}, DataType::QSymmS8, std::vector<float>{0.5f, 0.25f, 1.0f}, 0);
    cases.push_back({"Convolution2d_defaults",
                     {Typed({1, 2, 4, 4}, DataType::QAsymmS8, 0.5f, 1)},
                     {Typed({1, 3, 3, 3}, DataType::QAsymmS8, 2.0f, -1)},
                     Weighted(min, {channels}, false)});

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
    cases.push_back({"DepthwiseConvolution2d_bound",
                     {image},
                     {results},
                     Weighted(depthwise(true), {turned, Floats({4})}, true, {TurnedPattern(DataType::Float32)})});
    cases.push_back(
        {"DepthwiseConvolution2d_held", {image}, {results}, Weighted(depthwise(true), {turned, Floats({4})}, true)});
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
    cases.push_back({"FullyConnected_defaults",
                     {Floats({2, 4})},
                     {Floats({2, 3})},
                     Weighted([](INetwork& n, const char* name) { return n.AddFullyConnectedLayer({}, name); },
                              {Floats({4, 3})}, false)});
    cases.push_back({"BatchMatMul",
                     {Floats({2, 3, 4}), Floats({2, 5, 4})},
                     {Floats({2, 3, 5})},
                     Only([](INetwork& n, const char* name)
                          { return n.AddBatchMatMulLayer(BatchMatMulDescriptor(false, true), name); })});
}

} // namespace tenon::test
