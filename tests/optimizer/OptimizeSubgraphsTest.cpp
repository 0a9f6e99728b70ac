// SPDX-License-Identifier: Apache-2.0
// What a backend may make of its subgraphs, what is refused, and PreCompiled layers.
#include "harness/FakeBackend.hpp"
#include "harness/MessageOf.hpp"
#include "harness/Networks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace tenon::test::optimize_subgraphs_test
{

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

namespace
{

using Layers = std::set<LayerType>;
const Layers Computing = {LayerType::ElementwiseUnary, LayerType::Floor,       LayerType::ElementwiseBinary,
                          LayerType::Activation,       LayerType::PreCompiled, LayerType::Reshape};

/// A runtime with the fake, and networks that are optimized for it and CpuRef.
class Subgraphs : public testing::Test
{
protected:
    void Optimizer(FakeBackend::Optimizer optimizer) { m_Fake->SetOptimizer(std::move(optimizer)); }

    IOptimizedNetworkPtr Optimize(const OptimizerOptionsOpaque& options = {},
                                  const std::vector<BackendId>& backends = {"Fake", "CpuRef"})
    {
        m_Messages.clear();
        return tenon::Optimize(*m_Network, backends, m_Runtime->GetDeviceSpec(), options,
                               Optional<std::vector<std::string>&>(m_Messages));
    }

    /// "name|backend|reason" of each layer that is not bound by the runtime.
    static std::vector<std::string> Table(const IOptimizedNetworkPtr& network)
    {
        std::vector<std::string> table;
        for (const LayerAssignment& layer : network->GetAssignment())
        {
            if (layer.m_Reason != "bound by the runtime")
            {
                table.push_back(layer.m_Name + "|" + layer.m_Backend.Get() + "|" + layer.m_Reason);
            }
        }
        return table;
    }

    std::vector<float> Run(IOptimizedNetworkPtr network, const std::vector<float>& input)
    {
        NetworkId id = 0;
        m_Runtime->LoadNetwork(id, std::move(network));
        return RunFloat(*m_Runtime, id, {static_cast<unsigned int>(input.size())}, input);
    }

    template <typename ExceptionType = BackendCapabilityException>
    std::string MessageOfOptimize(const OptimizerOptionsOpaque& options = {},
                                  const std::vector<BackendId>& backends = {"Fake", "CpuRef"})
    {
        try
        {
            Optimize(options, backends);
        }
        catch (const ExceptionType& error)
        {
            return error.what();
        }
        return "no such exception";
    }

    IConnectableLayer* Unary(UnaryOperation operation, const char* name, IConnectableLayer* input)
    {
        IConnectableLayer* layer = m_Network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(operation), name);
        Connect(input, layer);
        return layer;
    }
    IConnectableLayer* Floor(const char* name, IConnectableLayer* input)
    {
        IConnectableLayer* layer = m_Network->AddFloorLayer(name);
        Connect(input, layer);
        return layer;
    }
    IConnectableLayer* Add(const char* name, IConnectableLayer* first, IConnectableLayer* second)
    {
        IConnectableLayer* layer = m_Network->AddAdditionLayer(name);
        Connect(first, layer, 0);
        Connect(second, layer, 1);
        return layer;
    }
    void Output(LayerBindingId id, IConnectableLayer* layer)
    {
        Connect(layer, m_Network->AddOutputLayer(id, "output"));
    }
    /// input -> floor -> abs -> output
    void FloorAbs() { Output(0, Unary(UnaryOperation::Abs, "abs", Floor("floor", m_Input))); }

    std::shared_ptr<FakeBackend> m_Fake = std::make_shared<FakeBackend>("Fake", Computing);
    IRuntimePtr m_Runtime = IRuntime::Create(
        [this]
        {
            IRuntime::CreationOptions options;
            options.m_Backends = {m_Fake};
            return options;
        }());
    INetworkPtr m_Network = INetwork::Create();
    IConnectableLayer* m_Input = AddInput(*m_Network, 0, FloatInfo({4}));
    std::vector<std::string> m_Messages;
};

/// input 0 -> a PreCompiled layer -> output 0
INetworkPtr MakeCompiled(const FakeBlob& function, const char* name = "compiled")
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* layer =
        network->AddPrecompiledLayer(PreCompiledDescriptor(1, 1), CompileFake(function), BackendId("Fake"), name);
    Connect(network->AddInputLayer(0), layer);
    Connect(layer, network->AddOutputLayer(0));
    return network;
}

/// All layers of a view with one input and one output by `replacement`.
OptimizationViews ReplaceAll(const SubgraphView& view, INetworkPtr replacement)
{
    OptimizationViews views;
    Substitution substitution;
    for (size_t i = 0; i < view.m_Layers.size(); ++i)
    {
        substitution.m_Layers.push_back(i);
    }
    substitution.m_Inputs = {view.m_Inputs.begin(), view.m_Inputs.end()};
    substitution.m_Outputs = {view.m_Outputs.begin(), view.m_Outputs.end()};
    substitution.m_Replacement = std::move(replacement);
    views.m_Substitutions.push_back(std::move(substitution));
    return views;
}

