// SPDX-License-Identifier: Apache-2.0
// See LayerQueries.hpp.
#include "graph/ChannelsLast.hpp"

#include <tenon/LayerQueries.hpp>
#include <tenon/backend/BackendRegistry.hpp>

#include <string>
#include <utility>
#include <vector>

namespace tenon
{

namespace
{

/// Data and states, then the weights.
template <typename Params>
LayerQueries::Infos JoinInputs(LayerQueries::Infos inputs, const Params& params)
{
    const LayerQueries::Infos weights = params.GetInputs();
    inputs.insert(inputs.end(), weights.begin(), weights.end());
    return inputs;
}

/// A question as Optimize() puts it: backends are asked about channels-last layers alone.
class Question
{
public:
    Question(LayerType type, const LayerQueries::Infos& inputs, const LayerQueries::Infos& outputs,
             const BaseDescriptor& descriptor)
        : m_Inputs(inputs), m_Outputs(outputs), m_Descriptor(&descriptor)
    {
        if (inputs.empty() || inputs[0] == nullptr)
        {
            return;
        }
        m_Last = ToChannelsLast(type, descriptor, inputs[0]->GetShape());
        if (m_Last.m_Descriptor == nullptr)
        {
            return;
        }
        m_Descriptor = m_Last.m_Descriptor.get();
        Transpose(m_Inputs, 0, m_Last.m_Data, m_Data);
        Transpose(m_Outputs, 0, m_Last.m_Data, m_Output);
        if (m_Last.m_HasWeights)
        {
            Transpose(m_Inputs, 1, m_Last.m_Weights, m_Weights);
        }
    }
    Question(const Question&) = delete;
    Question& operator=(const Question&) = delete;

    const LayerQueries::Infos& Inputs() const { return m_Inputs; }
    const LayerQueries::Infos& Outputs() const { return m_Outputs; }
    const BaseDescriptor& Descriptor() const { return *m_Descriptor; }

private:
    /// Puts `moved`, the info behind a Transpose, in place of info i. One of another rank stays: the backend says why
    /// it does not take it.
    static void Transpose(LayerQueries::Infos& infos, size_t i, const PermutationVector& mappings, TensorInfo& moved)
    {
        if (i >= infos.size() || infos[i] == nullptr)
        {
            return;
        }
        const TensorShape& shape = infos[i]->GetShape();
        if (shape.GetDimensionality() == Dimensionality::Specified && shape.GetNumDimensions() != mappings.GetSize())
        {
            return;
        }
        moved = Transposed(*infos[i], mappings);
        moved.SetConstant(infos[i]->IsConstant()); // the Transpose of a constant is folded
        infos[i] = &moved;
    }

