// SPDX-License-Identifier: Apache-2.0
// FakeRuntime: a made-up TensorFlow Lite runtime: subgraphs with a TfLiteContext each, which run with kernels of their
// own and of delegates. It stands in for a library that tests of C++ cannot have. It treats delegates as TensorFlow
// Lite does, and it is strict: a call that TensorFlow Lite would answer with a crash, an error or a wrong result fails
// the test, memory without a guaranteed lifetime is overwritten, and tensors have exactly the guaranteed alignment and
// length. Used by the tests here.
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
    /// The option experimental_preserve_all_tensors: each taken node becomes a partition.
    bool m_PreservesAllTensors = false;
    /// A context as in releases before 2.14: it ends with GetEvalTensor, followed by other memory.
    bool m_HasShortContext = false;
    /// The bytes of a kernel's registration that the runtime knows: 64 as in release 2.5, 88 as in release 2.15, or 152
    /// as in a future one.
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
    /// Fails the test for all violations by delegates and kernels, unless TakeViolations() took them.
    ~FakeRuntime();

    FakeRuntime(const FakeRuntime&) = delete;
    FakeRuntime& operator=(const FakeRuntime&) = delete;

    FakeGraph& Graph(int32_t subgraph = 0) { return *m_Graphs.at(static_cast<size_t>(subgraph)); }

    // Functions for all subgraphs.
    /// Applies a delegate to all subgraphs. After a delegate's error none of them has delegates.
    TfLiteStatus ModifyGraphWithDelegate(TfLiteDelegate* delegate);
    // Allocates the tensors of the first subgraph.
    TfLiteStatus AllocateTensors() { return Graph().AllocateTensors(); }
    TfLiteStatus Invoke() { return Graph().Invoke(); }
    /// The next Invoke() stops before its first node.
    void Cancel() { m_IsCancelled = true; }

    /// All texts that were reported since the last call, concatenated, in the view of a program.
    std::string TakeErrors();
    /// The texts among them that delegates and their kernels reported.
    std::vector<std::string> TakeDelegateTexts();
    /// The violations by delegates and kernels.
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
