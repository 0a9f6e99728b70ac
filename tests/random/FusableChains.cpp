// SPDX-License-Identifier: Apache-2.0
// See FusableNetwork.hpp. Here: chains of elementwise layers, of floats, quantized numbers and integers.
#include "random/FusableNetwork.hpp"

#include <algorithm>
#include <cmath>

namespace tenon::test
{

namespace
{

constexpr double MaxBound = 40.0; ///< larger values are brought down, so that bounds of errors stay small

ValueRange StoredRange(DataType type)
{
    switch (type)
    {
    case DataType::QAsymmU8: return {0.0, 255.0};
    case DataType::QSymmS16: return {-32768.0, 32767.0};
    default: return {-128.0, 127.0};
    }
}

double Magnitude(const TensorInfo& info)
{
    const ValueRange range = StoredRange(info.GetDataType());
    return (range.m_Max - range.m_Min) * static_cast<double>(info.GetQuantizationScale());
}

TensorInfo Quantized(DataType type, float scale, int32_t zeroPoint)
{
    return TensorInfo(TensorShape(), type, scale, zeroPoint);
}

} // namespace

FusableNetwork::Tensor FusableNetwork::Unary(const Tensor& input, UnaryOperation operation)
{
    const bool moves = operation == UnaryOperation::Abs || operation == UnaryOperation::Neg;
    double bound = input.m_Bound;
    switch (operation)
    {
    case UnaryOperation::Exp: bound = std::exp(bound); break;
    case UnaryOperation::Sqrt: bound = std::sqrt(bound); break;
    case UnaryOperation::Sin:
    case UnaryOperation::Cos:
    case UnaryOperation::Erf: bound = 1.0; break;
    default: break;
    }
    return Finish(
        m_Case.m_Network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(operation), NextName("unary").c_str()),
        {input}, TypeOf(input), moves && input.m_IsExact, bound);
}

FusableNetwork::Tensor FusableNetwork::Activate(const Tensor& input, ActivationFunction function, float a, float b)
{
    const bool moves = function == ActivationFunction::ReLu || function == ActivationFunction::BoundedReLu ||
                       function == ActivationFunction::Abs;
    const double max = std::max({input.m_Bound, 1.0, std::abs(static_cast<double>(a))});
    const double bound = function == ActivationFunction::Square   ? max * max
                         : function == ActivationFunction::Linear ? max * std::abs(a) + std::abs(b)
                                                                  : max + 1.0;
    return Finish(
        m_Case.m_Network->AddActivationLayer(ActivationDescriptor(function, a, b), NextName("activation").c_str()),
        {input}, TypeOf(input), moves && input.m_IsExact, bound);
}

FusableNetwork::Tensor FusableNetwork::Binary(BinaryOperation operation, const Tensor& a, const Tensor& b)
{
    const bool moves = operation == BinaryOperation::Maximum || operation == BinaryOperation::Minimum;
    double bound = std::max(a.m_Bound, b.m_Bound);
    switch (operation)
    {
    case BinaryOperation::Add:
    case BinaryOperation::Sub: bound = a.m_Bound + b.m_Bound; break;
    case BinaryOperation::Mul: bound = a.m_Bound * b.m_Bound; break;
    case BinaryOperation::Div: bound = a.m_Bound * 4.0; break; // by numbers from 0.25 on
    case BinaryOperation::SqDiff: bound = (a.m_Bound + b.m_Bound) * (a.m_Bound + b.m_Bound); break;
    default: break;
    }
    return Finish(
        m_Case.m_Network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(operation), NextName("binary").c_str()),
        {a, b}, TypeOf(a), moves && a.m_IsExact && b.m_IsExact, bound);
}

FusableNetwork::Tensor FusableNetwork::Limit(const Tensor& input)
{
    if (input.m_Bound <= MaxBound)
    {
        return input;
    }
    Tensor limited = OneIn(2) ? Activate(input, ActivationFunction::BoundedReLu, 4.0f, -4.0f)
                              : Activate(input, ActivationFunction::TanH);
    m_Tensors.back().m_Bound = limited.m_Bound = 4.0;
    return limited;
}

/// Of a constant: sizes of the tensor's last dimensions, or 1 in any pattern; 1 where the size differs between runs.
TensorShape FusableNetwork::BroadcastShape(const Tensor& to)
{
    std::vector<unsigned int> sizes;
    const unsigned int pattern = Roll(5);
    const unsigned int rank = to.Rank();
    for (unsigned int axis = OneIn(2) ? 0 : Roll(rank); axis < rank; ++axis)
    {
        const bool isKept = pattern == 0   ? axis + 1 == rank
                            : pattern == 1 ? true
                            : pattern == 2 ? axis + 1 != rank
                            : pattern == 3 ? false
                                           : OneIn(2);
        sizes.push_back(isKept && !to.IsFree(axis) ? to.Shape()[axis] : 1);
    }
    return TensorShape(static_cast<unsigned int>(sizes.size()), sizes.data());
}

