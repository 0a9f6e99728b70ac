// SPDX-License-Identifier: Apache-2.0
// See RunComparison.hpp.
#include "tools/execute_network/RunComparison.hpp"

#include "tools/common/Backends.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/Npz.hpp"
#include "tools/common/Quantize.hpp"
#include "tools/common/RandomInputs.hpp"
#include "tools/common/Strings.hpp"
#include "tools/compare/ExpectedOutputs.hpp"
#include "tools/execute_network/FileSeries.hpp"
#include "tools/execute_network/Report.hpp"
#include "tools/execute_network/SeriesOutputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <utility>

namespace tenon::tools
{
namespace
{

constexpr const char* CompareWith = "--compare-with";

/// Options that change numbers count for the tested network alone, so that their effect can be seen.
Options MakeReferenceOptions(const Options& options)
{
    Options reference = options;
    reference.m_Fp16 = false;
    reference.m_Bf16 = false;
    reference.m_FastMath = false;
    reference.m_MaxPartitions = 0;
    reference.m_MinLayersPerPartition = 0;
    reference.m_AllOrNothing = false;
    return reference;
}

const Binding* FindByName(const std::vector<Binding>& bindings, const std::string& name)
{
    const auto found =
        std::find_if(bindings.begin(), bindings.end(), [&](const Binding& binding) { return binding.m_Name == name; });
    return found == bindings.end() ? nullptr : &*found;
}

std::string ListNames(const std::vector<Binding>& bindings)
{
    std::vector<std::string> names;
    for (const Binding& binding : bindings)
    {
        names.push_back(binding.m_Name);
    }
    return QuoteSome(std::move(names));
}

bool IsConvertible(const TensorInfo& info)
{
    return StandsForReals(info) || info.GetDataType() == DataType::Float32;
}

/// The same real numbers in another type; IsConvertible() holds for both.
Buffer ConvertReals(const InputData& input, const TensorInfo& target)
{
    Buffer floats(input.m_Info.GetShape().GetNumElements64() * sizeof(float));
    if (StandsForReals(input.m_Info))
    {
        DequantizeToFloats(input.m_Data.Data(), input.m_Info, floats.Data());
    }
    else
    {
        std::copy_n(input.m_Data.Data(), floats.Size(), floats.Data());
    }
    return StandsForReals(target) ? QuantizeFloats(floats, target) : std::move(floats);
}

/// A model's dimensions may be open, and the first one is that of the batch.
bool TakesShape(const TensorShape& declared, const TensorShape& shape)
{
    if (declared.GetDimensionality() == Dimensionality::NotSpecified)
    {
        return true;
    }
    bool takes = declared.GetNumDimensions() == shape.GetNumDimensions();
    for (unsigned int d = 1; takes && d < shape.GetNumDimensions(); ++d)
    {
        takes = !declared.GetDimensionSpecificity(d) || declared[d] == shape[d];
    }
    return takes;
}

std::string DescribeSide(const std::string& path, const std::vector<LayerAssignment>& assignment)
{
    return fmt::format("{} on {}", path, FormatCounts(CountByBackend(assignment)));
}

} // namespace

RunComparison::RunComparison(const Options& options, IRuntime& runtime)
    : m_Options(options), m_Runtime(runtime),
      m_Reference(ChooseReference(options.m_CompareWith, runtime, options.m_Limits)),
      m_ReferenceOptions(MakeReferenceOptions(options)),
      m_Blame(m_Reference.m_Model.empty() ? options.m_ModelPath : m_Reference.m_Model)
{
    m_Comparison.m_Tolerance = options.m_Tolerance;
    if (options.m_ComparesLayers && !m_Reference.m_Files.empty())
    {
        throw UsageError(fmt::format("--compare-layers: {} names files, which have no layers; name backends or a model "
                                     "there",
                                     CompareWith));
    }
    for (const std::string& file : m_Reference.m_Files)
    {
        m_Comparison.m_Reference += (m_Comparison.m_Reference.empty() ? "" : ", ") + file;
    }
}

void RunComparison::Load(TestedNetwork tested)
{
    m_Tested = std::move(tested);
    m_Comparison.m_Tested = DescribeSide(m_Options.m_ModelPath, m_Tested.m_Assignment);
    if (!m_Reference.m_Files.empty())
    {
        const size_t numFiles = m_Reference.m_Files.size();
        const size_t perRun = CountFilesOfRun();
        if (!HasFileSeries(m_Options) &&
            (perRun == 0 || numFiles % perRun != 0 || numFiles / perRun > m_Options.m_Iterations))
        {
            throw UsageError(fmt::format("{}: {} file(s) are given for {} output(s) and {} run(s); give one for each "
                                         "output, or such sets for --num-runs; --output-name chooses outputs",
                                         CompareWith, numFiles, m_Tested.m_Outputs.size(), m_Options.m_Iterations));
        }
        return;
    }
    if (m_Tested.m_IsReadOptimized && (m_Reference.m_Model.empty() || m_Options.m_ComparesLayers))
    {
        throw UsageError(
            fmt::format("{}: the model is optimized already, so {}; give the model itself",
                        m_Reference.m_Model.empty() ? CompareWith : "--compare-layers",
                        m_Reference.m_Model.empty() ? "no other backend can run it" : "its layers cannot be shown"));
    }
    Model model = m_Reference.m_Model.empty() ? m_Tested.m_Parse() : LoadOtherModel();
    const bool isOptimized = model.m_Optimized != nullptr;
    if (isOptimized && (!m_Reference.m_Backends.empty() || m_Options.m_ComparesLayers))
    {
        throw UsageError(fmt::format(
            "{}: '{}' is optimized already, so {}; give the model itself", CompareWith, OneLine(m_Reference.m_Model),
            m_Options.m_ComparesLayers ? "its layers cannot be shown" : "no other backend can run it"));
    }
    MatchInputs(model.m_Inputs);
    MatchOutputs(model.m_Outputs);
    m_Network = std::make_unique<OtherNetwork>(std::move(model), ChooseBackends(), m_ReferenceOptions,
                                               m_Tested.m_InputBytes, m_Blame, m_Runtime);
    m_Comparison.m_Reference = DescribeSide(m_Reference.m_Model.empty() ? m_Options.m_ModelPath : m_Reference.m_Model,
                                            m_Network->GetAssignment());
}

/// The backends of the option, else those of the run.
std::vector<BackendId> RunComparison::ChooseBackends() const
{
    return m_Reference.m_Backends.empty() ? m_Tested.m_Backends
                                          : SelectBackends(m_Reference.m_Backends, m_Runtime, CompareWith);
}

Model RunComparison::LoadOtherModel()
{
    m_ModelFile = OpenModel(m_Reference.m_Model, "", m_Options.m_Limits);
    const Model model = ParseReference();
    MatchInputs(model.m_Inputs);
    for (size_t i = 0; i < m_Inputs.size(); ++i)
    {
        const Binding& input = m_Tested.m_Inputs[m_Sources[i]];
        const TensorShape& shape = input.m_Info.GetShape();
        const TensorShape& declared = m_Inputs[i].m_Info.GetShape();
        if (!TakesShape(declared, shape) && !m_Tested.m_NewShapes.contains(input.m_Name))
        {
            throw InputError(fmt::format("{}: input '{}' is {}, but '{}' of '{}' is {}; models that are compared take "
                                         "the same inputs",
                                         CompareWith, OneLine(input.m_Name), shape.ToString(),
                                         OneLine(m_Inputs[i].m_Name), OneLine(m_Reference.m_Model),
                                         declared.ToString()));
        }
        if (declared != shape)
        {
            m_Shapes[m_Inputs[i].m_Name] = shape;
        }
    }
    Model shaped = ParseReference();
    if (shaped.m_WhyNot != nullptr)
    {
        m_Blame.OfModel([&] { std::rethrow_exception(shaped.m_WhyNot); });
    }
    return shaped;
}

/// The model of the reference as a network to be optimized, once more.
Model RunComparison::ParseReference() const
{
    if (!m_ModelFile)
    {
        return m_Tested.m_Parse();
    }
    ModelChoice choice;
    choice.m_InputShapes = m_Shapes;
    choice.m_SubgraphOption = m_Options.m_SubgraphOption;
    return m_Blame.OfModel([&]
                           { return LoadModel(*m_ModelFile, choice, m_Options.m_Limits, m_Runtime.GetDeviceSpec()); });
}

/// By name if each name is there, else by order.
void RunComparison::MatchInputs(const std::vector<Binding>& inputs)
{
    const std::vector<Binding>& tested = m_Tested.m_Inputs;
    if (inputs.size() != tested.size())
    {
        throw InputError(fmt::format("{}: the model has {} input(s), {}, but '{}' has {}, {}; models that are compared "
                                     "take the same inputs",
                                     CompareWith, tested.size(), ListNames(tested), OneLine(m_Reference.m_Model),
                                     inputs.size(), ListNames(inputs)));
    }
    const bool isByName =
        std::all_of(inputs.begin(), inputs.end(),
                    [&](const Binding& input) { return FindByName(tested, input.m_Name) != nullptr; });
    m_Inputs = inputs;
    m_Sources.clear();
    for (size_t i = 0; i < inputs.size(); ++i)
    {
        const size_t source = isByName ? static_cast<size_t>(FindByName(tested, inputs[i].m_Name) - tested.data()) : i;
        m_Sources.push_back(source);
        const TensorInfo& from = tested[source].m_Info;
        if (!from.IsTypeSpaceMatch(inputs[i].m_Info) && !(IsConvertible(from) && IsConvertible(inputs[i].m_Info)))
        {
            throw InputError(fmt::format("{}: input '{}' is {}, but '{}' of '{}' is {}; only Float32 and quantized "
                                         "inputs stand for the same numbers",
                                         CompareWith, OneLine(tested[source].m_Name), from.ToString(),
                                         OneLine(inputs[i].m_Name), OneLine(m_Reference.m_Model),
                                         inputs[i].m_Info.ToString()));
        }
    }
}

/// By name if each name is there, else by order if there are as many.
void RunComparison::MatchOutputs(const std::vector<Binding>& outputs)
{
    const std::vector<Binding>& tested = m_Tested.m_Outputs;
    const bool isByName =
        std::all_of(tested.begin(), tested.end(),
                    [&](const Binding& output) { return FindByName(outputs, output.m_Name) != nullptr; });
    if (!isByName && outputs.size() != tested.size())
    {
        throw InputError(fmt::format("{}: the outputs are {}, but '{}' has {}; --output-name chooses outputs that both "
                                     "have",
                                     CompareWith, ListNames(tested), OneLine(m_Reference.m_Model), ListNames(outputs)));
    }
    m_Outputs.clear();
    for (size_t i = 0; i < tested.size(); ++i)
    {
        m_Outputs.push_back(isByName ? *FindByName(outputs, tested[i].m_Name) : outputs[i]);
    }
}

InputTensors RunComparison::MakeInputs(std::span<const InputData> inputs)
{
    m_Converted.clear();
    m_Converted.reserve(m_Inputs.size()); // tensors point to them
    InputTensors tensors;
    for (size_t i = 0; i < m_Inputs.size(); ++i)
    {
        const InputData& input = inputs[m_Sources[i]];
        TensorInfo info = m_Inputs[i].m_Info;
        info.SetShape(input.m_Info.GetShape());
        info.SetConstant();
        const std::byte* data = input.m_Data.Data();
        if (!info.IsTypeSpaceMatch(input.m_Info))
        {
            m_Converted.push_back({info, ConvertReals(input, info), {}});
            data = m_Converted.back().m_Data.Data();
        }
        tensors.emplace_back(m_Inputs[i].m_Id, ConstTensor(info, data));
    }
    return tensors;
}

void RunComparison::ShareRandomInputs(std::vector<InputData>& inputs, uint64_t set) const
{
    for (size_t i = 0; i < m_Inputs.size(); ++i)
    {
        InputData& input = inputs[m_Sources[i]];
        if (StandsForReals(m_Inputs[i].m_Info) && !StandsForReals(input.m_Info))
        {
            TensorInfo info = m_Inputs[i].m_Info;
            info.SetShape(input.m_Info.GetShape());
            std::vector<InputData> quantized;
            quantized.push_back({info, {}, {}});
            FillRandomInputs({m_Inputs[i]}, quantized, Distribution::Gaussian, set);
            DequantizeToFloats(quantized.front().m_Data.Data(), info, input.m_Data.Data());
        }
    }
}

size_t RunComparison::CountFilesOfRun() const
{
    const std::vector<std::string>& files = m_Reference.m_Files;
    const bool isNpz = std::all_of(files.begin(), files.end(), [](const std::string& file) { return IsNpz(file, ""); });
    return isNpz ? 1 : m_Tested.m_Outputs.size();
}

std::vector<std::string> RunComparison::FilesOf(size_t index, const std::string& file) const
{
    const std::vector<std::string>& files = m_Reference.m_Files;
    if (!file.empty())
    {
        std::vector<std::string> named;
        for (const std::string& entry : files)
        {
            named.push_back(NameOutputFile(entry, std::filesystem::path(file).stem().string()));
        }
        return named;
    }
    const size_t perRun = CountFilesOfRun();
    const auto first = files.begin() + static_cast<std::ptrdiff_t>(index % (files.size() / perRun) * perRun);
    return {first, first + static_cast<std::ptrdiff_t>(perRun)};
}

const std::vector<OutputData>& RunComparison::ReadExpected(size_t index, const std::string& file,
                                                           const OutputStore& outputs)
{
    const std::vector<std::string> files = FilesOf(index, file);
    const auto known = m_Expected.find(files);
    if (known != m_Expected.end())
    {
        return known->second;
    }
    if (!file.empty())
    {
        m_Expected.clear(); // no other file of the series has these
    }
    std::vector<NamedInfo> infos;
    for (const Binding& output : m_Tested.m_Outputs)
    {
        infos.push_back({output.m_Name, outputs.Get(output.m_Id).m_Info});
    }
    return m_Expected[files] = ReadExpectedOutputs(files, infos, CompareWith, m_Options.m_Limits);
}

void RunComparison::AddRun(size_t index, const std::string& file, std::span<const InputData> inputs, double testedMs,
                           const OutputStore& outputs)
{
    const bool hasNetwork = m_Network != nullptr;
    const double referenceMs = hasNetwork ? m_Network->Run(MakeInputs(inputs)) : 0.0;
    const std::vector<OutputData>* const expected = hasNetwork ? nullptr : &ReadExpected(index, file, outputs);
    std::vector<OutputPair> pairs;
    for (size_t i = 0; i < m_Tested.m_Outputs.size(); ++i)
    {
        const Binding& output = m_Tested.m_Outputs[i];
        const OutputData& reference = hasNetwork ? m_Network->GetOutputs().Get(m_Outputs[i].m_Id) : (*expected)[i];
        const std::string& name = hasNetwork ? m_Outputs[i].m_Name : output.m_Name;
        pairs.push_back({output.m_Name, TensorView(outputs.Get(output.m_Id)), name, TensorView(reference)});
    }
    AddOutputs(m_Comparison, pairs);
    if (!file.empty())
    {
        m_Comparison.m_Files.push_back(file);
    }
    const auto addTime = [&](std::vector<double>& times, double ms)
    {
        if (m_Comparison.m_NumRuns == 1) // the first one is slower
        {
            times.clear();
        }
        times.push_back(ms);
    };
    addTime(m_Comparison.m_TestedMs, testedMs);
    if (hasNetwork)
    {
        addTime(m_Comparison.m_ReferenceMs, referenceMs);
    }
    ++m_Comparison.m_NumRuns;
}

void RunComparison::CompareLayers(std::span<const InputData> inputs)
{
    m_Network.reset(); // three networks, with their weights, are enough
    const InputTensors referenceInputs = MakeInputs(inputs);
    const auto load =
        [&](Model model, const std::vector<BackendId>& backends, const Options& options, const ErrorAttribution& blame)
    {
        return std::make_unique<OtherNetwork>(std::move(model), backends, options, m_Tested.m_InputBytes, blame,
                                              m_Runtime, OtherNetwork::Debug::On);
    };
    const std::unique_ptr<OtherNetwork> tested =
        load(m_Tested.m_Parse(), m_Tested.m_Backends, m_Options, ErrorAttribution(m_Options.m_ModelPath));
    std::unique_ptr<OtherNetwork> reference = load(ParseReference(), ChooseBackends(), m_ReferenceOptions, m_Blame);
    LayerComparison layers(tested->GetAssignment(), reference->GetAssignment(),
                           m_Options.m_Tolerance.value_or(Tolerance()), m_Options.m_Limits);
    layers.AddFusions(m_Tested.m_Assignment, m_Runtime.GetPlan(m_Tested.m_Network));
    reference->SetDebugCallback(layers.KeepReference());
    reference->Run(referenceInputs);
    reference.reset();
    tested->SetDebugCallback(layers.CompareTested());
    InputTensors testedInputs;
    for (size_t i = 0; i < inputs.size(); ++i)
    {
        TensorInfo info = inputs[i].m_Info;
        info.SetConstant();
        testedInputs.emplace_back(m_Tested.m_Inputs[i].m_Id, ConstTensor(info, inputs[i].m_Data.Data()));
    }
    tested->Run(testedInputs);
    m_Comparison.m_Layers = layers.Finish();
}

void RunComparison::CheckTolerance() const
{
    const uint64_t numOut = m_Comparison.m_Tolerance ? CountOutOfTolerance(m_Comparison) : 0;
    if (numOut > 0)
    {
        throw ToleranceError(fmt::format("--tolerance: {} element(s) of the outputs differ by more than {}", numOut,
                                         DescribeTolerance(*m_Comparison.m_Tolerance)));
    }
}

} // namespace tenon::tools
