// SPDX-License-Identifier: Apache-2.0
// See CanRun.hpp.
#include "tools/execute_network/CanRun.hpp"

#include "formats/ModelFormat.hpp"
#include "json/JsonWriter.hpp"
#include "tools/common/Backends.hpp"
#include "tools/common/Console.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/File.hpp"
#include "tools/common/LimitOption.hpp"
#include "tools/common/Model.hpp"
#include "tools/common/Strings.hpp"
#include "tools/execute_network/FileChecks.hpp"
#include "tools/execute_network/OptimizerOptions.hpp"
#include "tools/execute_network/Report.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/IRuntime.hpp>
#include <tenon/Utils.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <iterator>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

namespace tenon::tools
{
namespace
{

namespace fs = std::filesystem;

using Counts = std::vector<std::pair<std::string, uint64_t>>;

enum class Verdict
{
    Runs,
    Unsupported, ///< by the backends or the parsers
    Unreadable   ///< damaged, contradictory, above a limit, or of a format that is not read
};

struct ModelRow
{
    std::string m_Path;  ///< within the folder
    std::string m_Entry; ///< the model in a file that holds several; else empty
    std::string m_Format;
    Verdict m_Verdict = Verdict::Runs;
    std::string m_Reason;             ///< empty if it runs
    std::optional<uint64_t> m_Layers; ///< that compute, after optimization if it runs; before, if it can be read
    Counts m_Backends;                ///< how many of them each backend runs
    /// Open dimensions of inputs, if the model can run only where their sizes are given.
    std::vector<std::string> m_GivenSizes;
};

/// For open dimensions: a single element, what small pictures and sequences have, and what sound has.
constexpr unsigned int TriedSizes[] = {1, 32, 64, 512};

/// Whether files of the format may hold anything, so that their name has to tell a model.
bool MayHoldAnything(const formats::ModelFormat* format)
{
    const std::string_view label = format != nullptr ? format->m_Label : "";
    return label.empty() || label == "Git LFS" || label == "zip" || label == "gzip";
}

/// Whether a file that is of no known format has the name of a model.
bool IsNamedAsModel(const fs::path& path)
{
    return EndsWithNoCase(path.string(), ".tflite") || EndsWithNoCase(path.string(), ".tenon") ||
           EndsWithNoCase(path.string(), ".onnx") || EndsWithNoCase(path.string(), ".armnn") ||
           EndsWithNoCase(path.string(), ".task") || EndsWithNoCase(path.string(), ".litertlm");
}

class Folder
{
public:
    explicit Folder(const Options& options)
        : m_Options(options), m_Root(options.m_ModelFolder),
          m_Runtime(MakeRuntime(options.m_DynamicBackendsPath, options.m_Limits)),
          m_Backends(SelectBackends(options.m_Compute, *m_Runtime, "--compute"))
    {
    }

    /// In the order of names.
    std::vector<ModelRow> Try() const
    {
        std::vector<ModelRow> rows;
        for (const fs::path& path : ListFiles())
        {
            Try(path, "", rows);
        }
        return rows;
    }

private:
    /// Regular files in the folder and those within, but for hidden folders, such as .git.
    std::vector<fs::path> ListFiles() const
    {
        std::error_code error;
        if (!fs::is_directory(m_Root, error))
        {
            throw UsageError(fmt::format("--can-run: there is no folder '{}'", OneLine(m_Root.string())));
        }
        std::vector<fs::path> files;
        fs::recursive_directory_iterator entry(m_Root, fs::directory_options::skip_permission_denied, error);
        for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error))
        {
            std::error_code none; // of an entry that has gone meanwhile
            const bool isHidden = entry->path().filename().string().starts_with('.');
            if (entry->is_directory(none) && isHidden)
            {
                entry.disable_recursion_pending();
            }
            else if (entry->is_regular_file(none) && !isHidden)
            {
                files.push_back(entry->path());
            }
        }
        if (error)
        {
            throw UsageError(
                fmt::format("--can-run: '{}' cannot be read: {}", OneLine(m_Root.string()), error.message()));
        }
        std::sort(files.begin(), files.end());
        return files;
    }