/// Layer i of a view, which has one input and one output, by a compiled layer.
Substitution CompileLayer(const SubgraphView& view, size_t i, const FakeBlob& function, const char* name)
{
    Substitution substitution;
    substitution.m_Layers = {i};
    substitution.m_Inputs = {view.m_Layers[i].m_Inputs[0]};
    substitution.m_Outputs = {view.m_Layers[i].m_Outputs[0]};
    substitution.m_Replacement = MakeCompiled(function, name);
    return substitution;
}

size_t Find(const SubgraphView& view, const std::string& name)
{
    for (size_t i = 0; i < view.m_Layers.size(); ++i)
    {
        if (view.m_Layers[i].m_View.GetName() == name)
        {
            return i;
        }
    }
    throw InvalidArgumentException("no layer " + name);
}

} // namespace

TEST_F(Subgraphs, CompiledLayerTakesThePlaceOfAllLayers)
{
    FloorAbs();
    Optimizer([](const SubgraphView& view)
              { return ReplaceAll(view, MakeCompiled([](float x) { return std::fabs(std::floor(x)); })); });
    IOptimizedNetworkPtr optimized = Optimize();
    EXPECT_THAT(Table(optimized), ElementsAre("compiled|Fake|made by Fake's subgraph optimization"));
    EXPECT_EQ(optimized->GetAssignment()[1].m_Subgraph, 0u);
    EXPECT_EQ(optimized->GetAssignment()[0].m_Subgraph, LayerAssignment::NoSubgraph);
    EXPECT_EQ(Run(std::move(optimized), {1.5f, -1.5f, 0.0f, 2.0f}), (std::vector<float>{1, 2, 0, 2}));
    EXPECT_EQ(m_Fake->NumWorkloads(), 1);
}

TEST_F(Subgraphs, ViewShowsTensorsConstantsAndEnds)
{
    const std::vector<float> ones(4, 1.0f);
    IConnectableLayer* constant = m_Network->AddConstantLayer(
        ConstTensor(TensorInfo({4}, DataType::Float32, 0.0f, 0, true), ones.data()), "ones");
    IConnectableLayer* floor = Floor("floor", m_Input);
    Output(0, Add("sum", floor, constant));
    Output(1, floor);
    int calls = 0;
    Optimizer(
        [&](const SubgraphView& view)
        {
            ++calls;
            EXPECT_EQ(view.m_Layers.size(), 2u);
            const SubgraphLayer& first = view.m_Layers[0];
            const SubgraphLayer& sum = view.m_Layers[1];
            EXPECT_EQ(first.m_View.GetName(), "floor");
            EXPECT_EQ(sum.m_View.GetName(), "sum");
            EXPECT_EQ(sum.m_Inputs[0], first.m_Outputs[0]);
            EXPECT_EQ(sum.m_View.m_ConstantData[1], ones.data());
            EXPECT_THAT(std::vector<SubgraphTensor>(view.m_Inputs.begin(), view.m_Inputs.end()),
                        ElementsAre(first.m_Inputs[0]));
            EXPECT_THAT(std::vector<SubgraphTensor>(view.m_Outputs.begin(), view.m_Outputs.end()),
                        ElementsAre(first.m_Outputs[0], sum.m_Outputs[0]));
            EXPECT_EQ(view.m_Tensors[sum.m_Outputs[0]]->GetShape(), TensorShape({4}));
            OptimizationViews views;
            views.m_UntouchedSubgraphs = {{0, 1}};
            return views;
        });
    EXPECT_THAT(Table(Optimize()), ElementsAre("floor|Fake|preferred", "sum|Fake|preferred"));
    EXPECT_EQ(calls, 1);
    Optimize({}, {"CpuRef"});
    EXPECT_EQ(calls, 1) << "a backend without layers is not asked";
}

TEST_F(Subgraphs, SubstitutionsThatFollowEachOther)
{
    IConnectableLayer* floor = Floor("floor", m_Input);
    IConnectableLayer* abs = Unary(UnaryOperation::Abs, "abs", floor);
    Output(0, Unary(UnaryOperation::Neg, "neg", abs));
    for (const bool isReverse : {false, true})
    {
        Optimizer(
            [&](const SubgraphView& view)
            {
                OptimizationViews views;
                views.m_Substitutions.push_back(CompileLayer(
                    view, Find(view, "floor"), [](float x) { return std::floor(x); }, "first"));
                views.m_Substitutions.push_back(CompileLayer(
                    view, Find(view, "abs"), [](float x) { return std::fabs(x); }, "second"));
                if (isReverse)
                {
                    std::swap(views.m_Substitutions[0], views.m_Substitutions[1]);
                }
                return views;
            });
        const std::string reason = "made by Fake's subgraph optimization";
        IOptimizedNetworkPtr optimized = Optimize();
        EXPECT_THAT(Table(optimized),
                    ElementsAre("first|Fake|" + reason, "second|Fake|" + reason, "neg|Fake|preferred"));
        EXPECT_EQ(Run(std::move(optimized), {1.5f, -1.5f, 0.0f, 2.0f}), (std::vector<float>{-1, -2, 0, -2}));
    }
}

