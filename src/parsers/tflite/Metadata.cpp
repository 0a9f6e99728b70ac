// SPDX-License-Identifier: Apache-2.0
// ReadMetadata: see Metadata.hpp.
#include "parsers/tflite/Metadata.hpp"

#include "parsers/tflite/MakeVerifier.hpp"
#include "zip/ZipArchive.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tflite_generated.h>
#include <tflite_metadata_generated.h>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace tenon::tflite
{

namespace
{

using TensorMetadata = ITfLiteParser::TensorMetadata;
using ModelMetadata = ITfLiteParser::ModelMetadata;
using MetadataList = flatbuffers::Vector<flatbuffers::Offset<metadata::TensorMetadata>>;

constexpr const char* MetadataName = "TFLITE_METADATA";

/// The buffer with the metadata; none where the model has no metadata.
std::optional<uint32_t> FindMetadata(const Model& model)
{
    const auto* entries = model.Root().metadata();
    for (unsigned int i = 0; entries != nullptr && i < entries->size(); ++i)
    {
        const auto* name = entries->Get(i)->name();
        if (name != nullptr && name->string_view() == MetadataName)
        {
            return entries->Get(i)->buffer();
        }
    }
    return std::nullopt;
}

const metadata::ModelMetadata& VerifyMetadata(Span<const uint8_t> bytes, const Limits& limits)
{
    constexpr size_t identifierEnd = 8;
    if (bytes.size() < identifierEnd || !metadata::ModelMetadataBufferHasIdentifier(bytes.data()))
    {
        throw ParseException(fmt::format("no identifier '{}' at offset 4 of {} bytes",
                                         metadata::ModelMetadataIdentifier(), bytes.size()));
    }
    flatbuffers::Verifier verifier = MakeVerifier(bytes, limits);
    if (!metadata::VerifyModelMetadataBuffer(verifier))
    {
        throw ParseException(fmt::format("they are corrupt: an offset in their {} bytes leads outside", bytes.size()));
    }
    return *metadata::GetModelMetadata(bytes.data());
}

/// One a line. The end of the last line begins no further label.
std::vector<std::string> SplitLabels(std::string_view text, ReadBudget& budget)
{
    const auto numLines = static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
    budget.Charge(numLines * sizeof(std::string) + text.size());
    std::vector<std::string> labels;
    labels.reserve(numLines);
    while (!text.empty())
    {
        const size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.ends_with('\r'))
        {
            line.remove_suffix(1);
        }
        labels.emplace_back(line);
    }
    return labels;
}

class MetadataReader
{
public:
    MetadataReader(const Model& model, ModelMetadata& result)
        : m_Model(model), m_Result(result), m_Budget(model.Bytes().size())
    {
    }

    void Read(uint32_t buffer, size_t subgraph, const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs)
    {
        constexpr size_t alignment = 4; // of offsets and floats
        const ModelBytes bytes = ModelBytes::FromMemory(m_Model.BufferData(buffer), alignment, m_Model.GetLimits());
        const metadata::ModelMetadata& root = VerifyMetadata(bytes.m_Bytes, m_Model.GetLimits());
        m_Result.m_Name = ToString(root.name());
        m_Result.m_Description = ToString(root.description());
        m_Result.m_Version = ToString(root.version());
        m_Result.m_Author = ToString(root.author());
        m_Result.m_License = ToString(root.license());
        m_Result.m_MinParserVersion = ToString(root.min_parser_version());
        AddFiles(root.associated_files());
        const auto* subgraphs = root.subgraph_metadata();
        if (subgraphs != nullptr && subgraph < subgraphs->size())
        {
            const metadata::SubGraphMetadata& ofSubgraph =
                *subgraphs->Get(static_cast<flatbuffers::uoffset_t>(subgraph));
            const schema::SubGraph& graph = m_Model.Subgraph(subgraph);
            ReadTensors("input", ofSubgraph.input_tensor_metadata(), graph.inputs(), inputs, m_Result.m_Inputs);
            ReadTensors("output", ofSubgraph.output_tensor_metadata(), graph.outputs(), outputs, m_Result.m_Outputs);
        }
    }

private:
    std::string ToString(const flatbuffers::String* text)
    {
        m_Budget.Charge(text != nullptr ? text->size() : 0);
        return text != nullptr ? text->str() : std::string();
    }

    std::vector<float> ToFloats(const flatbuffers::Vector<float>* numbers)
    {
        m_Budget.Charge(numbers != nullptr ? numbers->size() * sizeof(float) : 0);
        return numbers != nullptr ? std::vector<float>(numbers->begin(), numbers->end()) : std::vector<float>();
    }

    /// The first faults tell enough: each of many tensors may have the same.
    void AddFault(std::string fault)
    {
        constexpr size_t maxFaults = 16;
        if (m_Result.m_Faults.size() < maxFaults)
        {
            m_Result.m_Faults.push_back(std::move(fault));
        }
    }

    /// `kind`: "input". `tensors` are those of the network, `places` all of the subgraph, which metadata follow.
    void ReadTensors(const char* kind, const MetadataList* list, const flatbuffers::Vector<int32_t>* places,
                     const std::vector<int32_t>& tensors, std::vector<TensorMetadata>& result)
    {
        const size_t numPlaces = places != nullptr ? places->size() : 0;
        if (list == nullptr || list->size() == 0)
        {
            return;
        }
        if (list->size() != numPlaces)
        {
            AddFault(fmt::format("the metadata describe {0} {1}s, but the model has {2}, so none is described",
                                 list->size(), kind, numPlaces));
            return;
        }
        std::unordered_map<int32_t, unsigned int> placeOf;
        for (unsigned int i = 0; i < numPlaces; ++i)
        {
            placeOf.emplace(places->Get(i), i);
        }
        for (size_t i = 0; i < tensors.size(); ++i)
        {
            const unsigned int place = placeOf.at(tensors[i]);
            ReadTensor(fmt::format("{} {}", kind, place), *list->Get(place), result[i]);
        }
    }

    void ReadTensor(const std::string& label, const metadata::TensorMetadata& tensor, TensorMetadata& result)
    {
        result.m_Name = ToString(tensor.name());
        result.m_Description = ToString(tensor.description());
        const auto* units = tensor.process_units();
        for (unsigned int i = 0; units != nullptr && i < units->size(); ++i)
        {
            if (const auto* normalization = units->Get(i)->options_as_NormalizationOptions())
            {
                result.m_Mean = ToFloats(normalization->mean());
                result.m_Std = ToFloats(normalization->std());
            }
        }
        AddFiles(tensor.associated_files());
        result.m_AxisLabels = ReadLabels(label, tensor, metadata::AssociatedFileType::TENSOR_AXIS_LABELS);
        result.m_ValueLabels = ReadLabels(label, tensor, metadata::AssociatedFileType::TENSOR_VALUE_LABELS);
    }

    /// Names the files, each once: tensors share files.
    void AddFiles(const flatbuffers::Vector<flatbuffers::Offset<metadata::AssociatedFile>>* files)
    {
        for (unsigned int i = 0; files != nullptr && i < files->size(); ++i)
        {
            const std::string name = ToString(files->Get(i)->name());
            if (m_FileNames.insert(name).second)
            {
                m_Budget.Charge(sizeof(std::string) + name.size());
                m_Result.m_Files.push_back(name);
            }
        }
    }

    /// The labels of the file without a locale, or of the first one where all have locales.
    std::vector<std::string> ReadLabels(const std::string& label, const metadata::TensorMetadata& tensor,
                                        metadata::AssociatedFileType type)
    {
        const metadata::AssociatedFile* chosen = nullptr;
        const auto hasLocale = [](const metadata::AssociatedFile& file)
        { return file.locale() != nullptr && file.locale()->size() != 0; };
        const auto* files = tensor.associated_files();
        for (unsigned int i = 0; files != nullptr && i < files->size(); ++i)
        {
            const metadata::AssociatedFile& file = *files->Get(i);
            if (file.type() == type && (chosen == nullptr || (hasLocale(*chosen) && !hasLocale(file))))
            {
                chosen = &file;
            }
        }
        if (chosen == nullptr)
        {
            return {};
        }
        const std::string name = ToString(chosen->name());
        std::string_view text;
        try
        {
            text = ReadAssociatedFile(name);
        }
        catch (const Exception& error)
        {
            AddFault(fmt::format("the labels of {}, file '{}', are not read: {}", label, name, error.what()));
            return {};
        }
        return SplitLabels(text, m_Budget);
    }

    std::string_view ReadAssociatedFile(const std::string& name)
    {
        /// Lists of labels have some thousand lines.
        constexpr size_t maxBytes = size_t{4} << 20;
        const std::map<std::string, Span<const uint8_t>>& files = ReadArchive();
        const auto found = files.find(name);
        if (found == files.end())
        {
            throw ParseException("the archive behind the model does not have it");
        }
        const Span<const uint8_t> bytes = found->second;
        if (bytes.size() > maxBytes)
        {
            throw ParseException(fmt::format("it has {} bytes; at most {} are read", bytes.size(), maxBytes));
        }
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }

    /// The files of the archive behind the model, which is read once, even where many tensors name files and it cannot
    /// be read.
    const std::map<std::string, Span<const uint8_t>>& ReadArchive()
    {
        if (!m_IsArchiveRead)
        {
            m_IsArchiveRead = true;
            try
            {
                for (zip::ZipEntry& file : zip::ReadZip(m_Model.Bytes()))
                {
                    m_Files.emplace(std::move(file.m_Name), file.m_Bytes);
                }
            }
            catch (const Exception& error)
            {
                m_ArchiveFault = error.what();
            }
        }
        if (!m_ArchiveFault.empty())
        {
            throw ParseException(m_ArchiveFault);
        }
        return m_Files;
    }

    const Model& m_Model;
    ModelMetadata& m_Result;
    ReadBudget m_Budget;
    std::unordered_set<std::string> m_FileNames;
    bool m_IsArchiveRead = false;
    std::map<std::string, Span<const uint8_t>> m_Files;
    std::string m_ArchiveFault; ///< the reason why the archive cannot be read; empty if it can
};

} // namespace

ModelMetadata ReadMetadata(const Model& model, size_t subgraph, const std::vector<int32_t>& inputs,
                           const std::vector<int32_t>& outputs)
{
    const auto makeEmpty = [&]
    {
        ModelMetadata empty;
        empty.m_Inputs.resize(inputs.size());
        empty.m_Outputs.resize(outputs.size());
        return empty;
    };
    ModelMetadata result = makeEmpty();
    if (const std::optional<uint32_t> buffer = FindMetadata(model))
    {
        try
        {
            MetadataReader(model, result).Read(*buffer, subgraph, inputs, outputs);
        }
        catch (const Exception& error)
        {
            result = makeEmpty();
            result.m_Faults.push_back(fmt::format("the metadata ({}) are not read: {}", MetadataName, error.what()));
        }
    }
    return result;
}

} // namespace tenon::tflite
