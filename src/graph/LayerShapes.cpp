// SPDX-License-Identifier: Apache-2.0
// How the shapes of a Layer's outputs follow from those of its inputs.
#include "graph/Layer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tenon
{

namespace
{

/// The constant that input i reads, where it has the bytes that the info speaks of; else null.
const void* ValuesOfSize(const Layer& layer, unsigned int i, const TensorInfo& info)
{
    const void* const values = layer.GetConstantInput(i);
    const bool fits = values != nullptr && info.GetShape().AreAllDimensionsSpecified() &&
                      layer.Input(i).GetProducer()->GetConstant()->m_Tensor.GetNumBytes() == info.GetNumBytes();
    return fits ? values : nullptr;
}

/// A PreCompiled layer holds for the shapes that it was compiled for: those of its inputs when the network was
/// optimized.
void CheckCompiledShapes(const Layer& layer, Span<const TensorInfo* const> inputs)
{
    for (unsigned int i = 0; i < inputs.size(); ++i)
    {
        if (inputs[i] == nullptr || !layer.Input(i).IsTensorInfoSet())
        {
            continue;
        }
        const TensorShape& compiled = layer.Input(i).GetTensorInfo().GetShape();
        if (!Agrees(compiled, inputs[i]->GetShape()))
        {
            throw LayerValidationException(
                fmt::format("input {} is of shape {}, but {} compiled the layer for {}; optimize the network for the "
                            "shape that it is to run with",
                            i, inputs[i]->GetShape().ToString(), layer.GetBackendId().Get(), compiled.ToString()));
        }
    }
}

} // namespace

std::unique_ptr<BaseDescriptor> InferShapes(const Layer& layer, Span<const TensorInfo* const> inputs,
                                            Span<const void* const> values, Span<TensorShape> outputs)
{
    // Nearly all layers have one output: no allocation for them.
    std::array<TensorInfo, 1> one;
    std::vector<TensorInfo> many;
    Span<TensorInfo> declared(one.data(), 1);
    if (outputs.size() != 1)
    {
        many.resize(outputs.size());
        declared = many;
    }
    for (size_t i = 0; i < outputs.size(); ++i)
    {
        declared[i] = layer.Output(static_cast<unsigned int>(i)).GetTensorInfo();
    }
    try
    {
        if (layer.GetType() == LayerType::PreCompiled)
        {
            CheckCompiledShapes(layer, inputs);
        }
        InferContext context(layer.GetType(), layer.GetParameters(), inputs, values, declared, outputs);
        layer.GetSchema().m_Infer(context);
        return context.TakeEdited();
    }
    catch (Exception& error)
    {
        error.AddContext("inferring shapes of " + layer.Describe());
        throw;
    }
}

std::vector<TensorShape> Layer::InferOutputShapes(const std::vector<TensorShape>& inputShapes) const
{
    const unsigned int minInputs = std::min<unsigned int>(m_Schema->m_MinInputs, m_FirstOwnConstant);
    if (inputShapes.size() > m_NumInputs || inputShapes.size() < minInputs)
    {
        throw LayerValidationException(fmt::format("{} takes {} to {} inputs, but {} shapes are given", Describe(),
                                                   minInputs, m_NumInputs, inputShapes.size()));
    }
    std::vector<TensorInfo> infos(m_NumInputs);
    std::vector<const TensorInfo*> pointers(m_NumInputs, nullptr);
    std::vector<const void*> values(m_NumInputs, nullptr);
    for (unsigned int i = 0; i < m_NumInputs; ++i)
    {
        const bool isGiven = i < inputShapes.size();
        if (!isGiven && (i < m_FirstOwnConstant || Input(i).GetConnectedOutputSlot() == nullptr))
        {
            continue;
        }
        if (Input(i).IsTensorInfoSet())
        {
            infos[i] = Input(i).GetTensorInfo();
        }
        if (isGiven)
        {
            infos[i].SetShape(inputShapes[i]);
        }
        pointers[i] = &infos[i];
        values[i] = ValuesOfSize(*this, i, infos[i]);
    }
    std::vector<TensorShape> shapes(m_NumOutputs);
    if (CanInferShapes(*this, pointers, values))
    {
        InferShapes(*this, pointers, values, shapes);
    }
    return shapes;
}

bool CanInferShapes(const Layer& layer, Span<const TensorInfo* const> inputs, Span<const void* const> values)
{
    const uint32_t needed = layer.GetSchema().m_ValueInputs(layer.GetParameters());
    const auto needsValue = [needed](size_t i) { return i < 32 && ((needed >> i) & 1U) != 0; };
    for (size_t i = 0; i < inputs.size(); ++i)
    {
        if (inputs[i] != nullptr &&
            (!inputs[i]->GetShape().AreAllDimensionsSpecified() ||
             (needsValue(i) && values[i] == nullptr && inputs[i]->GetShape().GetNumElements64() != 0)))
        {
            return false;
        }
    }
    return true;
}

bool Agrees(const TensorShape& declared, const TensorShape& actual)
{
    if (declared.GetDimensionality() == Dimensionality::NotSpecified)
    {
        return true;
    }
    if (declared.GetNumDimensions() != actual.GetNumDimensions() || declared.IsScalar() != actual.IsScalar())
    {
        return false;
    }
    for (unsigned int i = 0; i < declared.GetNumDimensions(); ++i)
    {
        if (declared.GetDimensionSpecificity(i) && declared[i] != actual[i])
        {
            return false;
        }
    }
    return true;
}

} // namespace tenon
