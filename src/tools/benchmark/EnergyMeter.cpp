// SPDX-License-Identifier: Apache-2.0
// See EnergyMeter.hpp.
#include "tools/benchmark/EnergyMeter.hpp"

#include "tools/common/Strings.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>
#include <system_error>

namespace tenon::tools
{
namespace
{

namespace fs = std::filesystem;

std::optional<uint64_t> ReadNumber(const fs::path& file)
{
    uint64_t number = 0;
    std::ifstream stream(file);
    return stream >> number ? std::optional(number) : std::nullopt;
}

/// "intel-rapl:0" is a processor, "intel-rapl:0:1" a part of it. Its name is "package-0"; "psys" is the whole machine,
/// processors included.
bool IsProcessor(const fs::path& folder)
{
    constexpr std::string_view start = "intel-rapl:";
    const std::string file = folder.filename().string();
    std::string name;
    return file.starts_with(start) && file.find(':', start.size()) == std::string::npos &&
           std::ifstream(folder / "name") >> name && name.starts_with("package");
}

} // namespace

EnergyMeter::EnergyMeter(const fs::path& folder)
{
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    {
        if (!IsProcessor(entry.path()))
        {
            continue;
        }
        const fs::path file = entry.path() / "energy_uj";
        errno = 0;
        const std::optional<uint64_t> start = ReadNumber(file);
        if (!start)
        {
            m_WhyNot = fmt::format("'{}' cannot be read{}", OneLine(file.string()),
                                   errno != 0 ? fmt::format(": {}", std::strerror(errno)) : "");
            m_Counters.clear();
            return;
        }
        m_Counters.push_back({file, *start, ReadNumber(entry.path() / "max_energy_range_uj").value_or(0)});
    }
    if (m_Counters.empty())
    {
        m_WhyNot = fmt::format("this system has no counters '{}'", (folder / "intel-rapl:*").string());
    }
}

std::optional<double> EnergyMeter::Joules() const
{
    if (m_Counters.empty())
    {
        return {};
    }
    constexpr double microjoule = 1e-6;
    uint64_t sum = 0;
    for (const Counter& counter : m_Counters)
    {
        const std::optional<uint64_t> now = ReadNumber(counter.m_File);
        if (!now || (*now < counter.m_Start && counter.m_Range < counter.m_Start))
        {
            return {};
        }
        sum += *now >= counter.m_Start ? *now - counter.m_Start : *now + (counter.m_Range - counter.m_Start);
    }
    return static_cast<double>(sum) * microjoule;
}

} // namespace tenon::tools
