// SPDX-License-Identifier: Apache-2.0
// See LayerQueries.hpp.
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
    LayerView view;
    view.m_Type = type;
    view.m_Name = &name;
    view.m_Descriptor = &descriptor;
    view.m_Inputs = inputs;
    view.m_Outputs = outputs;
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
