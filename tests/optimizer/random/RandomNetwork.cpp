// SPDX-License-Identifier: Apache-2.0
// RandomNetwork: see RandomNetwork.hpp.
#include "optimizer/random/RandomNetwork.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace tenon::test
{

namespace
{

constexpr float MaxExact = 256.0f;  // sums of inputs, which are multiples of 2^-13, are exact up to 2^10
constexpr float MaxBound = 1000.0f; // larger values are not read on
constexpr unsigned int MaxElements = 4096;

void Connect(IOutputSlot& from, IConnectableLayer* to, unsigned int input = 0)
{
    from.Connect(to->GetInputSlot(input));
}

/// The same values whoever makes them.
float Grid(unsigned int roll)
{
    return static_cast<float>(static_cast<int>(roll) - 8) / 4.0f;
}

} // namespace

std::vector<RandomNetwork::Kind>& RandomNetwork::Registered()
{
    static std::vector<Kind> kinds;
    return kinds;
}

const std::vector<RandomNetwork::Kind>& RandomNetwork::Table()
{
    // By name: the order of registration is the linker's, and a seed gives one network everywhere.
    static const std::vector<Kind> table = []
    {
        std::vector<Kind> kinds = Registered();
        std::sort(kinds.begin(), kinds.end(), [](const Kind& a, const Kind& b) { return a.m_Name < b.m_Name; });
        return kinds;
    }();
    return table;
}

std::vector<std::string> RandomNetwork::AllKinds()
{
    std::vector<std::string> names;
    for (const Kind& kind : Table())
    {
        names.push_back(kind.m_Name);
    }
    return names;
}

RandomNetwork::RandomNetwork(uint32_t seed, unsigned int numLayers) : m_Random(seed), m_Network(INetwork::Create())
{
    const unsigned int numInputs = 1 + Roll(3);
    for (unsigned int i = 0; i < numInputs; ++i)
    {
        const TensorShape shapes[] = {{1, 4, 4, 3}, {2, 4, 6, 4}, {3, 5}, {2, 3, 4}, {8}};
        m_InputShapes.push_back(shapes[Roll(5)]);
        const InputDescriptor descriptor(seed % 2 != 0); // whether passes may rely on the sizes
        IConnectableLayer* input =
            m_Network->AddInputLayer(static_cast<LayerBindingId>(i), descriptor, ("input" + std::to_string(i)).c_str());
        input->GetOutputSlot(0).SetTensorInfo(TensorInfo(m_InputShapes.back(), DataType::Float32));
        m_Tensors.push_back({&input->GetOutputSlot(0), m_InputShapes.back(), DataType::Float32, true, 4.0f});
    }
    unsigned int made = 0;
    for (unsigned int tries = 0; made < numLayers && tries < numLayers * 20; ++tries)
    {
        const Kind& kind = Table()[Roll(static_cast<unsigned int>(Table().size()))];
        m_Name = kind.m_Name + std::to_string(made);
        if ((this->*kind.m_Make)())
        {
            m_Kinds.push_back(kind.m_Name);
            ++made;
        }
    }
    // What nobody reads is an output, and so is now and then what others read too.
    LayerBindingId id = 0;
    for (const Tensor& tensor : m_Tensors)
    {
        if (tensor.m_Slot->GetNumConnections() == 0 || Roll(10) == 0)
        {
            Connect(*tensor.m_Slot, m_Network->AddOutputLayer(id, ("output" + std::to_string(id)).c_str()));
            ++id;
        }
    }
    for (IOutputSlot* slot : m_Unread)
    {
        if (slot->GetNumConnections() == 0 || Roll(4) == 0)
        {
            Connect(*slot, m_Network->AddOutputLayer(id, ("output" + std::to_string(id)).c_str()));
            ++id;
        }
    }
}

const RandomNetwork::Tensor* RandomNetwork::Find(const std::function<bool(const Tensor&)>& fits)
{
    std::vector<const Tensor*> found;
    for (const Tensor& tensor : m_Tensors)
    {
        if (fits(tensor))
        {
            found.push_back(&tensor);
        }
    }
    return found.empty() ? nullptr : found[Roll(static_cast<unsigned int>(found.size()))];
}

const RandomNetwork::Tensor* RandomNetwork::FindFloat(bool exact, unsigned int rank)
{
    return Find(
        [&](const Tensor& t)
        {
            return t.m_Type == DataType::Float32 && (!exact || t.m_IsExact) &&
                   (rank == 0 || t.m_Shape.GetNumDimensions() == rank) && t.m_Bound <= MaxBound;
        });
}

const RandomNetwork::Tensor* RandomNetwork::FindType(DataType type, unsigned int rank)
{
    return Find([&](const Tensor& t)
                { return t.m_Type == type && (rank == 0 || t.m_Shape.GetNumDimensions() == rank); });
}

void RandomNetwork::Finish(IConnectableLayer* layer, const std::vector<Tensor>& inputs, DataType type, bool exact,
                           float bound, float scale, int32_t zeroPoint)
{
    std::vector<TensorShape> shapes;
    for (unsigned int i = 0; i < inputs.size(); ++i)
    {
        Connect(*inputs[i].m_Slot, layer, i);
        shapes.push_back(inputs[i].m_Shape);
    }
    const std::vector<TensorShape> outputs = layer->InferOutputShapes(shapes);
    for (unsigned int k = 0; k < layer->GetNumOutputSlots(); ++k)
    {
        IOutputSlot& slot = layer->GetOutputSlot(k);
        slot.SetTensorInfo(TensorInfo(outputs[k], type, scale, zeroPoint));
        if (outputs[k].GetNumElements() <= MaxElements)
        {
            m_Tensors.push_back({&slot, outputs[k], type, exact, bound});
        }
        else
        {
            m_Tensors.push_back({&slot, outputs[k], type, false, MaxBound * 2});
        }
    }
}

void RandomNetwork::FinishAs(IConnectableLayer* layer, const std::vector<Tensor>& inputs,
                             const std::vector<Made>& outputs)
{
    for (unsigned int i = 0; i < inputs.size(); ++i)
    {
        if (inputs[i].m_Slot != nullptr)
        {
            Connect(*inputs[i].m_Slot, layer, i);
        }
    }
    for (unsigned int k = 0; k < outputs.size(); ++k)
    {
        const Made& made = outputs[k];
        IOutputSlot& slot = layer->GetOutputSlot(k);
        slot.SetTensorInfo(TensorInfo(made.m_Shape, made.m_Type, made.m_Scale, made.m_ZeroPoint));
        if (!made.m_Shape.AreAllDimensionsSpecified() || made.m_Shape.GetNumDimensions() == 0)
        {
            m_Unread.push_back(&slot);
            continue;
        }
        const bool isLarge = made.m_Shape.GetNumElements() > MaxElements;
        m_Tensors.push_back(
            {&slot, made.m_Shape, made.m_Type, made.m_IsExact && !isLarge, isLarge ? MaxBound * 2 : made.m_Bound});
    }
}

void RandomNetwork::Move(IConnectableLayer* layer, const Tensor& input, float bound)
{
    const TensorInfo& info = input.m_Slot->GetTensorInfo();
    Finish(layer, {input}, input.m_Type, input.m_IsExact, bound < 0 ? input.m_Bound : bound,
           info.IsQuantized() ? info.GetQuantizationScale() : 0.0f,
           info.IsQuantized() ? info.GetQuantizationOffset() : 0);
}

RandomNetwork::Tensor RandomNetwork::AddBytes(const TensorInfo& info, const void* values)
{
    auto owner = std::make_shared<std::vector<std::byte>>(info.GetNumBytes());
    std::memcpy(owner->data(), values, owner->size());
    IConnectableLayer* layer =
        m_Network->AddConstantLayer(ConstTensor(info, owner->data()), owner, (m_Name + "/values").c_str());
    return {&layer->GetOutputSlot(0), info.GetShape(), info.GetDataType(), true, 0.0f};
}

RandomNetwork::Tensor RandomNetwork::AddFloats(const TensorShape& shape, std::vector<float> values, bool exact,
                                               float bound)
{
    auto owner = std::make_shared<std::vector<float>>(std::move(values));
    const TensorInfo info(shape, DataType::Float32, 0.0f, 0, true);
    IConnectableLayer* layer =
        m_Network->AddConstantLayer(ConstTensor(info, owner->data()), owner, (m_Name + "/constant").c_str());
    return {&layer->GetOutputSlot(0), shape, DataType::Float32, exact, bound};
}

RandomNetwork::Tensor RandomNetwork::Constant(const TensorShape& shape, float bound, bool exact)
{
    std::vector<float> values(shape.GetNumElements());
    for (float& value : values)
    {
        value = exact ? Grid(Roll(17)) : static_cast<float>(Roll(2001)) / 1000.0f * bound - bound;
    }
    return AddFloats(shape, std::move(values), exact, exact ? 2.0f : bound);
}

RandomNetwork::Tensor RandomNetwork::Scalar(float value)
{
    return AddFloats(TensorShape({1}), {value}, false, value);
}

RandomNetwork::Tensor RandomNetwork::Ints(const std::vector<int32_t>& values, const TensorShape& shape)
{
    auto owner = std::make_shared<std::vector<int32_t>>(values);
    IConnectableLayer* layer =
        m_Network->AddConstantLayer(ConstTensor(TensorInfo(shape, DataType::Signed32, 0.0f, 0, true), owner->data()),
                                    owner, (m_Name + "/ints").c_str());
    return {&layer->GetOutputSlot(0), shape, DataType::Signed32, true, 0.0f};
}

std::vector<unsigned int> RandomNetwork::RandomAxes(unsigned int rank)
{
    std::vector<unsigned int> axes;
    for (unsigned int axis = 0; axis < rank; ++axis)
    {
        if (Flip())
        {
            axes.push_back(axis);
        }
    }
    return axes.empty() ? std::vector<unsigned int>{rank - 1} : axes;
}

// Elementwise

TENON_RANDOM_KIND(Activation)
{
    const Tensor* x = FindFloat();
    if (x == nullptr)
    {
        return false;
    }
    const ActivationFunction functions[] = {ActivationFunction::ReLu, ActivationFunction::BoundedReLu,
                                            ActivationFunction::Abs};
    ActivationDescriptor descriptor(functions[Roll(3)], 6.0f, Flip() ? 0.0f : -1.0f);
    Move(m_Network->AddActivationLayer(descriptor, m_Name.c_str()), *x, std::max(x->m_Bound, 6.0f));
    return true;
}

TENON_RANDOM_KIND(SmoothActivation)
{
    const Tensor* x = FindFloat();
    if (x == nullptr)
    {
        return false;
    }
    const ActivationFunction functions[] = {ActivationFunction::Sigmoid,   ActivationFunction::TanH,
                                            ActivationFunction::HardSwish, ActivationFunction::Elu,
                                            ActivationFunction::Swish,     ActivationFunction::Mish};
    const Tensor input = *x;
    Finish(m_Network->AddActivationLayer(ActivationDescriptor(functions[Roll(6)], 1.0f, 1.0f), m_Name.c_str()), {input},
           DataType::Float32, false, input.m_Bound);
    return true;
}

TENON_RANDOM_KIND(Unary)
{
    const Tensor* x = FindFloat();
    if (x == nullptr)
    {
        return false;
    }
    const UnaryOperation operation = Flip() ? UnaryOperation::Abs : UnaryOperation::Neg;
    Move(m_Network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(operation), m_Name.c_str()), *x);
    return true;
}

