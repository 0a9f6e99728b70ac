// SPDX-License-Identifier: Apache-2.0
// Rescaling by multipliers above 1: what leaves 32 bits on the way to an output saturates, on all backends and in all
// vectorized loops, for every operator that rescales, every stored type and scales up to 2^70 apart. The oracles
// compute real values in double precision.
#include "ops/cpu/CompareWithReference.hpp"

#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Elementwise.hpp>
#include <tenon/descriptors/Products.hpp>
#include <tenon/descriptors/Reduction.hpp>
#include <tenon/descriptors/Slicing.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace tenon::test::numerics_saturation_test
{

namespace
{

using Function = std::function<double(double)>;
using Combination = std::function<double(double, double)>;

constexpr DataType StoredTypes[] = {DataType::QAsymmU8, DataType::QAsymmS8, DataType::QSymmS16};

/// From where no product overflows to where each does that is not 0; whole powers of two and others. They are densest
/// where numbers of 8 and 16 bits leave 32 bits.
const std::vector<double>& GetRatios()
{
    static const std::vector<double> ratios = {1.0,    0x1.6p4,  0x1p14, 0x1.5p15, 0x1p16, 0x1.3p19, 0x1p22, 0x1.7p23,
                                               0x1p24, 0x1.6p27, 0x1p29, 0x1.5p30, 0x1p31, 0x1.3p32, 0x1p41, 0x1.6p70};
    return ratios;
}

int32_t GetZeroPoint(DataType type)
{
    return type == DataType::QAsymmU8 ? 131 : type == DataType::QAsymmS8 ? -7 : 0;
}

/// Of a scale that is `ratio` times smaller than that of what is rescaled.
TensorInfo Info(const TensorShape& shape, DataType type, double ratio = 1.0, double scale = 0.05)
{
    return {shape, type, static_cast<float>(scale / ratio), GetZeroPoint(type)};
}

/// Values from one end of the type to the other, those around the zero point among them. Enough for loops that are
/// chosen by comparing them.
TestTensor Spread(const TensorInfo& info, unsigned int step)
{
    const bool isShort = info.GetDataType() == DataType::QSymmS16;
    const double least = isShort ? -32768.0 : info.GetDataType() == DataType::QAsymmS8 ? -128.0 : 0.0;
    const unsigned int count = isShort ? 65536 : 256;
    std::vector<double> stored(info.GetNumElements());
    for (size_t i = 0; i < stored.size(); ++i)
    {
        // Around the zero point in every second place.
        const double near = info.GetQuantizationOffset() + static_cast<double>(i / 2 % 9) - 4.0;
        const double far = least + static_cast<double>(i * step % count);
        stored[i] = i % 2 == 0 ? far : std::max(near, least);
    }
    return Stored(info, stored);
}

/// Checks a case against real values; moderate multipliers may round to a neighbouring step.
template <typename D>
void Check(const std::string& name, LayerType type, D descriptor, std::vector<TestTensor> inputs,
           const TensorInfo& output, const Oracle& oracle)
{
    OpCase op{name + " to " + output.ToString() + " of scale " + std::to_string(output.GetQuantizationScale()),
              type,
              MakeDescriptor(std::move(descriptor)),
              std::move(inputs),
              output,
              oracle};
    SCOPED_TRACE(op.m_Name);
    CheckOp(op);
}

const TensorShape Shape({2, 3, 700});

} // namespace

ISA_TEST(NumericsSaturation, Quantize)
{
    for (const DataType from : StoredTypes)
    {
        for (const DataType to : StoredTypes)
        {
            for (const double ratio : GetRatios())
            {
                Check("Quantize", LayerType::Quantize, QuantizeDescriptor(), {Spread(Info(Shape, from), 1)},
                      Info(Shape, to, ratio), [](const auto& in) { return in[0].m_Values; });
            }
        }
    }
}

ISA_TEST(NumericsSaturation, Activations)
{
    const std::pair<ActivationDescriptor, Function> all[] = {
        {ActivationDescriptor(ActivationFunction::ReLu), [](double x) { return std::max(x, 0.0); }},
        {ActivationDescriptor(ActivationFunction::BoundedReLu, 1e30f, -1e30f), [](double x) { return x; }},
        {ActivationDescriptor(ActivationFunction::LeakyReLu, 0.5f), [](double x) { return x < 0.0 ? 0.5 * x : x; }},
        {ActivationDescriptor(ActivationFunction::LeakyReLu, -3.0f), [](double x) { return x < 0.0 ? -3.0 * x : x; }}};
    for (const DataType type : StoredTypes)
    {
        for (const auto& [descriptor, function] : all)
        {
            for (const double ratio : GetRatios())
            {
                Check("Activation", LayerType::Activation, descriptor, {Spread(Info(Shape, type), 1)},
                      Info(Shape, type, ratio), [f = function](const auto& in) { return Map(in[0], f); });
            }
        }
    }
}

ISA_TEST(NumericsSaturation, AbsAndNeg)
{
    for (const DataType type : StoredTypes)
    {
        for (const double ratio : GetRatios())
        {
            Check("Abs", LayerType::ElementwiseUnary, ElementwiseUnaryDescriptor(UnaryOperation::Abs),
                  {Spread(Info(Shape, type), 1)}, Info(Shape, type, ratio),
                  [](const auto& in) { return Map(in[0], [](double x) { return std::abs(x); }); });
            Check("Neg", LayerType::ElementwiseUnary, ElementwiseUnaryDescriptor(UnaryOperation::Neg),
                  {Spread(Info(Shape, type), 1)}, Info(Shape, type, ratio),
                  [](const auto& in) { return Map(in[0], [](double x) { return -x; }); });
        }
    }
}

ISA_TEST(NumericsSaturation, BinaryOperations)
{
    const std::pair<BinaryOperation, Combination> all[] = {
        {BinaryOperation::Add, [](double a, double b) { return a + b; }},
        {BinaryOperation::Sub, [](double a, double b) { return a - b; }},
        {BinaryOperation::Mul, [](double a, double b) { return a * b; }},
        {BinaryOperation::SqDiff, [](double a, double b) { return (a - b) * (a - b); }}};
    for (const DataType type : StoredTypes)
    {
        for (const auto& [operation, function] : all)
        {
            if (operation == BinaryOperation::SqDiff && type == DataType::QSymmS16)
            {
                continue;
            }
            for (const double ratio : GetRatios())
            {
                // Both inputs as long, and one of a single element: loops of their own.
                for (const TensorShape& second : {Shape, TensorShape({1})})
                {
                    const TensorInfo a = Info(Shape, type);
                    // Common scales of sums are exact for these, so that no difference of nearly equal numbers is
                    // multiplied up from a rounding.
                    const TensorInfo b = Info(second, type, 1.0, 0.1);
                    Check("Binary", LayerType::ElementwiseBinary, ElementwiseBinaryDescriptor(operation),
                          {Spread(a, 1), second == Shape ? Spread(b, 3) : Stored(b, {GetZeroPoint(type) + 2.0})},
                          Info(Shape, type, ratio),
                          [f = function](const auto& in)
                          {
                              std::vector<double> values = in[0].m_Values;
                              for (size_t i = 0; i < values.size(); ++i)
                              {
                                  values[i] = f(values[i], in[1].m_Values[i % in[1].m_Values.size()]);
                              }
                              return values;
                          });
                }
            }
        }
    }
}

ISA_TEST(NumericsSaturation, Prelu)
{
    for (const DataType type : StoredTypes)
    {
        for (const double ratio : GetRatios())
        {
            Check("Prelu", LayerType::Prelu, NullDescriptor(),
                  {Spread(Info(Shape, type), 1), Spread(Info(Shape, type, 1.0, 0.25), 3)}, Info(Shape, type, ratio),
                  [](const auto& in)
                  {
                      std::vector<double> values = in[0].m_Values;
                      for (size_t i = 0; i < values.size(); ++i)
                      {
                          values[i] *= values[i] < 0.0 ? in[1].m_Values[i] : 1.0;
                      }
                      return values;
                  });
        }
    }
}

ISA_TEST(NumericsSaturation, Concat)
{
    for (const DataType type : StoredTypes)
    {
        for (const double ratio : GetRatios())
        {
            ConcatDescriptor descriptor(2);
            descriptor.SetConcatAxis(0);
            Check("Concat", LayerType::Concat, descriptor, {Spread(Info(Shape, type), 1), Spread(Info(Shape, type), 3)},
                  Info({4, 3, 700}, type, ratio),
                  [](const auto& in)
                  {
                      std::vector<double> values = in[0].m_Values;
                      values.insert(values.end(), in[1].m_Values.begin(), in[1].m_Values.end());
                      return values;
                  });
        }
    }
}

ISA_TEST(NumericsSaturation, MeansAndSums)
{
    for (const DataType type : StoredTypes)
    {
        for (const double ratio : GetRatios())
        {
            for (const ReduceOperation operation : {ReduceOperation::Mean, ReduceOperation::Sum})
            {
                ReduceDescriptor descriptor;
                descriptor.m_ReduceOperation = operation;
                descriptor.m_vAxis = {1};
                Check("Reduce", LayerType::Reduce, descriptor, {Spread(Info(Shape, type), 1)},
                      Info({2, 700}, type, ratio),
                      [operation](const auto& in)
                      {
                          std::vector<double> sums(1400); // exact, so that what cancels out is 0
                          for (size_t i = 0; i < in[0].m_Values.size(); ++i)
                          {
                              sums[i / 2100 * 700 + i % 700] += in[0].m_Values[i];
                          }
                          for (double& sum : sums)
                          {
                              sum /= operation == ReduceOperation::Mean ? 3.0 : 1.0;
                          }
                          return sums;
                      });
            }
        }
    }
}

/// Convolutions, depthwise too, and products, of which every epilogue scales.
ISA_TEST(NumericsSaturation, SumsOfProducts)
{
    constexpr unsigned int Channels = 19;
    for (const DataType type : StoredTypes)
    {
        const DataType weightsType = type == DataType::QAsymmU8 ? type : DataType::QSymmS8;
        const int32_t weightsZero = type == DataType::QAsymmU8 ? 128 : 0;
        for (const double ratio : GetRatios())
        {
            for (const DataType biasType : {DataType::Signed32, DataType::Signed64})
            {
                if (biasType == DataType::Signed64 && type != DataType::QSymmS16)
                {
                    continue;
                }
                // One product a sum, so that what comes out of the last bits is known: 1x1, the identity times 3.
                const auto makeWeights = [&](const TensorShape& shape, bool isDiagonal)
                {
                    const TensorInfo info(shape, weightsType, 1.0f, weightsZero);
                    std::vector<double> stored(info.GetNumElements(), weightsZero);
                    for (size_t i = 0; i < stored.size(); ++i)
                    {
                        stored[i] += !isDiagonal || i % (Channels + 1) == 0 ? 3.0 : 0.0;
                    }
                    return Constant(Stored(info, stored));
                };
                const TensorInfo data = Info({1, 5, 13, Channels}, type);
                const TensorInfo output = Info({1, 5, 13, Channels}, type, ratio);
                const TestTensor bias =
                    Constant(Stored(TensorInfo({Channels}, biasType, 0.05f, 0), std::vector<double>(Channels, 0.0)));
                const Oracle triple = [](const auto& in) { return Map(in[0], [](double x) { return 3.0 * x; }); };
                Convolution2dDescriptor convolution;
                convolution.m_DataLayout = DataLayout::NHWC;
                convolution.m_BiasEnabled = true;
                Check("Convolution2d", LayerType::Convolution2d, convolution,
                      {Spread(data, 1), makeWeights({Channels, 1, 1, Channels}, true), bias}, output, triple);
                DepthwiseConvolution2dDescriptor depthwise;
                depthwise.m_DataLayout = DataLayout::NHWC;
                depthwise.m_BiasEnabled = true;
                Check("DepthwiseConvolution2d", LayerType::DepthwiseConvolution2d, depthwise,
                      {Spread(data, 1), makeWeights({1, 1, 1, Channels}, false), bias}, output, triple);
                TransposeConvolution2dDescriptor transposed;
                transposed.m_DataLayout = DataLayout::NHWC;
                transposed.m_BiasEnabled = true;
                transposed.m_StrideX = transposed.m_StrideY = 1;
                Check("TransposeConvolution2d", LayerType::TransposeConvolution2d, transposed,
                      {Spread(data, 1), makeWeights({Channels, 1, 1, Channels}, true), bias}, output, triple);
                FullyConnectedDescriptor product;
                product.m_TransposeWeightMatrix = true;
                product.m_BiasEnabled = true;
                Check("FullyConnected", LayerType::FullyConnected, product,
                      {Spread(Info({65, Channels}, type), 1), makeWeights({Channels, Channels}, true), bias},
                      Info({65, Channels}, type, ratio), triple);
            }
            const TensorInfo y({1, Channels, Channels}, type, 1.0f, GetZeroPoint(type));
            std::vector<double> stored(y.GetNumElements(), GetZeroPoint(type));
            for (size_t i = 0; i < stored.size(); i += Channels + 1)
            {
                stored[i] += 3.0;
            }
            Check("BatchMatMul", LayerType::BatchMatMul, BatchMatMulDescriptor(),
                  {Spread(Info({1, 65, Channels}, type), 1), Stored(y, stored)}, Info({1, 65, Channels}, type, ratio),
                  [](const auto& in) { return Map(in[0], [](double x) { return 3.0 * x; }); });
        }
    }
}

} // namespace tenon::test::numerics_saturation_test
