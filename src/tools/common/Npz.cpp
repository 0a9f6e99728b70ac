// SPDX-License-Identifier: Apache-2.0
// See Npz.hpp.
#include "tools/common/Npz.hpp"

#include "formats/ModelFormat.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/Inflate.hpp"
#include "tools/common/NpyHeader.hpp"
#include "tools/common/Strings.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

namespace tenon::tools
{
namespace
{

constexpr std::string_view ArrayEnding = ".npy";

std::string_view NameOf(const zip::ZipEntry& entry)
{
    return std::string_view(entry.m_Name).substr(0, entry.m_Name.size() - ArrayEnding.size());
}

bool Contains(const std::vector<std::string>& names, const std::string& name)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

} // namespace

bool IsNpz(const std::string& path, std::string_view start)
{
    const bool isZip = formats::FindContainer(start.substr(0, NpzStartBytes)) == formats::Container::Zip;
    const bool isRaw = EndsWithNoCase(path, ".bin") || EndsWithNoCase(path, ".raw");
    return EndsWithNoCase(path, ".npz") || (!isRaw && isZip);
}

NpzFile::NpzFile(const InputSource& source, const Limits& limits)
    : m_Path(source.Path()), m_Limits(limits), m_Source(source)
{
    Span<const uint8_t> bytes;
    if (source.Content() != nullptr)
    {
        bytes = *source.Content();
    }
    else
    {
        m_Text = source.ReadAll();
        bytes = {reinterpret_cast<const uint8_t*>(m_Text.data()), m_Text.size()};
    }
    try
    {
        m_Entries = zip::ReadZip(bytes, zip::DeflatedFiles::Allowed);
    }
    catch (const Exception& error)
    {
        throw InputError(error.what());
    }
    m_Entries.erase(std::remove_if(m_Entries.begin(), m_Entries.end(),
                                   [](const zip::ZipEntry& entry) { return !entry.m_Name.ends_with(ArrayEnding); }),
                    m_Entries.end());
}

std::vector<std::string> NpzFile::GetNames() const
{
    std::vector<std::string> names;
    for (const zip::ZipEntry& entry : m_Entries)
    {
        names.emplace_back(NameOf(entry));
    }
    return names;
}

InputSource NpzFile::Open(const std::string& name) const
{
    const auto entry = std::find_if(m_Entries.begin(), m_Entries.end(),
                                    [&](const zip::ZipEntry& each) { return NameOf(each) == name; });
    if (entry == m_Entries.end())
    {
        throw InputError(fmt::format("it has no array '{}'; its arrays are {}", OneLine(name), QuoteSome(GetNames())));
    }
    if (entry->m_Size > MaxNpyStartBytes && entry->m_Size - MaxNpyStartBytes > m_Limits.m_MaxTensorBytes)
    {
        throw InputError(fmt::format("its array '{}' has {} bytes of data; the limit is {} (--limit tensor-bytes)",
                                     OneLine(name), entry->m_Size, m_Limits.m_MaxTensorBytes));
    }
    std::vector<uint8_t> bytes = entry->m_IsDeflated
                                     ? Inflate(entry->m_Bytes, entry->m_Size)
                                     : std::vector<uint8_t>(entry->m_Bytes.begin(), entry->m_Bytes.end());
    if (zip::ComputeChecksum(bytes) != entry->m_Checksum)
    {
        throw InputError(fmt::format("its array '{}' is damaged: its checksum is another one", OneLine(name)));
    }
    return {m_Path + "/" + entry->m_Name, std::make_shared<const std::vector<uint8_t>>(std::move(bytes))};
}

std::vector<std::string> ChooseArrays(const std::vector<std::string>& arrays, const std::vector<Binding>& bindings,
                                      const char* kind)
{
    std::vector<std::string> names;
    std::vector<std::string> numbered;
    for (const Binding& binding : bindings)
    {
        names.push_back(binding.m_Name);
        numbered.push_back(fmt::format("arr_{}", numbered.size()));
    }
    const auto isThere = [&](const std::string& name) { return Contains(arrays, name); };
    const bool isNamed = std::any_of(names.begin(), names.end(), isThere);
    const std::vector<std::string>& chosen = isNamed ? names : numbered;
    const auto missing = std::find_if_not(chosen.begin(), chosen.end(), isThere);
    if (missing != chosen.end())
    {
        const auto index = static_cast<size_t>(missing - chosen.begin());
        throw InputError(fmt::format("it has no array for {} '{}'{}; its arrays are {}", kind, OneLine(names[index]),
                                     isNamed ? "" : fmt::format(", by name or as '{}'", numbered[index]),
                                     QuoteSome(arrays)));
    }
    return chosen;
}

} // namespace tenon::tools
