// SPDX-License-Identifier: Apache-2.0
// Activation of bytes in RequantizationMode::FloatHalfEven beside the definition: a function of Float32 numbers,
// divided by the output's scale and rounded half to even.
#include "ops/cpu/HalfEven.hpp"
#include "ops/cpu/TensorInfoInt8.hpp"

#include <tenon/descriptors/Elementwise.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tenon::test::activation_half_even_test
{

namespace
{

ActivationDescriptor Describe(ActivationFunction function, float a, float b)
{
    ActivationDescriptor descriptor;
    descriptor.m_Function = function;
    descriptor.m_A = a;
    descriptor.m_B = b;
    descriptor.m_Requantization = RequantizationMode::FloatHalfEven;
    return descriptor;
}

OpCase MakeCase(const ActivationDescriptor& descriptor, const TestTensor& input, const TensorInfo& output)
{
    const std::string name = "function " + std::to_string(static_cast<int>(descriptor.m_Function)) + " of " +
                             input.m_Info.ToString() + " to " + output.ToString();
    return ReferenceCase(name, LayerType::Activation, descriptor, {input}, output);
}

/// Calls f(input, output) for inputs of all bytes, in some lengths, with these and other quantizations.
void ForEachQuantization(const std::function<void(const TestTensor& input, const TensorInfo& output)>& f)
{
    struct Case
    {
        float m_Scale;
        int32_t m_ZeroPoint;
        float m_ScaleOutput;
        int32_t m_ZeroOutput;
    };
    const Case cases[] = {{0.0473f, 3, 0.0291f, -11}, {0.5f, -128, 1.0f, 127}, {0.1f, 127, 0.2f, -128},
                          {0.02f, 0, 0.0005f, 10},    {0.1f, -5, 0.1f, -5},    {1e30f, 0, 1e-3f, 0}};
    for (const bool isSigned : {true, false})
    {
        const int32_t zero = isSigned ? 0 : 128;
        for (const Case& c : cases)
        {
            for (const unsigned int length : {1U, 31U, 33U, 256U, 70U * 256U + 13U})
            {
                TestTensor input = {InfoInt8({length}, isSigned, c.m_Scale, c.m_ZeroPoint + zero), {}};
                for (unsigned int i = 0; i < length; ++i)
                {
                    input.m_Bytes.push_back(static_cast<std::byte>(i));
                }
                f(input, InfoInt8({length}, isSigned, c.m_ScaleOutput, c.m_ZeroOutput + zero));
            }
        }
    }
}

} // namespace

ISA_TEST(ActivationHalfEven, AsDefined)
{
    using Function = std::pair<ActivationDescriptor, std::function<float(float)>>;
    const Function functions[] = {
        {Describe(ActivationFunction::ReLu, 0, 0), [](float x) { return std::max(x, 0.0f); }},
        {Describe(ActivationFunction::BoundedReLu, 6.0f, -0.35f), [](float x) { return std::clamp(x, -0.35f, 6.0f); }},
        {Describe(ActivationFunction::LeakyReLu, 0.1f, 0), [](float x) { return x > 0.0f ? x : 0.1f * x; }},
        {Describe(ActivationFunction::Linear, 0.7f, 0.3f), [](float x) { return 0.7f * x + 0.3f; }},
        {Describe(ActivationFunction::Abs, 0, 0), [](float x) { return std::abs(x); }},
        {Describe(ActivationFunction::Square, 0, 0), [](float x) { return x * x; }}};
    for (const auto& [descriptor, function] : functions)
    {
        ForEachQuantization(
            [&descriptor = descriptor, &function = function](const TestTensor& input, const TensorInfo& output)
            {
                std::vector<double> stored = GetStored(input.m_Info, input.m_Bytes.data());
                for (double& x : stored)
                {
                    x = StepsToStored(function(ToReal(x, input.m_Info)) / output.GetQuantizationScale(), output);
                }
                ExpectStored(MakeCase(descriptor, input, output), "CpuActivation", stored);
            });
    }
}

ISA_TEST(ActivationHalfEven, AsReference)
{
    for (const ActivationFunction function :
         {ActivationFunction::Sigmoid, ActivationFunction::TanH, ActivationFunction::SoftReLu, ActivationFunction::Sqrt,
          ActivationFunction::Elu, ActivationFunction::HardSwish, ActivationFunction::Gelu})
    {
        ForEachQuantization(
            [&](const TestTensor& input, const TensorInfo& output)
            {
                const bool hasHardSwish = output.GetQuantizationScale() > input.m_Info.GetQuantizationScale() / 128;
                ExpectAsReference(MakeCase(Describe(function, 1, 1), input, output),
                                  function == ActivationFunction::HardSwish && !hasHardSwish ? "RefActivationAsFloat"
                                                                                             : "CpuActivation");
            });
    }
}

} // namespace tenon::test::activation_half_even_test