TENON_RANDOM_KIND(SmoothUnary)
{
    const Tensor* x = FindFloat();
    if (x == nullptr || x->m_Bound > 8.0f)
    {
        return false;
    }
    const Tensor input = *x;
    const bool isSin = Flip();
    Finish(m_Network->AddElementwiseUnaryLayer(
               ElementwiseUnaryDescriptor(isSin ? UnaryOperation::Sin : UnaryOperation::Exp), m_Name.c_str()),
           {input}, DataType::Float32, false, isSin ? 1.0f : std::exp(input.m_Bound));
    return true;
}

TENON_RANDOM_KIND(Round)
{
    const Tensor* x = FindFloat(true);
    if (x == nullptr)
    {
        return false;
    }
    Move(m_Network->AddElementwiseUnaryLayer(
             ElementwiseUnaryDescriptor(Flip() ? UnaryOperation::Ceil : UnaryOperation::Round), m_Name.c_str()),
         *x, x->m_Bound + 1.0f);
    return true;
}

TENON_RANDOM_KIND(AddOrSub)
{
    const Tensor* x = FindFloat();
    const Tensor* y =
        x == nullptr
            ? nullptr
            : Find([&](const Tensor& t)
                   { return t.m_Type == DataType::Float32 && t.m_Shape == x->m_Shape && t.m_Bound <= MaxBound; });
    if (y == nullptr)
    {
        return false;
    }
    const std::vector<Tensor> inputs = {*x, *y};
    const float bound = x->m_Bound + y->m_Bound;
    Finish(m_Network->AddElementwiseBinaryLayer(
               ElementwiseBinaryDescriptor(Flip() ? BinaryOperation::Add : BinaryOperation::Sub), m_Name.c_str()),
           inputs, DataType::Float32, x->m_IsExact && y->m_IsExact && bound <= MaxExact, bound);
    return true;
}