TEST_F(Subgraphs, ReplacementLayersAreShapedAnewAndItsConstantsLiveOn)
{
    auto owner = std::make_shared<std::vector<float>>(1, 3.0f);
    IConnectableLayer* constant = m_Network->AddConstantLayer(
        ConstTensor(TensorInfo({1}, DataType::Float32, 0.0f, 0, true), owner->data()), owner, "three");
    owner.reset();
    Output(0, Add("sum", m_Input, constant));
    Optimizer(
        [](const SubgraphView& view)
        {
            INetworkPtr network = INetwork::Create();
            const TensorInfo& info = *view.m_Layers[0].m_View.m_Inputs[1];
            IConnectableLayer* three = network->AddConstantLayer(
                ConstTensor(info, view.m_Layers[0].m_View.m_ConstantData[1]), nullptr, "mine");
            IConnectableLayer* product = network->AddMultiplicationLayer("product");
            Connect(network->AddInputLayer(0), product, 0);
            Connect(three, product, 1);
            Connect(product, network->AddOutputLayer(0));
            return ReplaceAll(view, std::move(network));
        });
    IOptimizedNetworkPtr optimized = Optimize();
    m_Network = INetwork::Create(); // the loaded network is all that is left
    EXPECT_EQ(optimized->GetAssignment().size(), 4u) << "the constant that nobody reads goes";
    NetworkId id = 0;
    m_Runtime->LoadNetwork(id, std::move(optimized));
    EXPECT_EQ(RunFloat(*m_Runtime, id, {4}, {0, 1, 2, 3}), (std::vector<float>{0, 3, 6, 9}));
    EXPECT_EQ(RunFloat(*m_Runtime, id, {2}, {4, 5}), (std::vector<float>{12, 15}));
}

TEST_F(Subgraphs, DeletedLayersPassTheirInputOn)
{
    IConnectableLayer* floor = Floor("floor", m_Input);
    IConnectableLayer* first = Floor("again", floor);
    IConnectableLayer* second = Floor("and again", first);
    Output(0, second);
    Output(1, first);
    Optimizer(
        [](const SubgraphView& view)
        {
            OptimizationViews views;
            views.m_DeletedSubgraphs = {{Find(view, "again")}, {Find(view, "and again")}};
            return views;
        });
    EXPECT_THAT(Table(Optimize()), ElementsAre("floor|Fake|preferred"));
}

TEST_F(Subgraphs, FailedLayersGoToTheNextBackend)
{
    FloorAbs();
    Optimizer(
        [](const SubgraphView& view)
        {
            OptimizationViews views;
            views.m_FailedSubgraphs = {{Find(view, "abs")}};
            views.m_FailureReason = "it does not fit on the chip";
            views.m_Substitutions.push_back(CompileLayer(
                view, Find(view, "floor"), [](float x) { return std::floor(x); }, "mine"));
            return views;
        });
    IOptimizedNetworkPtr optimized = Optimize();
    EXPECT_THAT(Table(optimized), ElementsAre("mine|Fake|made by Fake's subgraph optimization",
                                              "abs|CpuRef|Fake: it does not fit on the chip"));
    EXPECT_EQ(optimized->GetAssignment()[2].m_Code, SupportCode::OptimizationFailed);
    EXPECT_EQ(optimized->GetAssignment()[1].m_Code, SupportCode::Supported);
    EXPECT_THAT(m_Messages, Contains(AllOf(HasSubstr("chip"), HasSubstr("falling back to CpuRef"))));
    EXPECT_EQ(Run(std::move(optimized), {1.5f, -1.5f, 0.0f, 2.0f}), (std::vector<float>{1, 2, 0, 2}));

    EXPECT_THAT(MessageOfOptimize<UnimplementedException>({}, {"CpuRef", "Fake"}), HasSubstr("no such exception"));
    EXPECT_THAT(MessageOfOptimize<UnimplementedException>({}, {"Fake"}),
                AllOf(HasSubstr("1 of 2 layers"), HasSubstr("'abs'"), HasSubstr("it does not fit on the chip")));
}

