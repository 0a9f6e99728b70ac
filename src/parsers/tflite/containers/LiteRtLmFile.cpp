// SPDX-License-Identifier: Apache-2.0
// ReadLiteRtLm: see LiteRtLmFile.hpp.
#include "parsers/tflite/containers/LiteRtLmFile.hpp"

#include "common/ModelBytes.hpp"
#include "parsers/tflite/MakeVerifier.hpp"
#include "text/Utf8.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <litertlm_generated.h>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace tenon::tflite
{

namespace
{

constexpr size_t PreambleBytes = 32;
/// Files have fewer than 20 sections.
constexpr size_t MaxSections = 4096;
constexpr const char* ModelTypeKey = "model_type";

struct Section
{
    size_t m_Begin = 0;
    size_t m_End = 0;
    litertlm::SectionKind m_Kind{}; ///< may be one that is not listed
    std::string m_ModelType;        ///< empty where the section has none
};

[[noreturn]] void RefuseLiteRtLm(const std::string& fault)
{
    throw ParseException(fmt::format("the .litertlm file is corrupt or cut short: {}", fault));
}

/// The bytes of the header, where they are or as an aligned copy.
ModelBytes FindHeader(Span<const uint8_t> file, const Limits& limits)
{
    if (file.size() < PreambleBytes)
    {
        RefuseLiteRtLm(fmt::format("it has {} bytes, but its header begins at byte {}", file.size(), PreambleBytes));
    }
    uint32_t version[3];
    uint64_t end = 0;
    std::memcpy(version, file.data() + 8, sizeof(version));
    std::memcpy(&end, file.data() + 24, sizeof(end));
    if (version[0] != 1)
    {
        throw UnimplementedException(fmt::format("the .litertlm file is of format version {}.{}.{}; version 1 is read",
                                                 version[0], version[1], version[2]));
    }
    if (end <= PreambleBytes || end > file.size())
    {
        RefuseLiteRtLm(fmt::format("its header ends at byte {} of {}", end, file.size()));
    }
    constexpr size_t alignment = 8; // of offsets of sections
    return ModelBytes::FromMemory({file.data() + PreambleBytes, static_cast<size_t>(end) - PreambleBytes}, alignment,
                                  limits);
}

const litertlm::Header& VerifyHeader(Span<const uint8_t> bytes, const Limits& limits)
{
    flatbuffers::Verifier verifier = MakeVerifier(bytes, limits);
    if (!litertlm::VerifyHeaderBuffer(verifier))
    {
        RefuseLiteRtLm(fmt::format("an offset in its header of {} bytes leads outside", bytes.size()));
    }
    return *litertlm::GetHeader(bytes.data());
}

std::string ReadModelType(const litertlm::SectionObject& object, size_t index)
{
    std::string type;
    bool isFound = false;
    for (unsigned int i = 0; object.items() != nullptr && i < object.items()->size(); ++i)
    {
        const litertlm::KeyValuePair& item = *object.items()->Get(i);
        if (item.key()->string_view() != ModelTypeKey)
        {
            continue;
        }
        if (isFound)
        {
            RefuseLiteRtLm(fmt::format("section {} has two values of '{}'", index, ModelTypeKey));
        }
        isFound = true;
        const auto* const value = item.value_as_StringValue();
        if (value != nullptr && value->value() != nullptr)
        {
            if (!text::IsPartName(value->value()->string_view()))
            {
                RefuseLiteRtLm(fmt::format("the {} of section {} is empty, longer than {} bytes, not in UTF-8, or has "
                                           "control characters",
                                           ModelTypeKey, index, text::MaxPartNameBytes));
            }
            type = value->value()->str();
        }
    }
    return type;
}

std::vector<Section> ReadSections(const litertlm::Header& header, size_t headerEnd, size_t fileBytes)
{
    const auto* const objects = header.section_metadata() != nullptr ? header.section_metadata()->objects() : nullptr;
    const size_t count = objects != nullptr ? objects->size() : 0;
    if (count > MaxSections)
    {
        throw ParseException(
            fmt::format("the .litertlm file has {} sections; at most {} are read", count, MaxSections));
    }
    std::vector<Section> sections;
    for (unsigned int i = 0; i < count; ++i)
    {
        const litertlm::SectionObject& object = *objects->Get(i);
        const uint64_t begin = object.begin_offset();
        const uint64_t end = object.end_offset();
        if (begin < headerEnd || end <= begin || end > fileBytes)
        {
            RefuseLiteRtLm(
                fmt::format("section {} from byte {} to {} is empty or lies outside of the {} bytes behind the "
                            "header",
                            i, begin, end, fileBytes - headerEnd));
        }
        sections.push_back({static_cast<size_t>(begin), static_cast<size_t>(end),
                            static_cast<litertlm::SectionKind>(object.data_type()), ReadModelType(object, i)});
    }
    return sections;
}

void CheckApart(std::vector<Section> sections)
{
    std::sort(sections.begin(), sections.end(),
              [](const Section& a, const Section& b) { return a.m_Begin < b.m_Begin; });
    for (size_t i = 1; i < sections.size(); ++i)
    {
        if (sections[i].m_Begin < sections[i - 1].m_End)
        {
            RefuseLiteRtLm(fmt::format("two sections overlap at byte {}", sections[i].m_Begin));
        }
    }
}

} // namespace

std::vector<ContainedModel> ReadLiteRtLm(Span<const uint8_t> file, const Limits& limits)
{
    const ModelBytes header = FindHeader(file, limits);
    const std::vector<Section> sections =
        ReadSections(VerifyHeader(header.m_Bytes, limits), PreambleBytes + header.m_Bytes.size(), file.size());
    CheckApart(sections);

    std::map<std::pair<litertlm::SectionKind, std::string>, std::vector<const Section*>> byType;
    for (const Section& section : sections)
    {
        byType[{section.m_Kind, section.m_ModelType}].push_back(&section);
    }
    const auto bytesOf = [&](const Section& section)
    { return Span<const uint8_t>(file.data() + section.m_Begin, section.m_End - section.m_Begin); };

    std::vector<ContainedModel> models;
    for (size_t i = 0; i < sections.size(); ++i)
    {
        const Section& section = sections[i];
        if (section.m_Kind != litertlm::SectionKind::TFLiteModel)
        {
            continue;
        }
        const bool isOnlyOne = byType[{section.m_Kind, section.m_ModelType}].size() == 1;
        ContainedModel& model = models.emplace_back();
        model.m_Name = isOnlyOne && !section.m_ModelType.empty() ? section.m_ModelType : std::to_string(i);
        model.m_Bytes = bytesOf(section);
        if (!HasTfLiteIdentifier(model.m_Bytes))
        {
            RefuseLiteRtLm(fmt::format("section {} is to be a .tflite model, but is none", i));
        }
        const std::vector<const Section*>& weights =
            byType[{litertlm::SectionKind::TFLiteWeights, section.m_ModelType}];
        if (isOnlyOne && weights.size() == 1)
        {
            model.m_Weights = bytesOf(*weights.front());
        }
    }
    if (models.empty())
    {
        throw ParseException("there is no TensorFlow Lite model in the .litertlm file");
    }
    return models;
}

} // namespace tenon::tflite
