// SPDX-License-Identifier: Apache-2.0
// DebugRun: shows the values of one run of a network that was optimized for it, to the application's function, on
// standard output or in files. DebugTensors calls it.
#pragma once

#include "graph/Layer.hpp"

#include <tenon/IOptimizedNetwork.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace tenon
{

/// The place where the values of a network's runs are shown.
class DebugTarget
{
public:
    /// Takes the place from the options. Makes the folder for files; throws RuntimeException when that fails.
    explicit DebugTarget(const OptimizerOptionsOpaque& options);

    bool IsShown() const { return m_IsShown; }
    bool IsWritten() const { return !m_Folder.empty(); }
    const std::filesystem::path& GetFolder() const { return m_Folder; }

private:
    bool m_IsShown; ///< to the callback, or printed
    std::filesystem::path m_Folder;
};

class DebugRun
{
public:
    /// Both must outlive it; `callback` is null for printing.
    DebugRun(const DebugTarget& target, const DebugCallbackFunction* callback);

    /// Shows the value of a layer's output. Throws RuntimeException when it cannot be printed or written.
    void Show(const Layer& layer, unsigned int output, const TensorInfo& info, const void* memory);

private:
    std::string MakeFileName(const Layer& layer, unsigned int output);

    const DebugTarget& m_Target;
    const DebugCallbackFunction* m_Callback;
    uint64_t m_Number; ///< number among the process's debugged runs
    /// The number of times that each output was written in this run: more than once in loops.
    std::map<std::pair<uint64_t, unsigned int>, unsigned int> m_Iterations;
};

} // namespace tenon