TENON_RANDOM_KIND(MinOrMax)
{
    const Tensor* x = FindFloat();
    const Tensor* y =
        x == nullptr ? nullptr
                     : Find([&](const Tensor& t) { return t.m_Type == DataType::Float32 && t.m_Shape == x->m_Shape; });
    if (y == nullptr)
    {
        return false;
    }
    const std::vector<Tensor> inputs = {*x, *y};
    Finish(
        m_Network->AddElementwiseBinaryLayer(
            ElementwiseBinaryDescriptor(Flip() ? BinaryOperation::Minimum : BinaryOperation::Maximum), m_Name.c_str()),
        inputs, DataType::Float32, x->m_IsExact && y->m_IsExact, std::max(x->m_Bound, y->m_Bound));
    return true;
}

TENON_RANDOM_KIND(Multiply)
{
    const Tensor* x = FindFloat();
    const Tensor* y =
        x == nullptr ? nullptr
                     : Find([&](const Tensor& t)
                            { return t.m_Type == DataType::Float32 && t.m_Shape == x->m_Shape && t.m_Bound <= 8.0f; });
    if (y == nullptr)
    {
        return false;
    }
    const std::vector<Tensor> inputs = {*x, *y};
    Finish(m_Network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Mul), m_Name.c_str()),
           inputs, DataType::Float32, false, x->m_Bound * y->m_Bound);
    return true;
}

