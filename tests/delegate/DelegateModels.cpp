// SPDX-License-Identifier: Apache-2.0
#include "delegate/DelegateModels.hpp"

#include <algorithm>

namespace tenon::test
{

namespace
{

constexpr int32_t ChainWidth = 4;
const Floats ChainConstant{0.5f, -1.0f, 2.0f, 3.0f};

constexpr size_t DenseInputs = 8;
constexpr size_t DenseHidden = 4;
constexpr size_t DenseOutputs = 3;

Floats MakeSteps(size_t count, int32_t seed)
{
    Floats values;
    for (size_t i = 0; i < count; ++i)
    {
        values.push_back(0.25f *
                         static_cast<float>(static_cast<int32_t>((i * 7 + static_cast<size_t>(seed) * 5) % 17) - 8));
    }
    return values;
}

/// Of one layer of DenseModel.
struct DenseLayer
{
    size_t m_Width;
    Floats m_Weights, m_Bias;

    Floats Apply(const Floats& input) const
    {
        Floats output;
        const size_t outputs = m_Bias.size();
        for (size_t row = 0; row < input.size() / m_Width; ++row)
        {
            for (size_t column = 0; column < outputs; ++column)
            {
                float sum = m_Bias[column];
                for (size_t i = 0; i < m_Width; ++i)
                {
                    sum += input[row * m_Width + i] * m_Weights[column * m_Width + i];
                }
                output.push_back(sum);
            }
        }
        return output;
    }
};

const DenseLayer FirstLayer{DenseInputs, MakeSteps(DenseInputs* DenseHidden, 1), MakeSteps(DenseHidden, 2)};
const DenseLayer SecondLayer{DenseHidden, MakeSteps(DenseHidden* DenseOutputs, 3), MakeSteps(DenseOutputs, 4)};

} // namespace

ChainModel::ChainModel(FakeGraph& graph, const char* middle, const Dims& signature)
{
    const Dims dims{1, ChainWidth};
    const auto add = [&] { return graph.AddTensor(kTfLiteFloat32, dims, {}, signature); };
    m_Input = add();
    const int32_t constant = graph.AddConstant<float>(kTfLiteFloat32, {ChainWidth}, ChainConstant);
    const int32_t sum = add();
    const int32_t positive = add();
    int32_t product = add();
    graph.AddNode(AddCode, {m_Input, constant}, {sum}, BytesOf(FakeAddParams()));
    graph.AddNode(ReluCode, {sum}, {positive});
    graph.AddNode(MulCode, {positive, constant}, {product}, BytesOf(FakeActivationParams()));
    if (middle != nullptr)
    {
        const int32_t copy = add();
        graph.AddCustomNode(middle, {product}, {copy}, {1, 2, 3});
        product = copy;
    }
    m_Output = add();
    graph.AddNode(AddCode, {product, constant}, {m_Output}, BytesOf(FakeAddParams()));
    graph.SetInputs({m_Input});
    graph.SetOutputs({m_Output});
}

Floats ChainModel::MakeInput(int32_t batch, int32_t run)
{
    return MakeSteps(static_cast<size_t>(batch * ChainWidth), run);
}

Floats ChainModel::Expected(const Floats& input)
{
    Floats output;
    for (size_t i = 0; i < input.size(); ++i)
    {
        const float constant = ChainConstant[i % ChainConstant.size()];
        output.push_back(std::max(input[i] + constant, 0.0f) * constant + constant);
    }
    return output;
}

DenseModel::DenseModel(FakeGraph& graph)
{
    const auto add = [&](const Dims& dims, const Floats& values)
    { m_Constants.push_back(graph.AddConstant<float>(kTfLiteFloat32, dims, values)); };
    add({DenseHidden, DenseInputs}, FirstLayer.m_Weights);
    add({DenseHidden}, FirstLayer.m_Bias);
    add({DenseOutputs, DenseHidden}, SecondLayer.m_Weights);
    add({DenseOutputs}, SecondLayer.m_Bias);
    AddNodes(graph);
}

DenseModel::DenseModel(FakeGraph& graph, const DenseModel& other, FakeGraph& otherGraph)
{
    for (int32_t constant : other.m_Constants)
    {
        m_Constants.push_back(
            graph.AddConstant(kTfLiteFloat32, otherGraph.DimsOf(constant), otherGraph.ConstantOf(constant)));
    }
    AddNodes(graph);
}

void DenseModel::AddNodes(FakeGraph& graph)
{
    m_Input = graph.AddTensor(kTfLiteFloat32, {1, DenseInputs});
    const int32_t hidden = graph.AddTensor(kTfLiteFloat32, {1, DenseHidden});
    const int32_t positive = graph.AddTensor(kTfLiteFloat32, {1, DenseHidden});
    m_Output = graph.AddTensor(kTfLiteFloat32, {1, DenseOutputs});
    const std::vector<uint8_t> params = BytesOf(FakeFullyConnectedParams());
    graph.AddNode(FullyConnectedCode, {m_Input, m_Constants[0], m_Constants[1]}, {hidden}, params);
    graph.AddNode(ReluCode, {hidden}, {positive});
    graph.AddNode(FullyConnectedCode, {positive, m_Constants[2], m_Constants[3]}, {m_Output}, params);
    graph.SetInputs({m_Input});
    graph.SetOutputs({m_Output});
}

Floats DenseModel::MakeInput(int32_t batch, int32_t run)
{
    return MakeSteps(static_cast<size_t>(batch) * DenseInputs, run);
}

Floats DenseModel::Expected(const Floats& input)
{
    Floats hidden = FirstLayer.Apply(input);
    std::transform(hidden.begin(), hidden.end(), hidden.begin(), [](float value) { return std::max(value, 0.0f); });
    return SecondLayer.Apply(hidden);
}

} // namespace tenon::test
