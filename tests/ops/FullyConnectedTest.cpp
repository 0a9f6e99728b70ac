// SPDX-License-Identifier: Apache-2.0
// FullyConnected against matrix products in double precision; quantized results are exactly TFLite's, whose reference
// kernel scales sums in double precision.
#include "ops/WeightedSumOracle.hpp"

#include <tenon/descriptors/Elementwise.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace tenon::test::fully_connected_test
{

namespace
{

struct Case
{
    const char* m_Name;
    TensorShape m_Data;
    unsigned int m_Inputs;
    unsigned int m_Outputs;
    TensorShape m_Output;
    bool m_Transposed; ///< weights [O, I]
};

const Case Cases[] = {
    {"one row", {1, 37}, 37, 11, {1, 11}, true},
    {"one row, weights [I, O]", {1, 37}, 37, 11, {1, 11}, false},
    {"rows", {9, 16}, 16, 5, {9, 5}, true},
    {"rows, weights [I, O]", {9, 16}, 16, 5, {9, 5}, false},
    {"flattened images", {2, 3, 2, 4}, 24, 6, {2, 6}, true},
    {"kept dimensions", {2, 3, 8}, 8, 4, {2, 3, 4}, true},
    {"regrouped rows", {2, 6}, 4, 3, {3, 3}, true},
    {"several panels", {3, 130}, 130, 150, {3, 150}, true},
    {"more rows than a tile", {71, 40}, 40, 20, {71, 20}, true},
    {"no rows", {0, 8}, 8, 3, {0, 3}, true},
    {"no outputs", {2, 8}, 8, 0, {2, 0}, false},
};

/// Rows of the data times weights, plus bias.
struct RowSum
{
    size_t m_Inputs;
    size_t m_Outputs;
    bool m_Transposed;

    std::vector<double> operator()(const std::vector<RealTensor>& in) const
    {
        std::vector<double> sums;
        const size_t rows = in[0].m_Values.size() / m_Inputs;
        for (size_t row = 0; row < rows; ++row)
        {
            for (size_t o = 0; o < m_Outputs; ++o)
            {
                double sum = in.size() > 2 ? in[2].m_Values[o] : 0.0;
                for (size_t i = 0; i < m_Inputs; ++i)
                {
                    sum += in[0].m_Values[row * m_Inputs + i] * (m_Transposed ? in[1].At(o, i) : in[1].At(i, o));
                }
                sums.push_back(sum);
            }
        }
        return sums;
    }
};

OpCase MakeOp(const Case& c, const SumTypes& types)
{
    FullyConnectedDescriptor descriptor;
    descriptor.m_BiasEnabled = true;
    descriptor.m_TransposeWeightMatrix = c.m_Transposed;
    descriptor.m_KeepDims = c.m_Output.GetNumDimensions() > 2;
    const TensorShape weights =
        c.m_Transposed ? TensorShape({c.m_Outputs, c.m_Inputs}) : TensorShape({c.m_Inputs, c.m_Outputs});
    const SumInfos infos =
        MakeSumInfos(types, c.m_Data, weights, c.m_Transposed ? 0 : 1, c.m_Output, std::max(1U, c.m_Inputs));
    return WithBounds({std::string(c.m_Name) + ", " + types.m_Name, LayerType::FullyConnected,
                       MakeDescriptor(descriptor), MakeSumInputs(infos, 23), infos.m_Output,
                       RowSum{c.m_Inputs, c.m_Outputs, c.m_Transposed}});
}

std::vector<SumTypes> GetTypes()
{
    std::vector<SumTypes> types = GetSumTypes();
    types.push_back({"uint8 to int16", DataType::QAsymmU8, DataType::QAsymmU8, DataType::Signed32, DataType::QSymmS16,
                     false, 100, 120, 0});
    types.push_back({"int8 weights with zero point", DataType::QAsymmS8, DataType::QAsymmS8, DataType::Signed32,
                     DataType::QAsymmS8, false, -3, 9, 0});
    return types;
}

} // namespace

ISA_TEST(FullyConnected, AgreesWithDoublePrecision)
{
    for (const Case& c : Cases)
    {
        for (const SumTypes& types : GetTypes())
        {
            CheckOp(MakeOp(c, types));
        }
    }
}

ISA_TEST(FullyConnected, IsExactOnQuantizedTypes)
{
    for (const Case& c : Cases)
    {
        for (const SumTypes& types : GetTypes())
        {
            if (IsQuantizedType(types.m_Data) && c.m_Output.GetNumElements() != 0)
            {
                OpCase op = MakeOp(c, types);
                const SumInfos infos{op.m_Inputs[0].m_Info, op.m_Inputs[1].m_Info, op.m_Inputs[2].m_Info, op.m_Output};
                op.m_Oracle = ExactOracle(infos, *op.m_Oracle.target<RowSum>(), false);
                op.m_Steps = 0;
                CheckOp(op);
            }
        }
    }
}

ISA_TEST(FullyConnected, IsExactWithHalvesToEven)
{
    CheckHalvesToEven<FullyConnectedDescriptor, RowSum>(Cases, MakeOp);
}

// Data that 8 bits hold exactly, in both ways of quantizing it while running.
ISA_TEST(FullyConnected, QuantizesFloatDataBesideIntegerWeights)
{
    for (const bool asymmetric : {false, true})
    {
        FullyConnectedDescriptor descriptor;
        descriptor.m_TransposeWeightMatrix = true;
        descriptor.m_AsymmetricQuantizeInputs = asymmetric;
        const TensorInfo data({2, 8}, DataType::Float32);
        const double least = asymmetric ? -128 : -127;
        std::vector<double> values = {least, 127, 3, -50, 99, 0, 1, -100, 0, 10, 20, 127, least, 64, -64, 5};
        std::transform(values.begin() + 8, values.end(), values.begin() + 8, [](double v) { return v * 0.125; });
        const TensorInfo weights = asymmetric ? TensorInfo({3, 8}, DataType::QSymmS8, {0.1f, 0.2f, 0.4f}, 0)
                                              : TensorInfo({3, 8}, DataType::QAsymmU8, 0.05f, 0);
        TestTensor stored = Random(weights, 9);
        OpCase op{asymmetric ? "asymmetric" : "symmetric",
                  LayerType::FullyConnected,
                  MakeDescriptor(descriptor),
                  {Values(data, values), Constant(stored)},
                  TensorInfo({2, 3}, DataType::Float32),
                  RowSum{8, 3, true}};
        if (!asymmetric)
        {
            // TFLite takes uint8 weights beside float data for int8 bit patterns.
            const TensorInfo patterns({3, 8}, DataType::QAsymmS8, 0.05f, 0);
            const RealTensor real = GetReal(patterns, stored.m_Bytes.data());
            op.m_Oracle = [real](std::vector<RealTensor> in)
            {
                in[1] = real;
                return RowSum{8, 3, true}(in);
            };
        }
        CheckOp(op);
    }
}

// TFLite's results, of sums that need more than 32 bits.
ISA_TEST(FullyConnected, WeightsOf16Bits)
{
    const std::vector<double> data = {-32768, -32768, -32768, -32768, -32768, -32768,
                                      32767,  -12345, 100,    -1,     23,     31000};
    const std::vector<double> rows = {32767,  -32768, 20000,  -7, 30000, 12345, -32768, -32768, -32768,
                                      -32768, -32768, -32768, 1,  -2,    3,     -4,     5,      -6};
    std::vector<double> columns;
    for (size_t i = 0; i < rows.size(); ++i)
    {
        columns.push_back(rows[i % 3 * 6 + i / 3]);
    }
    struct Expected
    {
        bool m_PerAxis;
        bool m_HasBias;
        std::vector<double> m_Output;
    };
    const std::vector<Expected> cases = {{false, true, {-133, 15445, 1, 12074, -9966, 0}},
                                         {false, false, {-6383, 20133, 0, 5824, -5278, 0}},
                                         {true, true, {-178, 10297, 0, 16099, -6644, 0}},
                                         {true, false, {-8511, 13422, 0, 7765, -3519, 0}}};
    const TensorInfo output({2, 3}, DataType::QSymmS16, 3e4f);
    for (const Expected& expected : cases)
    {
        for (const bool transposed : {true, false})
        {
            for (const DataType biasType : {DataType::Signed32, DataType::Signed64})
            {
                FullyConnectedDescriptor descriptor;
                descriptor.m_BiasEnabled = expected.m_HasBias;
                descriptor.m_TransposeWeightMatrix = transposed;
                const TensorShape shape = transposed ? TensorShape({3, 6}) : TensorShape({6, 3});
                const TensorInfo weights =
                    expected.m_PerAxis ? TensorInfo(shape, DataType::QSymmS16, std::vector<float>{0.5f, 0.25f, 0.125f},
                                                    transposed ? 0U : 1U)
                                       : TensorInfo(shape, DataType::QSymmS16, 0.375f);
                OpCase op{"16-bit weights",
                          LayerType::FullyConnected,
                          MakeDescriptor(descriptor),
                          {Stored(TensorInfo({2, 6}, DataType::QSymmS16, 0.25f), data),
                           Constant(Stored(weights, transposed ? rows : columns))},
                          output,
                          Expect(output, expected.m_Output)};
                if (expected.m_HasBias)
                {
                    op.m_Inputs.push_back(
                        Constant(Stored(TensorInfo({3}, biasType), {2000000000, -1500000000, 70000})));
                }
                op.m_Steps = 0;
                CheckOp(op);
            }
        }
    }
}

// As TFLite: without inputs the output is zeros, even with a bias.
ISA_TEST(FullyConnected, GivesZerosWithoutInputs)
{
    OpCase op = MakeOp({"no inputs", {2, 0}, 0, 3, {2, 3}, true}, GetSumTypes()[0]);
    op.m_Oracle = Expect(op.m_Output, {0, 0, 0, 0, 0, 0});
    CheckOp(op);
    OpCase doubles = MakeOp({"no inputs", {2, 0}, 0, 3, {2, 3}, true}, GetSumTypes().back());
    doubles.m_Oracle = Expect(doubles.m_Output, {0, 0, 0, 0, 0, 0});
    CheckOp(doubles);
}

// Bounds that floats do not hold: those of doubles are computed in double precision.
ISA_TEST(FullyConnected, ClampsDoubles)
{
    ActivationDescriptor relu;
    relu.m_Function = ActivationFunction::ReLu;
    ActivationDescriptor bounded;
    bounded.m_Function = ActivationFunction::BoundedReLu;
    bounded.m_A = 0.5f;
    bounded.m_B = -0.25f;
    for (const Case& c : Cases)
    {
        for (const ActivationDescriptor* activation : {&relu, &bounded})
        {
            OpCase op = MakeOp(c, GetSumTypes().back());
            op.m_FusedActivation = activation;
            const double high = activation == &relu ? std::numeric_limits<double>::infinity() : 0.5;
            const double low = activation == &relu ? 0.0 : -0.25;
            op.m_Oracle = [low, high, sums = op.m_Oracle](const std::vector<RealTensor>& in)
            {
                std::vector<double> values = sums(in);
                for (double& value : values)
                {
                    value = std::clamp(value, low, high);
                }
                return values;
            };
            CheckOp(op);
        }
    }
}

ISA_TEST(FullyConnected, IsRefused)
{
    OpCase op = MakeOp(Cases[0], GetSumTypes()[4]);
    op.m_Inputs[1].m_Info.SetQuantizationDim(1U);
    CheckUnsupported(op, SupportCode::UnsupportedParameters, "dimension");
}

ISA_TEST(FullyConnected, RejectsShapesThatDoNotFit)
{
    const SumTypes& types = GetSumTypes()[0];
    CheckRejectsShapes(MakeOp({"", {2, 7}, 8, 3, {2, 3}, true}, types), "as many rows");
    CheckRejectsShapes(MakeOp({"", {2, 8}, 8, 3, {2, 4}, true}, types), "last dimension");
    OpCase op = MakeOp(Cases[0], types);
    op.m_Inputs[1] = Random(TensorInfo({37, 11, 1}, DataType::Float32), 1);
    CheckRejectsShapes(op, "2 dimensions");
}

} // namespace tenon::test::fully_connected_test
