// SPDX-License-Identifier: Apache-2.0
// Models of a few nodes on FakeRuntime, with the results that they should give. Used by the tests of the delegate here.
#pragma once

#include "delegate/FakeRuntime.hpp"

#include <cstdint>
#include <vector>

namespace tenon::test
{

using Floats = std::vector<float>;
using Dims = std::vector<int32_t>;

/// Relu(x + c) * c, then, if wanted, Mystery, then + c. Sizes are [batch, 4], and a delegate takes all nodes but
/// Mystery. FakeRuntime also runs it without a delegate.
struct ChainModel
{
    explicit ChainModel(FakeGraph& graph, const char* middle = nullptr, const Dims& signature = {});

    /// Inputs that differ from run to run.
    static Floats MakeInput(int32_t batch, int32_t run);
    static Floats Expected(const Floats& input);

    int32_t m_Input, m_Output;
};

/// Relu(x * W' + b) * V' + d: [batch, 8] to [batch, 3]. A delegate has to take all of it.
struct DenseModel
{
    explicit DenseModel(FakeGraph& graph);
    /// A model with the constants of another one.
    DenseModel(FakeGraph& graph, const DenseModel& other, FakeGraph& otherGraph);

    static Floats MakeInput(int32_t batch, int32_t run);
    static Floats Expected(const Floats& input);

    int32_t m_Input, m_Output;
    std::vector<int32_t> m_Constants; ///< W, b, V, d

private:
    void AddNodes(FakeGraph& graph);
};

/// Gives the model the inputs of run `run`, runs it, and expects their results.
template <typename Model>
void RunAndExpect(FakeRuntime& runtime, const Model& model, int32_t batch, int32_t run)
{
    FakeGraph& graph = runtime.Graph();
    const Floats input = Model::MakeInput(batch, run);
    graph.SetValues<float>(model.m_Input, input);
    ASSERT_EQ(runtime.Invoke(), kTfLiteOk) << runtime.TakeErrors();
    const Floats expected = Model::Expected(input);
    const Floats output = graph.ReadValues<float>(model.m_Output);
    ASSERT_EQ(output.size(), expected.size());
    for (size_t i = 0; i < output.size(); ++i)
    {
        ASSERT_NEAR(output[i], expected[i], 1e-4f) << "element " << i << " of run " << run;
    }
}

} // namespace tenon::test
