// SPDX-License-Identifier: Apache-2.0
// Model: see Model.hpp.
#include "parsers/tflite/Model.hpp"

#include "parsers/tflite/MakeVerifier.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>
#include <tflite_generated.h>
#include <utility>

namespace tenon::tflite
{

static_assert(std::endian::native == std::endian::little, "tensors of a .tflite file are used in place");

namespace
{

constexpr uint32_t FormatVersion = 3;
/// Of a flatbuffer: the largest scalar of the schema has 8 bytes.
constexpr size_t BufferAlignment = 8;
constexpr const char* ValidationPrefix = "VALIDATION:";
/// The group of external buffers that stands for the weights of a .litertlm file, and the packing of plain values.
constexpr std::string_view WeightsGroup = "tflite_weights";
constexpr std::string_view NoPacking = "unpacked";

} // namespace

Model Model::FromCopy(Span<const uint8_t> bytes, const Limits& limits)
{
    return {ModelBytes::FromCopy(bytes, limits), limits};
}

Model Model::FromFile(const ModelBytes& file, const ContainedModel& model, const Limits& limits)
{
    ModelBytes bytes = ModelBytes::FromMemory(model.m_Bytes, BufferAlignment, limits);
    if (bytes.m_Owner == nullptr)
    {
        bytes.m_Owner = file.m_Owner;
    }
    else if (!model.m_Weights.empty()) // the weights stay where they are
    {
        using Owners = std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>;
        bytes.m_Owner = std::make_shared<const Owners>(file.m_Owner, std::move(bytes.m_Owner));
    }
    Model made(std::move(bytes), limits);
    made.m_Weights = model.m_Weights;
    made.m_Budget = ReadBudget(model.m_Bytes.size() + model.m_Weights.size());
    return made;
}

Model::Model(ModelBytes file, const Limits& limits)
    : m_Owner(std::move(file.m_Owner)), m_Bytes(file.m_Bytes), m_Limits(limits), m_Budget(file.m_Bytes.size())
{
    const Span<const uint8_t> bytes = m_Bytes;
    if (!HasTfLiteIdentifier(bytes))
    {
        throw ParseException(fmt::format("not a .tflite model: no identifier '{}' at offset 4 of {} bytes",
                                         schema::ModelIdentifier(), bytes.size()));
    }

    constexpr uint64_t tablesPerLayer = 16; // an operator has about ten, with its tensors
    const uint64_t tables = std::min(limits.m_MaxLayers, MaxTables) * tablesPerLayer;
    flatbuffers::Verifier verifier = MakeVerifier(bytes, limits, tables);
    if (!schema::VerifyModelBuffer(verifier))
    {
        throw ParseException(
            fmt::format("the model is corrupt or cut short: an offset in its {} bytes leads outside, or "
                        "it has more tables or deeper ones than the limits allow (Limits::m_MaxLayers, "
                        "Limits::m_MaxNesting)",
                        bytes.size()));
    }
    m_Root = schema::GetModel(bytes.data());
    if (m_Root->version() != FormatVersion)
    {
        throw ParseException(
            fmt::format("the model is of format version {}, should be {}", m_Root->version(), FormatVersion));
    }
    IndexExternalBuffers();
}

void Model::IndexExternalBuffers()
{
    const auto* buffers = m_Root->external_buffers();
    for (unsigned int i = 0; buffers != nullptr && i < buffers->size(); ++i)
    {
        const schema::ExternalBuffer& buffer = *buffers->Get(i);
        if (!m_ExternalBuffers.emplace(buffer.id(), &buffer).second)
        {
            throw ParseException(fmt::format("the model has two external buffers of id {}", buffer.id()));
        }
    }
}

const schema::SubGraph& Model::Subgraph(size_t index) const
{
    const auto* subgraphs = m_Root->subgraphs();
    const size_t count = subgraphs != nullptr ? subgraphs->size() : 0;
    if (index >= count)
    {
        throw ParseException(fmt::format("subgraph {} does not exist: the model has {}", index, count));
    }
    return *subgraphs->Get(static_cast<flatbuffers::uoffset_t>(index));
}

size_t Model::NumSubgraphs() const
{
    size_t count = 0;
    if (m_Root->subgraphs() != nullptr)
    {
        for (const schema::SubGraph* subgraph : *m_Root->subgraphs())
        {
            const auto* name = subgraph->name();
            count +=
                name == nullptr || name->string_view().substr(0, std::strlen(ValidationPrefix)) != ValidationPrefix;
        }
    }
    return count;
}

Span<const uint8_t> Model::BufferData(uint32_t index) const
{
    // By the schema buffer 0 stands for "no data": tensors without values name it, whatever a writer left in it.
    if (index == 0)
    {
        return {};
    }
    const auto* buffers = m_Root->buffers();
    if (buffers == nullptr || index >= buffers->size())
    {
        throw ParseException(
            fmt::format("buffer {} does not exist: the model has {}", index, buffers != nullptr ? buffers->size() : 0));
    }
    const schema::Buffer& buffer = *buffers->Get(index);
    if (buffer.offset() > 1)
    {
        return Range(buffer.offset(), buffer.size(), "buffer");
    }
    const auto* data = buffer.data();
    return data != nullptr ? Span<const uint8_t>(data->data(), data->size()) : Span<const uint8_t>();
}

Span<const uint8_t> Model::TensorData(const schema::Tensor& tensor) const
{
    return tensor.external_buffer() != 0 ? ExternalData(tensor.external_buffer()) : BufferData(tensor.buffer());
}

Span<const uint8_t> Model::ExternalData(uint32_t id) const
{
    const auto found = m_ExternalBuffers.find(id);
    if (found == m_ExternalBuffers.end())
    {
        throw ParseException(
            fmt::format("external buffer {} does not exist: the model has {}", id, m_ExternalBuffers.size()));
    }
    const schema::ExternalBuffer& buffer = *found->second;
    const auto* groups = m_Root->external_buffer_groups();
    if (groups == nullptr || buffer.group() >= groups->size())
    {
        throw ParseException(fmt::format("group {} of external buffer {} does not exist: the model has {}",
                                         buffer.group(), id, groups != nullptr ? groups->size() : 0));
    }
    const auto toText = [](const flatbuffers::String* text) { return text != nullptr ? text->string_view() : ""; };
    const std::string_view group = toText(groups->Get(buffer.group())->name());
    if (group != WeightsGroup || m_Weights.empty())
    {
        throw UnimplementedException(fmt::format(
            "its data is in another file ('{}'), which is not supported; weights apart from the model are read as a "
            "section TFLiteWeights of a .litertlm file ('{}') that has the model_type of the model",
            group, WeightsGroup));
    }
    const std::string_view packing = toText(buffer.packing());
    if (!packing.empty() && packing != NoPacking)
    {
        throw UnimplementedException(fmt::format("its data is packed as '{}', which is not supported", packing));
    }
    if (buffer.offset() > m_Weights.size() || buffer.length() > m_Weights.size() - buffer.offset())
    {
        throw ParseException(fmt::format("external buffer {} of {} bytes at offset {} lies outside of the {} bytes of "
                                         "weights",
                                         id, buffer.length(), buffer.offset(), m_Weights.size()));
    }
    return {m_Weights.data() + buffer.offset(), static_cast<size_t>(buffer.length())};
}

Span<const uint8_t> Model::CustomOptions(const schema::Operator& op) const
{
    if (op.large_custom_options_offset() > 1)
    {
        return Range(op.large_custom_options_offset(), op.large_custom_options_size(), "large_custom_options");
    }
    const auto* options = op.custom_options();
    return options != nullptr ? Span<const uint8_t>(options->data(), options->size()) : Span<const uint8_t>();
}

Span<const uint8_t> Model::Range(uint64_t offset, uint64_t size, const char* what) const
{
    if (offset > m_Bytes.size() || size > m_Bytes.size() - offset)
    {
        throw ParseException(fmt::format("{} of {} bytes at offset {} lies outside of the file of {} bytes", what, size,
                                         offset, m_Bytes.size()));
    }
    return {m_Bytes.data() + offset, static_cast<size_t>(size)};
}

} // namespace tenon::tflite
