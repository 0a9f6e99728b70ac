// SPDX-License-Identifier: Apache-2.0
// See Inspection.hpp.
#include "tools/describe/Inspection.hpp"

#include "formats/ModelFormat.hpp"
#include "tools/common/Backends.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/LimitOption.hpp"
#include "tools/common/Strings.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

namespace tenon::tools
{
namespace
{

/// For open dimensions: a single element, what small pictures and sequences have, and what sound has.
constexpr unsigned int TriedSizes[] = {1, 32, 64, 512};

/// Whether files of the format may hold anything, so that their name has to tell a model.
bool MayHoldAnything(const formats::ModelFormat* format)
{
    const std::string_view label = format != nullptr ? format->m_Label : "";
    return label.empty() || label == "Git LFS" || label == "zip" || label == "gzip";
}

/// Whether a file that is of no known format has the name of a model.
bool IsNamedAsModel(const std::string& path)
{
    return EndsWithNoCase(path, ".tflite") || EndsWithNoCase(path, ".tenon") || EndsWithNoCase(path, ".onnx") ||
           EndsWithNoCase(path, ".armnn") || EndsWithNoCase(path, ".task") || EndsWithNoCase(path, ".litertlm");
}

/// By their names in an ONNX model; none where the rank of an input is open.
std::vector<std::string> ListOpenDimensions(const std::vector<Binding>& inputs)
{
    std::vector<std::string> open;
    for (const Binding& input : inputs)
    {
        const TensorShape& shape = input.m_Info.GetShape();
        if (shape.GetDimensionality() == Dimensionality::NotSpecified)
        {
            return {};
        }
        for (unsigned int d = 0; d < input.m_DimensionNames.size(); ++d)
        {
            const std::string& name = input.m_DimensionNames[d];
            if (!shape.GetDimensionSpecificity(d) && std::find(open.begin(), open.end(), name) == open.end())
            {
                open.push_back(name);
            }
        }
    }
    return open;
}

/// Whether only the first dimension of a shape is open, or none.
bool IsOpenAtFirstAlone(const TensorShape& shape)
{
    if (shape.GetDimensionality() == Dimensionality::NotSpecified)
    {
        return false;
    }
    for (unsigned int d = 1; d < shape.GetNumDimensions(); ++d)
    {
        if (!shape.GetDimensionSpecificity(d))
        {
            return false;
        }
    }
    return true;
}

ShapesById ShapesOf(const std::vector<Binding>& inputs, const std::map<std::string, TensorShape>& shapes)
{
    ShapesById byId;
    for (const Binding& input : inputs)
    {
        const auto found = shapes.find(input.m_Name);
        byId.emplace(input.m_Id, found != shapes.end() ? found->second : input.m_Info.GetShape());
    }
    return byId;
}

/// Messages name the model, which the description does, too.
void SetFailure(ModelDescription& description, Verdict verdict, const std::string& message)
{
    const std::string model = fmt::format("model '{}': ", OneLine(description.m_Path));
    const std::string reason = NameLimitOptions(message.starts_with(model) ? message.substr(model.size()) : message);
    description.m_Verdict = verdict;
    description.m_Failure = std::current_exception();
    description.m_Reason = OneLine(reason);
    if (verdict == Verdict::Unsupported)
    {
        // Lines for layers or kinds of operators follow one that says how many there are.
        for (size_t start = 0; start < reason.size();)
        {
            const size_t end = std::min(reason.find('\n', start), reason.size());
            const size_t text = std::min(reason.find_first_not_of(' ', start), end);
            description.m_Unsupported.push_back(OneLine(std::string_view(reason).substr(text, end - text)));
            start = end + 1;
        }
        if (description.m_Unsupported.size() > 1)
        {
            description.m_Unsupported.erase(description.m_Unsupported.begin());
        }
    }
}

} // namespace

Inspector::Inspector(const DescribeSettings& settings, bool isForFolder)
    : m_Settings(settings), m_IsForFolder(isForFolder),
      m_Runtime(MakeRuntime(settings.m_DynamicBackendsPath, settings.m_Limits)),
      m_Backends(SelectBackends(settings.m_Compute, *m_Runtime, "--compute"))
{
}

std::vector<ModelDescription> Inspector::Inspect(const std::string& path) const
{
    ModelDescription description;
    description.m_Path = path;
    std::optional<ModelFile> file;
    bool isModel = true;
    Try(description,
        [&]
        {
            if (m_IsForFolder)
            {
                const formats::ModelFormat* const format =
                    FindFormat(InputSource(path, m_Settings.m_Limits.m_MaxFileBytes));
                isModel = !MayHoldAnything(format) || IsNamedAsModel(path);
                description.m_Format = format != nullptr ? format->m_Label : "unknown";
            }
            if (isModel)
            {
                file.emplace(OpenModel(path, m_IsForFolder ? "" : m_Settings.m_Format, m_Settings.m_Limits));
                description.m_Format = FindFormat(file->m_Source)->m_Label;
                description.m_FileBytes = file->m_Source.Open().Remaining();
            }
        });
    if (!isModel)
    {
        return {};
    }
    if (!file)
    {
        return {description};
    }
    return InspectEntries(*file, description);
}

std::vector<ModelDescription> Inspector::InspectEntries(const ModelFile& file, const ModelDescription& base) const
{
    ModelChoice choice = m_IsForFolder ? ModelChoice() : m_Settings.m_Choice;
    choice.m_KeepsRefused = true;
    std::vector<ModelDescription> descriptions;
    const auto inspect = [&](const std::string& entry)
    {
        ModelDescription description = base;
        description.m_Entry = entry;
        choice.m_Entry = entry;
        Try(description, [&] { Describe(file, choice, description); });
        descriptions.push_back(std::move(description));
    };
    try
    {
        inspect(choice.m_Entry);
    }
    catch (const UnchosenEntryError& error)
    {
        std::for_each(error.Entries().begin(), error.Entries().end(), inspect);
    }
    return descriptions;
}

template <typename Step>
void Inspector::Try(ModelDescription& description, Step step)
{
    try
    {
        step();
    }
    catch (const UnchosenEntryError&)
    {
        throw;
    }
    catch (const UnimplementedException& error)
    {
        SetFailure(description, Verdict::Unsupported, error.what());
    }
    catch (const BackendUnavailableException& error) // an optimized network's
    {
        SetFailure(description, Verdict::Unsupported, error.what());
    }
    catch (const std::bad_alloc&)
    {
        SetFailure(description, Verdict::Unreadable, "there is not enough memory");
    }
    catch (const std::exception& error)
    {
        SetFailure(description, Verdict::Unreadable, error.what());
    }
}

/// As the file is; where it cannot be run so and leaves sizes of inputs open, with some sizes for these.
void Inspector::Describe(const ModelFile& file, ModelChoice choice, ModelDescription& description) const
{
    if (!m_IsForFolder && m_Settings.m_GetShapes)
    {
        const Model model = LoadModel(file, choice, m_Settings.m_Limits, m_Runtime->GetDeviceSpec());
        choice.m_InputShapes = m_Settings.m_GetShapes(model.m_Inputs);
    }
    std::exception_ptr failure;
    try
    {
        Optimize(file, choice, description);
    }
    catch (const Exception&)
    {
        const auto runsWith = [&](unsigned int size)
        { return TrySizes(file, choice, size, false, description) || TrySizes(file, choice, size, true, description); };
        const std::vector<std::string> open = ListOpenDimensions(description.m_Inputs);
        const bool runs = !open.empty() && std::any_of(std::begin(TriedSizes), std::end(TriedSizes), runsWith);
        description.m_GivenSizes = runs ? open : std::vector<std::string>();
        failure = runs ? nullptr : std::current_exception();
    }
    AssumeSizes(file, choice, description);
    if (failure != nullptr)
    {
        std::rethrow_exception(failure);
    }
}

/// The description is given also where this throws, as far as it is known then.
void Inspector::Optimize(const ModelFile& file, const ModelChoice& choice, ModelDescription& description) const
{
    Model model = LoadModel(file, choice, m_Settings.m_Limits, m_Runtime->GetDeviceSpec());
    description.m_Inputs = model.m_Inputs;
    description.m_Outputs = model.m_Outputs;
    description.m_Texts = model.m_Texts;
    description.m_Signatures = model.m_Signatures;
    description.m_NumSubgraphs = model.m_NumSubgraphs;
    description.m_Remarks = model.m_Remarks;
    if (model.m_WhyNot != nullptr)
    {
        std::rethrow_exception(model.m_WhyNot);
    }
    const ShapesById shapes = ShapesOf(model.m_Inputs, choice.m_InputShapes);
    IOptimizedNetworkPtr optimized = std::move(model.m_Optimized);
    const bool isOptimized = optimized != nullptr;
    description.m_Network =
        Summarize([&](IStrategy& strategy)
                  { isOptimized ? optimized->ExecuteStrategy(strategy) : model.m_Network->ExecuteStrategy(strategy); },
                  shapes);
    description.m_Layers = description.m_Network->CountLayers();
    if (!isOptimized)
    {
        std::vector<std::string> messages;
        optimized = tenon::Optimize(*model.m_Network, m_Backends, m_Runtime->GetDeviceSpec(),
                                    m_Settings.m_MakeOptimizerOptions(m_Backends),
                                    Optional<std::vector<std::string>&>(messages));
    }
    const std::vector<LayerAssignment> assignment = optimized->GetAssignment();
    description.m_Layers = CountLayers(assignment);
    description.m_Backends = CountByBackend(assignment);
    description.m_NumNestedLayers = static_cast<uint64_t>(
        std::count_if(assignment.begin(), assignment.end(),
                      [](const LayerAssignment& layer) { return !layer.m_Network.empty() && Computes(layer.m_Type); }));
    if (!m_IsForFolder)
    {
        PlanArena(std::move(optimized), shapes, description);
    }
}

/// A network whose inputs have known shapes has a plan when it is loaded, or when a run with these is planned.
void Inspector::PlanArena(IOptimizedNetworkPtr network, const ShapesById& shapes, ModelDescription& description) const
{
    std::vector<std::pair<LayerBindingId, TensorInfo>> infos;
    for (const Binding& input : description.m_Inputs)
    {
        infos.emplace_back(input.m_Id, input.m_Info);
        infos.back().second.SetShape(shapes.at(input.m_Id));
        if (!shapes.at(input.m_Id).AreAllDimensionsSpecified())
        {
            return;
        }
    }
    try
    {
        INetworkProperties properties;
        properties.m_NumberOfThreads = m_Settings.m_NumberOfThreads;
        NetworkId id = 0;
        m_Runtime->LoadNetwork(id, std::move(network), properties);
        m_Runtime->PlanRun(id, infos);
        description.m_ArenaBytes = m_Runtime->GetStatistics(id).m_ArenaBytes;
        m_Runtime->UnloadNetwork(id);
    }
    catch (const Exception& error)
    {
        description.m_Remarks.push_back(fmt::format("memory cannot be planned: {}", error.what()));
    }
}

/// Whether the model can be run with this size for each open dimension, or for the last ones alone and 1 for the
/// others, as states of recurrent layers have them; 1 for an input's first one, the batch.
bool Inspector::TrySizes(const ModelFile& file, ModelChoice choice, unsigned int size, bool lastAlone,
                         ModelDescription& description) const
{
    for (const Binding& input : description.m_Inputs)
    {
        TensorShape shape = input.m_Info.GetShape();
        for (unsigned int d = 0; d < shape.GetNumDimensions(); ++d)
        {
            if (!shape.GetDimensionSpecificity(d))
            {
                const bool isOne = d == 0 || (lastAlone && d + 1 < shape.GetNumDimensions());
                shape.SetDimensionSize(d, isOne ? 1 : size);
            }
        }
        choice.m_InputShapes.emplace(input.m_Name, shape);
    }
    try
    {
        ModelDescription tried;
        Optimize(file, choice, tried);
        tried.m_Network->ForgetWork(); // the sizes are as good as any
        tried.m_Inputs = description.m_Inputs;
        description.m_Outputs = tried.m_Outputs;
        description.m_Network = tried.m_Network;
        description.m_Layers = tried.m_Layers;
        description.m_Backends = tried.m_Backends;
        description.m_NumNestedLayers = tried.m_NumNestedLayers;
        return true;
    }
    catch (const Exception&)
    {
        return false;
    }
}

/// Work and memory where the inputs leave nothing open but their first dimension, the batch: those for 1.
void Inspector::AssumeSizes(const ModelFile& file, ModelChoice choice, ModelDescription& description) const
{
    std::vector<std::string> dimensions;
    for (const Binding& input : description.m_Inputs)
    {
        TensorShape shape = ShapesOf({input}, choice.m_InputShapes).begin()->second;
        if (!IsOpenAtFirstAlone(shape))
        {
            return;
        }
        if (!shape.AreAllDimensionsSpecified())
        {
            const std::string name =
                input.m_DimensionNames.empty() ? fmt::format("{}.0", input.m_Name) : input.m_DimensionNames[0];
            if (std::find(dimensions.begin(), dimensions.end(), name) == dimensions.end())
            {
                dimensions.push_back(name);
            }
            shape.SetDimensionSize(0, 1);
            choice.m_InputShapes[input.m_Name] = shape;
        }
    }
    if (dimensions.empty())
    {
        return;
    }
    ModelDescription assumed;
    try
    {
        Optimize(file, choice, assumed);
    }
    catch (const Exception&) // the network is known by now, or stays as it is
    {
        assumed.m_ArenaBytes.reset();
    }
    if (assumed.m_Network)
    {
        description.m_Network = std::move(assumed.m_Network);
        description.m_ArenaBytes = assumed.m_ArenaBytes;
        description.m_AssumedDimensions = dimensions;
    }
}

} // namespace tenon::tools