/// A constant, the tensor itself, one before it in the chain, or any of the same shape or that is broadcast to it.
FusableNetwork::Tensor FusableNetwork::ChooseOperand(const Tensor& neighbour, const std::vector<Tensor>& before)
{
    const auto fits = [&](const Tensor& tensor)
    {
        if (tensor.m_Type != neighbour.m_Type || tensor.m_Bound > MaxBound || tensor.Rank() > neighbour.Rank())
        {
            return false;
        }
        for (size_t run = 0; run < NumRuns; ++run)
        {
            for (unsigned int i = 0; i < tensor.Rank(); ++i)
            {
                const unsigned int size = tensor.m_Shapes[run][tensor.Rank() - 1 - i];
                if (size != 1 && size != neighbour.m_Shapes[run][neighbour.Rank() - 1 - i])
                {
                    return false;
                }
            }
        }
        return true;
    };
    const unsigned int kind = Roll(6);
    if (kind == 0)
    {
        return neighbour;
    }
    if (kind == 1)
    {
        std::vector<Tensor> fitting;
        std::copy_if(before.begin(), before.end(), std::back_inserter(fitting), fits);
        if (!fitting.empty())
        {
            return fitting[Roll(static_cast<unsigned int>(fitting.size()))];
        }
    }
    const Tensor* const found = kind == 2 || kind == 3 ? Find(fits) : nullptr;
    return found != nullptr ? *found : Constant(BroadcastShape(neighbour), neighbour.m_Type, {-2.0, 2.0});
}

FusableNetwork::Tensor FusableNetwork::RandomUnary(const Tensor& input)
{
    switch (Roll(7))
    {
    case 0: return Unary(input, UnaryOperation::Abs);
    case 1: return Unary(input, UnaryOperation::Neg);
    case 2:
        if (input.m_Bound <= 3.0)
        {
            return Unary(input, UnaryOperation::Exp);
        }
        return Unary(input, UnaryOperation::Sin);
    case 3: return Unary(input, UnaryOperation::Cos);
    case 4: return Unary(input, UnaryOperation::Erf);
    case 5:
    {
        // Roots and logarithms of numbers that are well above 0.
        const Tensor one = Constant(TensorShape({1}), input.m_Type, {1.0, 2.0});
        const Tensor positive = Binary(BinaryOperation::Add, Unary(input, UnaryOperation::Abs), one);
        return Unary(positive, OneOf({UnaryOperation::Sqrt, UnaryOperation::Rsqrt, UnaryOperation::Log}));
    }
    default: return Unary(input, UnaryOperation::Sin);
    }
}

FusableNetwork::Tensor FusableNetwork::RandomActivation(const Tensor& input)
{
    switch (Roll(10))
    {
    case 0: return Activate(input, ActivationFunction::ReLu);
    case 1: return Activate(input, ActivationFunction::BoundedReLu, 6.0f, OneIn(2) ? 0.0f : -1.0f);
    case 2: return Activate(input, ActivationFunction::Sigmoid);
    case 3: return Activate(input, ActivationFunction::TanH);
    case 4: return Activate(input, ActivationFunction::LeakyReLu, 0.125f);
    case 5: return Activate(input, ActivationFunction::Elu);
    case 6: return Activate(input, ActivationFunction::HardSwish);
    case 7: return Activate(input, ActivationFunction::Gelu, OneIn(2) ? 0.0f : 1.0f);
    case 8: return Activate(input, ActivationFunction::Linear, 0.5f, 0.25f);
    default: return Binary(BinaryOperation::Mul, input, Activate(input, ActivationFunction::Sigmoid));
    }
}

FusableNetwork::Tensor FusableNetwork::RandomBinary(const Tensor& input, const std::vector<Tensor>& before)
{
    const BinaryOperation operation = OneOf({BinaryOperation::Add, BinaryOperation::Add, BinaryOperation::Sub,
                                             BinaryOperation::Mul, BinaryOperation::Mul, BinaryOperation::Maximum,
                                             BinaryOperation::Minimum, BinaryOperation::SqDiff, BinaryOperation::Div});
    if (operation == BinaryOperation::Div)
    {
        return Binary(operation, input, Constant(BroadcastShape(input), input.m_Type, {0.25, 2.0}));
    }
    const Tensor other = ChooseOperand(input, before);
    return OneIn(2) ? Binary(operation, input, other) : Binary(operation, other, input);
}

