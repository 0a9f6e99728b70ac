// SPDX-License-Identifier: Apache-2.0
// KernelReport: prints benchmarks as they end, and keeps them for a table in Markdown.
#pragma once

#include "MachinePeaks.hpp"

#include <benchmark/benchmark.h>

#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace tenon::bench
{

class KernelReport : public benchmark::ConsoleReporter
{
public:
    explicit KernelReport(bool isColored) : ConsoleReporter(isColored ? OO_Color : OO_None) {}

    void ReportRuns(const std::vector<Run>& runs) override;

    /// Writes a row for each benchmark in the order of the runs, with the repetition of median time. Failed benchmarks
    /// are left out.
    void WriteTable(std::ostream& out, const MachinePeaks& peaks) const;

private:
    std::vector<std::pair<std::string, std::vector<Run>>> m_Runs; ///< by name
};

} // namespace tenon::bench