TEST_F(Subgraphs, BackendOfAHintHasItsTurnToo)
{
    IConnectableLayer* floor = Floor("floor", m_Input);
    floor->BackendSelectionHint(Optional<BackendId>(BackendId("Fake")));
    Output(0, Unary(UnaryOperation::Abs, "abs", floor));
    Optimizer(
        [](const SubgraphView& view)
        {
            EXPECT_EQ(view.m_Layers.size(), 1u);
            OptimizationViews views;
            views.m_FailedSubgraphs = {{0}};
            return views;
        });
    EXPECT_THAT(Table(Optimize({}, {"CpuRef"})),
                ElementsAre("floor|CpuRef|Fake: its subgraph optimization failed", "abs|CpuRef|preferred"));
}

TEST_F(Subgraphs, NestedNetworksAreOptimizedToo)
{
    const auto branch = [](const char* name)
    {
        INetworkPtr network = INetwork::Create();
        IConnectableLayer* floor = network->AddFloorLayer(name);
        Connect(AddInput(*network, 0, FloatInfo({4})), floor);
        Connect(floor, network->AddOutputLayer(0));
        return network;
    };
    IConnectableLayer* condition = AddInput(*m_Network, 1, TensorInfo({1}, DataType::Boolean));
    IConnectableLayer* choice = m_Network->AddIfLayer(*branch("then"), *branch("else"), "choice");
    Connect(condition, choice, 0);
    Connect(m_Input, choice, 1);
    Output(0, choice);
    std::vector<std::string> shown;
    Optimizer(
        [&](const SubgraphView& view)
        {
            shown.push_back(view.m_Layers[0].m_View.GetName());
            return ReplaceAll(view, MakeCompiled([](float x) { return x + 1; }));
        });
    IOptimizedNetworkPtr optimized = Optimize();
    EXPECT_THAT(shown, ElementsAre("then", "else"));
    NetworkId id = 0;
    m_Runtime->LoadNetwork(id, std::move(optimized));
    EXPECT_EQ(m_Fake->NumWorkloads(), 2);

    Optimizer(
        [](const SubgraphView& view)
        {
            OptimizationViews views;
            views.m_FailedSubgraphs = {{view.m_Layers.size() - 1}};
            return views;
        });
    EXPECT_THAT(MessageOfOptimize<UnimplementedException>({}, {"Fake"}),
                AllOf(HasSubstr("'choice' (If), layer 1 'then'"), HasSubstr("'else'")));
}

