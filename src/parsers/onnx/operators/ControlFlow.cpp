// SPDX-License-Identifier: Apache-2.0
// Rows of operators whose attributes are graphs: If, Loop and Scan. A branch whose condition is known becomes a part of
// the network, and so does each iteration of a short loop of known length; else graphs become the networks of an If or
// While layer, and the values that they read from outside become further inputs.
//
// The variables of a While layer, by binding id:
//   0                    the number of the iteration
//   1                    the condition
//   2 ..                 values that are carried from iteration to iteration
//   2 + carried ..       for each scan output, what was stacked up so far
//   2 + carried + scans  values from outside
#include "parsers/onnx/GraphReader.hpp"
#include "parsers/onnx/Rows.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <optional>

namespace tenon::onnx::rows
{

namespace
{

/// Loops of more iterations become no part of the network.
constexpr int64_t MaxUnrolledIterations = 16;
/// The same for loops that carry sequences, which no layer can.
constexpr int64_t MaxIterationsWithSequences = 1024;

const GraphMessage& RequireGraph(const Operator& op, const char* name)
{
    const GraphMessage* const graph = op.Graph(name);
    if (graph == nullptr)
    {
        op.Fail(fmt::format("attribute '{}' is missing", name));
    }
    return *graph;
}

/// The shape of a value that has the shape `a` or the shape `b`.
TensorShape Merge(const TensorShape& a, const TensorShape& b)
{
    const bool hasRanks =
        a.GetDimensionality() != Dimensionality::NotSpecified && b.GetDimensionality() != Dimensionality::NotSpecified;
    if (!hasRanks || a.GetNumDimensions() != b.GetNumDimensions())
    {
        return TensorShape(Dimensionality::NotSpecified);
    }
    TensorShape merged = a;
    for (unsigned int i = 0; i < a.GetNumDimensions(); ++i)
    {
        const bool isKnown = a.GetDimensionSpecificity(i) && b.GetDimensionSpecificity(i);
        if (!isKnown || a[i] != b[i])
        {
            merged.SetDimensionUnknown(i);
        }
    }
    return merged;
}

/// Counts a graph that is read as entered.
class Entered
{
public:
    Entered(ModelReading& reading, const GraphMessage& graph) : m_Level(reading.Size()) { reading.CountVisit(graph); }

private:
    parsers::NetworkSize::Level m_Level;
};

/// Reads a graph into the network of `builder`.
std::vector<Value> ReadInto(const Operator& op, GraphBuilder& builder, const GraphMessage& graph,
                            const std::vector<Value>& inputs)
{
    const Entered entered(op.Reader().Reading(), graph);
    if (graph.m_Inputs.size() != inputs.size())
    {
        op.Fail(
            fmt::format("graph '{}' has {} inputs in place of {}", graph.m_Name, graph.m_Inputs.size(), inputs.size()));
    }
    GraphReader reader(op.Reader().Reading(), builder, graph, &op.Reader());
    for (size_t i = 0; i < inputs.size(); ++i)
    {
        reader.Define(graph.m_Inputs[i].m_Name, inputs[i]);
    }
    return reader.ReadNodes();
}

/// A value that was refused is no tensor, and has no type.
void CheckCondition(const Operator& op, const Value& condition)
{
    if (condition.IsTensor() && condition.Type() != DataType::Boolean)
    {
        op.Fail(fmt::format("the condition is of type {} in place of Boolean", GetDataTypeName(condition.Type())));
    }
}

bool HasRefused(const std::vector<Value>& values)
{
    return std::any_of(values.begin(), values.end(),
                       [](const Value& value) { return value->m_Kind == Value::Kind::Refused; });
}

void AddOutputs(GraphBuilder& builder, const GraphMessage& graph, const std::vector<Value>& values)
{
    for (size_t k = 0; k < values.size(); ++k)
    {
        builder.AddOutput(static_cast<LayerBindingId>(k), std::string(graph.m_Outputs[k].m_Name), values[k]);
    }
}

/// The layer of both branches, whose captured values it takes behind the condition.
IConnectableLayer* AddIfLayer(const Operator& op, GraphBuilder& graph, const INetworkPtr (&branches)[2],
                              const Value& condition, const Captures& captures)
{
    op.Reader().Reading().Size().CountLayer();
    IConnectableLayer* const layer = graph.Network().AddIfLayer(*branches[0], *branches[1], graph.GetName().c_str());
    graph.SlotOf(condition).Connect(layer->GetInputSlot(0));
    for (unsigned int i = 0; i < captures.Get().size(); ++i)
    {
        graph.SlotOf(captures.Get()[i]).Connect(layer->GetInputSlot(i + 1));
    }
    return layer;
}

/// A value like another one that a run fails to compute: what an index takes of an empty tensor.
Value NeverComputed(GraphBuilder& graph, const Value& like)
{
    std::vector<int64_t> sizes = like.HasRank() ? like.Sizes() : std::vector<int64_t>();
    std::replace(sizes.begin(), sizes.end(), OpenSize, int64_t{1});
    const Value place = GraphBuilder::Known(DataType::Signed32, std::vector<int64_t>(sizes.empty() ? 0 : 1, 1),
                                            {Number::Of(int64_t{0})});
    std::vector<int64_t> empty = sizes;
    empty.resize(std::max(sizes.size(), size_t{1}));
    empty[0] = 0;
    const Value data = graph.Constant(TensorInfo(ToShape(empty), like.Type()), {});
    Value value = graph.AddLayer(LayerType::Gather, GatherDescriptor(0), {data, place}, like.Type());
    if (!sizes.empty() && sizes[0] > 1)
    {
        const TensorShape shape = ToShape(sizes);
        value = graph.AddLayer(LayerType::BroadcastTo, BroadcastToDescriptor(shape), {value}, like.Type(), shape);
    }
    value.GetState()->m_Info.SetShape(like.Shape());
    return value;
}

} // namespace

void AddIf(Operator& op, GraphBuilder& graph)
{
    const GraphMessage* const branches[2] = {&RequireGraph(op, "then_branch"), &RequireGraph(op, "else_branch")};
    const Value& condition = op.Input(0);
    CheckCondition(op, condition);
    for (const GraphMessage* branch : branches)
    {
        if (branch->m_Outputs.size() != op.NumOutputs())
        {
            op.Fail(fmt::format("branch '{}' has {} outputs in place of {}", branch->m_Name, branch->m_Outputs.size(),
                                op.NumOutputs()));
        }
    }
    if (const auto known = condition.FindInts())
    {
        if (known->size() != 1)
        {
            op.Fail(fmt::format("the condition has {} elements in place of one", known->size()));
        }
        const std::string name = graph.GetName();
        const std::vector<Value> values = ReadInto(op, graph, *branches[known->front() != 0 ? 0 : 1], {});
        graph.SetName(name);
        op.SetOutputs(values);
        return;
    }
    Captures captures(0);
    INetworkPtr networks[2] = {INetwork::Create(), INetwork::Create()};
    std::vector<Value> outputs[2];
    std::string errors[2];
    for (size_t i = 0; i < 2; ++i)
    {
        GraphBuilder builder(*networks[i], op.Reader().Reading().Size(), graph.GetLimits(), &captures);
        try
        {
            outputs[i] = ReadInto(op, builder, *branches[i], {});
        }
        catch (const ParseException& error)
        {
            errors[i] = error.what();
            continue;
        }
        if (HasRefused(outputs[i]))
        {
            op.PassRefusal();
            return;
        }
        AddOutputs(builder, *branches[i], outputs[i]);
    }
    if (!errors[0].empty() && !errors[1].empty())
    {
        throw ParseException(errors[0]);
    }
    for (size_t i = 0; i < 2; ++i)
    {
        if (!errors[i].empty())
        {
            // A branch for other sizes than these, which nobody takes with these: an error only if somebody does.
            networks[i] = INetwork::Create();
            GraphBuilder builder(*networks[i], op.Reader().Reading().Size(), graph.GetLimits(), &captures);
            builder.SetName(
                fmt::format("{}: the branch '{}' cannot run: {}", graph.GetName(), branches[i]->m_Name, errors[i]));
            for (const Value& other : outputs[1 - i])
            {
                outputs[i].push_back(NeverComputed(builder, other));
            }
            AddOutputs(builder, *branches[i], outputs[i]);
        }
    }
    IConnectableLayer* const layer = AddIfLayer(op, graph, networks, graph.AsScalar(condition), captures);
    std::vector<Value> values;
    for (unsigned int k = 0; k < outputs[0].size(); ++k)
    {
        const Value& first = outputs[0][k];
        const Value& second = outputs[1][k];
        if (first.Type() != second.Type())
        {
            op.Fail(fmt::format("output {} is of type {} in one branch and of type {} in the other", k,
                                GetDataTypeName(first.Type()), GetDataTypeName(second.Type())));
        }
        values.push_back(
            graph.FromSlot(layer->GetOutputSlot(k), TensorInfo(Merge(first.Shape(), second.Shape()), first.Type())));
    }
    op.SetOutputs(values);
}

namespace
{

/// A loop over a graph. In each iteration the graph takes the values that are carried and, for Scan, slices of inputs;
/// it gives the next values and one part of each scan output.
struct LoopPlan
{
    const GraphMessage* m_Body = nullptr;
    Value m_Iterations; ///< a scalar of type Signed64, or no value: no bound
    Value m_Condition;  ///< a Boolean scalar, or no value: true all the time
    std::vector<Value> m_Initial;
    bool m_IsLoop = true; ///< the body takes the number of the iteration and the condition, and gives a condition
    /// Further inputs of the body: those of Scan in an iteration.
    std::function<std::vector<Value>(GraphBuilder& graph, const Value& iteration)> m_Slices;

