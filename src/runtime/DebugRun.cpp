// SPDX-License-Identifier: Apache-2.0
// DebugRun: see DebugRun.hpp.
#include "runtime/DebugRun.hpp"

#include "common/Paths.hpp"
#include "runtime/NpyFile.hpp"
#include "runtime/TensorJson.hpp"

#include <tenon/TensorHandle.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <system_error>

namespace tenon
{

namespace
{

/// The layer's name, or its type if it has none, with underscores for characters that file systems may refuse.
std::string FileStem(const Layer& layer)
{
    constexpr size_t max = 100; // file systems take 255 bytes, and numbers follow
    std::string stem = layer.GetNameStr().empty() ? layer.GetSchema().m_Name : layer.GetNameStr().substr(0, max);
    const auto isPlain = [](char c)
    { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' || c == '.'; };
    std::replace_if(
        stem.begin(), stem.end(), [&](char c) { return !isPlain(c); }, '_');
    if (stem.front() == '.')
    {
        stem.front() = '_'; // a leading dot would hide the file
    }
    return stem;
}

/// Prints one line at a time, even if several runs print at once.
void PrintLine(const std::string& line)
{
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    if (std::fwrite(line.data(), 1, line.size(), stdout) != line.size() || std::fflush(stdout) != 0)
    {
        throw RuntimeException("cannot print the values of layers to standard output; register a debug callback, or "
                               "write them to files");
    }
}

std::atomic<uint64_t> NextRun{0};

} // namespace

DebugTarget::DebugTarget(const OptimizerOptionsOpaque& options) : m_IsShown(options.GetDebugEnabled())
{
    if (!options.GetDebugToFileEnabled())
    {
        return;
    }
    m_Folder = MakePath(options.GetDebugFolder().empty() ? "." : options.GetDebugFolder());
    std::error_code error;
    std::filesystem::create_directories(m_Folder, error);
    if (!error && !std::filesystem::is_directory(m_Folder, error) && !error)
    {
        error = std::make_error_code(std::errc::not_a_directory);
    }
    if (error)
    {
        throw RuntimeException(fmt::format("cannot make the folder '{}' for the values of layers: {}; choose another "
                                           "with OptimizerOptionsOpaque::SetDebugFolder()",
                                           GetPathText(m_Folder), error.message()));
    }
}

DebugRun::DebugRun(const DebugTarget& target, const DebugCallbackFunction* callback)
    : m_Target(target), m_Callback(callback), m_Number(NextRun.fetch_add(1, std::memory_order_relaxed))
{
}

std::string DebugRun::MakeFileName(const Layer& layer, unsigned int output)
{
    const auto guid = static_cast<uint64_t>(layer.GetGuid());
    const unsigned int iteration = m_Iterations[{guid, output}]++;
    return fmt::format("{}_{}_{}_run{}{}.npy", FileStem(layer), guid, output, m_Number,
                       iteration == 0 ? "" : fmt::format("_turn{}", iteration));
}

void DebugRun::Show(const Layer& layer, unsigned int output, const TensorInfo& info, const void* memory)
{
    if (m_Target.IsShown() && m_Callback != nullptr)
    {
        ConstPassthroughTensorHandle handle(info, memory);
        (*m_Callback)(layer.GetGuid(), output, &handle);
    }
    else if (m_Target.IsShown())
    {
        PrintLine(FormatTensorJson(layer, output, info, memory));
    }
    if (m_Target.IsWritten())
    {
        WriteNpyFile(m_Target.GetFolder() / MakeFileName(layer, output), info, memory);
    }
}

} // namespace tenon
