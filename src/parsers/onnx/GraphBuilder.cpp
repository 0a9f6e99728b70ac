// SPDX-License-Identifier: Apache-2.0
// GraphBuilder: see GraphBuilder.hpp.
#include "parsers/onnx/GraphBuilder.hpp"

#include "common/ModelBytes.hpp"
#include "parsers/common/ConstantData.hpp"
#include "parsers/onnx/Arithmetic.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace tenon::onnx
{

namespace
{

uint64_t Product(const std::vector<int64_t>& sizes)
{
    return ToShape(sizes).GetNumElements64();
}

/// The numbers of all values, where their elements are known at least in part and few enough.
const Numbers* NumbersOf(const Value& value)
{
    return value && value.IsTensor() && value.HasSizes() ? value.FindNumbers() : nullptr;
}

bool IsFullyKnown(const Numbers& numbers)
{
    return std::all_of(numbers.begin(), numbers.end(), [](const Number& n) { return n.m_IsKnown; });
}

/// The sizes in a list of numbers, some of which may be open; nothing where none of them is known.
std::optional<std::vector<int64_t>> FindSizes(const Value& list)
{
    const Numbers* const numbers = NumbersOf(list);
    if (numbers == nullptr)
    {
        return std::nullopt;
    }
    std::vector<int64_t> sizes;
    for (const Number& number : *numbers)
    {
        sizes.push_back(number.m_IsKnown ? number.m_Int : OpenSize);
    }
    return sizes;
}

Numbers Take(const Numbers& numbers, const std::vector<size_t>& indices)
{
    Numbers taken;
    taken.reserve(indices.size());
    for (const size_t index : indices)
    {
        taken.push_back(numbers.at(index));
    }
    return taken;
}

/// Computes elements one by one, of operands that are broadcast to `shape`: `compute` gets the operands' indices of
/// each. Nothing where there are too many elements, or where it gives none for one of them.
template <size_t Count, typename Compute>
std::optional<Numbers> ComputeElements(const TensorShape& shape, const Value* const (&operands)[Count], Compute compute)
{
    if (!shape.AreAllDimensionsSpecified() || shape.GetNumElements64() > MaxNumbers)
    {
        return std::nullopt;
    }
    std::array<std::vector<size_t>, Count> indices;
    for (size_t k = 0; k < Count; ++k)
    {
        indices[k] = BroadcastIndices(operands[k]->Shape(), shape);
    }
    Numbers results(shape.GetNumElements64());
    for (size_t i = 0; i < results.size(); ++i)
    {
        std::array<size_t, Count> places{};
        for (size_t k = 0; k < Count; ++k)
        {
            places[k] = indices[k][i];
        }
        const std::optional<Number> result = compute(places);
        if (!result.has_value())
        {
            return std::nullopt;
        }
        results[i] = *result;
    }
    return results;
}

/// The sizes that are known of the result of broadcasting; throws ParseException where they contradict.
std::vector<int64_t> BroadcastSizes(std::vector<int64_t> a, std::vector<int64_t> b)
{
    if (a.size() < b.size())
    {
        std::swap(a, b);
    }
    b.insert(b.begin(), a.size() - b.size(), 1);
    for (size_t i = 0; i < a.size(); ++i)
    {
        const bool bothKnown = a[i] != OpenSize && b[i] != OpenSize;
        if (bothKnown && a[i] != b[i] && a[i] != 1 && b[i] != 1)
        {
            throw ParseException(
                fmt::format("shapes {} and {} do not broadcast", ToShape(a).ToString(), ToShape(b).ToString()));
        }
        if (a[i] == 1)
        {
            a[i] = b[i];
        }
        else if (a[i] == OpenSize && b[i] != 1)
        {
            a[i] = b[i];
        }
    }
    return a;
}

} // namespace

LayerBindingId Captures::Add(const Value& value)
{
    const auto [entry, isNew] =
        m_Ids.try_emplace(value.GetState().get(), m_FirstId + static_cast<LayerBindingId>(m_Values.size()));
    if (isNew)
    {
        m_Values.push_back(value);
    }
    return entry->second;
}

GraphBuilder::GraphBuilder(INetwork& network, parsers::NetworkSize& size, const Limits& limits, Captures* captures)
    : m_Network(network), m_Size(size), m_Limits(limits), m_Captures(captures)
{
}

// Values that are not computed.

Value GraphBuilder::AddInput(LayerBindingId id, const std::string& name, const TensorInfo& info, bool hasFixedSizes)
{
    m_Size.CountLayer();
    parsers::CheckTensorBytes(info, m_Limits);
    IConnectableLayer* layer = m_Network.AddInputLayer(id, InputDescriptor(hasFixedSizes), name.c_str());
    Value value = FromSlot(layer->GetOutputSlot(0), info);
    value.GetState()->m_Name = name;
    return value;
}

void GraphBuilder::AddOutput(LayerBindingId id, const std::string& name, const Value& value)
{
    if (value->m_Bits != 0)
    {
        throw UnimplementedException(fmt::format("outputs of {}-bit integers are not supported", value->m_Bits));
    }
    m_Size.CountLayer();
    SlotOf(value).Connect(m_Network.AddOutputLayer(id, name.c_str())->GetInputSlot(0));
}

Value GraphBuilder::FromSlot(IOutputSlot& slot, const TensorInfo& info)
{
    slot.SetTensorInfo(info);
    auto state = std::make_shared<Value::State>();
    state->m_Info = info;
    state->m_Home = this;
    state->m_Slot = &slot;
    return Value(std::move(state));
}

Value GraphBuilder::Known(DataType type, const std::vector<int64_t>& sizes, Numbers numbers)
{
    return KnownOfShape(type, ToShape(sizes), std::move(numbers));
}

Value GraphBuilder::KnownOfShape(DataType type, const TensorShape& shape, Numbers numbers)
{
    auto state = std::make_shared<Value::State>();
    state->m_Info = TensorInfo(shape, type);
    state->m_Info.SetConstant();
    state->m_IsConstant = true;
    state->m_Numbers = std::move(numbers);
    return Value(std::move(state));
}

Value GraphBuilder::Ints(const std::vector<int64_t>& numbers)
{
    Numbers known;
    for (const int64_t number : numbers)
    {
        known.push_back(Number::Of(number));
    }
    return Known(DataType::Signed64, {static_cast<int64_t>(numbers.size())}, std::move(known));
}

Value GraphBuilder::Scalar(DataType type, double value)
{
    return Known(type, {}, {Convert(Number::Of(value), DataType::Float64, type)});
}

Value GraphBuilder::ScalarInt(DataType type, int64_t value)
{
    return Known(type, {}, {Convert(Number::Of(value), DataType::Signed64, type)});
}

Value GraphBuilder::Constant(const TensorInfo& info, std::vector<uint8_t> bytes)
{
    m_Size.CountBytes(bytes.size());
    auto owner = std::make_shared<const std::vector<uint8_t>>(std::move(bytes));
    auto state = std::make_shared<Value::State>();
    state->m_Info = info;
    state->m_Info.SetConstant();
    state->m_IsConstant = true;
    state->m_Data = *owner;
    state->m_Owner = std::move(owner);
    return Value(std::move(state));
}

IOutputSlot& GraphBuilder::AddConstant(const Value& value)
{
    m_Size.CountLayer();
    Span<const uint8_t> data = value->m_Data;
    std::shared_ptr<const void> owner = value->m_Owner;
    if (data.empty() && value->m_Numbers.has_value())
    {
        auto bytes = std::make_shared<const std::vector<uint8_t>>(WriteNumbers(value.Type(), *value->m_Numbers));
        data = *bytes;
        owner = std::move(bytes);
    }
    TensorInfo info = value->m_Info;
    info.SetConstant();
    const std::string& name = value->m_Name.empty() ? m_Name : value->m_Name;
    return m_Network.AddConstantLayer(ConstTensor(info, data.data()), std::move(owner), name.c_str())->GetOutputSlot(0);
}

IOutputSlot& GraphBuilder::SlotOf(const Value& value)
{
    if (!value.IsTensor())
    {
        throw UnimplementedException(
            fmt::format("'{}' is a sequence or an optional value, which no layer can take", value->m_Name));
    }
    if (value->m_Home == this)
    {
        return *value->m_Slot;
    }
    auto& [kept, slot] = m_Slots[value.GetState().get()];
    if (slot != nullptr)
    {
        return *slot;
    }
    kept = value;
    if (value.IsConstant())
    {
        slot = &AddConstant(value);
        return *slot;
    }
    if (m_Captures == nullptr)
    {
        throw ParseException(fmt::format("'{}' belongs to another graph", value->m_Name));
    }
    m_Size.CountLayer();
    IConnectableLayer* layer = m_Network.AddInputLayer(m_Captures->Add(value), value->m_Name.c_str());
    slot = &layer->GetOutputSlot(0);
    slot->SetTensorInfo(value->m_Info);
    return *slot;
}

Value GraphBuilder::KnownOr(DataType type, const TensorShape& shape, std::optional<Numbers> numbers,
                            const std::function<Value()>& add)
{
    if (numbers.has_value() && IsFullyKnown(*numbers))
    {
        return KnownOfShape(type, shape, std::move(*numbers));
    }
    Value result = add();
    result.GetState()->m_Numbers = std::move(numbers);
    return result;
}

// Layers in general.

std::vector<Value> GraphBuilder::AddLayers(LayerType type, const BaseDescriptor& descriptor,
                                           const std::vector<Value>& inputs, const std::vector<Output>& outputs)
{
    m_Size.CountLayer();
    IConnectableLayer* layer = m_Network.AddLayer(type, descriptor, m_Name.c_str());
    bool isKnown = true;
    std::vector<TensorShape> shapes;
    for (unsigned int i = 0; i < inputs.size(); ++i)
    {
        if (!inputs[i])
        {
            shapes.emplace_back();
            isKnown = false;
            continue;
        }
        SlotOf(inputs[i]).Connect(layer->GetInputSlot(i));
        shapes.push_back(inputs[i].Shape());
        isKnown = isKnown && inputs[i].HasSizes();
    }
    std::vector<TensorShape> inferred(outputs.size());
    if (isKnown)
    {
        for (unsigned int i = 0; i < outputs.size(); ++i)
        {
            // The shape of a Bitcast depends on the type of its output.
            layer->GetOutputSlot(i).SetTensorInfo(TensorInfo(outputs[i].m_Shape, outputs[i].m_Type));
        }
        inferred = layer->InferOutputShapes(shapes);
    }
    std::vector<Value> values;
    for (unsigned int i = 0; i < outputs.size(); ++i)
    {
        const bool isInferred = i < inferred.size() && inferred[i].AreAllDimensionsSpecified();
        const TensorShape& shape = isInferred ? inferred[i] : outputs[i].m_Shape;
        const TensorInfo info(shape, outputs[i].m_Type);
        WithModelContext([&] { return fmt::format("output {} of its layer", i); },
                         [&] { parsers::CheckTensorBytes(info, m_Limits); });
        values.push_back(FromSlot(layer->GetOutputSlot(i), info));
    }
    return values;
}

Value GraphBuilder::AddLayer(LayerType type, const BaseDescriptor& descriptor, const std::vector<Value>& inputs,
                             DataType type0, const TensorShape& shape)
{
    return AddLayers(type, descriptor, inputs, {{type0, shape}}).front();
}

Value GraphBuilder::AddQuantizedLayer(LayerType type, const BaseDescriptor& descriptor,
                                      const std::vector<Value>& inputs, const TensorInfo& info)
{
    Value result = AddLayer(type, descriptor, inputs, info.GetDataType(), info.GetShape());
    TensorInfo quantized = info;
    quantized.SetShape(result.Shape());
    result.GetState()->m_Info = quantized;
    result->m_Slot->SetTensorInfo(quantized);
    return result;
}

Value GraphBuilder::AddImageLayer(LayerType type, const BaseDescriptor& descriptor, const std::vector<Value>& inputs)
{
    TensorInfo info = inputs[0]->m_Info;
    info.SetShape(TensorShape(inputs[0].Rank(), false));
    info.SetConstant(false);
    Value result = info.IsQuantized() ? AddQuantizedLayer(type, descriptor, inputs, info)
                                      : AddLayer(type, descriptor, inputs, info.GetDataType(), info.GetShape());
    if (result.HasSizes())
    {
        return result;
    }
    // With one index along dimension 0 in place of an open number, where that alone is open.
    std::vector<TensorShape> shapes;
    for (const Value& input : inputs)
    {
        if (!input)
        {
            return result;
        }
        shapes.push_back(input.Shape());
    }
    if (inputs[0].Size(0) != OpenSize)
    {
        return result;
    }
    shapes[0].SetDimensionSize(0, 1);
    if (!std::all_of(shapes.begin(), shapes.end(), [](const TensorShape& s) { return s.AreAllDimensionsSpecified(); }))
    {
        return result;
    }
    TensorShape shape = result->m_Slot->GetOwningIConnectableLayer().InferOutputShapes(shapes).front();
    if (shape.GetDimensionality() == Dimensionality::Specified)
    {
        shape.SetDimensionUnknown(0);
        result.GetState()->m_Info.SetShape(shape);
        result->m_Slot->SetTensorInfo(result->m_Info);
    }
    return result;
}

// Elementwise.

TensorShape GraphBuilder::BroadcastShape(const Value& a, const Value& b)
{
    return a.HasRank() && b.HasRank() ? ToShape(BroadcastSizes(a.Sizes(), b.Sizes())) : TensorShape();
}

void GraphBuilder::CheckSameType(const Value& a, const Value& b) const
{
    if (a.Type() != b.Type())
    {
        throw ParseException(fmt::format("operands are of types {} and {}; they must be of one type",
                                         GetDataTypeName(a.Type()), GetDataTypeName(b.Type())));
    }
}

Value GraphBuilder::Unary(UnaryOperation operation, const Value& x)
{
    if (const Numbers* const numbers = NumbersOf(x))
    {
        if (auto results = ComputeUnary(operation, x.Type(), *numbers); results.has_value() && IsFullyKnown(*results))
        {
            return Known(x.Type(), x.Sizes(), std::move(*results));
        }
    }
    return AddLayer(LayerType::ElementwiseUnary, ElementwiseUnaryDescriptor(operation), {x}, x.Type(), x.Shape());
}

Value GraphBuilder::Binary(BinaryOperation operation, const Value& a, const Value& b)
{
    CheckSameType(a, b);
    const TensorShape shape = BroadcastShape(a, b);
    const Numbers* const left = NumbersOf(a);
    const Numbers* const right = NumbersOf(b);
    std::optional<Numbers> numbers;
    if (left != nullptr && right != nullptr)
    {
        numbers = ComputeElements(shape, {&a, &b},
                                  [&](const std::array<size_t, 2>& i)
                                  { return ComputeBinary(operation, a.Type(), (*left)[i[0]], (*right)[i[1]]); });
    }
    return KnownOr(a.Type(), shape, std::move(numbers),
                   [&]
                   {
                       const ElementwiseBinaryDescriptor descriptor(operation);
                       return AddLayer(LayerType::ElementwiseBinary, descriptor, {a, b}, a.Type(), shape);
                   });
}

Value GraphBuilder::Compare(ComparisonOperation operation, const Value& a, const Value& b)
{
    CheckSameType(a, b);
    const TensorShape shape = BroadcastShape(a, b);
    const Numbers* const left = NumbersOf(a);
    const Numbers* const right = NumbersOf(b);
    std::optional<Numbers> numbers;
    if (left != nullptr && right != nullptr && a.Type() != DataType::Unsigned64)
    {
        numbers = ComputeElements(shape, {&a, &b},
                                  [&](const std::array<size_t, 2>& i) -> std::optional<Number>
                                  { return ComputeComparison(operation, a.Type(), (*left)[i[0]], (*right)[i[1]]); });
    }
    return KnownOr(DataType::Boolean, shape, std::move(numbers),
                   [&]
                   {
                       const ComparisonDescriptor descriptor(operation);
                       return AddLayer(LayerType::Comparison, descriptor, {a, b}, DataType::Boolean, shape);
                   });
}

Value GraphBuilder::Logical(LogicalBinaryOperation operation, const Value& a, const Value& b)
{
    if (a.Type() != DataType::Boolean || b.Type() != DataType::Boolean)
    {
        throw ParseException(fmt::format("operands are of types {} and {}; they must be Boolean",
                                         GetDataTypeName(a.Type()), GetDataTypeName(b.Type())));
    }
    const auto left = a.FindInts();
    const auto right = b.FindInts();
    const TensorShape shape = BroadcastShape(a, b);
    std::optional<Numbers> numbers;
    if (left.has_value() && right.has_value())
    {
        numbers = ComputeElements(shape, {&a, &b},
                                  [&](const std::array<size_t, 2>& i) -> std::optional<Number>
                                  {
                                      const bool x = (*left)[i[0]] != 0;
                                      const bool y = (*right)[i[1]] != 0;
                                      const bool isAnd = operation == LogicalBinaryOperation::LogicalAnd;
                                      return Number::Of(int64_t{isAnd ? x && y : x || y});
                                  });
    }
    return KnownOr(DataType::Boolean, shape, std::move(numbers),
                   [&]
                   {
                       const LogicalBinaryDescriptor descriptor(operation);
                       return AddLayer(LayerType::LogicalBinary, descriptor, {a, b}, DataType::Boolean, shape);
                   });
}

Value GraphBuilder::Not(const Value& x)
{
    return Unary(UnaryOperation::LogicalNot, x);
}

Value GraphBuilder::Select(const Value& condition, const Value& a, const Value& b)
{
    CheckSameType(a, b);
    TensorShape shape = BroadcastShape(a, b);
    const bool hasRanks = shape.GetDimensionality() != Dimensionality::NotSpecified && condition.HasRank();
    shape = hasRanks ? ToShape(BroadcastSizes(ToSizes(shape), condition.Sizes())) : TensorShape();
    const auto conditions = condition.FindInts();
    const Numbers* const left = NumbersOf(a);
    const Numbers* const right = NumbersOf(b);
    std::optional<Numbers> numbers;
    if (conditions.has_value() && left != nullptr && right != nullptr)
    {
        numbers = ComputeElements(shape, {&condition, &a, &b},
                                  [&](const std::array<size_t, 3>& i) -> std::optional<Number>
                                  { return (*conditions)[i[0]] != 0 ? (*left)[i[1]] : (*right)[i[2]]; });
    }
    return KnownOr(a.Type(), shape, std::move(numbers),
                   [&]
                   {
                       const SelectDescriptor descriptor;
                       return AddLayer(LayerType::Select, descriptor, {condition, a, b}, a.Type(), shape);
                   });
}

Value GraphBuilder::Activation(const ActivationDescriptor& descriptor, const Value& x)
{
    return AddLayer(LayerType::Activation, descriptor, {x}, x.Type(), x.Shape());
}

Value GraphBuilder::Floor(const Value& x)
{
    if (const auto reals = x.FindReals(); reals.has_value() && x.IsFloat())
    {
        Numbers numbers;
        for (const double real : *reals)
        {
            numbers.push_back(Number::Of(std::floor(real)));
        }
        return Known(x.Type(), x.Sizes(), std::move(numbers));
    }
    return AddLayer(LayerType::Floor, NullDescriptor(), {x}, x.Type(), x.Shape());
}

Value GraphBuilder::Cast(const Value& x, DataType type)
{
    if (x.Type() == type)
    {
        return x;
    }
    std::optional<Numbers> converted;
    if (const Numbers* const numbers = type == DataType::Unsigned64 ? nullptr : NumbersOf(x))
    {
        converted.emplace();
        for (const Number& number : *numbers)
        {
            converted->push_back(Convert(number, x.Type(), type));
        }
    }
    return KnownOr(type, x.Shape(), std::move(converted),
                   [&] { return AddLayer(LayerType::Cast, NullDescriptor(), {x}, type, x.Shape()); });
}

Value GraphBuilder::WithNumber(BinaryOperation operation, const Value& x, double number)
{
    return Binary(operation, x, Scalar(x.Type(), number));
}

Value GraphBuilder::NumberWith(BinaryOperation operation, double number, const Value& x)
{
    return Binary(operation, Scalar(x.Type(), number), x);
}

// Shapes and order.

Value GraphBuilder::ShapeOf(const Value& x)
{
    const TensorShape shape = x.HasRank() ? ToShape({int64_t{x.Rank()}}) : TensorShape(1, false);
    std::optional<Numbers> numbers;
    if (x.HasRank())
    {
        numbers.emplace();
        for (const int64_t size : x.Sizes())
        {
            numbers->push_back(size == OpenSize ? Number() : Number::Of(size));
        }
    }
    return KnownOr(DataType::Signed64, shape, std::move(numbers),
                   [&] { return AddLayer(LayerType::Shape, NullDescriptor(), {x}, DataType::Signed64, shape); });
}

Value GraphBuilder::Reshape(const Value& x, const std::vector<int64_t>& sizes)
{
    std::vector<int64_t> target = sizes;
    const auto open = std::count(sizes.begin(), sizes.end(), OpenSize);
    if (open > 1)
    {
        throw ParseException(fmt::format("a shape has {} sizes of -1; one can be computed", open));
    }
    if (x.HasSizes())
    {
        const uint64_t elements = x.Shape().GetNumElements64();
        for (int64_t& size : target)
        {
            if (size == OpenSize)
            {
                std::vector<int64_t> others = target;
                others[static_cast<size_t>(&size - target.data())] = 1;
                const uint64_t rest = Product(others);
                size = rest != 0 && elements % rest == 0 ? static_cast<int64_t>(elements / rest) : 0;
            }
        }
        if (Product(target) != elements)
        {
            throw ParseException(fmt::format("a tensor of shape {} cannot have the shape {}", x.Shape().ToString(),
                                             ToShape(sizes).ToString()));
        }
        if (x.Sizes() == target)
        {
            return x;
        }
        if (const Numbers* const numbers = NumbersOf(x))
        {
            if (IsFullyKnown(*numbers))
            {
                return Known(x.Type(), target, *numbers);
            }
        }
    }
    Value result = AddLayer(LayerType::Reshape, ReshapeDescriptor(ToShape(sizes)), {x}, x.Type(), ToShape(target));
    if (const Numbers* const numbers = NumbersOf(x); numbers != nullptr && result.HasSizes())
    {
        result.GetState()->m_Numbers = *numbers;
    }
    return result;
}

Value GraphBuilder::ReshapeTo(const Value& x, const Value& shape)
{
    const auto sizes = FindSizes(shape);
    if (sizes.has_value())
    {
        const auto wrong = std::find_if(sizes->begin(), sizes->end(), [](int64_t size) { return size < OpenSize; });
        if (wrong != sizes->end())
        {
            throw ParseException(fmt::format("a shape has the size {}; sizes are -1 at least", *wrong));
        }
        // A size that alone is not known is the one that fits.
        if (std::count(sizes->begin(), sizes->end(), OpenSize) <= 1)
        {
            return Reshape(x, *sizes);
        }
    }
    ReshapeDescriptor descriptor;
    descriptor.m_ParametersAsInputs = true;
    return AddLayer(LayerType::Reshape, descriptor, {x, shape}, x.Type(),
                    sizes.has_value() ? ToShape(*sizes) : OpenShape(shape.Size(0)));
}

Value GraphBuilder::Squeeze(const Value& x, const std::vector<unsigned int>& axes)
{
    std::vector<int64_t> sizes;
    const std::vector<int64_t> old = x.Sizes();
    for (unsigned int i = 0; i < old.size(); ++i)
    {
        const bool isDropped = std::find(axes.begin(), axes.end(), i) != axes.end();
        if (isDropped && old[i] != 1 && old[i] != OpenSize)
        {
            throw ParseException(
                fmt::format("dimension {} of shape {} cannot be dropped: its size is not 1", i, x.Shape().ToString()));
        }
        if (!isDropped)
        {
            sizes.push_back(old[i]);
        }
    }
    if (axes.empty() || std::count(sizes.begin(), sizes.end(), OpenSize) <= 1)
    {
        return axes.empty() ? x : Reshape(x, sizes);
    }
    SqueezeDescriptor descriptor;
    descriptor.m_Axis.assign(axes.begin(), axes.end());
    return AddLayer(LayerType::Squeeze, descriptor, {x}, x.Type(), ToShape(sizes));
}

Value GraphBuilder::Unsqueeze(const Value& x, const std::vector<unsigned int>& axes)
{
    const std::vector<int64_t> old = x.Sizes();
    std::vector<int64_t> sizes(old.size() + axes.size(), 0);
    for (const unsigned int axis : axes)
    {
        sizes.at(axis) = 1;
    }
    size_t next = 0;
    for (int64_t& size : sizes)
    {
        size = size == 1 ? 1 : old[next++];
    }
    if (std::count(sizes.begin(), sizes.end(), OpenSize) <= 1)
    {
        return Reshape(x, sizes);
    }
    std::vector<unsigned int> sorted = axes;
    std::sort(sorted.begin(), sorted.end());
    Value result = x;
    for (const unsigned int axis : sorted)
    {
        std::vector<int64_t> shape = result.Sizes();
        shape.insert(shape.begin() + axis, 1);
        ExpandDimsDescriptor descriptor;
        descriptor.m_Axis = static_cast<int32_t>(axis);
        result = AddLayer(LayerType::ExpandDims, descriptor, {result}, x.Type(), ToShape(shape));
    }
    return result;
}

Value GraphBuilder::Transpose(const Value& x, const std::vector<unsigned int>& permutation)
{
    if (std::is_sorted(permutation.begin(), permutation.end()))
    {
        return x;
    }
    const std::vector<int64_t> old = x.Sizes();
    std::vector<int64_t> sizes;
    for (const unsigned int from : permutation)
    {
        sizes.push_back(old.at(from));
    }
    if (const Numbers* const known = NumbersOf(x); known != nullptr && IsFullyKnown(*known))
    {
        const std::vector<int64_t> oldStrides = Strides(x.Shape());
        std::vector<int64_t> strides;
        for (const unsigned int from : permutation)
        {
            strides.push_back(oldStrides[from]);
        }
        return Known(x.Type(), sizes, Take(*known, StridedIndices(sizes, 0, strides)));
    }
    const TransposeDescriptor descriptor(
        PermutationVector(permutation.data(), static_cast<unsigned int>(permutation.size())));
    return AddLayer(LayerType::Transpose, descriptor, {x}, x.Type(), ToShape(sizes));
}

Value GraphBuilder::Concat(const std::vector<Value>& values, unsigned int axis)
{
    if (values.size() == 1)
    {
        return values.front();
    }
    std::vector<int64_t> sizes = values.front().Sizes();
    if (axis >= sizes.size())
    {
        throw ParseException(fmt::format("axis {} is outside of shape {}", axis, values.front().Shape().ToString()));
    }
    sizes[axis] = 0;
    for (const Value& value : values)
    {
        CheckSameType(values.front(), value);
        const std::vector<int64_t> others = value.Sizes();
        if (others.size() != sizes.size())
        {
            throw ParseException(fmt::format("shapes {} and {} have different ranks", values.front().Shape().ToString(),
                                             value.Shape().ToString()));
        }
        for (size_t i = 0; i < sizes.size(); ++i)
        {
            if (i == axis)
            {
                sizes[i] = sizes[i] == OpenSize || others[i] == OpenSize ? OpenSize : sizes[i] + others[i];
                continue;
            }
            if (sizes[i] != OpenSize && others[i] != OpenSize && sizes[i] != others[i])
            {
                throw ParseException(fmt::format("shapes {} and {} cannot be joined along axis {}",
                                                 values.front().Shape().ToString(), value.Shape().ToString(), axis));
            }
            sizes[i] = sizes[i] == OpenSize ? others[i] : sizes[i];
        }
    }
    const TensorShape joined = ToShape(sizes);
    const bool hasNumbers =
        joined.AreAllDimensionsSpecified() && joined.GetNumElements64() <= MaxNumbers &&
        std::all_of(values.begin(), values.end(), [](const Value& value) { return NumbersOf(value) != nullptr; });
    std::optional<Numbers> numbers;
    if (hasNumbers)
    {
        numbers.emplace(joined.GetNumElements64());
        const std::vector<int64_t> strides = Strides(joined);
        int64_t first = 0;
        for (const Value& value : values)
        {
            const Numbers& part = *NumbersOf(value);
            const std::vector<size_t> places = StridedIndices(value.Sizes(), first, strides);
            for (size_t i = 0; i < part.size(); ++i)
            {
                (*numbers)[places[i]] = part[i];
            }
            first += value.Size(axis) * strides[axis];
        }
    }
    const DataType type = values.front().Type();
    return KnownOr(type, joined, std::move(numbers),
                   [&]
                   {
                       ConcatDescriptor descriptor(static_cast<uint32_t>(values.size()),
                                                   static_cast<uint32_t>(sizes.size()));
                       descriptor.SetConcatAxis(axis);
                       return AddLayer(LayerType::Concat, descriptor, values, type, joined);
                   });
}

Value GraphBuilder::Slice(const Value& x, const std::vector<int64_t>& starts, const std::vector<int64_t>& ends,
                          const std::vector<unsigned int>& axes, const std::vector<int64_t>& steps)
{
    constexpr int64_t lowest = std::numeric_limits<int>::min();
    constexpr int64_t highest = std::numeric_limits<int>::max();
    const unsigned int rank = x.Rank();
    StridedSliceDescriptor descriptor(std::vector<int>(rank, 0), std::vector<int>(rank, 0), std::vector<int>(rank, 1));
    descriptor.m_BeginMask = static_cast<int32_t>((1U << rank) - 1U);
    descriptor.m_EndMask = descriptor.m_BeginMask;
    std::vector<int64_t> sizes = x.Sizes();
    std::vector<int64_t> begins(rank, 0);
    bool isWhole = true;
    for (size_t i = 0; i < axes.size(); ++i)
    {
        const unsigned int axis = axes[i];
        const int64_t step = std::clamp(steps[i], lowest, highest);
        if (step == 0)
        {
            throw ParseException("a slice has step 0");
        }
        const auto bit = static_cast<int32_t>(1U << axis);
        descriptor.m_Begin[axis] = static_cast<int>(std::clamp(starts[i], lowest, highest));
        descriptor.m_End[axis] = static_cast<int>(std::clamp(ends[i], lowest, highest));
        descriptor.m_Stride[axis] = static_cast<int>(step);
        descriptor.m_BeginMask &= ~bit;
        descriptor.m_EndMask &= ~bit;
        const int64_t size = sizes[axis];
        const bool takesAll =
            step == 1 && starts[i] == 0 && (ends[i] >= highest || (size != OpenSize && ends[i] >= size));
        isWhole = isWhole && takesAll;
        if (takesAll)
        {
            continue;
        }
        if (size != OpenSize)
        {
            const int64_t low = step > 0 ? 0 : -1;
            const int64_t high = step > 0 ? size : size - 1;
            const auto toEdge = [&](int64_t index)
            {
                const int64_t bounded = std::max(index, -highest);
                return std::clamp(bounded < 0 ? bounded + size : bounded, low, high);
            };
            begins[axis] = toEdge(starts[i]);
            const int64_t length = (toEdge(ends[i]) - begins[axis]) * (step > 0 ? 1 : -1);
            sizes[axis] = length <= 0 ? 0 : (length - 1) / std::abs(step) + 1;
            continue;
        }
        sizes[axis] = starts[i] >= 0 && ends[i] >= 0 && ends[i] <= starts[i] && step > 0 ? 0 : OpenSize;
    }
    if (isWhole)
    {
        return x;
    }
    const TensorShape shape = ToShape(sizes);
    std::optional<Numbers> numbers;
    if (const Numbers* const known = NumbersOf(x))
    {
        std::vector<int64_t> strides = Strides(x.Shape());
        int64_t first = 0;
        for (unsigned int axis = 0; axis < rank; ++axis)
        {
            first += begins[axis] * strides[axis];
            strides[axis] *= descriptor.m_Stride[axis];
        }
        numbers = Take(*known, StridedIndices(sizes, first, strides));
    }
    return KnownOr(x.Type(), shape, std::move(numbers),
                   [&] { return AddLayer(LayerType::StridedSlice, descriptor, {x}, x.Type(), shape); });
}

Value GraphBuilder::Slice(const Value& x, unsigned int axis, int64_t start, int64_t end)
{
    return Slice(x, {start}, {end}, {axis}, {1});
}

Value GraphBuilder::Gather(const Value& x, const Value& indices, unsigned int axis)
{
    std::vector<int64_t> sizes = x.Sizes();
    if (axis >= sizes.size())
    {
        throw ParseException(fmt::format("axis {} is outside of shape {}", axis, x.Shape().ToString()));
    }
    const int64_t size = sizes[axis];
    const std::vector<int64_t> indexSizes = indices.Sizes();
    sizes.erase(sizes.begin() + axis);
    sizes.insert(sizes.begin() + axis, indexSizes.begin(), indexSizes.end());
    const Numbers* const known = NumbersOf(x);
    const auto places = indices.FindInts();
    std::optional<Numbers> numbers;
    const TensorShape gathered = ToShape(sizes);
    if (known != nullptr && places.has_value() && gathered.AreAllDimensionsSpecified() &&
        gathered.GetNumElements64() <= MaxNumbers)
    {
        std::vector<int64_t> slice = x.Sizes();
        slice[axis] = 1;
        const std::vector<int64_t> fromStrides = Strides(x.Shape());
        std::vector<int64_t> row = x.Sizes();
        row[axis] = static_cast<int64_t>(places->size());
        const std::vector<int64_t> toStrides = Strides(ToShape(row));
        numbers.emplace(gathered.GetNumElements64());
        for (size_t i = 0; i < places->size(); ++i)
        {
            const int64_t place = (*places)[i];
            if (place < -size || place >= size)
            {
                throw ParseException(fmt::format("index {} is outside of a dimension of {} elements", place, size));
            }
            const std::vector<size_t> from =
                StridedIndices(slice, (place < 0 ? place + size : place) * fromStrides[axis], fromStrides);
            const std::vector<size_t> to = StridedIndices(slice, static_cast<int64_t>(i) * toStrides[axis], toStrides);
            for (size_t k = 0; k < from.size(); ++k)
            {
                (*numbers)[to[k]] = (*known)[from[k]];
            }
        }
    }
    return KnownOr(x.Type(), gathered, std::move(numbers),
                   [&]
                   {
                       GatherDescriptor descriptor(static_cast<int32_t>(axis));
                       descriptor.m_NegativeIndices = true;
                       return AddLayer(LayerType::Gather, descriptor, {x, indices}, x.Type(), gathered);
                   });
}

Value GraphBuilder::Put(const Value& numbers, const Value& places, const Value& updates)
{
    return AddLayer(LayerType::ScatterElements, ScatterElementsDescriptor(0), {numbers, places, updates},
                    numbers.Type(), numbers.Shape());
}

Value GraphBuilder::BroadcastTo(const Value& x, const std::vector<int64_t>& sizes)
{
    if (x.HasSizes() && x.Sizes() == sizes)
    {
        return x;
    }
    const TensorShape shape = ToShape(sizes);
    if (const Numbers* const numbers = NumbersOf(x);
        numbers != nullptr && IsFullyKnown(*numbers) && shape.GetNumElements64() <= MaxNumbers)
    {
        if (BroadcastSizes(x.Sizes(), sizes) != sizes)
        {
            throw ParseException(
                fmt::format("a tensor of shape {} cannot be broadcast to {}", x.Shape().ToString(), shape.ToString()));
        }
        return Known(x.Type(), sizes, Take(*numbers, BroadcastIndices(x.Shape(), shape)));
    }
    return AddLayer(LayerType::BroadcastTo, BroadcastToDescriptor(shape), {x}, x.Type(), shape);
}

Value GraphBuilder::BroadcastTo(const Value& x, const Value& shape)
{
    if (const auto known = shape.FindInts())
    {
        return BroadcastTo(x, *known);
    }
    BroadcastToDescriptor descriptor;
    descriptor.m_ParametersAsInputs = true;
    const auto sizes = FindSizes(shape);
    return AddLayer(LayerType::BroadcastTo, descriptor, {x, shape}, x.Type(),
                    sizes.has_value() ? ToShape(*sizes) : OpenShape(shape.Size(0)));
}

Value GraphBuilder::Fill(const Value& shape, const Value& value)
{
    return BroadcastTo(AsScalar(value), shape);
}

// Sums and products.

Value GraphBuilder::Reduce(ReduceOperation operation, const Value& x, const std::vector<unsigned int>& axes,
                           bool keepDims)
{
    std::vector<int64_t> sizes;
    const std::vector<int64_t> old = x.Sizes();
    for (unsigned int i = 0; i < old.size(); ++i)
    {
        const bool isReduced = std::find(axes.begin(), axes.end(), i) != axes.end();
        if (!isReduced || keepDims)
        {
            sizes.push_back(isReduced ? 1 : old[i]);
        }
    }
    if (const Numbers* const numbers = NumbersOf(x))
    {
        auto results = ComputeReduction(operation, x.Type(), x.Shape(), *numbers, axes);
        if (results.has_value() && IsFullyKnown(*results))
        {
            return Known(x.Type(), sizes, std::move(*results));
        }
    }
    const bool isEmpty = x.HasSizes() && x.Shape().GetNumElements64() == 0;
    const bool isExtreme = operation == ReduceOperation::Max || operation == ReduceOperation::Min;
    if (isEmpty && isExtreme && x.IsFloat() && ToShape(sizes).GetNumElements64() != 0)
    {
        // Of no element: what is below, or above, all others.
        const double infinity = std::numeric_limits<double>::infinity();
        return BroadcastTo(Scalar(x.Type(), operation == ReduceOperation::Max ? -infinity : infinity), sizes);
    }
    if (axes.empty())
    {
        return x; // of a scalar, or of no dimension at all: the descriptors take an empty list for all
    }
    if (operation == ReduceOperation::Mean)
    {
        return AddLayer(LayerType::Mean, MeanDescriptor(axes, keepDims), {x}, x.Type(), ToShape(sizes));
    }
    ReduceDescriptor descriptor;
    descriptor.m_KeepDims = keepDims;
    descriptor.m_vAxis.assign(axes.begin(), axes.end());
    descriptor.m_ReduceOperation = operation;
    return AddLayer(LayerType::Reduce, descriptor, {x}, x.Type(), ToShape(sizes));
}

Value GraphBuilder::ReduceAtRun(ReduceOperation operation, const Value& x, const Value& axes, bool keepDims)
{
    TensorShape shape;
    if (keepDims)
    {
        shape = TensorShape(x.Rank(), false);
    }
    else if (axes.Size(0) != OpenSize && axes.Size(0) <= x.Rank())
    {
        shape = ToShape(std::vector<int64_t>(x.Rank() - static_cast<size_t>(axes.Size(0)), OpenSize));
    }
    if (operation == ReduceOperation::Mean)
    {
        MeanDescriptor descriptor({}, keepDims);
        descriptor.m_ParametersAsInputs = true;
        return AddLayer(LayerType::Mean, descriptor, {x, axes}, x.Type(), shape);
    }
    ReduceDescriptor descriptor;
    descriptor.m_KeepDims = keepDims;
    descriptor.m_ReduceOperation = operation;
    descriptor.m_ParametersAsInputs = true;
    return AddLayer(LayerType::Reduce, descriptor, {x, axes}, x.Type(), shape);
}

Value GraphBuilder::MatMul(const Value& a, const Value& b, bool transposeA, bool transposeB,
                           std::optional<DataType> type)
{
    CheckSameType(a, b);
    BatchMatMulDescriptor descriptor;
    descriptor.m_TransposeX = transposeA;
    descriptor.m_TransposeY = transposeB;
    std::vector<int64_t> left = a.Sizes();
    std::vector<int64_t> right = b.Sizes();
    if (left.size() < 2 || right.size() < 2)
    {
        throw ParseException(
            fmt::format("shapes {} and {} are no matrices", a.Shape().ToString(), b.Shape().ToString()));
    }
    const int64_t rows = left[left.size() - (transposeA ? 1 : 2)];
    const int64_t columns = right[right.size() - (transposeB ? 2 : 1)];
    left.resize(left.size() - 2);
    right.resize(right.size() - 2);
    std::vector<int64_t> sizes = BroadcastSizes(std::move(left), std::move(right));
    sizes.push_back(rows);
    sizes.push_back(columns);
    return AddLayer(LayerType::BatchMatMul, descriptor, {a, b}, type.value_or(a.Type()), ToShape(sizes));
}

} // namespace tenon::onnx