    /// Adds a row for each model that a file holds; none for a file that is no model.
    void Try(const fs::path& path, const std::string& entry, std::vector<ModelRow>& rows) const
    {
        ModelRow row;
        row.m_Path = path.lexically_relative(m_Root).string();
        row.m_Entry = entry;
        try
        {
            const formats::ModelFormat* const format =
                FindFormat(InputSource(path.string(), m_Options.m_Limits.m_MaxFileBytes));
            if (MayHoldAnything(format) && !IsNamedAsModel(path))
            {
                return;
            }
            row.m_Format = format != nullptr ? format->m_Label : "unknown";
            Optimize(path.string(), row);
        }
        catch (const UnchosenEntryError& error)
        {
            for (const std::string& inner : error.Entries())
            {
                Try(path, inner, rows);
            }
            return;
        }
        catch (const UnimplementedException& error)
        {
            SetReason(row, path, Verdict::Unsupported, error.what());
        }
        catch (const BackendUnavailableException& error) // an optimized network's
        {
            SetReason(row, path, Verdict::Unsupported, error.what());
        }
        catch (const std::bad_alloc&)
        {
            SetReason(row, path, Verdict::Unreadable, "there is not enough memory");
        }
        catch (const std::exception& error)
        {
            SetReason(row, path, Verdict::Unreadable, error.what());
        }
        rows.push_back(std::move(row));
    }

    /// As the file is; where it cannot be run so and leaves sizes of inputs open, with some sizes for these.
    void Optimize(const std::string& path, ModelRow& row) const
    {
        const ModelFile file = OpenModel(path, "", m_Options.m_Limits);
        std::vector<Binding> inputs;
        try
        {
            ModelChoice choice;
            choice.m_Entry = row.m_Entry;
            Optimize(file, choice, row, inputs);
        }
        catch (const Exception&)
        {
            const std::exception_ptr reason = std::current_exception();
            const std::vector<std::string> open = ListOpenDimensions(inputs);
            const std::optional<uint64_t> layers = row.m_Layers;
            const auto runsWith = [&](unsigned int size)
            { return TrySizes(file, size, false, row, inputs) || TrySizes(file, size, true, row, inputs); };
            if (open.empty() || std::none_of(std::begin(TriedSizes), std::end(TriedSizes), runsWith))
            {
                row.m_Layers = layers;
                std::rethrow_exception(reason);
            }
            row.m_GivenSizes = open;
        }
    }

    /// `inputs` are given also where this throws, as far as they are known then.
    void Optimize(const ModelFile& file, const ModelChoice& choice, ModelRow& row, std::vector<Binding>& inputs) const
    {
        Model model = LoadModel(file, choice, m_Options.m_Limits, m_Runtime->GetDeviceSpec());
        inputs = model.m_Inputs;
        if (model.m_WhyNot != nullptr)
        {
            std::rethrow_exception(model.m_WhyNot);
        }
        IOptimizedNetworkPtr optimized = std::move(model.m_Optimized);
        if (optimized == nullptr)
        {
            row.m_Layers = CountLayers(*model.m_Network);
            std::vector<std::string> messages;
            optimized = tenon::Optimize(*model.m_Network, m_Backends, m_Runtime->GetDeviceSpec(),
                                        MakeOptimizerOptions(m_Options, m_Backends, m_Options.m_Limits),
                                        Optional<std::vector<std::string>&>(messages));
        }
        row.m_Backends = CountByBackend(optimized->GetAssignment());
        row.m_Layers = 0;
        for (const auto& [backend, count] : row.m_Backends)
        {
            *row.m_Layers += count;
        }
    }