TENON_RANDOM_KIND(Clamp)
{
    const Tensor* x = FindFloat();
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    const Tensor low = Constant(TensorShape({1}), 1.0f, true);
    const Tensor high = Constant(TensorShape({1}), 1.0f, true);
    const bool minFirst = Flip();
    const auto add = [&](BinaryOperation operation)
    { return m_Network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(operation), m_Name.c_str()); };
    Finish(add(minFirst ? BinaryOperation::Minimum : BinaryOperation::Maximum), {input, low}, DataType::Float32,
           input.m_IsExact, std::max(input.m_Bound, 2.0f));
    const Tensor middle = m_Tensors.back();
    Finish(add(minFirst ? BinaryOperation::Maximum : BinaryOperation::Minimum),
           Flip() ? std::vector<Tensor>{middle, high} : std::vector<Tensor>{high, middle}, DataType::Float32,
           input.m_IsExact, std::max(input.m_Bound, 2.0f));
    return true;
}

TENON_RANDOM_KIND(ScaleShift)
{
    const Tensor* x = FindFloat();
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    const TensorShape channels({input.m_Shape[input.m_Shape.GetNumDimensions() - 1]});
    Finish(m_Network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Mul), m_Name.c_str()),
           {input, Constant(channels, 1.0f, false)}, DataType::Float32, false, input.m_Bound);
    const Tensor scaled = m_Tensors.back();
    Finish(m_Network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Add), m_Name.c_str()),
           {scaled, Constant(channels, 1.0f, false)}, DataType::Float32, false, input.m_Bound + 1.0f);
    return true;
}

