// SPDX-License-Identifier: Apache-2.0
// EnergyMeter: the energy that the processors take, by Intel's and AMD's counters (RAPL), as Linux shows them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tenon::tools
{

class EnergyMeter
{
public:
    /// Counts from now on. `folder` has a folder intel-rapl:N for each processor, also those of AMD.
    explicit EnergyMeter(const std::filesystem::path& folder = "/sys/class/powercap");

    /// The energy since the meter was made, of all processors and all that they run; nothing if it cannot be read. A
    /// counter that has begun anew is noticed once, which is after many minutes at the earliest.
    std::optional<double> Joules() const;

    /// Why there is none, for people; empty if there is.
    const std::string& WhyNot() const { return m_WhyNot; }

private:
    struct Counter
    {
        std::filesystem::path m_File;
        uint64_t m_Start = 0; ///< microjoules
        uint64_t m_Range = 0; ///< the count at which it begins anew
    };

    std::vector<Counter> m_Counters;
    std::string m_WhyNot;
};

} // namespace tenon::tools
