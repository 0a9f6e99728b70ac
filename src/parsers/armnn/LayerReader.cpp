// SPDX-License-Identifier: Apache-2.0
// LayerReader: see LayerReader.hpp.
#include "parsers/armnn/LayerReader.hpp"

#include "parsers/armnn/TensorReader.hpp"
#include "parsers/common/FlatValue.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <armnn_generated.h>

namespace tenon::arm_nn
{

namespace
{

using flatbuffers::Table;
using flatbuffers::TypeCode;
using flatbuffers::TypeTable;
using parsers::Attribute;
using parsers::FollowReference;
using parsers::LoadFlat;

const Table* FollowTable(const uint8_t* reference)
{
    return reference != nullptr ? reinterpret_cast<const Table*>(FollowReference(reference)) : nullptr;
}

/// The address of a field in a table; null if the table omits it or is itself absent.
const uint8_t* FindField(const Table* table, size_t index)
{
    return table != nullptr
               ? table->GetAddressOf(flatbuffers::FieldIndexToOffset(static_cast<flatbuffers::voffset_t>(index)))
               : nullptr;
}

/// The table of a kind of layer.
const TypeTable& TypeOf(schema::Layer kind)
{
    const TypeTable& kinds = *schema::LayerTypeTable();
    return *kinds.type_refs[kinds.type_codes[static_cast<size_t>(kind)].sequence_ref]();
}

class FieldReader
{
public:
    FieldReader(ArmnnFile& file, LayerParts& parts) : m_File(file), m_Parts(parts) {}

    /// Reads the fields of a table and of the tables in it into one list: the names of a layer's fields are unique.
    void Read(const Table* table, const TypeTable& type)
    {
        for (size_t i = 0; i < type.num_elems; ++i)
        {
            const TypeCode code = type.type_codes[i];
            const uint8_t* const data = FindField(table, i);
            const bool isTable = code.base_type == flatbuffers::ET_SEQUENCE;
            isTable ? ReadTable(type.names[i], *type.type_refs[code.sequence_ref](), code.is_repeating != 0, data)
                    : AddField(type.names[i], ReadValue(type, code, data), data != nullptr);
        }
    }

private:
    void ReadTable(const char* name, const TypeTable& type, bool isList, const uint8_t* data)
    {
        if (&type == schema::LayerBaseTypeTable() || &type == schema::BindableLayerBaseTypeTable())
        {
            return; // see ReadLayer
        }
        if (&type == schema::ConstTensorTypeTable())
        {
            ReadConstantField(name, data);
        }
        else if (isList)
        {
            AddField(name, ReadRows(name, data), data != nullptr);
        }
        else
        {
            if (data == nullptr)
            {
                m_Parts.m_Fields.m_Error = fmt::format("has no {}", name);
                m_Parts.m_Fields.m_IsPresent = false;
            }
            Read(FollowTable(data), type);
        }
    }

    void ReadConstantField(const char* name, const uint8_t* data)
    {
        ConstantField field{name, std::nullopt};
        if (data != nullptr)
        {
            const auto* tensor = reinterpret_cast<const schema::ConstTensor*>(FollowReference(data));
            WithModelContext([&] { return std::string(name); },
                             [&] { field.m_Tensor = ReadConstant(m_File, *tensor); });
        }
        m_Parts.m_Constants.push_back(std::move(field));
    }

    /// The elements of a list of lists, one list after the other. Throws ParseException if their lengths differ.
    Attribute::Value ReadRows(const char* name, const uint8_t* data)
    {
        std::vector<int64_t> values;
        if (data == nullptr)
        {
            return values;
        }
        using Rows = flatbuffers::Vector<flatbuffers::Offset<schema::UintVector>>;
        const auto& rows = *reinterpret_cast<const Rows*>(FollowReference(data));
        for (uint32_t i = 0; i < rows.size(); ++i)
        {
            const auto* row = rows.Get(i)->data();
            const size_t length = row != nullptr ? row->size() : 0;
            if (length != (rows.Get(0)->data() != nullptr ? rows.Get(0)->data()->size() : 0))
            {
                throw ParseException(fmt::format("the lists in field {} are not of one length", name));
            }
            m_File.Budget().Charge(length * sizeof(int64_t));
            for (uint32_t k = 0; k < length; ++k)
            {
                values.push_back(row->Get(k));
            }
        }
        return values;
    }

