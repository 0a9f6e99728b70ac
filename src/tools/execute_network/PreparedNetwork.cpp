// SPDX-License-Identifier: Apache-2.0
// See PreparedNetwork.hpp.
#include "tools/execute_network/PreparedNetwork.hpp"

#include "tools/common/Assignment.hpp"
#include "tools/common/Backends.hpp"
#include "tools/common/Console.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/Stopwatch.hpp"
#include "tools/common/Strings.hpp"
#include "tools/execute_network/FileReport.hpp"
#include "tools/execute_network/InputShapes.hpp"
#include "tools/execute_network/OptimizerOptions.hpp"
#include "tools/execute_network/Outputs.hpp"
#include "tools/execute_network/Serialize.hpp"
#include "tools/execute_network/Warnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

namespace tenon::tools
{

PreparedNetwork::PreparedNetwork(const Options& options)
    : m_Options(options), m_Blame(options.m_ModelPath), m_Limits(options.m_Limits), m_Series(options)
{
    m_Report.m_ModelPath = options.m_ModelPath;
    m_Report.m_Compute = options.m_Compute;
    m_Report.m_Threads =
        options.m_NumberOfThreads != 0 ? options.m_NumberOfThreads : std::max(1U, std::thread::hardware_concurrency());
}

void PreparedNetwork::CreateRuntime()
{
    Stopwatch creation;
    m_Runtime = MakeRuntime(m_Options.m_DynamicBackendsPath, m_Options.m_Limits);
    m_Report.m_RuntimeMs = creation.Milliseconds();
    m_Report.m_LoadMs += m_Report.m_RuntimeMs;
}

Model PreparedNetwork::PrepareModel()
{
    Model model = Parse({});
    for (const std::string& remark : model.m_Remarks)
    {
        PrintWarning(fmt::format("model '{}': {}", OneLine(m_Options.m_ModelPath), OneLine(remark)));
    }
    m_Report.m_Inputs = OrderInputs(model.m_Inputs, m_Options.m_InputNames);
    SelectOutputs(model);
    ReadInputs();

    std::vector<std::string> changes;
    for (size_t i = 0; i < m_Report.m_Inputs.size(); ++i)
    {
        if (!m_Inputs[i].m_Remark.empty())
        {
            PrintWarning(m_Inputs[i].m_Remark);
        }
        const TensorShape& shape = m_Inputs[i].m_Info.GetShape();
        if (shape != m_Report.m_Inputs[i].m_Info.GetShape())
        {
            m_NewShapes[m_Report.m_Inputs[i].m_Name] = shape;
            changes.push_back(DescribeNewShape(m_Report.m_Inputs[i], shape, i, m_Options));
        }
        m_Report.m_Inputs[i].m_Info = m_Inputs[i].m_Info;
    }
    if (!m_NewShapes.empty())
    {
        m_Blame.SetInputs(fmt::format("{}", fmt::join(changes, ", ")));
        model = Parse(m_NewShapes);
        SelectOutputs(model);
    }
    if (model.m_WhyNot != nullptr)
    {
        m_Blame.OfModel([&] { std::rethrow_exception(model.m_WhyNot); });
    }
    m_Outputs = OutputStore(model.m_Outputs, CountBytes(m_Inputs), m_Limits);
    return model;
}

void PreparedNetwork::ReadInputs()
{
    const std::vector<std::vector<unsigned int>> shapes = OrderShapes(m_Options, m_Report.m_Inputs.size());
    if (m_Series.IsUsed())
    {
        m_Inputs = m_Series.LoadFirst(m_Report.m_Inputs, shapes, FailureReporter());
        return;
    }
    const Normalisation normalisation{m_Options.m_InputMean, m_Options.m_InputStd};
    m_Inputs = LoadInputs(m_Report.m_Inputs, m_Options.m_InputFiles, shapes, normalisation, m_Limits,
                          m_Options.m_Iterations, m_Options.m_QuantizeInputs);
    RequirePicture(m_Inputs, normalisation);
}

void PreparedNetwork::SelectOutputs(const Model& model)
{
    if (model.m_WhyNot == nullptr)
    {
        m_Report.m_Outputs = SelectBindings(model.m_Outputs, m_Options.m_OutputNames, "output");
        CheckOutputFiles(m_Options, m_Report.m_Outputs.size());
    }
}

Model PreparedNetwork::Parse(const std::map<std::string, TensorShape>& shapes)
{
    Stopwatch parsing;
    if (!m_ModelFile)
    {
        m_ModelFile = OpenModel(m_Options.m_ModelPath, m_Options.m_ModelFormat, m_Limits);
    }
    const ModelChoice choice{m_Options.m_Entry,          m_Options.m_Subgraph,  m_Options.m_Signature, shapes,
                             m_Options.m_SubgraphOption, m_Options.m_Dimensions};
    Model model =
        m_Blame.OfModel([&] { return LoadModel(*m_ModelFile, choice, m_Limits, m_Runtime->GetDeviceSpec()); });
    const double ms = parsing.Milliseconds();
    m_Report.m_ParseMs += ms;
    m_Report.m_LoadMs += ms;
    return model;
}

IOptimizedNetworkPtr PreparedNetwork::Optimized(Model model, const std::vector<BackendId>& backends)
{
    if (model.m_Optimized != nullptr && !m_Options.m_OptimizerOptions.empty())
    {
        throw UsageError(fmt::format("{}: the model is optimized already, so this can have no effect; give it "
                                     "beside --serialize-optimized",
                                     fmt::join(m_Options.m_OptimizerOptions, ", ")));
    }
    const bool isRead = model.m_Optimized != nullptr;
    if (isRead && !m_Options.m_CompareBackends.empty())
    {
        throw UsageError("--compare-output-with-backend: the model is optimized already, so no other backend can "
                         "run it; give the model itself");
    }
    if (!isRead)
    {
        m_Report.m_LayersBefore = CountLayers(*model.m_Network);
    }
    Stopwatch optimizing;
    IOptimizedNetworkPtr optimized = isRead ? std::move(model.m_Optimized) : Optimize(*model.m_Network, backends);
    if (isRead)
    {
        m_Report.m_Compute.clear(); // no backend was preferred
    }
    else
    {
        m_Report.m_OptimizeMs = optimizing.Milliseconds();
    }
    m_Report.m_Assignment = optimized->GetAssignment();
    if (m_Options.HasProfile())
    {
        m_Structure = ReadStructure(*optimized);
    }
    if (!m_Options.m_SerializeOptimizedFile.empty())
    {
        WriteNetwork(m_Options.m_SerializeOptimizedFile, *optimized);
    }
    return optimized;
}

IOptimizedNetworkPtr PreparedNetwork::Optimize(const INetwork& network, const std::vector<BackendId>& backends)
{
    const OptimizerOptionsOpaque optimizerOptions = MakeOptimizerOptions(m_Options, backends, m_Limits);
    return m_Blame.OfModel(
        [&]
        {
            return tenon::Optimize(network, backends, m_Runtime->GetDeviceSpec(), optimizerOptions,
                                   Optional<std::vector<std::string>&>(m_Report.m_Messages));
        });
}

void PreparedNetwork::Load(IOptimizedNetworkPtr network)
{
    const bool usesCachedNetwork = UsesCachedNetwork(m_Options, m_Report.m_Assignment);
    WarnOfCachedNetwork(m_Options, usesCachedNetwork);
    const INetworkProperties properties = MakeNetworkProperties(m_Options, m_Report.m_Threads, usesCachedNetwork);
    Stopwatch loading;
    const auto load = [&] { return m_Runtime->LoadNetwork(m_Network, std::move(network), properties); };
    // The file of packed weights is an input, too, which may be missing, damaged or that of another model.
    const bool readsFile = usesCachedNetwork && !m_Options.m_SaveCachedNetwork;
    readsFile ? m_Blame.OfModel(load) : m_Blame.OfRun(load);
    m_Report.m_LoadMs += loading.Milliseconds();
}

void PreparedNetwork::FillInputs(Distribution distribution)
{
    // The outputs of a .tenon file follow from the shapes in the file, so they are known only where inputs have
    // these.
    const auto hasShape = [&](const Binding& input)
    { return m_Runtime->GetInputTensorInfo(m_Network, input.m_Id).GetShape() == input.m_Info.GetShape(); };
    if (std::all_of(m_Report.m_Inputs.begin(), m_Report.m_Inputs.end(), hasShape))
    {
        m_Outputs.CheckBytes(*m_Runtime, m_Network);
    }
    if (m_Options.m_InputFiles.empty())
    {
        FillRandomInputs(m_Report.m_Inputs, m_Inputs, distribution);
        if (m_Options.m_ArmNNOutput && !m_Inputs.empty())
        {
            PrintWarning("--input-tensor-data: no file is given, so inputs are seeded random values");
        }
    }
}

std::span<const InputData> PreparedNetwork::InputsOf(unsigned int iteration) const
{
    const size_t count = m_Report.m_Inputs.size();
    const size_t numSets = HasSets() ? m_Inputs.size() / count : 1;
    return std::span(m_Inputs).subspan(iteration % numSets * count, count);
}

InputTensors PreparedNetwork::TensorsOf(unsigned int iteration) const
{
    InputTensors tensors;
    const std::span<const InputData> inputs = InputsOf(iteration);
    for (size_t i = 0; i < inputs.size(); ++i)
    {
        TensorInfo info = inputs[i].m_Info;
        info.SetConstant();
        tensors.emplace_back(m_Report.m_Inputs[i].m_Id, ConstTensor(info, inputs[i].m_Data.Data()));
    }
    return tensors;
}

std::function<void(size_t, const std::string&)> PreparedNetwork::FailureReporter()
{
    return [this](size_t index, const std::string& error)
    {
        if (!m_Options.m_ReportFile.empty())
        {
            m_Report.m_Files.push_back(FormatFileFailure(m_Series.Sets()[index], error));
        }
    };
}

} // namespace tenon::tools