TEST_F(Subgraphs, WhatDoesNotFitIsRefused)
{
    // input -> floor -> abs -> output 0, and floor -> output 1
    IConnectableLayer* floor = Floor("floor", m_Input);
    Output(0, Unary(UnaryOperation::Abs, "abs", floor));
    Output(1, floor);
    const auto same = [](float x) { return x; };
    const auto refused = [&](FakeBackend::Optimizer optimizer)
    {
        Optimizer(std::move(optimizer));
        const std::string message = MessageOfOptimize();
        EXPECT_THAT(message, AllOf(HasSubstr("Fake"), HasSubstr("layer")));
        return message;
    };
    const auto changed = [&](auto change)
    {
        return refused(
            [&](const SubgraphView& view)
            {
                OptimizationViews views;
                views.m_Substitutions.push_back(CompileLayer(view, Find(view, "floor"), same, "compiled"));
                change(view, views, views.m_Substitutions[0]);
                return views;
            });
    };
    using View = const SubgraphView&;
    using Views = OptimizationViews&;
    using Change = Substitution&;
    EXPECT_THAT(changed([](View, Views views, Change) { views.m_FailedSubgraphs = {{0}}; }),
                HasSubstr("names this layer twice"));
    EXPECT_THAT(changed(
                    [](View, Views views, Change) {
                        views.m_UntouchedSubgraphs = {{1, 1}};
                    }),
                AllOf(HasSubstr("'abs'"), HasSubstr("twice")));
    EXPECT_THAT(changed([](View, Views views, Change) { views.m_DeletedSubgraphs = {{7}}; }), HasSubstr("layer 7"));
    EXPECT_THAT(changed([](View, Views, Change s) { s.m_Layers.clear(); }), HasSubstr("no layers"));
    EXPECT_THAT(changed([](View, Views, Change s) { s.m_Outputs.clear(); }), HasSubstr("missing among the outputs"));
    EXPECT_THAT(changed([](View, Views, Change s) { s.m_Outputs.push_back(s.m_Outputs[0]); }), HasSubstr("twice"));
    EXPECT_THAT(changed([](View, Views, Change s) { s.m_Outputs = s.m_Inputs; }), HasSubstr("not made by"));
    EXPECT_THAT(changed([](View, Views, Change s) { s.m_Outputs[0] = 99; }), HasSubstr("not in the view"));
    EXPECT_THAT(changed([](View, Views, Change s) { s.m_Inputs[0] = 99; }), HasSubstr("not in the view"));
    EXPECT_THAT(changed([](View, Views, Change s) { s.m_Inputs = s.m_Outputs; }), HasSubstr("made by the layers"));
    EXPECT_THAT(changed([](View, Views, Change s) { s.m_Inputs.clear(); }), HasSubstr("names no tensor"));
    EXPECT_THAT(changed([](View, Views, Change s) { s.m_Inputs.push_back(s.m_Inputs[0]); }),
                HasSubstr("names 2 inputs and 1 outputs, but its replacement has 1 and 1"));
    EXPECT_THAT(changed([](View, Views, Change s) { s.m_Replacement = INetworkPtr(nullptr, nullptr); }),
                HasSubstr("has no replacement"));
    EXPECT_THAT(changed([](View, Views, Change s) { s.m_Replacement = INetwork::Create(); }),
                HasSubstr("replacement has 0 and 0"));
    // what floor gives is computed from what abs gives: a cycle
    EXPECT_THAT(changed([](View view, Views, Change s) { s.m_Inputs = {view.m_Layers[1].m_Outputs[0]}; }),
                HasSubstr("cycle"));

    const auto replacedBy = [&](auto build)
    {
        return changed(
            [&](View, Views, Change s)
            {
                s.m_Replacement = INetwork::Create();
                build(*s.m_Replacement);
            });
    };
    EXPECT_THAT(replacedBy([](INetwork& n) { Connect(AddInput(n, 0, FloatInfo({5})), n.AddOutputLayer(0)); }),
                AllOf(HasSubstr("put 0 of its replacement"), HasSubstr("[5]"), HasSubstr("[4]")));
    EXPECT_THAT(replacedBy([](INetwork& n)
                           { Connect(AddInput(n, 0, TensorInfo({4}, DataType::Signed32)), n.AddOutputLayer(0)); }),
                HasSubstr("Signed32"));
    EXPECT_THAT(replacedBy([](INetwork& n) { Connect(n.AddInputLayer(-1), n.AddOutputLayer(0)); }),
                HasSubstr("binding id -1"));
    EXPECT_THAT(replacedBy(
                    [](INetwork& n)
                    {
                        n.AddInputLayer(0);
                        n.AddOutputLayer(0);
                    }),
                HasSubstr("not connected"));
    EXPECT_THAT(replacedBy(
                    [](INetwork& n)
                    {
                        IConnectableLayer* pool = n.AddRankLayer("rank");
                        Connect(n.AddInputLayer(0), pool);
                        Connect(pool, n.AddOutputLayer(0));
                    }),
                HasSubstr("rank"));
    EXPECT_THAT(
        replacedBy(
            [](INetwork& n)
            {
                IConnectableLayer* layer = n.AddSoftmaxLayer(SoftmaxDescriptor(), "softmax");
                Connect(n.AddInputLayer(0), layer);
                Connect(layer, n.AddOutputLayer(0));
            }),
        AllOf(HasSubstr("'softmax' (Softmax), which it does not support"), HasSubstr("not in the fake's list")));
    EXPECT_THAT(replacedBy(
                    [](INetwork& n)
                    {
                        IConnectableLayer* layer = n.AddFloorLayer("other");
                        layer->BackendSelectionHint(Optional<BackendId>(BackendId("CpuRef")));
                        Connect(n.AddInputLayer(0), layer);
                        Connect(layer, n.AddOutputLayer(0));
                    }),
                HasSubstr("for backend CpuRef"));
    EXPECT_THAT(replacedBy(
                    [](INetwork& n)
                    {
                        StateDescriptor state("counter");
                        IConnectableLayer* read = n.AddReadStateLayer(state, "read");
                        read->GetOutputSlot(0).SetTensorInfo(FloatInfo({4}));
                        n.AddInputLayer(0);
                        Connect(read, n.AddOutputLayer(0));
                    }),
                HasSubstr("which the runtime runs"));
    // two that pass on what the other gives
    EXPECT_THAT(refused(
                    [](View view)
                    {
                        OptimizationViews views;
                        for (const size_t i : {0, 1})
                        {
                            Substitution s;
                            s.m_Layers = {i};
                            s.m_Inputs = {view.m_Layers[1 - i].m_Outputs[0]};
                            s.m_Outputs = {view.m_Layers[i].m_Outputs[0]};
                            s.m_Replacement = INetwork::Create();
                            Connect(s.m_Replacement->AddInputLayer(0), s.m_Replacement->AddOutputLayer(0));
                            views.m_Substitutions.push_back(std::move(s));
                        }
                        return views;
                    }),
                HasSubstr("cycle"));
}

TEST_F(Subgraphs, OnlyLayersThatChangeNothingMayBeDeleted)
{
    IConnectableLayer* reshape = m_Network->AddReshapeLayer(ReshapeDescriptor({2, 2}), "reshape");
    Connect(m_Input, reshape);
    Output(0, Add("sum", reshape, reshape));
    for (const auto& [name, message] : {std::pair("reshape", "[4]"), std::pair("sum", "more than one input")})
    {
        Optimizer(
            [name = name](const SubgraphView& view)
            {
                OptimizationViews views;
                views.m_DeletedSubgraphs = {{Find(view, name)}};
                return views;
            });
        EXPECT_THAT(MessageOfOptimize(), AllOf(HasSubstr(name), HasSubstr(message)));
    }
}