/// Elements of the tensor where an exact one of its shape is above a constant.
FusableNetwork::Tensor FusableNetwork::Choose(const Tensor& input, const std::vector<Tensor>& before)
{
    const Tensor* const compared =
        Find([&](const Tensor& tensor)
             { return tensor.m_Type == DataType::Float32 && tensor.m_IsExact && tensor.IsSameShape(input); });
    if (compared == nullptr)
    {
        return RandomBinary(input, before);
    }
    const Tensor exact = *compared;
    const Tensor limit = Constant(BroadcastShape(exact), DataType::Float32, {-1.0, 1.0});
    const Tensor condition =
        Finish(m_Case.m_Network->AddComparisonLayer(
                   ComparisonDescriptor(OneOf({ComparisonOperation::Greater, ComparisonOperation::LessOrEqual})),
                   NextName("comparison").c_str()),
               {exact, limit}, TensorInfo(TensorShape(), DataType::Boolean), true, 1.0);
    const Tensor other = ChooseOperand(input, before);
    return Finish(m_Case.m_Network->AddSelectLayer(SelectDescriptor(), NextName("select").c_str()),
                  {condition, input, other}, TypeOf(input), input.m_IsExact && other.m_IsExact,
                  std::max(input.m_Bound, other.m_Bound));
}

FusableNetwork::Tensor FusableNetwork::StepOfChain(const Tensor& input, const std::vector<Tensor>& before)
{
    switch (Roll(10))
    {
    case 0:
    case 1: return RandomUnary(input);
    case 2:
    case 3: return RandomActivation(input);
    case 4:
    case 5: return View(input);
    case 6: return Choose(input, before);
    default: return RandomBinary(input, before);
    }
}

FusableNetwork::Tensor FusableNetwork::Chain(const Tensor& start, unsigned int length)
{
    std::vector<Tensor> made{start};
    for (unsigned int i = 0; i < length; ++i)
    {
        Tensor next = StepOfChain(made.back(), made);
        if (next.m_Bound > MaxBound)
        {
            next = Limit(next);
        }
        made.push_back(next);
    }
    return made.back();
}

bool FusableNetwork::FloatChain()
{
    const Tensor* const start = FindFloat();
    if (start == nullptr)
    {
        return false;
    }
    const Tensor input = *start;
    const unsigned int length = 2 + Roll(m_IsLarge ? 3 : 8);
    Chain(input, length);
    return true;
}

bool FusableNetwork::F16Chain()
{
    const Tensor* const start = FindFloat(20000);
    if (start == nullptr)
    {
        return false;
    }
    const DataType type = OneOf({DataType::Float16, DataType::BFloat16});
    const Tensor input = Limit(Tensor(*start));
    const Tensor half = Finish(m_Case.m_Network->AddCastLayer(NextName("cast").c_str()), {input},
                               TensorInfo(TensorShape(), type), false, input.m_Bound);
    Tensor made = half;
    for (unsigned int i = 0, length = 1 + Roll(4); i < length; ++i)
    {
        switch (Roll(5))
        {
        case 0: made = View(made); break;
        case 1: made = Unary(made, OneOf({UnaryOperation::Abs, UnaryOperation::Neg})); break;
        case 2: made = Activate(made, OneOf({ActivationFunction::ReLu, ActivationFunction::Sigmoid})); break;
        default:
            made = Binary(OneOf({BinaryOperation::Add, BinaryOperation::Mul, BinaryOperation::Maximum}), made,
                          Constant(BroadcastShape(made), type, {-1.0, 1.0}));
        }
    }
    if (OneIn(2))
    {
        Finish(m_Case.m_Network->AddCastLayer(NextName("cast").c_str()), {made}, Float(), false, made.m_Bound);
    }
    return true;
}

// Quantized

TensorInfo FusableNetwork::RandomQuantization(DataType type)
{
    const float scale = static_cast<float>(1 + Roll(40)) / (type == DataType::QSymmS16 ? 65536.0f : 512.0f);
    const int32_t zero = type == DataType::QSymmS16   ? 0
                         : type == DataType::QAsymmU8 ? static_cast<int32_t>(100 + Roll(56))
                                                      : static_cast<int32_t>(Roll(40)) - 20;
    return Quantized(type, scale, zero);
}

/// Both roundings, without another random number: by the zero point, or the scale where that is always 0.
static RequantizationMode ModeFor(const TensorInfo& info)
{
    constexpr float StepsOfShorts = 65536.0f; // see RandomQuantization
    const int32_t number = info.GetDataType() == DataType::QSymmS16
                               ? static_cast<int32_t>(info.GetQuantizationScale() * StepsOfShorts)
                               : info.GetQuantizationOffset();
    return number % 2 != 0 ? RequantizationMode::FloatHalfEven : RequantizationMode::FixedPoint;
}