    size_t NumCarried() const { return m_Initial.size(); }
    size_t NumScans() const { return m_Body->m_Outputs.size() - (m_IsLoop ? 1 : 0) - NumCarried(); }
};

struct Iteration
{
    Value m_Condition; ///< no value where there is none
    std::vector<Value> m_Carried;
    std::vector<Value> m_ScanOutputs;
};

Iteration ReadIteration(const Operator& op, GraphBuilder& builder, const LoopPlan& plan, const Value& number,
                        const Value& condition, const std::vector<Value>& carried)
{
    std::vector<Value> inputs;
    if (plan.m_IsLoop)
    {
        inputs = {number, condition};
    }
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    const std::vector<Value> slices = plan.m_Slices ? plan.m_Slices(builder, number) : std::vector<Value>();
    inputs.insert(inputs.end(), slices.begin(), slices.end());
    std::vector<Value> outputs = ReadInto(op, builder, *plan.m_Body, inputs);
    Iteration iteration;
    auto next = outputs.begin();
    if (plan.m_IsLoop)
    {
        iteration.m_Condition = *next++;
        CheckCondition(op, iteration.m_Condition);
    }
    const auto firstScan = next + static_cast<std::ptrdiff_t>(plan.NumCarried());
    iteration.m_Carried.assign(next, firstScan);
    iteration.m_ScanOutputs.assign(firstScan, outputs.end());
    return iteration;
}

/// Iterations one after the other, as parts of the network. Nothing where the condition of one is not known.
std::optional<std::vector<Value>> Unroll(const Operator& op, GraphBuilder& graph, const LoopPlan& plan, int64_t max)
{
    const bool isBounded = static_cast<bool>(plan.m_Iterations);
    const auto iterations = isBounded ? plan.m_Iterations.FindInts() : std::vector<int64_t>{max + 1};
    auto goesOn = plan.m_Condition ? plan.m_Condition.FindInts() : std::vector<int64_t>{1};
    if (!iterations.has_value() || !goesOn.has_value() || iterations->size() != 1 || goesOn->size() != 1 ||
        (isBounded && iterations->front() > max))
    {
        return std::nullopt;
    }
    std::vector<Value> carried = plan.m_Initial;
    std::vector<std::vector<Value>> parts(plan.NumScans());
    const std::string name = graph.GetName();
    for (int64_t i = 0; i < iterations->front() && goesOn->front() != 0; ++i)
    {
        if (i == max)
        {
            return std::nullopt; // too long
        }
        const Iteration iteration = ReadIteration(op, graph, plan, GraphBuilder::ScalarInt(DataType::Signed64, i),
                                                  GraphBuilder::ScalarInt(DataType::Boolean, 1), carried);
        graph.SetName(name);
        if (HasRefused(iteration.m_Carried) || HasRefused(iteration.m_ScanOutputs))
        {
            return std::vector<Value>();
        }
        carried = iteration.m_Carried;
        for (size_t k = 0; k < parts.size(); ++k)
        {
            parts[k].push_back(graph.Unsqueeze(iteration.m_ScanOutputs[k], {0}));
        }
        if (plan.m_Condition)
        {
            goesOn = iteration.m_Condition.FindInts();
            if (!goesOn.has_value() || goesOn->size() != 1)
            {
                return std::nullopt;
            }
        }
    }
    std::vector<Value> results = carried;
    for (const std::vector<Value>& list : parts)
    {
        if (list.empty())
        {
            return std::nullopt; // without an iteration the body's types tell the shape
        }
        results.push_back(graph.Concat(list, 0));
    }
    return results;
}

/// [0, sizes of a part...], and whether these are known.
bool FindEmptyStack(const Value& part, std::vector<int64_t>& sizes)
{
    sizes = part.Sizes();
    sizes.insert(sizes.begin(), 0);
    return std::find(sizes.begin(), sizes.end(), OpenSize) == sizes.end();
}

/// The stack with one part more. Where the sizes of parts are not known, the first stack has other sizes, and is
/// replaced: by a branch on the number of the iteration.
Value Push(const Operator& op, GraphBuilder& graph, const Value& stack, const Value& part, const Value& number,
           bool isSized)
{
    const Value row = graph.Unsqueeze(part, {0});
    if (isSized)
    {
        return graph.Concat({stack, row}, 0);
    }
    parsers::NetworkSize& size = op.Reader().Reading().Size();
    Captures captures(0);
    INetworkPtr networks[2] = {INetwork::Create(), INetwork::Create()};
    GraphBuilder first(*networks[0], size, graph.GetLimits(), &captures);
    first.AddOutput(0, "first", row);
    GraphBuilder later(*networks[1], size, graph.GetLimits(), &captures);
    later.AddOutput(0, "later", later.Concat({stack, row}, 0));
    const Value isFirst =
        graph.Compare(ComparisonOperation::Equal, number, GraphBuilder::ScalarInt(DataType::Signed64, 0));
    IConnectableLayer* const layer = AddIfLayer(op, graph, networks, isFirst, captures);
    return graph.FromSlot(layer->GetOutputSlot(0), TensorInfo(stack.Shape(), part.Type()));
}

/// The networks of a While layer. They are made again while carried values turn out to change their shapes: inside of
/// the body only what holds in every iteration may be relied on.
class LoopNetworks
{
public:
    LoopNetworks(const Operator& op, GraphBuilder& graph, const LoopPlan& plan) : m_Op(op), m_Graph(graph), m_Plan(plan)
    {
        for (const Value& value : plan.m_Initial)
        {
            m_Shapes.push_back(value.Shape());
        }
        m_ScanSizes.resize(plan.NumScans());
    }

