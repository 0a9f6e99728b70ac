// SPDX-License-Identifier: Apache-2.0
// The layers of bench_kernels.
#include "KernelLayers.hpp"

#include <initializer_list>

namespace tenon::bench
{

void AddMatrixProducts(const std::function<void(const Make&)>& add)
{
    struct Pointwise
    {
        unsigned int m_Size;
        unsigned int m_Inputs;
        unsigned int m_Outputs;
    };
    // MobileNet v1, then v2.
    for (const Pointwise& c : std::initializer_list<Pointwise>{
             {112, 32, 64},  {56, 64, 128},  {56, 128, 128},  {28, 128, 256}, {28, 256, 256}, {14, 256, 512},
             {14, 512, 512}, {7, 512, 1024}, {7, 1024, 1024}, {112, 32, 16},  {112, 16, 96},  {56, 96, 24},
             {56, 24, 144},  {56, 144, 24},  {28, 144, 32},   {28, 32, 192},  {28, 192, 32},  {14, 192, 64},
             {14, 64, 384},  {14, 384, 64},  {14, 384, 96},   {14, 96, 576},  {14, 576, 96},  {7, 576, 160},
             {7, 160, 960},  {7, 960, 160},  {7, 960, 320},   {7, 320, 1280}})
    {
        add([=](Element element) { return MakeConvolution(element, c.m_Size, c.m_Inputs, c.m_Outputs, {1, 1}); });
    }
    // The first layer of MobileNets, then of ResNets, and their blocks.
    add([](Element element) { return MakeConvolution(element, 224, 3, 32, {3, 2}); });
    add([](Element element) { return MakeConvolution(element, 224, 3, 64, {7, 2}); });
    add([](Element element) { return MakeConvolution(element, 56, 64, 64, {3, 1}); });
    add([](Element element) { return MakeConvolution(element, 14, 256, 256, {3, 1}); });
    add([](Element element) { return MakeFullyConnected(element, 1, 1024, 1024); });
    add([](Element element) { return MakeFullyConnected(element, 128, 256, 1024); });
    // The attention of a small BERT.
    add([](Element element) { return MakeMatMul(element, {4, 128, 64, 128, false, true}); });
    add([](Element element) { return MakeMatMul(element, {4, 128, 128, 64}); });
    // A matrix for all of many rows: a packed part of it has to serve them all.
    add([](Element element) { return MakeMatMul(element, {256, 1, 1024, 1024, false, false, true}); });
    add([](Element element) { return MakeMatMul(element, {16, 64, 1024, 1024, false, false, true}); });
    for (const bool isColumn : {false, true})
    {
        add([=](Element element) { return MakeConvolutionSequence(element, {1, 500, 40, 9, isColumn}, 64); });
        add([=](Element element) { return MakeConvolutionSequence(element, {1, 1000, 8, 5, isColumn}, 16); });
        add([=](Element element) { return MakeConvolutionSequence(element, {1, 16000, 1, 80, isColumn}, 32); });
    }
}

void AddDepthwise(const std::function<void(const Make&)>& add)
{
    struct Case
    {
        unsigned int m_Size;
        unsigned int m_Channels;
        Window m_Window;
    };
    for (const Case& c : std::initializer_list<Case>{{112, 32, {3, 1}},
                                                     {112, 64, {3, 2}},
                                                     {112, 96, {3, 2}},
                                                     {56, 128, {3, 1}},
                                                     {56, 144, {3, 1}},
                                                     {56, 144, {3, 2}},
                                                     {28, 192, {3, 1}},
                                                     {28, 192, {3, 2}},
                                                     {14, 384, {3, 1}},
                                                     {14, 576, {3, 2}},
                                                     {7, 960, {3, 1}},
                                                     {28, 240, {5, 1}},
                                                     {28, 240, {5, 2}},
                                                     {14, 672, {5, 1}},
                                                     {7, 1152, {5, 1}}})
    {
        add([=](Element element) { return MakeDepthwise(element, c.m_Size, c.m_Channels, c.m_Window); });
    }
    for (const bool isColumn : {false, true})
    {
        add([=](Element element) { return MakeDepthwiseSequence(element, {10, 335, 80, 31, isColumn}); });
        add([=](Element element) { return MakeDepthwiseSequence(element, {1, 200, 512, 33, isColumn}); });
        add([=](Element element) { return MakeDepthwiseSequence(element, {1, 500, 16, 3, isColumn}); });
    }
}

void AddOthers(const std::function<void(const Make&)>& add)
{
    for (const TensorShape& shape : {TensorShape({1, 56, 56, 24}), TensorShape({1, 14, 14, 96}),
                                     TensorShape({1, 56, 56, 256}), TensorShape({1, 112, 112, 64})})
    {
        add([=](Element element) { return MakeAdd(element, shape); });
        add([=](Element element) { return MakeTranspose(element, shape); });
        add([=](Element element) { return MakeConcat(element, shape, 3); });
        add([=](Element element) { return MakeSplit(element, shape); });
        add([=](Element element) { return MakePad(element, shape); });
        add([=](Element element) { return MakeSlice(element, shape); });
    }
    add([](Element element) { return MakeConcat(element, {1, 56, 56, 64}, 1); });
    add([](Element element) { return MakeGather(element, 1000, 128, 384); });
    add([](Element element) { return MakeGather(element, 1000, 24, 384); });
    for (const TensorShape& shape : {TensorShape({1, 16, 16, 96}), TensorShape({1, 64, 64, 32})})
    {
        add([=](Element element) { return MakeResize(element, ResizeMethod::Bilinear, shape); });
        add([=](Element element) { return MakeResize(element, ResizeMethod::NearestNeighbor, shape); });
    }
    add([](Element element) { return MakePooling(element, PoolingAlgorithm::Average, 7, 1280, {7, 1}); });
    add([](Element element) { return MakePooling(element, PoolingAlgorithm::Max, 112, 64, {3, 2}); });
    add([](Element element) { return MakePooling(element, PoolingAlgorithm::Max, 56, 64, {2, 2}); });
    for (const bool isColumn : {false, true})
    {
        for (const PoolingAlgorithm algorithm : {PoolingAlgorithm::Max, PoolingAlgorithm::Average})
        {
            add([=](Element element) { return MakePoolingSequence(element, algorithm, {1, 1000, 64, 2, isColumn}); });
        }
    }
    add([](Element element) { return MakeSoftmax(element, {1, 1001}); });
    add([](Element element) { return MakeSoftmax(element, {4, 128, 128}); });
}

} // namespace tenon::bench