FusableNetwork::Tensor FusableNetwork::QuantizedStep(const Tensor& input)
{
    const DataType type = input.m_Type;
    const TensorInfo own = TypeOf(input);
    INetwork& network = *m_Case.m_Network;
    const auto activate = [&](ActivationFunction function, const TensorInfo& info, float a)
    {
        ActivationDescriptor descriptor(function, a, 0.0f);
        descriptor.m_Requantization = ModeFor(info);
        return Finish(network.AddActivationLayer(descriptor, NextName("activation").c_str()), {input}, info, true,
                      Magnitude(info));
    };
    switch (Roll(7))
    {
    case 0: return View(input);
    case 1: return activate(ActivationFunction::ReLu, own, 0.0f);
    case 2: return activate(ActivationFunction::LeakyReLu, RandomQuantization(type), 0.125f);
    case 3:
        if (type != DataType::QSymmS16)
        {
            const bool isSigned = type == DataType::QAsymmS8;
            return OneIn(2) ? activate(ActivationFunction::Sigmoid, Quantized(type, 1.0f / 256.0f, isSigned ? -128 : 0),
                                       1.0f)
                            : activate(ActivationFunction::HardSwish, RandomQuantization(type), 1.0f);
        }
        return View(input);
    case 4:
    {
        const TensorInfo info = RandomQuantization(OneOf({DataType::QAsymmS8, DataType::QAsymmU8, DataType::QSymmS16}));
        return Finish(network.AddQuantizeLayer(QuantizeDescriptor(ModeFor(info)), NextName("requantize").c_str()),
                      {input}, info, true, Magnitude(info));
    }
    default:
    {
        const TensorInfo info = RandomQuantization(type);
        const Tensor* const same = Find([&](const Tensor& t) { return t.m_Type == type && t.IsSameShape(input); });
        const Tensor other =
            OneIn(2) && same != nullptr ? *same : QuantizedConstant(BroadcastShape(input), RandomQuantization(type));
        ElementwiseBinaryDescriptor descriptor(
            OneOf({BinaryOperation::Add, BinaryOperation::Mul, BinaryOperation::Sub}));
        descriptor.m_Requantization = ModeFor(info);
        return Finish(network.AddElementwiseBinaryLayer(descriptor, NextName("binary").c_str()),
                      OneIn(2) ? std::vector<Tensor>{input, other} : std::vector<Tensor>{other, input}, info, true,
                      Magnitude(info));
    }
    }
}

bool FusableNetwork::QuantizedChain()
{
    const Tensor* const start = Find(
        [](const Tensor& t) { return t.m_IsExact && (IsQuantizedType(t.m_Type) || t.m_Type == DataType::Float32); });
    if (start == nullptr)
    {
        return false;
    }
    Tensor made = *start;
    INetwork& network = *m_Case.m_Network;
    if (!IsQuantizedType(made.m_Type))
    {
        const TensorInfo info = RandomQuantization(OneOf({DataType::QAsymmS8, DataType::QAsymmU8, DataType::QSymmS16}));
        made = Finish(network.AddQuantizeLayer(QuantizeDescriptor(ModeFor(info)), NextName("quantize").c_str()), {made},
                      info, true, Magnitude(info));
    }
    for (unsigned int i = 0, length = 2 + Roll(6); i < length; ++i)
    {
        made = QuantizedStep(made);
    }
    if (OneIn(2))
    {
        Finish(network.AddDequantizeLayer(NextName("dequantize").c_str()), {made}, Float(), false, made.m_Bound);
    }
    return true;
}

bool FusableNetwork::IntegerChain()
{
    const Tensor* const start =
        Find([](const Tensor& t) { return t.m_IsExact && t.m_Type == DataType::Float32 && t.m_Bound < 1e4; });
    if (start == nullptr)
    {
        return false;
    }
    INetwork& network = *m_Case.m_Network;
    Tensor made = Finish(network.AddCastLayer(NextName("cast").c_str()), {Tensor(*start)},
                         TensorInfo(TensorShape(), DataType::Signed32), true, start->m_Bound);
    for (unsigned int i = 0, length = 1 + Roll(4); i < length; ++i)
    {
        made = MaybeView(made);
        const Tensor other = Constant(BroadcastShape(made), DataType::Signed32, {-9.0, 9.0});
        made = Binary(OneOf({BinaryOperation::Add, BinaryOperation::Sub, BinaryOperation::Maximum}), made, other);
        m_Tensors.back().m_IsExact = made.m_IsExact = true;
    }
    Finish(network.AddCastLayer(NextName("cast").c_str()), {made}, Float(), true, made.m_Bound);
    return true;
}

} // namespace tenon::test