    /// Whether the model can be run with this size for each open dimension, or for the last ones alone and 1 for the
    /// others, as states of recurrent layers have them; 1 for an input's first one, the batch.
    bool TrySizes(const ModelFile& file, unsigned int size, bool lastAlone, ModelRow& row,
                  const std::vector<Binding>& inputs) const
    {
        ModelChoice choice;
        choice.m_Entry = row.m_Entry;
        for (const Binding& input : inputs)
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
            std::vector<Binding> known;
            Optimize(file, choice, row, known);
            return true;
        }
        catch (const Exception&)
        {
            return false;
        }
    }

    /// By their names in an ONNX model; none where the rank of an input is open.
    static std::vector<std::string> ListOpenDimensions(const std::vector<Binding>& inputs)
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

    /// Messages name the model, which the row does, too.
    static void SetReason(ModelRow& row, const fs::path& path, Verdict verdict, const std::string& message)
    {
        const std::string model = fmt::format("model '{}': ", OneLine(path.string()));
        row.m_Verdict = verdict;
        row.m_Reason = NameLimitOptions(OneLine(message.starts_with(model) ? message.substr(model.size()) : message));
    }

    const Options& m_Options;
    fs::path m_Root;
    IRuntimePtr m_Runtime;
    std::vector<BackendId> m_Backends;
};

std::string FormatVerdict(const ModelRow& model)
{
    if (model.m_Verdict != Verdict::Runs)
    {
        return "no: " + model.m_Reason;
    }
    return model.m_GivenSizes.empty() ? "yes"
                                      : OneLine(fmt::format("yes, with sizes for {}", QuotedList(model.m_GivenSizes)));
}

std::string FormatTable(const std::vector<ModelRow>& models)
{
    TextRows rows = {{"model", "format", "layers", "backends", "can run"}};
    for (const ModelRow& model : models)
    {
        const std::string entry = model.m_Entry.empty() ? "" : ", " + model.m_Entry;
        rows.push_back({OneLine(model.m_Path + entry), model.m_Format,
                        model.m_Layers ? std::to_string(*model.m_Layers) : "-",
                        model.m_Backends.empty() ? "-" : FormatCounts(model.m_Backends), FormatVerdict(model)});
    }
    return FormatRows(rows);
}

std::string FormatJson(const Options& options, const std::vector<ModelRow>& models)
{
    JsonWriter json;
    json.BeginObject();
    json.Member("version", GetVersion());
    json.Member("folder", options.m_ModelFolder);
    WriteTexts(json, "compute", options.m_Compute);
    json.Key("models");
    json.BeginArray();
    for (const ModelRow& model : models)
    {
        json.BeginObject();
        json.Member("model", model.m_Path);
        if (!model.m_Entry.empty())
        {
            json.Member("entry", model.m_Entry);
        }
        json.Member("format", model.m_Format);
        json.Key("layers");
        model.m_Layers ? json.Number(*model.m_Layers) : json.Null();
        json.Key("backends");
        json.BeginObject(JsonWriter::Layout::Line);
        for (const auto& [backend, count] : model.m_Backends)
        {
            json.Member(backend, count);
        }
        json.EndObject();
        json.Member("can_run", model.m_Verdict == Verdict::Runs);
        WriteTexts(json, "with_sizes_for", model.m_GivenSizes);
        json.Key("reason");
        model.m_Verdict == Verdict::Runs ? json.Null() : json.String(model.m_Reason);
        json.EndObject();
    }
    json.EndArray();
    json.EndObject();
    return json.Text() + "\n";
}

} // namespace

void CanRun(const Options& options)
{
    CheckFiles(options);
    const std::vector<ModelRow> models = Folder(options).Try();
    if (models.empty())
    {
        throw UsageError(fmt::format("--can-run: there is no model in '{}'", OneLine(options.m_ModelFolder)));
    }
    const std::string table = FormatTable(models);
    if (!options.m_ReportFile.empty())
    {
        WriteFile(options.m_ReportFile, FormatJson(options, models));
    }
    WritesToStandardOutput(options) ? PrintTextAside(table) : PrintText(table);
    const auto count = [&](Verdict verdict)
    {
        return std::count_if(models.begin(), models.end(),
                             [&](const ModelRow& model) { return model.m_Verdict == verdict; });
    };
    const auto unsupported = count(Verdict::Unsupported);
    const auto unreadable = count(Verdict::Unreadable);
    const std::string text = fmt::format("{} of {} models cannot run: {} for lack of support, {} that cannot be read",
                                         unsupported + unreadable, models.size(), unsupported, unreadable);
    if (unsupported > 0)
    {
        throw UnimplementedException(text);
    }
    if (unreadable > 0)
    {
        throw InputError(text);
    }
}

} // namespace tenon::tools