    LayerQueries::Infos m_Inputs;
    LayerQueries::Infos m_Outputs;
    const BaseDescriptor* m_Descriptor;
    ChannelsLast m_Last;
    TensorInfo m_Data;
    TensorInfo m_Weights;
    TensorInfo m_Output;
};

bool SayNotThere(LayerQueries::Reason reason)
{
    if (reason.has_value())
    {
        reason.value() = "the backend is not there";
    }
    return false;
}

} // namespace

bool LayerQueries::Ask(LayerType type, const Infos& inputs, const Infos& outputs, const BaseDescriptor& descriptor,
                       Reason reasonIfUnsupported) const
{
    if (m_Support == nullptr)
    {
        return SayNotThere(reasonIfUnsupported);
    }
    const std::string name;
    const Question question(type, inputs, outputs, descriptor);
    LayerView view;
    view.m_Type = type;
    view.m_Name = &name;
    view.m_Descriptor = &question.Descriptor();
    view.m_Inputs = question.Inputs();
    view.m_Outputs = question.Outputs();
    view.m_HasValues = false;
    SupportResult result = m_Support->IsLayerSupported(view);
    if (!result.IsSupported() && reasonIfUnsupported.has_value())
    {
        reasonIfUnsupported.value() = std::move(result.m_Reason);
    }
    return result.IsSupported();
}

bool LayerQueries::AskRuntime(Reason reasonIfUnsupported) const
{
    return m_Support != nullptr || SayNotThere(reasonIfUnsupported);
}

bool LayerQueries::IsBatchNormalizationSupported(const Info& input, const Info& output, const Info& mean,
                                                 const Info& var, const Info& beta, const Info& gamma,
                                                 const BatchNormalizationDescriptor& descriptor,
                                                 Reason reasonIfUnsupported) const
{
    return Ask(LayerType::BatchNormalization, {&input, &mean, &var, &beta, &gamma}, {&output}, descriptor,
               reasonIfUnsupported);
}

bool LayerQueries::IsConcatSupported(const Infos& inputs, const Info& output, const OriginsDescriptor& descriptor,
                                     Reason reasonIfUnsupported) const
{
    return Ask(LayerType::Concat, inputs, {&output}, descriptor, reasonIfUnsupported);
}

bool LayerQueries::IsConstantSupported(const Info&, Reason reasonIfUnsupported) const
{
    return AskRuntime(reasonIfUnsupported);
}

bool LayerQueries::IsDebugSupported(const Info&, const Info&, Reason reasonIfUnsupported) const
{
    return AskRuntime(reasonIfUnsupported);
}

bool LayerQueries::IsDetectionPostProcessSupported(const Info& boxEncodings, const Info& scores, const Info& anchors,
                                                   const Info& detectionBoxes, const Info& detectionClasses,
                                                   const Info& detectionScores, const Info& numDetections,
                                                   const DetectionPostProcessDescriptor& descriptor,
                                                   Reason reasonIfUnsupported) const
{
    return Ask(LayerType::DetectionPostProcess, {&boxEncodings, &scores, &anchors},
               {&detectionBoxes, &detectionClasses, &detectionScores, &numDetections}, descriptor, reasonIfUnsupported);
}

bool LayerQueries::IsFakeQuantizationSupported(const Info& input, const FakeQuantizationDescriptor& descriptor,
                                               Reason reasonIfUnsupported) const
{
    return Ask(LayerType::FakeQuantization, {&input}, {&input}, descriptor, reasonIfUnsupported);
}

bool LayerQueries::IsFullyConnectedSupported(const Info& input, const Info& output, const Info& weights,
                                             const Info& biases, const FullyConnectedDescriptor& descriptor,
                                             Reason reasonIfUnsupported) const
{
    return Ask(LayerType::FullyConnected, {&input, &weights, descriptor.m_BiasEnabled ? &biases : nullptr}, {&output},
               descriptor, reasonIfUnsupported);
}

bool LayerQueries::IsInputSupported(const Info&, Reason reasonIfUnsupported) const
{
    return AskRuntime(reasonIfUnsupported);
}

bool LayerQueries::IsOutputSupported(const Info&, Reason reasonIfUnsupported) const
{
    return AskRuntime(reasonIfUnsupported);
}

bool LayerQueries::IsLstmSupported(const Info& input, const Info& outputStateIn, const Info& cellStateIn,
                                   const Info& scratchBuffer, const Info& outputStateOut, const Info& cellStateOut,
                                   const Info& output, const LstmDescriptor& descriptor,
                                   const LstmInputParamsInfo& paramsInfo, Reason reasonIfUnsupported) const
{
    return Ask(LayerType::Lstm, JoinInputs({&input, &outputStateIn, &cellStateIn}, paramsInfo),
               {&scratchBuffer, &outputStateOut, &cellStateOut, &output}, descriptor, reasonIfUnsupported);
}

bool LayerQueries::IsPreCompiledSupported(const Info& input, const PreCompiledDescriptor& descriptor,
                                          Reason reasonIfUnsupported) const
{
    return Ask(LayerType::PreCompiled, {&input}, {}, descriptor, reasonIfUnsupported);
}

bool LayerQueries::IsQLstmSupported(const Info& input, const Info& previousOutputIn, const Info& previousCellStateIn,
                                    const Info& outputStateOut, const Info& cellStateOut, const Info& output,
                                    const QLstmDescriptor& descriptor, const LstmInputParamsInfo& paramsInfo,
                                    Reason reasonIfUnsupported) const
{
    return Ask(LayerType::QLstm, JoinInputs({&input, &previousOutputIn, &previousCellStateIn}, paramsInfo),
               {&outputStateOut, &cellStateOut, &output}, descriptor, reasonIfUnsupported);
}

bool LayerQueries::IsQuantizedLstmSupported(const Info& input, const Info& previousCellStateIn,
                                            const Info& previousOutputIn, const Info& cellStateOut, const Info& output,
                                            const QuantizedLstmInputParamsInfo& paramsInfo,
                                            Reason reasonIfUnsupported) const
{
    return Ask(LayerType::QuantizedLstm, JoinInputs({&input, &previousCellStateIn, &previousOutputIn}, paramsInfo),
               {&cellStateOut, &output}, NullDescriptor(), reasonIfUnsupported);
}

bool LayerQueries::IsSplitterSupported(const Info& input,
                                       const std::vector<std::reference_wrapper<TensorInfo>>& outputs,
                                       const ViewsDescriptor& descriptor, Reason reasonIfUnsupported) const
{
    Infos infos;
    for (const TensorInfo& output : outputs)
    {
        infos.push_back(&output);
    }
    return Ask(LayerType::Splitter, {&input}, infos, descriptor, reasonIfUnsupported);
}

bool LayerQueries::IsStackSupported(const Infos& inputs, const Info& output, const StackDescriptor& descriptor,
                                    Reason reasonIfUnsupported) const
{
    return Ask(LayerType::Stack, inputs, {&output}, descriptor, reasonIfUnsupported);
}

bool LayerQueries::IsStandInSupported(const Infos& inputs, const Infos& outputs, const StandInDescriptor& descriptor,
                                      Reason reasonIfUnsupported) const
{
    return Ask(LayerType::StandIn, inputs, outputs, descriptor, reasonIfUnsupported);
}

bool LayerQueries::IsSwitchSupported(const Info& input0, const Info& input1, const Info& output0, const Info& output1,
                                     Reason reasonIfUnsupported) const
{
    return Ask(LayerType::Switch, {&input0, &input1}, {&output0, &output1}, NullDescriptor(), reasonIfUnsupported);
}

bool LayerQueries::IsUnidirectionalSequenceLstmSupported(const Info& input, const Info& outputStateIn,
                                                         const Info& cellStateIn, const Info& outputStateOut,
                                                         const Info& cellStateOut, const Info& output,
                                                         const LstmDescriptor& descriptor,
                                                         const LstmInputParamsInfo& paramsInfo,
                                                         Reason reasonIfUnsupported) const
{
    return Ask(LayerType::UnidirectionalSequenceLstm, JoinInputs({&input, &outputStateIn, &cellStateIn}, paramsInfo),
               {&outputStateOut, &cellStateOut, &output}, descriptor, reasonIfUnsupported);
}

} // namespace tenon
