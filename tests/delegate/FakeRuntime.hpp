// SPDX-License-Identifier: Apache-2.0
// FakeRuntime: a made-up TensorFlow Lite runtime: subgraphs with a TfLiteContext each, which run with kernels of their
// own and with those of delegates. It stands in for a library that tests of C++ cannot have. It does what TensorFlow
// Lite does with delegates, and it is strict: a call that TensorFlow Lite would answer with a crash, an error or a
// wrong result fails the test, memory that is not promised to live on is overwritten, and tensors lie exactly as far as
// they are aligned and end where they end. Used by the tests here.
#pragma once

#include "delegate/FakeGraph.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tenon::test
{

struct FakeRuntimeOptions
{
    /// As experimental_preserve_all_tensors: each node that is taken becomes a partition.
    bool m_PreservesAllTensors = false;
    /// As in releases before 2.14: what would follow GetEvalTensor is other memory.
    bool m_HasShortContext = false;
    /// What the runtime knows of a kernel's registration: 64, as release 2.5, 88, as release 2.15, or 152, as one to
    /// come.
    size_t m_RegistrationBytes = 88;
    /// recommended_num_threads.
    int32_t m_Threads = -1;
    /// Changes a context before delegates see it.
    std::function<void(TfLiteContext& context)> m_ChangeContext;
};

class FakeRuntime
{
public:
    explicit FakeRuntime(FakeRuntimeOptions options = {}, int32_t subgraphs = 1);
    /// Fails the test for all that delegates and kernels did wrong, unless TakeViolations() took it.
    ~FakeRuntime();

    FakeRuntime(const FakeRuntime&) = delete;
    FakeRuntime& operator=(const FakeRuntime&) = delete;

    FakeGraph& Graph(int32_t subgraph = 0) { return *m_Graphs.at(static_cast<size_t>(subgraph)); }

    // Of all subgraphs.
    /// After a delegate's error all of them are without delegates.
    TfLiteStatus ModifyGraphWithDelegate(TfLiteDelegate* delegate);
    // Of the first one.
    TfLiteStatus AllocateTensors() { return Graph().AllocateTensors(); }
    TfLiteStatus Invoke() { return Graph().Invoke(); }
    /// The next Invoke() stops before its first node.
    void Cancel() { m_IsCancelled = true; }

    /// All that was reported since the last call, as a program sees it: one text behind the other.
    std::string TakeErrors();
    /// The part of it that delegates and their kernels reported.
    std::vector<std::string> TakeDelegateTexts();
    /// What delegates and kernels did wrong.
    std::vector<std::string> TakeViolations();

private:
    friend class FakeGraph;

    FakeRuntimeOptions m_Options;
    std::vector<std::unique_ptr<FakeGraph>> m_Graphs;
    bool m_IsCancelled = false;
    std::string m_Errors;
    std::vector<std::string> m_DelegateTexts;
    std::vector<std::string> m_Violations;
};

} // namespace tenon::test
