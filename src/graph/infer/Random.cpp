// SPDX-License-Identifier: Apache-2.0
// Shape inference of random numbers.
#include "graph/Infer.hpp"
#include "graph/infer/InferHelpers.hpp"

#include <tenon/descriptors/Random.hpp>

namespace tenon::infer
{

void InferMultinomial(InferContext& context)
{
    CheckRank(context, 0, 2);
    context.Check(context.InputShape(0)[1] != 0, "input 0, the logits, of shape {} has no classes",
                  context.InputShape(0));
    const std::vector<int64_t> count = context.Values(1, 1);
    context.Check(count.size() == 1, "input 1, the number of samples, has {} elements in place of 1", count.size());
    context.SetOutputShape(0, std::vector<int64_t>{context.InputShape(0)[0], count[0]});
}

void InferRandom(InferContext& context)
{
    context.SetOutputShape(0, ValuesAsShape(context, 0));
}

// The shape of the values is a declared one: it follows from no input of the layer.
void InferRngBitGenerator(InferContext& context)
{
    const TensorShape& state = context.InputShape(0);
    const bool isThreeFry = context.Descriptor<RngBitGeneratorDescriptor>().m_Algorithm == RngAlgorithm::ThreeFry;
    context.Check(state.GetNumDimensions() == 1 && (state[0] == 2 || (state[0] == 3 && !isThreeFry)),
                  "input 0, the state, has shape {}; it must be [2], or [3] for Philox", state);
    const TensorShape& values = context.DeclaredOutput(1).GetShape();
    context.Check(
        values.AreAllDimensionsSpecified(),
        "the shape of output 1 is not declared in full; only its declaration can say how many values to make");
    context.SetOutputShape(0, state);
    context.SetOutputShape(1, values);
}

} // namespace tenon::infer