TEST_F(Subgraphs, ExceptionOfTheBackendNamesIt)
{
    FloorAbs();
    Optimizer([](const SubgraphView&) -> OptimizationViews { throw std::runtime_error("out of tiles"); });
    EXPECT_THAT(MessageOfOptimize<RuntimeException>(),
                AllOf(HasSubstr("backend Fake optimizing the subgraph of layer 1 'floor'"), HasSubstr("out of tiles")));
}

TEST_F(Subgraphs, CompiledLayerHoldsForItsShapesOnly)
{
    FloorAbs();
    Optimizer([](const SubgraphView& view) { return ReplaceAll(view, MakeCompiled([](float x) { return x + 1; })); });
    NetworkId id = 0;
    m_Runtime->LoadNetwork(id, Optimize());
    EXPECT_EQ(RunFloat(*m_Runtime, id, {4}, {1, 2, 3, 4}), (std::vector<float>{2, 3, 4, 5}));
    try
    {
        RunFloat(*m_Runtime, id, {2}, {1, 2});
        FAIL() << "two elements ran in what was compiled for four";
    }
    catch (const LayerValidationException& error)
    {
        EXPECT_THAT(error.what(), AllOf(HasSubstr("'compiled' (PreCompiled)"), HasSubstr("[2]"), HasSubstr("[4]")));
    }
    EXPECT_EQ(RunFloat(*m_Runtime, id, {4}, {1, 2, 3, 4}), (std::vector<float>{2, 3, 4, 5}));
}

TEST_F(Subgraphs, CompiledLayerRunsOnItsOwnBackendOnly)
{
    const auto add = [&](const Optional<BackendId>& backend)
    {
        m_Network = INetwork::Create();
        m_Input = AddInput(*m_Network, 0, FloatInfo({4}));
        IConnectableLayer* layer = m_Network->AddPrecompiledLayer(
            PreCompiledDescriptor(1, 1), CompileFake([](float x) { return 2 * x; }), backend, "blob");
        layer->GetOutputSlot(0).SetTensorInfo(FloatInfo({4}));
        Connect(m_Input, layer);
        Output(0, layer);
        return layer;
    };
    add(Optional<BackendId>(BackendId("Fake")));
    EXPECT_EQ(Run(Optimize({}, {"CpuRef"}), {1, 2, 3, 4}), (std::vector<float>{2, 4, 6, 8}));
    add(Optional<BackendId>(BackendId("CpuRef")));
    EXPECT_THAT(MessageOfOptimize<UnimplementedException>(),
                AllOf(HasSubstr("CpuRef: "), testing::Not(HasSubstr("Fake: "))));
    add(Optional<BackendId>(BackendId("Gone")));
    EXPECT_THAT(MessageOfOptimize<UnimplementedException>(), HasSubstr("Gone: asked for by the layer"));
    add(EmptyOptional());
    EXPECT_THAT(MessageOfOptimize<UnimplementedException>(), HasSubstr("no backend: AddPrecompiledLayer was not told"));
    // one that its backend gives back has nowhere to go
    add(Optional<BackendId>(BackendId("Fake")));
    Optimizer(
        [](const SubgraphView&)
        {
            OptimizationViews views;
            views.m_FailedSubgraphs = {{0}};
            return views;
        });
    EXPECT_THAT(MessageOfOptimize<UnimplementedException>(), HasSubstr("its subgraph optimization failed"));
    // nothing tells what an undeclared output holds
    m_Network = INetwork::Create();
    IConnectableLayer* layer = m_Network->AddPrecompiledLayer(
        PreCompiledDescriptor(1, 1), CompileFake([](float x) { return x; }), BackendId("Fake"), "blob");
    Connect(AddInput(*m_Network, 0, FloatInfo({4})), layer);
    Output(0, layer);
    EXPECT_THAT(MessageOfOptimize<LayerValidationException>(), HasSubstr("only its maker knows its output 0"));
}

namespace
{

PartitionOptions Limits(unsigned int maxPartitions, unsigned int minLayers, bool allOrNothing)
{
    PartitionOptions options;
    options.m_MaxPartitions = maxPartitions;
    options.m_MinLayersPerPartition = minLayers;
    options.m_AllOrNothing = allOrNothing;
    return options;
}

} // namespace