    /// False where something was refused.
    bool Make()
    {
        constexpr unsigned int maxAttempts = 2 + MaxNumOfTensorDimensions;
        for (unsigned int i = 0; i < maxAttempts; ++i)
        {
            bool isStable = false;
            if (!MakeBody(isStable))
            {
                return false;
            }
            if (isStable)
            {
                return true;
            }
        }
        m_Op.Refuse(
            "the shapes of carried values change from iteration to iteration in a way that cannot be described");
    }

    std::vector<Value> AddLayer()
    {
        parsers::NetworkSize& size = m_Op.Reader().Reading().Size();
        size.CountLayer();
        IConnectableLayer* const layer =
            m_Graph.Network().AddWhileLayer(*m_Condition, *m_Body, m_Graph.GetName().c_str());
        std::vector<Value> initial = {GraphBuilder::ScalarInt(DataType::Signed64, 0),
                                      m_Plan.m_Condition ? m_Graph.AsScalar(m_Plan.m_Condition)
                                                         : GraphBuilder::ScalarInt(DataType::Boolean, 1)};
        initial.insert(initial.end(), m_Plan.m_Initial.begin(), m_Plan.m_Initial.end());
        for (size_t k = 0; k < m_Plan.NumScans(); ++k)
        {
            std::vector<int64_t> sizes = m_ScanSizes[k];
            std::replace(sizes.begin(), sizes.end(), OpenSize, int64_t{0});
            initial.push_back(m_Graph.Constant(TensorInfo(ToShape(sizes), m_ScanTypes[k]), {}));
        }
        initial.insert(initial.end(), m_Captures->Get().begin(), m_Captures->Get().end());
        for (unsigned int i = 0; i < initial.size(); ++i)
        {
            m_Graph.SlotOf(initial[i]).Connect(layer->GetInputSlot(i));
        }
        std::vector<Value> results;
        for (unsigned int i = 0; i < initial.size(); ++i)
        {
            TensorInfo info(initial[i].Shape(), initial[i].Type());
            const bool isCarried = i >= 2 && i < 2 + m_Plan.NumCarried();
            const bool isStack = i >= 2 + m_Plan.NumCarried() && i < 2 + m_Plan.NumCarried() + m_Plan.NumScans();
            if (isCarried)
            {
                info.SetShape(m_Shapes[i - 2]);
            }
            if (isStack)
            {
                std::vector<int64_t> sizes = m_ScanSizes[i - 2 - m_Plan.NumCarried()];
                sizes[0] = OpenSize;
                info.SetShape(ToShape(sizes));
            }
            Value result = m_Graph.FromSlot(layer->GetOutputSlot(i), info);
            if (isCarried || isStack)
            {
                results.push_back(result);
            }
        }
        return results;
    }

private:
    bool MakeBody(bool& isStable)
    {
        parsers::NetworkSize& size = m_Op.Reader().Reading().Size();
        const auto numCarried = static_cast<LayerBindingId>(m_Plan.NumCarried());
        const auto numScans = static_cast<LayerBindingId>(m_Plan.NumScans());
        m_Body = INetwork::Create();
        m_Captures = std::make_unique<Captures>(2 + numCarried + numScans);
        GraphBuilder body(*m_Body, size, m_Graph.GetLimits(), m_Captures.get());
        const TensorShape scalar(Dimensionality::Scalar);
        const Value number = body.AddInput(0, "iteration", TensorInfo(scalar, DataType::Signed64), false);
        const Value condition = body.AddInput(1, "condition", TensorInfo(scalar, DataType::Boolean), false);
        std::vector<Value> carried;
        for (size_t i = 0; i < m_Plan.NumCarried(); ++i)
        {
            const TensorInfo info(m_Shapes[i], m_Plan.m_Initial[i].Type());
            carried.push_back(
                body.AddInput(2 + static_cast<LayerBindingId>(i), m_Plan.m_Initial[i]->m_Name, info, false));
        }
        const Iteration iteration = ReadIteration(m_Op, body, m_Plan, number, condition, carried);
        if (HasRefused(iteration.m_Carried) || HasRefused(iteration.m_ScanOutputs) ||
            (iteration.m_Condition && iteration.m_Condition->m_Kind == Value::Kind::Refused))
        {
            return false;
        }
        isStable = true;
        for (size_t i = 0; i < m_Shapes.size(); ++i)
        {
            if (!iteration.m_Carried[i].IsTensor() || iteration.m_Carried[i].Type() != m_Plan.m_Initial[i].Type())
            {
                m_Op.Fail(fmt::format("carried value {} changes its type from iteration to iteration", i));
            }
            const TensorShape merged = Merge(m_Shapes[i], iteration.m_Carried[i].Shape());
            isStable = isStable && merged == m_Shapes[i];
            m_Shapes[i] = merged;
        }
        if (!isStable)
        {
            return true;
        }
        body.SetName("iteration");
        body.AddOutput(0, "iteration", body.Add(number, GraphBuilder::ScalarInt(DataType::Signed64, 1)));
        const bool usesCondition = m_Plan.m_Condition && iteration.m_Condition;
        body.AddOutput(1, "condition", usesCondition ? body.AsScalar(iteration.m_Condition) : condition);
        LayerBindingId id = 2;
        for (const Value& value : iteration.m_Carried)
        {
            body.AddOutput(id++, value->m_Name, value);
        }
        m_ScanTypes.clear();
        for (size_t k = 0; k < iteration.m_ScanOutputs.size(); ++k)
        {
            const Value& part = iteration.m_ScanOutputs[k];
            const bool isSized = FindEmptyStack(part, m_ScanSizes[k]);
            m_ScanTypes.push_back(part.Type());
            std::vector<int64_t> sizes = m_ScanSizes[k];
            sizes[0] = OpenSize;
            const Value stack = body.AddInput(id, "scan", TensorInfo(ToShape(sizes), part.Type()), false);
            body.AddOutput(id++, "scan", Push(m_Op, body, stack, part, number, isSized));
        }
        MakeCondition(size);
        // Values from outside stay as they are. Their list grows while values of outer graphs are passed through.
        for (size_t i = 0; i < m_Captures->Get().size(); ++i)
        {
            const Value value = m_Captures->Get()[i];
            body.AddOutput(id++, value->m_Name, value);
        }
        return true;
    }

