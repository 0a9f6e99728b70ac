// SPDX-License-Identifier: Apache-2.0
// Svdf against its definition in double precision over several steps, and bit for bit for int8 data.
#include "ops/RecurrentRunner.hpp"

namespace tenon::test::svdf_test
{

namespace
{

constexpr unsigned int Batches = 2;
constexpr unsigned int Columns = 3;
constexpr unsigned int Rank = 2;
constexpr unsigned int Units = 4;
constexpr unsigned int Filters = Rank * Units;
constexpr unsigned int Memory = 5;

TensorInfo Float(const TensorShape& shape)
{
    return {shape, DataType::Float32};
}

SvdfDescriptor MakeSvdf(uint32_t activation)
{
    SvdfDescriptor descriptor;
    descriptor.m_Rank = Rank;
    descriptor.m_ActivationFunc = activation;
    return descriptor;
}

/// The next state, and sums over time and rank, from values of any scale.
struct SvdfOracle
{
    std::vector<double> m_State;
    std::vector<double> m_Sums;

    /// toState: what becomes of a feature product. zeroPoint: of the state.
    SvdfOracle(const std::vector<double>& data, const std::vector<double>& features, const std::vector<double>& times,
               const std::vector<double>& state, const std::function<double(double)>& toState, double zeroPoint = 0.0)
        : m_State(state), m_Sums(Batches * Units)
    {
        for (size_t i = 0; i < Batches * Filters; ++i)
        {
            double product = 0.0;
            for (size_t c = 0; c < Columns; ++c)
            {
                product += data[i / Filters * Columns + c] * features[i % Filters * Columns + c];
            }
            for (size_t t = 0; t + 1 < Memory; ++t)
            {
                m_State[i * Memory + t] = state[i * Memory + t + 1];
            }
            m_State[i * Memory + Memory - 1] = toState(product);
            for (size_t t = 0; t < Memory; ++t)
            {
                m_Sums[i / Rank] += times[i % Filters * Memory + t] * (m_State[i * Memory + t] - zeroPoint);
            }
        }
    }
};

RecurrentLayer MakeFloat(const TensorInfo& weights)
{
    TensorInfo features = weights;
    features.SetShape({Filters, Columns});
    TensorInfo times = weights;
    times.SetShape({Filters, Memory});
    RecurrentLayer layer;
    layer.m_Type = LayerType::Svdf;
    layer.m_Descriptor = MakeDescriptor(MakeSvdf(0));
    layer.m_Inputs = {Random(Float({Batches, Columns}), 1, -1, 1), Random(features, 2, -1, 1), Random(times, 3, -1, 1),
                      Random(Float({Units}), 4, -1, 1), Random(Float({Batches, Filters * Memory}), 5, -1, 1)};
    layer.m_Outputs = {Float({Batches, Filters * Memory}), Float({Batches, Units})};
    return layer;
}

/// TFLite's fixed-point multiplication by a real number, written out.
double Scale(double value, double real)
{
    int exponent = 0;
    const auto multiplier = static_cast<int64_t>(std::round(std::frexp(real, &exponent) * 2147483648.0));
    const int64_t shifted = static_cast<int64_t>(value) * (exponent > 0 ? int64_t{1} << exponent : 1);
    const int64_t high = (shifted * multiplier + (int64_t{1} << 30)) >> 31;
    const double right = std::ldexp(1.0, exponent < 0 ? -exponent : 0);
    return std::round(static_cast<double>(high) / right);
}

/// int8 data with the state and weights of times that are given, bit for bit.
void CheckIntegerSteps(const TensorInfo& times, const TensorInfo& state, double toState, double toOutput)
{
    const TensorInfo data({Batches, Columns}, DataType::QAsymmS8, 0.05f, 3);
    const TensorInfo features({Filters, Columns}, DataType::QAsymmS8, 0.02f, 0);
    const TensorInfo bias({Units}, DataType::Signed32);
    const TensorInfo output({Batches, Units}, DataType::QAsymmS8, 0.1f, -128);
    RecurrentLayer layer;
    layer.m_Type = LayerType::Svdf;
    layer.m_Descriptor = MakeDescriptor(MakeSvdf(1));
    layer.m_Inputs = {Random(data, 1), Random(features, 2), Random(times, 3, -1, 1),
                      Stored(bias, {100000, -5, 7, 9000}), Random(state, 5, -2, 2)};
    layer.m_Outputs = {state, output};
    const auto stored = [](const TestTensor& tensor) { return GetStored(tensor.m_Info, tensor.m_Bytes.data()); };
    const bool isByte = state.GetDataType() == DataType::QAsymmS8;
    const double zeroPoint = state.GetQuantizationOffset();
    for (int run = 0; run < 4; ++run)
    {
        std::vector<double> centred = stored(layer.m_Inputs[0]);
        for (double& value : centred)
        {
            value -= 3;
        }
        const SvdfOracle want(
            centred, stored(layer.m_Inputs[1]), stored(layer.m_Inputs[2]), stored(layer.m_Inputs[4]),
            [&](double product) {
                return std::clamp(Scale(product, toState) + zeroPoint, isByte ? -128.0 : -32768.0,
                                  isByte ? 127.0 : 32767.0);
            },
            zeroPoint);
        std::vector<double> wanted;
        for (size_t i = 0; i < want.m_Sums.size(); ++i)
        {
            const double sum = want.m_Sums[i] + stored(layer.m_Inputs[3])[i % Units];
            wanted.push_back(std::clamp(Scale(sum, toOutput) - 128, -128.0, 127.0));
        }
        const std::vector<TestTensor> got = RunRecurrent(layer);
        ASSERT_NO_FATAL_FAILURE(ExpectNear(stored(got[0]), want.m_State, 0.0, "state"));
        ASSERT_NO_FATAL_FAILURE(ExpectNear(stored(got[1]), wanted, 0.0, "output"));
        layer.m_Inputs[4] = got[0];
        layer.m_Inputs[0] = Random(data, 50 + static_cast<uint32_t>(run));
    }
}

} // namespace

ISA_TEST(Svdf, FloatSteps)
{
    for (const bool isHybrid : {false, true})
    {
        RecurrentLayer layer = MakeFloat(isHybrid ? TensorInfo({1}, DataType::QAsymmS8, 1.0f / 127.0f, 0) : Float({1}));
        for (int run = 0; run < 4; ++run)
        {
            const SvdfOracle want(RealValues(layer.m_Inputs[0]), RealValues(layer.m_Inputs[1]),
                                  RealValues(layer.m_Inputs[2]), RealValues(layer.m_Inputs[4]),
                                  [](double product) { return product; });
            std::vector<double> output = want.m_Sums;
            for (size_t i = 0; i < output.size(); ++i)
            {
                output[i] += RealValues(layer.m_Inputs[3])[i % Units];
            }
            const std::vector<TestTensor> got = RunRecurrent(layer);
            ASSERT_NO_FATAL_FAILURE(ExpectNear(RealValues(got[0]), want.m_State, isHybrid ? 2e-2 : 1e-5, "state"));
            ASSERT_NO_FATAL_FAILURE(ExpectNear(RealValues(got[1]), output, isHybrid ? 5e-2 : 1e-5, "output"));
            layer.m_Inputs[4] = got[0];
            layer.m_Inputs[0] = Random(Float({Batches, Columns}), 50 + static_cast<uint32_t>(run), -1, 1);
        }
    }
}

ISA_TEST(Svdf, IntegerSteps)
{
    CheckIntegerSteps(TensorInfo({Filters, Memory}, DataType::QSymmS16, 0.001f, 0),
                      TensorInfo({Batches, Filters * Memory}, DataType::QSymmS16, 0.0005f, 0),
                      double{0.05f} * double{0.02f} / double{0.0005f}, double{0.0005f} * double{0.001f} / double{0.1f});
}

/// As TFLite Micro has them, with a zero point of the state, and scales multiplied in float.
ISA_TEST(Svdf, StepsWithStateOf8Bits)
{
    for (const DataType weights : {DataType::QAsymmS8, DataType::QSymmS8})
    {
        CheckIntegerSteps(TensorInfo({Filters, Memory}, weights, 0.01f, 0),
                          TensorInfo({Batches, Filters * Memory}, DataType::QAsymmS8, 0.02f, -7),
                          double{0.05f * 0.02f / 0.02f}, double{0.02f * 0.01f / 0.1f});
    }
}

ISA_TEST(Svdf, Refused)
{
    RecurrentLayer layer = MakeFloat(Float({1}));
    SvdfDescriptor descriptor = MakeSvdf(0);
    descriptor.m_Rank = 3;
    layer.m_Descriptor = MakeDescriptor(descriptor);
    EXPECT_NE(GetRefusal(layer).find("make no units"), std::string::npos);
    descriptor.m_Rank = 0;
    layer.m_Descriptor = MakeDescriptor(descriptor);
    EXPECT_NE(GetRefusal(layer).find("make no units"), std::string::npos);
    layer = MakeFloat(Float({1}));
    layer.m_Inputs[4] = NotConnected();
    EXPECT_NE(GetRefusal(layer).find("the state, is not connected"), std::string::npos);
    // Weights of times and state have one width.
    layer.m_Inputs = {Random(TensorInfo({Batches, Columns}, DataType::QAsymmS8, 0.05f, 3), 1),
                      Random(TensorInfo({Filters, Columns}, DataType::QAsymmS8, 0.02f, 0), 2),
                      Random(TensorInfo({Filters, Memory}, DataType::QAsymmS8, 0.01f, 0), 3), NotConnected(),
                      Random(TensorInfo({Batches, Filters * Memory}, DataType::QSymmS16, 0.02f, 0), 5)};
    layer.m_Outputs = {layer.m_Inputs[4].m_Info, TensorInfo({Batches, Units}, DataType::QAsymmS8, 0.1f, -128)};
    EXPECT_FALSE(GetRefusal(layer).empty());
}

} // namespace tenon::test::svdf_test