    /// The value of a field, or a default of the same kind if the field is absent. An enumerator is read as its name,
    /// or as its number if the format does not have it.
    Attribute::Value ReadValue(const TypeTable& type, TypeCode code, const uint8_t* data)
    {
        if (code.sequence_ref != -1)
        {
            const TypeTable& names = *type.type_refs[code.sequence_ref]();
            const int number = data != nullptr ? LoadFlat<int8_t>(data) : 0; // enumerators of descriptors are bytes
            const bool isKnown = number >= 0 && static_cast<size_t>(number) < names.num_elems;
            return data == nullptr ? std::string() : isKnown ? names.names[number] : std::to_string(number);
        }
        return parsers::ReadFlatValue(m_File.Budget(), code, data);
    }

    void AddField(const char* name, Attribute::Value value, bool isSet)
    {
        m_Parts.m_Fields.m_Attributes.push_back({name, std::move(value), isSet});
    }

    ArmnnFile& m_File;
    LayerParts& m_Parts;
};

} // namespace

std::optional<std::string_view> FindKind(const schema::AnyLayer& layer)
{
    constexpr std::string_view ending = "Layer";
    const bool isKnown = layer.layer_type() > schema::Layer::NONE && layer.layer_type() <= schema::Layer::MAX;
    if (!isKnown || layer.layer() == nullptr)
    {
        return std::nullopt;
    }
    std::string_view name = schema::EnumNameLayer(layer.layer_type());
    name.remove_suffix(ending.size());
    return name;
}

bool IsBindable(const schema::AnyLayer& layer)
{
    return layer.layer_type() == schema::Layer::InputLayer || layer.layer_type() == schema::Layer::OutputLayer;
}

const schema::BindableLayerBase* FindBindable(const schema::AnyLayer& layer)
{
    switch (layer.layer_type())
    {
    case schema::Layer::InputLayer: return layer.layer_as_InputLayer()->base();
    case schema::Layer::OutputLayer: return layer.layer_as_OutputLayer()->base();
    default: return nullptr;
    }
}

const schema::LayerBase& GetBase(const schema::AnyLayer& layer)
{
    const schema::LayerBase* base = nullptr;
    if (IsBindable(layer))
    {
        const schema::BindableLayerBase* const bindable = FindBindable(layer);
        base = bindable != nullptr ? bindable->base() : nullptr;
    }
    else
    {
        // The base is the first field of all others.
        base = static_cast<const Table*>(layer.layer())
                   ->GetPointer<const schema::LayerBase*>(flatbuffers::FieldIndexToOffset(0));
    }
    if (base == nullptr)
    {
        throw ParseException("it has no base, with its index and slots");
    }
    return *base;
}

LayerParts ReadLayer(ArmnnFile& file, const schema::AnyLayer& layer)
{
    const schema::LayerBase& base = GetBase(layer);
    LayerParts parts;
    parts.m_Kind = *FindKind(layer);
    parts.m_Name = file.Text(base.layerName());
    parts.m_NumInputs = base.inputSlots() != nullptr ? base.inputSlots()->size() : 0;
    parts.m_NumOutputs = base.outputSlots() != nullptr ? base.outputSlots()->size() : 0;
    parts.m_Fields.m_IsComplete = true;
    parts.m_Fields.m_IsPresent = true;
    if (const schema::BindableLayerBase* const bindable = FindBindable(layer))
    {
        parts.m_BindingId = bindable->layerBindingId();
    }
    FieldReader(file, parts).Read(static_cast<const Table*>(layer.layer()), TypeOf(layer.layer_type()));
    return parts;
}

} // namespace tenon::arm_nn