    /// The condition, and that there are iterations left.
    void MakeCondition(parsers::NetworkSize& size)
    {
        m_Condition = INetwork::Create();
        GraphBuilder builder(*m_Condition, size, m_Graph.GetLimits(), m_Captures.get());
        const TensorShape scalar(Dimensionality::Scalar);
        Value result;
        if (m_Plan.m_Condition)
        {
            result = builder.AddInput(1, "condition", TensorInfo(scalar, DataType::Boolean), false);
        }
        if (m_Plan.m_Iterations)
        {
            const Value number = builder.AddInput(0, "iteration", TensorInfo(scalar, DataType::Signed64), false);
            const Value isLeft = builder.Compare(ComparisonOperation::Less, number, m_Plan.m_Iterations);
            result = result ? builder.Logical(LogicalBinaryOperation::LogicalAnd, result, isLeft) : isLeft;
        }
        builder.AddOutput(0, "goes on", result ? result : GraphBuilder::ScalarInt(DataType::Boolean, 1));
    }

    const Operator& m_Op;
    GraphBuilder& m_Graph;
    const LoopPlan& m_Plan;
    std::vector<TensorShape> m_Shapes; ///< of carried values, in all iterations
    std::vector<std::vector<int64_t>> m_ScanSizes;
    std::vector<DataType> m_ScanTypes;
    INetworkPtr m_Condition{nullptr, &INetwork::Destroy};
    INetworkPtr m_Body{nullptr, &INetwork::Destroy};
    std::unique_ptr<Captures> m_Captures;
};

/// The carried values at the end, then the scan outputs. Empty where something was refused.
std::vector<Value> AddIterations(const Operator& op, GraphBuilder& graph, const LoopPlan& plan)
{
    const size_t outputs = plan.m_Body->m_Outputs.size();
    if (outputs < plan.NumCarried() + (plan.m_IsLoop ? 1 : 0))
    {
        op.Fail(fmt::format("the body has {} outputs for {} carried values", outputs, plan.NumCarried()));
    }
    const bool hasSequences =
        std::any_of(plan.m_Initial.begin(), plan.m_Initial.end(), [](const Value& value) { return !value.IsTensor(); });
    if (auto results = Unroll(op, graph, plan, hasSequences ? MaxIterationsWithSequences : MaxUnrolledIterations))
    {
        return *results;
    }
    if (hasSequences)
    {
        op.Refuse("a sequence is carried through a loop whose number of iterations is not known before the run");
    }
    LoopNetworks networks(op, graph, plan);
    return networks.Make() ? networks.AddLayer() : std::vector<Value>();
}

void SetResults(Operator& op, const std::vector<Value>& results)
{
    if (results.empty())
    {
        op.PassRefusal();
        return;
    }
    if (op.NumOutputs() > results.size())
    {
        op.Fail(fmt::format("has {} outputs, but the body gives {}", op.NumOutputs(), results.size()));
    }
    op.SetOutputs(results);
}

} // namespace

void AddLoop(Operator& op, GraphBuilder& graph)
{
    LoopPlan plan;
    plan.m_Body = &RequireGraph(op, "body");
    plan.m_Iterations = op.HasInput(0) ? graph.AsScalar(op.Input(0)) : Value();
    plan.m_Condition = op.HasInput(1) ? graph.AsScalar(op.Input(1)) : Value();
    if (plan.m_Condition)
    {
        CheckCondition(op, plan.m_Condition);
    }
    for (size_t i = 2; i < op.NumInputs(); ++i)
    {
        if (!op.HasInput(i))
        {
            op.Fail(fmt::format("carried value {} is left out", i - 2));
        }
        plan.m_Initial.push_back(op.AnyInput(i));
    }
    SetResults(op, AddIterations(op, graph, plan));
}

/// Before version 9 tensors have a batch dimension in front, each entry of which is a scan of its own.
void AddScan(Operator& op, GraphBuilder& graph)
{
    const int64_t numScanInputs = op.Int64("num_scan_inputs", 0);
    const bool hasBatch = op.Version() < 9;
    const size_t first = hasBatch ? 1 : 0; // input 0 is a list of lengths
    const auto numInputs = static_cast<int64_t>(op.NumInputs() - first);
    if (numScanInputs < 1 || numScanInputs > numInputs)
    {
        op.Fail(fmt::format("attribute 'num_scan_inputs' is {}, but there are {} inputs", numScanInputs, numInputs));
    }
    if (hasBatch && op.HasInput(0))
    {
        op.Refuse("lengths of sequences are not supported");
    }
    const auto numStates = static_cast<size_t>(numInputs - numScanInputs);
    const auto list = [&](const char* name, size_t count)
    {
        std::vector<int64_t> numbers = op.Int64s(name);
        numbers.resize(std::max(numbers.size(), count), 0);
        return numbers;
    };
    const auto numScans = static_cast<size_t>(numScanInputs);
    const std::vector<int64_t> inputAxes = list("scan_input_axes", numScans);
    const std::vector<int64_t> inputDirections = list(hasBatch ? "directions" : "scan_input_directions", numScans);

    const auto scanOne = [&](const std::vector<Value>& states, const std::vector<Value>& scanned)
    {
        LoopPlan plan;
        plan.m_Body = &RequireGraph(op, "body");
        plan.m_IsLoop = false;
        plan.m_Initial = states;
        std::vector<unsigned int> axes;
        for (size_t i = 0; i < scanned.size(); ++i)
        {
            axes.push_back(op.Axis(inputAxes[i], scanned[i].Rank()));
        }
        const auto lengthOf = [&](size_t i)
        {
            const Value shape = graph.ShapeOf(scanned[i]);
            return graph.AsScalar(graph.Slice(shape, 0, axes[i], int64_t{axes[i]} + 1));
        };
        plan.m_Iterations = lengthOf(0);
        plan.m_Slices = [&, iterations = plan.m_Iterations](GraphBuilder& builder, const Value& iteration)
        {
            std::vector<Value> slices;
            for (size_t i = 0; i < scanned.size(); ++i)
            {
                const Value last = builder.Subtract(iterations, GraphBuilder::ScalarInt(DataType::Signed64, 1));
                const Value place = inputDirections[i] != 0 ? builder.Subtract(last, iteration) : iteration;
                slices.push_back(builder.Gather(scanned[i], place, axes[i]));
            }
            return slices;
        };
        std::vector<Value> results = AddIterations(op, graph, plan);
        const std::vector<int64_t> outputAxes = list("scan_output_axes", plan.NumScans());
        const std::vector<int64_t> outputDirections = list("scan_output_directions", plan.NumScans());
        for (size_t k = 0; k < plan.NumScans() && !results.empty(); ++k)
        {
            Value& result = results[numStates + k];
            if (outputDirections[k] != 0)
            {
                result = graph.Slice(result, {-1}, {std::numeric_limits<int64_t>::min()}, {0}, {-1});
            }
            const unsigned int axis = op.Axis(outputAxes[k], result.Rank());
            std::vector<unsigned int> order;
            for (unsigned int d = 1; d < result.Rank(); ++d)
            {
                order.push_back(d);
            }
            order.insert(order.begin() + axis, 0);
            result = graph.Transpose(result, order);
        }
        return results;
    };

    std::vector<Value> states;
    std::vector<Value> scanned;
    for (size_t i = first; i < op.NumInputs(); ++i)
    {
        (i - first < numStates ? states : scanned).push_back(op.Input(i));
    }
    std::vector<Value> results;
    if (!hasBatch)
    {
        results = scanOne(states, scanned);
    }
    else
    {
        const int64_t batch = scanned.front().Size(0);
        if (batch < 1 || batch > MaxUnrolledIterations)
        {
            op.Refuse(fmt::format("a batch of no entry, of more than {} entries, or of a size that is not known before "
                                  "the run, is not supported before version 9",
                                  MaxUnrolledIterations));
        }
        std::vector<std::vector<Value>> parts;
        for (int64_t b = 0; b < batch; ++b)
        {
            const auto entry = [&](const std::vector<Value>& values)
            {
                std::vector<Value> entries;
                for (const Value& value : values)
                {
                    entries.push_back(graph.Gather(value, GraphBuilder::ScalarInt(DataType::Signed64, b), 0));
                }
                return entries;
            };
            const std::vector<Value> one = scanOne(entry(states), entry(scanned));
            parts.resize(one.size());
            for (size_t k = 0; k < one.size(); ++k)
            {
                parts[k].push_back(graph.Unsqueeze(one[k], {0}));
            }
        }
        for (const std::vector<Value>& part : parts)
        {
            results.push_back(graph.Concat(part, 0));
        }
    }
    SetResults(op, results);
}

} // namespace tenon::onnx::rows
