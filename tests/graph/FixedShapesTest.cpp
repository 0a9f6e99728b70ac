// SPDX-License-Identifier: Apache-2.0
// FixedShapes: what follows from parameters and constants, in whichever way it is asked, and what does not.
#include "graph/FixedShapes.hpp"

#include <tenon/descriptors/Arrangement.hpp>
#include <tenon/descriptors/External.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace tenon::test::fixed_shapes_test
{

namespace
{

const TensorInfo info({2, 3}, DataType::Float32);

Layer& Add(Graph& graph, LayerType type, std::unique_ptr<BaseDescriptor> descriptor, std::vector<Layer*> inputs)
{
    Layer& layer = graph.AddLayer(type, descriptor, "");
    for (unsigned int i = 0; i < inputs.size(); ++i)
    {
        inputs[i]->Output(0).Connect(layer.Input(i));
    }
    layer.Output(0).SetTensorInfo(info);
    return layer;
}

Layer& AddSum(Graph& graph, Layer& a, Layer& b)
{
    return Add(graph, LayerType::ElementwiseBinary, std::make_unique<ElementwiseBinaryDescriptor>(BinaryOperation::Add),
               {&a, &b});
}

Layer& AddReshape(Graph& graph, Layer& input)
{
    return Add(graph, LayerType::Reshape, std::make_unique<ReshapeDescriptor>(info.GetShape()), {&input});
}

/// The same for each layer, asked for from the last to the first, and told from the first to the last.
void ExpectFixed(const Graph& graph, const std::vector<bool>& wanted)
{
    const FixedShapes asked(graph);
    FixedShapes told(graph.Size());
    for (const LayerPtr& layer : graph.Layers())
    {
        told.Add(*layer);
    }
    for (size_t i = graph.Size(); i-- > 0;)
    {
        EXPECT_EQ(asked.IsFixed(graph.Layers()[i]->Output(0)), wanted[i]) << i;
        EXPECT_EQ(told.IsFixed(graph.Layers()[i]->Output(0)), wanted[i]) << i;
    }
}

} // namespace

TEST(FixedShapes, FollowTargetsAndNotInputs)
{
    Graph graph;
    Layer& input = Add(graph, LayerType::Input, nullptr, {});
    Layer& reshape = AddReshape(graph, input);
    Layer& both = AddSum(graph, reshape, reshape);
    Layer& mixed = AddSum(graph, both, input);
    AddSum(graph, AddReshape(graph, mixed), both);
    ExpectFixed(graph, {false, true, true, false, true, true});
}

TEST(FixedShapes, InputsOfFixedSizes)
{
    Graph graph;
    Layer& input = Add(graph, LayerType::Input, std::make_unique<InputDescriptor>(true), {});
    Layer& other = Add(graph, LayerType::Input, std::make_unique<InputDescriptor>(false), {});
    Layer& part = Add(graph, LayerType::Input, std::make_unique<InputDescriptor>(true), {});
    part.Output(0).EditTensorInfo().SetShape(TensorShape({2, 0}, {true, false}));
    AddSum(graph, input, input);
    AddSum(graph, input, other);
    AddSum(graph, input, part);
    ExpectFixed(graph, {true, false, false, true, false, false});
    EXPECT_TRUE(HasFixedSizes(input));
    EXPECT_FALSE(HasFixedSizes(other));
    EXPECT_TRUE(HasFixedSizes(part));
}

TEST(FixedShapes, OverridesAndOpenSizesAreNotFixed)
{
    Graph graph;
    Layer& reshape = AddReshape(graph, Add(graph, LayerType::Input, nullptr, {}));
    Layer& overridden = Add(graph, LayerType::Floor, nullptr, {&reshape});
    overridden.Input(0).SetTensorInfo(info);
    Layer& open = Add(graph, LayerType::Floor, nullptr, {&reshape});
    open.Output(0).EditTensorInfo().SetShape(TensorShape({2, 0}, {true, false}));
    Add(graph, LayerType::Floor, nullptr, {&open});
    Add(graph, LayerType::Floor, nullptr, {&reshape});
    ExpectFixed(graph, {false, true, false, false, false, true});
}

TEST(FixedShapes, NothingFollowsFromAnInputThatIsMissing)
{
    Graph graph;
    Layer& input = Add(graph, LayerType::Input, nullptr, {});
    Layer& floor = Add(graph, LayerType::Floor, nullptr, {&input});
    const FixedShapes fixed(graph);
    input.Output(0).Disconnect(floor.Input(0));
    EXPECT_FALSE(fixed.IsFixed(floor.Output(0)));
}

TEST(FixedShapes, OfVeryDeepNetworks)
{
    Graph graph;
    Layer* last = &AddReshape(graph, Add(graph, LayerType::Input, nullptr, {}));
    for (int i = 0; i < 100000; ++i)
    {
        last = &AddSum(graph, *last, *last); // two ways to each layer
    }
    EXPECT_TRUE(FixedShapes(graph).IsFixed(last->Output(0)));
}

TEST(FixedShapes, LayersThatCameLaterAreNotKnown)
{
    Graph graph;
    Layer& input = Add(graph, LayerType::Input, nullptr, {});
    const FixedShapes fixed(graph);
    EXPECT_FALSE(fixed.IsFixed(AddReshape(graph, input).Output(0)));
}

} // namespace tenon::test::fixed_shapes_test