/// input -> a1 -> a2 -> soft -> b1 -> b2 -> b3 -> soft2 -> c1 -> output: subgraphs of two, three and one layer.
class PartitionLimits : public Subgraphs
{
protected:
    PartitionLimits()
    {
        const auto soft = [this](const char* name, IConnectableLayer* input)
        {
            IConnectableLayer* layer = m_Network->AddSoftmaxLayer(SoftmaxDescriptor(), name);
            Connect(input, layer);
            return layer;
        };
        IConnectableLayer* a = Floor("a2", Floor("a1", m_Input));
        IConnectableLayer* b = Floor("b3", Floor("b2", Floor("b1", soft("soft", a))));
        Output(0, Floor("c1", soft("soft2", b)));
    }

    /// The names of the layers that run on `backend`, without spaces.
    std::string On(const std::string& backend, const PartitionOptions& limits)
    {
        OptimizerOptionsOpaque options;
        options.SetPartitionOptions("Fake", limits);
        m_Optimized = Optimize(options);
        std::string names;
        for (const LayerAssignment& layer : m_Optimized->GetAssignment())
        {
            if (layer.m_Backend == BackendId(backend) && layer.m_Reason != "bound by the runtime")
            {
                names += (names.empty() ? "" : " ") + layer.m_Name;
            }
        }
        return names;
    }

    IOptimizedNetworkPtr m_Optimized = IOptimizedNetworkPtr(nullptr, nullptr);
};

TEST_F(PartitionLimits, TheLargestSubgraphsStay)
{
    EXPECT_EQ(On("Fake", Limits(0, 0, false)), "a1 a2 b1 b2 b3 c1");
    EXPECT_EQ(On("Fake", Limits(2, 0, false)), "a1 a2 b1 b2 b3");
    EXPECT_EQ(On("Fake", Limits(1, 0, false)), "b1 b2 b3");
    EXPECT_THAT(Table(m_Optimized),
                Contains("c1|CpuRef|Fake: MaxPartitions is 1, and its subgraph is not one of the largest"));
    EXPECT_EQ(m_Optimized->GetAssignment()[1].m_Code, SupportCode::PartitionLimit);
    EXPECT_EQ(On("Fake", Limits(0, 2, false)), "a1 a2 b1 b2 b3");
    EXPECT_THAT(Table(m_Optimized), Contains("c1|CpuRef|Fake: MinLayersPerPartition is 2, and its subgraph has 1"));
    EXPECT_EQ(On("Fake", Limits(0, 4, false)), "");
}

TEST_F(PartitionLimits, AllOrNothing)
{
    EXPECT_EQ(On("Fake", Limits(0, 0, true)), "");
    EXPECT_THAT(Table(m_Optimized),
                Contains("a1|CpuRef|Fake: AllOrNothing is set, and layer 3 'soft' (Softmax) runs on CpuRef"));
    m_Network = INetwork::Create();
    m_Input = AddInput(*m_Network, 0, FloatInfo({4}));
    FloorAbs();
    EXPECT_EQ(On("Fake", Limits(0, 0, true)), "floor abs");
    EXPECT_EQ(On("Fake", Limits(1, 2, true)), "floor abs");
    EXPECT_EQ(On("Fake", Limits(1, 3, true)), "");
    Optimizer(
        [](const SubgraphView& view)
        {
            OptimizationViews views;
            views.m_FailedSubgraphs = {{Find(view, "abs")}};
            views.m_FailureReason = "no tiles";
            return views;
        });
    EXPECT_EQ(On("Fake", Limits(0, 0, true)), "");
    EXPECT_THAT(Table(m_Optimized),
                Contains("floor|CpuRef|Fake: AllOrNothing is set, and a subgraph optimization failed: no tiles"));
}

/// Layers go from one backend to the next, whose own limits must hold with them.
class LimitsOfMany : public testing::Test
{
protected:
    IConnectableLayer* Floor(const char* name, IConnectableLayer* input)
    {
        IConnectableLayer* layer = m_Network->AddFloorLayer(name);
        Connect(input, layer);
        return layer;
    }
    IConnectableLayer* Soft(const char* name, IConnectableLayer* input)
    {
        IConnectableLayer* layer = m_Network->AddSoftmaxLayer(SoftmaxDescriptor(), name);
        Connect(input, layer);
        return layer;
    }
    void Output(IConnectableLayer* layer) { Connect(layer, m_Network->AddOutputLayer(m_NumOutputs++)); }

    /// "name: backend" of each layer that a backend runs.
    std::vector<std::string> Places(const std::vector<BackendId>& backends)
    {
        std::vector<std::string> places;
        for (const LayerAssignment& layer :
             tenon::Optimize(*m_Network, backends, m_Runtime->GetDeviceSpec(), m_Options)->GetAssignment())
        {
            if (layer.m_Reason != "bound by the runtime")
            {
                places.push_back(layer.m_Name + ": " + layer.m_Backend.Get());
            }
        }
        return places;
    }

