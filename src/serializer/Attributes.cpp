// SPDX-License-Identifier: Apache-2.0
// See Attributes.hpp.
#include "serializer/Attributes.hpp"

#include "common/OptionText.hpp"
#include "serializer/AttributeValues.hpp"

#include <tenon/Descriptors.hpp>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace tenon::serializer
{

namespace
{

template <typename D>
flatbuffers::Offset<Attributes> WriteFields(FileWriter& file, const D& descriptor);
template <typename D>
void ReadFields(FileReader& file, const Attributes* attributes, D& descriptor);

/// The one descriptor that is a field of another.
EncodedValue Encode(FileWriter& file, const OriginsDescriptor& value)
{
    return {schema::Value::Record, schema::CreateRecord(file.Builder(), WriteFields(file, value)).Union()};
}

void Decode(FileReader& file, const schema::Attribute& attribute, OriginsDescriptor& value)
{
    ReadFields(file, ValueAs<schema::Record>(file, attribute).fields(), value);
}

flatbuffers::Offset<schema::Attribute> MakeAttribute(FileWriter& file, const std::string& name,
                                                     const EncodedValue& value)
{
    return schema::CreateAttribute(file.Builder(), file.AddText(name), value.first, value.second);
}

template <typename D>
flatbuffers::Offset<Attributes> WriteFields(FileWriter& file, const D& descriptor)
{
    const D defaults;
    std::vector<flatbuffers::Offset<schema::Attribute>> attributes;
    D::Visit(
        [&](const char* name, auto member)
        {
            if (!IsSame(descriptor.*member, defaults.*member))
            {
                attributes.push_back(MakeAttribute(file, name, Encode(file, descriptor.*member)));
            }
        });
    return file.Builder().CreateVector(attributes);
}

/// Throws for an attribute that is none of `names` or is there twice.
void CheckNames(FileReader& file, const Attributes& attributes, const std::vector<std::string_view>& names)
{
    std::vector<bool> seen(names.size());
    for (const schema::Attribute* attribute : attributes)
    {
        const auto found = std::find(names.begin(), names.end(), attribute->name()->string_view());
        if (found == names.end())
        {
            throw ParseException(
                fmt::format("attribute '{}' is not known {}", file.Text(attribute->name()), file.VersionText()));
        }
        const auto index = static_cast<size_t>(found - names.begin());
        if (seen[index])
        {
            throw ParseException(fmt::format("attribute '{}' is there twice", *found));
        }
        seen[index] = true;
    }
}

const schema::Attribute* Find(const Attributes& attributes, std::string_view name)
{
    for (const schema::Attribute* attribute : attributes)
    {
        if (attribute->name()->string_view() == name)
        {
            return attribute;
        }
    }
    return nullptr;
}

/// Sets the value from the attribute of that name, if there is one.
template <typename T>
void ReadField(FileReader& file, const Attributes& attributes, const char* name, T& value)
{
    if (const schema::Attribute* attribute = Find(attributes, name))
    {
        WithModelContext([&] { return fmt::format("attribute '{}'", name); }, [&] { Decode(file, *attribute, value); });
    }
}

/// What a descriptor's own methods keep true of its lists, and code relies on.
template <typename D>
void CheckLists(const D&)
{
}

template <typename D>
size_t SizeOfCoordinates(const D& descriptor)
{
    size_t size = 0;
    D::Visit(
        [&](const char*, auto member)
        {
            if constexpr (std::is_same_v<std::remove_cvref_t<decltype(descriptor.*member)>, std::vector<uint32_t>>)
            {
                size = (descriptor.*member).size();
            }
        });
    return size;
}

/// All coordinates or, where all are zero, none.
template <typename D>
void CheckCoordinates(const D& descriptor)
{
    const uint64_t all = uint64_t{descriptor.GetNumViews()} * descriptor.GetNumDimensions();
    const size_t count = SizeOfCoordinates(descriptor);
    if (descriptor.GetNumDimensions() > MaxNumOfTensorDimensions || (count != 0 && count != all))
    {
        throw ParseException(fmt::format("{} coordinates for {} views of {} dimensions", count,
                                         descriptor.GetNumViews(), descriptor.GetNumDimensions()));
    }
}

template <>
void CheckLists(const OriginsDescriptor& descriptor)
{
    CheckCoordinates(descriptor);
}

template <>
void CheckLists(const ViewsDescriptor& descriptor)
{
    CheckCoordinates(descriptor);
}

template <typename D>
void ReadFields(FileReader& file, const Attributes* attributes, D& descriptor)
{
    if (attributes != nullptr)
    {
        std::vector<std::string_view> names;
        D::Visit([&](const char* name, auto) { names.emplace_back(name); });
        CheckNames(file, *attributes, names);
        D::Visit([&](const char* name, auto member) { ReadField(file, *attributes, name, descriptor.*member); });
    }
    CheckLists(descriptor);
}

/// Writer and reader of one descriptor.
struct Codec
{
    flatbuffers::Offset<Attributes> (*m_Write)(FileWriter& file, const BaseDescriptor& descriptor);
    std::unique_ptr<BaseDescriptor> (*m_Read)(FileReader& file, const Attributes* attributes);
};

template <typename D>
flatbuffers::Offset<Attributes> WriteAs(FileWriter& file, const BaseDescriptor& descriptor)
{
    return WriteFields(file, static_cast<const D&>(descriptor));
}

template <typename D>
std::unique_ptr<BaseDescriptor> ReadAs(FileReader& file, const Attributes* attributes)
{
    auto descriptor = std::make_unique<D>();
    ReadFields(file, attributes, *descriptor);
    return descriptor->IsNull() ? nullptr : std::move(descriptor);
}

constexpr Codec codecs[] = {
#define TENON_OP(name, descriptor, ...) {&WriteAs<descriptor>, &ReadAs<descriptor>},
#include <tenon/ops.def>
};

/// The text that OptionFromText() makes the string of: in quotes where it would be something else without them.
std::string OptionText(const std::string& text)
{
    const BackendOptions::Var read = OptionFromText(text);
    const bool isPlain = !read.IsBool() && !read.IsFloat() && read.AsString() == text;
    return isPlain ? text : '"' + text + '"';
}

EncodedValue EncodeOption(FileWriter& file, const BackendOptions::Var& value)
{
    if (value.IsString())
    {
        const bool isOther = value.IsBool() || value.IsFloat(); // and was given as a text
        return Encode(file, isOther ? value.AsString() : OptionText(value.AsString()));
    }
    if (value.IsBool())
    {
        return Encode(file, value.AsBool());
    }
    if (value.IsInt())
    {
        return Encode(file, int32_t{value.AsInt()});
    }
    if (value.IsUnsignedInt())
    {
        return {schema::Value::Unsigned, schema::CreateUnsigned(file.Builder(), value.AsUnsignedInt()).Union()};
    }
    return Encode(file, value.AsFloat());
}

BackendOptions::Var DecodeOption(FileReader& file, const schema::Attribute& attribute)
{
    switch (attribute.value_type())
    {
    case schema::Value::Boolean: return ValueAs<schema::Boolean>(file, attribute).value();
    case schema::Value::Integer: return InRange<int32_t>(ValueAs<schema::Integer>(file, attribute).value());
    case schema::Value::Unsigned:
    {
        const uint64_t value = ValueAs<schema::Unsigned>(file, attribute).value();
        if (value > std::numeric_limits<uint32_t>::max())
        {
            throw ParseException(fmt::format("the value {} is out of range", value));
        }
        return static_cast<uint32_t>(value);
    }
    case schema::Value::Real: return ValueAs<schema::Real>(file, attribute).value();
    default: return OptionFromText(file.Text(ValueAs<schema::Text>(file, attribute).value()));
    }
}

/// Calls visit(name, get, set) for each option of the optimizer that a file holds.
template <typename Visitor>
void VisitOptimizerOptions(Visitor visit)
{
    using Options = OptimizerOptionsOpaque;
    visit("Debug", &Options::GetDebugEnabled, &Options::SetDebugEnabled);
    visit("Import", &Options::GetImportEnabled, &Options::SetImportEnabled);
    visit("Export", &Options::GetExportEnabled, &Options::SetExportEnabled);
    visit("Profiling", &Options::GetProfilingEnabled, &Options::SetProfilingEnabled);
    visit("AllowExpandedDims", &Options::GetAllowExpandedDims, &Options::SetAllowExpandedDims);
}

} // namespace

flatbuffers::Offset<Attributes> WriteDescriptor(FileWriter& file, LayerType type, const BaseDescriptor& descriptor)
{
    return descriptor.IsNull() ? flatbuffers::Offset<Attributes>()
                               : codecs[static_cast<size_t>(type)].m_Write(file, descriptor);
}

std::unique_ptr<BaseDescriptor> ReadDescriptor(FileReader& file, LayerType type, const Attributes* attributes)
{
    return codecs[static_cast<size_t>(type)].m_Read(file, attributes);
}

namespace
{

/// Options that name files for the backend to read or write. They are for the application to give, on the machine that
/// the files are on: a network from elsewhere must not choose what is written.
bool NamesFile(const std::string& option)
{
    return option == "SaveCachedNetwork" || option == "CachedNetworkFilePath";
}

} // namespace

flatbuffers::Offset<OptionGroups> WriteOptions(FileWriter& file, const std::vector<BackendOptions>& options)
{
    std::vector<flatbuffers::Offset<schema::BackendOptions>> groups;
    for (const BackendOptions& group : options)
    {
        std::vector<flatbuffers::Offset<schema::Attribute>> attributes;
        for (size_t i = 0; i < group.GetOptionCount(); ++i)
        {
            const BackendOptions::BackendOption& option = group.GetOption(i);
            if (!NamesFile(option.GetName()))
            {
                attributes.push_back(MakeAttribute(file, option.GetName(), EncodeOption(file, option.GetValue())));
            }
        }
        groups.push_back(schema::CreateBackendOptions(file.Builder(), file.AddText(group.GetBackendId().Get()),
                                                      file.Builder().CreateVector(attributes)));
    }
    return file.Builder().CreateVector(groups);
}

std::vector<BackendOptions> ReadOptions(FileReader& file, const OptionGroups* groups)
{
    std::vector<BackendOptions> options;
    for (unsigned int i = 0; groups != nullptr && i < groups->size(); ++i)
    {
        const schema::BackendOptions& group = *groups->Get(i);
        file.Charge(1, sizeof(BackendOptions));
        BackendOptions read(BackendId(file.Text(group.backend())));
        for (unsigned int k = 0; group.options() != nullptr && k < group.options()->size(); ++k)
        {
            const schema::Attribute& option = *group.options()->Get(k);
            file.Charge(1, sizeof(BackendOptions::BackendOption));
            const std::string name = file.Text(option.name());
            WithModelContext([&]
                             { return fmt::format("option '{}' of backend '{}'", name, read.GetBackendId().Get()); },
                             [&]
                             {
                                 if (NamesFile(name))
                                 {
                                     throw ParseException("a network file must not name files to read or write");
                                 }
                                 read.AddOption({name, DecodeOption(file, option)});
                             });
        }
        options.push_back(std::move(read));
    }
    return options;
}

flatbuffers::Offset<Attributes> WriteOptimizerOptions(FileWriter& file, const OptimizerOptionsOpaque& options)
{
    std::vector<flatbuffers::Offset<schema::Attribute>> attributes;
    VisitOptimizerOptions(
        [&](const char* name, auto get, auto)
        {
            if ((options.*get)())
            {
                attributes.push_back(MakeAttribute(file, name, Encode(file, true)));
            }
        });
    return file.Builder().CreateVector(attributes);
}

void ReadOptimizerOptions(FileReader& file, const Attributes* attributes, OptimizerOptionsOpaque& options)
{
    if (attributes == nullptr)
    {
        return;
    }
    std::vector<std::string_view> names;
    VisitOptimizerOptions([&](const char* name, auto, auto) { names.emplace_back(name); });
    CheckNames(file, *attributes, names);
    VisitOptimizerOptions(
        [&](const char* name, auto, auto set)
        {
            bool value = false;
            ReadField(file, *attributes, name, value);
            (options.*set)(value);
        });
}

} // namespace tenon::serializer