TENON_RANDOM_KIND(BroadcastAdd)
{
    const Tensor* x = FindFloat();
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    std::vector<unsigned int> sizes;
    for (unsigned int i = Roll(2); i < input.m_Shape.GetNumDimensions(); ++i)
    {
        sizes.push_back(Flip() ? 1 : input.m_Shape[i]);
    }
    if (sizes.empty())
    {
        sizes.push_back(1);
    }
    const Tensor other = Constant(TensorShape(static_cast<unsigned int>(sizes.size()), sizes.data()), 2.0f, true);
    const float bound = input.m_Bound + 2.0f;
    Finish(m_Network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Add), m_Name.c_str()),
           Flip() ? std::vector<Tensor>{input, other} : std::vector<Tensor>{other, input}, DataType::Float32,
           input.m_IsExact && bound <= MaxExact, bound);
    return true;
}

// Comparisons and integers

TENON_RANDOM_KIND(Compare)
{
    const Tensor* x = FindFloat(true);
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    Finish(m_Network->AddComparisonLayer(
               ComparisonDescriptor(Flip() ? ComparisonOperation::Greater : ComparisonOperation::LessOrEqual),
               m_Name.c_str()),
           {input, Constant(TensorShape({1}), 1.0f, true)}, DataType::Boolean, true, 1.0f);
    return true;
}

TENON_RANDOM_KIND(Logic)
{
    const Tensor* x = FindType(DataType::Boolean);
    const Tensor* y =
        x == nullptr ? nullptr
                     : Find([&](const Tensor& t) { return t.m_Type == DataType::Boolean && t.m_Shape == x->m_Shape; });
    if (y == nullptr)
    {
        return false;
    }
    const std::vector<Tensor> inputs = {*x, *y};
    Finish(m_Network->AddLogicalBinaryLayer(
               LogicalBinaryDescriptor(Flip() ? LogicalBinaryOperation::LogicalAnd : LogicalBinaryOperation::LogicalOr),
               m_Name.c_str()),
           inputs, DataType::Boolean, true, 1.0f);
    return true;
}

TENON_RANDOM_KIND(Select)
{
    const Tensor* condition = FindType(DataType::Boolean);
    const auto fits = [&](const Tensor& t) { return t.m_Type == DataType::Float32 && t.m_Shape == condition->m_Shape; };
    const Tensor* x = condition == nullptr ? nullptr : Find(fits);
    const Tensor* y = condition == nullptr ? nullptr : Find(fits);
    if (x == nullptr || y == nullptr)
    {
        return false;
    }
    const std::vector<Tensor> inputs = {*condition, *x, *y};
    Finish(m_Network->AddSelectLayer(SelectDescriptor(), m_Name.c_str()), inputs, DataType::Float32,
           x->m_IsExact && y->m_IsExact, std::max(x->m_Bound, y->m_Bound));
    return true;
}

TENON_RANDOM_KIND(CastFloat)
{
    const Tensor* x =
        Find([](const Tensor& t) { return t.m_Type == DataType::Signed32 || t.m_Type == DataType::Boolean; });
    if (x == nullptr || Roll(3) == 0)
    {
        x = FindFloat(true);
    }
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    const bool toInt = input.m_Type == DataType::Float32;
    Finish(m_Network->AddCastLayer(m_Name.c_str()), {input}, toInt ? DataType::Signed32 : DataType::Float32, true,
           input.m_Bound);
    return true;
}

TENON_RANDOM_KIND(ArgMax)
{
    const Tensor* x = FindFloat(true);
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    ArgMinMaxDescriptor descriptor;
    descriptor.m_Function = Flip() ? ArgMinMaxFunction::Max : ArgMinMaxFunction::Min;
    descriptor.m_Axis = -1;
    if (input.m_Shape.GetNumDimensions() < 2)
    {
        return false;
    }
    Finish(m_Network->AddArgMinMaxLayer(descriptor, m_Name.c_str()), {input}, DataType::Signed32, true,
           static_cast<float>(MaxElements) / 16);
    return true;
}

} // namespace tenon::test
