// SPDX-License-Identifier: Apache-2.0
// ContainedModel: see ContainedModel.hpp.
#include "parsers/tflite/containers/ContainedModel.hpp"

#include "formats/ModelFormat.hpp"
#include "parsers/common/BindingTable.hpp"
#include "parsers/tflite/containers/LiteRtLmFile.hpp"
#include "zip/ZipArchive.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tflite_generated.h>
#include <utility>

namespace tenon::tflite
{

namespace
{

/// Bundles within bundles: MediaPipe's have two levels.
constexpr unsigned int MaxBundleDepth = 4;

formats::Container FindContainer(Span<const uint8_t> bytes)
{
    const size_t start = std::min(bytes.size(), formats::ModelStartBytes);
    return formats::FindContainer({reinterpret_cast<const char*>(bytes.data()), start});
}

/// The models of a zip archive and of the bundles in it, whose names get `prefix` in front.
class BundleReader
{
public:
    std::vector<ContainedModel> Read(Span<const uint8_t> archive)
    {
        Add(archive, "", 1);
        if (m_Models.empty())
        {
            throw ParseException(fmt::format(
                "there is no TensorFlow Lite model in the zip archive; its files are: {}. Unpack it, or, where PyTorch "
                "wrote it, export the model to ONNX with torch.onnx.export",
                parsers::Quote(m_OtherFiles)));
        }
        return std::move(m_Models);
    }

private:
    void Add(Span<const uint8_t> archive, const std::string& prefix, unsigned int depth)
    {
        if (depth > MaxBundleDepth)
        {
            throw ParseException(fmt::format("'{}' is a bundle in {} others; at most {} are possible", prefix,
                                             depth - 1, MaxBundleDepth - 1));
        }
        const std::vector<zip::ZipEntry> entries = zip::ReadZip(archive);
        m_NumFiles += entries.size();
        if (m_NumFiles > zip::MaxZipFiles)
        {
            throw ParseException(fmt::format("the zip archive and the bundles in it have more than {} files, which are "
                                             "not read",
                                             zip::MaxZipFiles));
        }
        for (const zip::ZipEntry& entry : entries)
        {
            const std::string name = prefix + entry.m_Name;
            if (HasTfLiteIdentifier(entry.m_Bytes))
            {
                m_Models.push_back({name, entry.m_Bytes, {}});
            }
            else if (entry.m_Name.ends_with(".task") && FindContainer(entry.m_Bytes) == formats::Container::Zip)
            {
                Add(entry.m_Bytes, name + "/", depth + 1);
            }
            else
            {
                m_OtherFiles.push_back(name);
            }
        }
    }

    std::vector<ContainedModel> m_Models;
    std::vector<std::string> m_OtherFiles;
    size_t m_NumFiles = 0;
};

} // namespace

bool HasTfLiteIdentifier(Span<const uint8_t> bytes)
{
    constexpr size_t identifierEnd = 8;
    return bytes.size() >= identifierEnd && schema::ModelBufferHasIdentifier(bytes.data());
}

std::vector<ContainedModel> ListModels(Span<const uint8_t> file, const Limits& limits)
{
    std::vector<ContainedModel> models;
    const formats::Container container = HasTfLiteIdentifier(file) ? formats::Container::None : FindContainer(file);
    switch (container)
    {
    case formats::Container::None: return {{"", file, {}}};
    case formats::Container::Zip: models = BundleReader().Read(file); break;
    case formats::Container::LiteRtLm: models = ReadLiteRtLm(file, limits); break;
    }
    std::set<std::string> names;
    for (const ContainedModel& model : models)
    {
        if (!names.insert(model.m_Name).second)
        {
            throw ParseException(fmt::format("the file has two models '{}'", model.m_Name));
        }
    }
    return models;
}

std::vector<std::string> NamesOf(const std::vector<ContainedModel>& models)
{
    std::vector<std::string> names;
    for (const ContainedModel& model : models)
    {
        if (!model.m_Name.empty())
        {
            names.push_back(model.m_Name);
        }
    }
    return names;
}

const ContainedModel& ChooseModel(const std::vector<ContainedModel>& models, const std::string& name)
{
    if (name.empty() && models.size() == 1)
    {
        return models.front();
    }
    const std::string names = parsers::Quote(NamesOf(models));
    if (name.empty())
    {
        throw InvalidArgumentException(
            fmt::format("the file has {} models; name one of them as entry: {}", models.size(), names));
    }
    const auto found =
        std::find_if(models.begin(), models.end(), [&](const ContainedModel& model) { return model.m_Name == name; });
    if (found == models.end())
    {
        throw InvalidArgumentException(
            models.front().m_Name.empty()
                ? fmt::format("there is no entry '{}': the file is a model, not a container of several", name)
                : fmt::format("the file has no entry '{}'; its models are: {}", name, names));
    }
    return *found;
}

} // namespace tenon::tflite
