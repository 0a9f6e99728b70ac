// SPDX-License-Identifier: Apache-2.0
// Whether all ways to run a network agree: with and without optimization, on CpuRef and CpuAcc, on one thread and on
// several, and again after a run with other shapes.
#pragma once

#include "harness/ChildProcess.hpp"
#include "harness/NetworkCase.hpp"

#include <tenon/backend/IBackend.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tenon::test
{

/// One way to load and run a network.
struct RunConfig
{
    std::string m_Name;
    std::vector<BackendId> m_Backends;
    unsigned int m_Threads = 1;
    unsigned int m_LayerThreads = 0; ///< CpuAcc's NumberOfThreads; 0: not given
    /// All ways of a group give the same bytes. Empty: it is the only one.
    std::string m_Group;
    std::vector<std::string> m_DisabledFusions; ///< see INetworkProperties
};

struct RunConfigs
{
    std::vector<RunConfig> m_Configs;
    std::vector<std::shared_ptr<const IBackend>> m_OwnBackends; ///< beside the built-in ones
};

/// CpuRef optimized; CpuAcc beside it on 1 and 2 threads, with NumberOfThreads 1 and 2, without each of the runtime's
/// fusions, and without any.
const RunConfigs& AllConfigs();
/// The same, but of the ways without one fusion only that of fusion `number` modulo their number: for many networks.
RunConfigs ConfigsWithoutFusion(uint32_t number);

/// What is wrong with a case.
struct Failure
{
    /// The same for what has the same cause, as far as can be told: the way, and crash, exception or values. Empty:
    /// nothing is wrong.
    std::string m_Kind;
    std::string m_Text;

    explicit operator bool() const { return !m_Kind.empty(); }
};

/// The kind of a case that says nothing: the reference refuses it, or its values are not finite.
extern const char* const InvalidCase;

/// Compares each way to CpuRef with the necessary passes alone, within the bounds of ErrorBounds, for the runs of the
/// case and the first one once more. `say` is given a line with the name of each way before it runs, and before these
/// "outputs N, loose M": how many outputs there are, and how many of them may differ by so much that they prove little.
Failure FindDisagreement(const NetworkCase& tested, const RunConfigs& ways, const Say& say = {});

/// Judges a case. What it says last is where a crash happened.
using CaseCheck = std::function<Failure(const NetworkCase& tested, const Say& say)>;

/// The same in a child process, where a crash and a run that never ends are failures, too.
Failure CheckInChild(const CaseCheck& check, const NetworkCase& tested, double seconds = 60.0);

/// For tests that were printed (see NetworkPrinter.hpp): fails the test that calls it where the ways do not agree.
void ExpectAgreement(const NetworkCase& tested);

} // namespace tenon::test