    const Layers m_Floors = {LayerType::Floor};
    std::shared_ptr<FakeBackend> m_First = std::make_shared<FakeBackend>("First", m_Floors);
    std::shared_ptr<FakeBackend> m_Second = std::make_shared<FakeBackend>("Second", m_Floors);
    std::shared_ptr<FakeBackend> m_Third =
        std::make_shared<FakeBackend>("Third", Layers{LayerType::Floor, LayerType::Softmax});
    IRuntimePtr m_Runtime = IRuntime::Create(
        [this]
        {
            IRuntime::CreationOptions options;
            options.m_Backends = {m_First, m_Second, m_Third};
            return options;
        }());
    INetworkPtr m_Network = INetwork::Create();
    IConnectableLayer* m_Input = AddInput(*m_Network, 0, FloatInfo({4}));
    LayerBindingId m_NumOutputs = 0;
    OptimizerOptionsOpaque m_Options;
};

TEST_F(LimitsOfMany, TheNextOnesHoldWithWhatTheyGet)
{
    IConnectableLayer* a = Floor("a2", Floor("a1", m_Input));
    IConnectableLayer* b = Floor("b3", Floor("b2", Floor("b1", Soft("soft", a))));
    Output(Floor("c1", Soft("soft2", b)));
    m_Options.SetPartitionOptions("First", Limits(1, 0, false));
    m_Options.SetPartitionOptions("Second", Limits(0, 2, false));
    EXPECT_THAT(Places({"First", "Second", "CpuRef"}),
                ElementsAre("a1: Second", "a2: Second", "soft: CpuRef", "b1: First", "b2: First", "b3: First",
                            "soft2: CpuRef", "c1: CpuRef"));
}

TEST_F(LimitsOfMany, AreAskedAgainOfOnesBefore)
{
    // The third backend gives the hinted layer back to the first one, which has as many subgraphs as it may.
    Output(Soft("s2", Soft("s1", Floor("f2", Floor("f1", m_Input)))));
    IConnectableLayer* hinted = Floor("hinted", m_Input);
    hinted->BackendSelectionHint(Optional<BackendId>(BackendId("Third")));
    Output(hinted);
    m_Options.SetPartitionOptions("Third", Limits(0, 2, false));
    EXPECT_THAT(Places({"First", "Second", "Third"}), Contains("hinted: First"));
    m_Options.SetPartitionOptions("First", Limits(1, 0, false));
    EXPECT_THAT(Places({"First", "Second", "Third"}),
                testing::UnorderedElementsAre("f1: First", "f2: First", "s1: Third", "s2: Third", "hinted: Second"));
    // One that has optimized its subgraphs gets none any more, and no layer comes back to where it was.
    const auto nothing = [](const SubgraphView&) { return OptimizationViews(); };
    m_First->SetOptimizer(nothing);
    m_Third->SetOptimizer(
        [](const SubgraphView& view)
        {
            OptimizationViews views;
            if (view.m_Layers.size() == 1)
            {
                views.m_FailedSubgraphs = {{0}};
                views.m_FailureReason = "too small";
            }
            return views;
        });
    m_Options.SetPartitionOptions("Third", {});
    EXPECT_THAT(Places({"First", "Second", "Third"}), Contains("hinted: Second"));
    EXPECT_THAT(Places({"First", "Third", "CpuRef"}), Contains("hinted: CpuRef"));
    EXPECT_THAT(MessageOf<UnimplementedException>(
                    [&] {
                        Places({"First", "Third"});
                    }),
                HasSubstr("First: its partition limits were held"));
}

TEST_F(PartitionLimits, WhatNobodyElseTakesIsRefused)
{
    OptimizerOptionsOpaque options;
    options.SetPartitionOptions("CpuRef", Limits(1, 0, false));
    EXPECT_THAT(MessageOfOptimize<UnimplementedException>(options, {"Fake", "CpuRef"}),
                AllOf(HasSubstr("1 of 8 layers"), HasSubstr("'soft2'"), HasSubstr("CpuRef: "),
                      HasSubstr("MaxPartitions is 1")));
    options.SetPartitionOptions("CpuRef", {});
    EXPECT_NO_THROW(Optimize(options));
    options.SetPartitionOptions("CpuRef", Limits(3, 2, true));
    EXPECT_THAT(options.ToString(), HasSubstr("CpuRef: MaxPartitions 3, MinLayersPerPartition 2, AllOrNothing true"));
    EXPECT_EQ(options.GetPartitionOptions("Fake").m_MaxPartitions, 0u);
}

TEST_F(PartitionLimits, SubgraphsAreConnectedPiecesInOrderOfExecution)
{
    std::vector<unsigned int> subgraphs;
    for (const LayerAssignment& layer : Optimize()->GetAssignment())
    {
        subgraphs.push_back(layer.m_Subgraph);
    }
    constexpr unsigned int none = LayerAssignment::NoSubgraph;
    EXPECT_THAT(subgraphs, ElementsAre(none, 0, 0, 1, 2, 2, 2, 3, 4, none));
}

} // namespace tenon::test::optimize_subgraphs_test
