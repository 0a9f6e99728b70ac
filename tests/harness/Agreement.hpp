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
    unsigned int m_LayerThreads = 0; ///< CpuAcc's NumberOfThreads; 0: not set
    /// All ways of a group give the same bytes. Empty: it is in no group.
    std::string m_Group;
    std::vector<std::string> m_DisabledFusions; ///< see INetworkProperties
};

struct RunConfigs
{
    std::vector<RunConfig> m_Configs;
    std::vector<std::shared_ptr<const IBackend>> m_OwnBackends; ///< in addition to the built-in ones
};

/// All ways: CpuRef optimized; CpuAcc with CpuRef on 1 and 2 threads, with NumberOfThreads 1 and 2, without each of the
/// runtime's fusions, and without any.
const RunConfigs& AllConfigs();
/// The same with only one of the ways without a fusion, that of fusion `number` modulo the number of fusions. It is
/// used for many networks.
RunConfigs ConfigsWithoutFusion(uint32_t number);

/// The failure of a case.
struct Failure
{
    /// A text that is equal for failures with the same cause, as far as known: the way, and crash, exception or values.
    /// Empty: there is no failure.
    std::string m_Kind;
    std::string m_Text;

    explicit operator bool() const { return !m_Kind.empty(); }
};

/// The kind of an inconclusive case: the reference refuses it, or its values are not finite.
extern const char* const InvalidCase;

/// Compares each way to CpuRef with the necessary passes alone, within the bounds of ErrorBounds, for the runs of the
/// case and the first one once more. `say` gets a line with the name of each way before it runs. Before these lines it
/// gets "outputs N, loose M": the number of outputs, and the number of outputs whose bounds are so wide that they prove
/// little.
Failure FindDisagreement(const NetworkCase& tested, const RunConfigs& ways, const Say& say = {});

/// Judges a case. Its last line tells where a crash happened.
using CaseCheck = std::function<Failure(const NetworkCase& tested, const Say& say)>;

/// The same in a child process, where a crash and a run that never ends are failures, too.
Failure CheckInChild(const CaseCheck& check, const NetworkCase& tested, double seconds = 60.0);

/// Used by printed tests (see NetworkPrinter.hpp): fails the calling test unless the ways agree.
void ExpectAgreement(const NetworkCase& tested);

} // namespace tenon::test
