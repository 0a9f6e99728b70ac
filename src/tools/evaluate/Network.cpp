// SPDX-License-Identifier: Apache-2.0
// See Network.hpp.
#include "tools/evaluate/Network.hpp"

#include "tools/common/Backends.hpp"
#include "tools/common/Console.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/InputPlace.hpp"
#include "tools/common/Strings.hpp"
#include "tools/evaluate/Hash.hpp"

#include <tenon/INetwork.hpp>
#include <tenon/IOptimizedNetwork.hpp>

#include <fmt/format.h>

#include <exception>
#include <utility>

namespace tenon::tools::evaluate
{

Network::Network(const Options& options, const std::vector<std::string>& pictures)
    : m_Options(options), m_Attribution(options.m_ModelPath),
      m_Runtime(MakeRuntime(options.m_DynamicBackendsPath, options.m_Limits))
{
    const std::vector<BackendId> backends = SelectBackends(options.m_Compute, *m_Runtime, "--compute");
    m_File = OpenModel(options.m_ModelPath, "", options.m_Limits);
    m_Checksum = HashFile(m_File->m_Source);
    Model model = Parse({});
    for (const std::string& remark : model.m_Remarks)
    {
        PrintWarning(fmt::format("model '{}': {}", OneLine(options.m_ModelPath), OneLine(remark)));
    }
    if (model.m_Inputs.size() != 1)
    {
        throw UsageError(fmt::format("model '{}': it has {} inputs; models with one, for a picture, are evaluated",
                                     OneLine(options.m_ModelPath), model.m_Inputs.size()));
    }
    m_Input = model.m_Inputs.front();
    if (!m_Input.m_Info.GetShape().AreAllDimensionsSpecified())
    {
        const TensorShape shape = FindShape(pictures);
        model = Parse({{m_Input.m_Name, shape}});
        m_Input.m_Info.SetShape(shape);
    }
    if (model.m_WhyNot != nullptr)
    {
        m_Attribution.OfModel([&] { std::rethrow_exception(model.m_WhyNot); });
    }
    m_AllOutputs = model.m_Outputs;
    m_Outputs = SelectBindings(model.m_Outputs, options.m_OutputNames, "output");

    IOptimizedNetworkPtr optimized = std::move(model.m_Optimized);
    if (optimized == nullptr)
    {
        OptimizerOptionsOpaque optimizerOptions;
        optimizerOptions.SetShapeInferenceMethod(ShapeInferenceMethod::InferAndValidate);
        optimizerOptions.SetLimits(options.m_Limits);
        optimizerOptions.SetReduceFp32ToFp16(options.m_Fp16);
        optimizerOptions.SetReduceFp32ToBf16(options.m_Bf16);
        if (options.m_FastMath)
        {
            optimizerOptions.AddModelOption(BackendOptions(Compute::CpuAcc, {{"FastMathEnabled", true}}));
        }
        optimized = m_Attribution.OfModel(
            [&] { return Optimize(*model.m_Network, backends, m_Runtime->GetDeviceSpec(), optimizerOptions); });
    }
    INetworkProperties properties;
    properties.m_NumberOfThreads = options.m_Threads;
    m_Attribution.OfRun([&] { return m_Runtime->LoadNetwork(m_Id, std::move(optimized), properties); });
    for (Binding& output : m_Outputs)
    {
        output.m_Info = m_Runtime->GetOutputTensorInfo(m_Id, output.m_Id);
    }
}

Model Network::Parse(const std::map<std::string, TensorShape>& shapes) const
{
    const ModelChoice choice{m_Options.m_Entry, 0, m_Options.m_Signature, shapes, "", m_Options.m_Dimensions};
    return m_Attribution.OfModel(
        [&] { return LoadModel(*m_File, choice, m_Options.m_Limits, m_Runtime->GetDeviceSpec()); });
}

TensorShape Network::FindShape(const std::vector<std::string>& pictures) const
{
    std::string firstError;
    for (const std::string& picture : pictures)
    {
        try
        {
            return Load(picture).m_Info.GetShape();
        }
        catch (const InputError& error)
        {
            firstError = firstError.empty() ? error.what() : firstError;
        }
    }
    throw InputError(fmt::format("no picture can be read; the first: {}", firstError));
}

InputData Network::Load(const std::string& picture) const
{
    InputData input = std::move(
        LoadInputs({m_Input}, {picture}, {}, {m_Options.m_InputMean, m_Options.m_InputStd}, m_Options.m_Limits)
            .front());
    const TensorShape& wanted = m_Input.m_Info.GetShape();
    if (wanted.AreAllDimensionsSpecified() && input.m_Info.GetShape() != wanted)
    {
        throw InputError(fmt::format("file '{}' for {}: its shape is {}, but {} is expected", OneLine(picture),
                                     PlaceOf(m_Input), input.m_Info.GetShape().ToString(), wanted.ToString()));
    }
    return input;
}

Caller::Caller(Network& network)
    : m_Network(network), m_Session(network.m_Runtime->CreateSession(network.m_Id)),
      m_Outputs(network.m_AllOutputs, network.m_Input.m_Info.GetNumBytes(), network.m_Options.m_Limits)
{
}

Caller::~Caller()
{
    m_Network.m_Runtime->DestroySession(m_Network.m_Id, m_Session);
}

const OutputStore& Caller::Infer(const InputData& input)
{
    TensorInfo info = input.m_Info;
    info.SetConstant();
    const InputTensors tensors = {{m_Network.m_Input.m_Id, ConstTensor(info, input.m_Data.Data())}};
    m_Network.m_Attribution.OfRun(
        [&]
        {
            m_Network.m_Runtime->ResetStates(m_Network.m_Id, m_Session);
            return m_Network.m_Runtime->EnqueueWorkload(m_Network.m_Id, m_Session, tensors, m_Outputs.GetAllocator());
        });
    m_Outputs.Dequantize();
    return m_Outputs;
}

} // namespace tenon::tools::evaluate
