// SPDX-License-Identifier: Apache-2.0
// Enumerations: see Enumerations.hpp.
#include "parsers/tflite/operators/Enumerations.hpp"

namespace tenon::tflite
{

namespace
{

// Two of the format's TensorTypes.
constexpr int32_t Int32 = 2;
constexpr int32_t Int64 = 4;

void CheckType(const OperatorView& op, const char* option, DataType wanted, const TensorView& tensor)
{
    const DataType type = tensor.m_Info.GetDataType();
    if (type != wanted)
    {
        op.Fail(fmt::format("tensor {} is {}, but option {} asks for {}", tensor.Label(), GetDataTypeName(type), option,
                            GetDataTypeName(wanted)));
    }
}

/// values[i] is what number i of the format stands for; 0 is the default.
template <typename Enum, size_t N>
Enum GetEnumerator(const OperatorView& op, const char* option, const Enum (&values)[N])
{
    const int32_t number = op.Int(option, 0);
    if (number < 0 || static_cast<size_t>(number) >= N)
    {
        op.Fail(fmt::format("option {} is {}, which does not exist", option, number));
    }
    return values[number];
}

} // namespace

PaddingScheme GetPadding(const OperatorView& op)
{
    return GetEnumerator(op, "padding", {PaddingScheme::Same, PaddingScheme::Valid});
}

FusedActivation GetActivation(const OperatorView& op)
{
    using enum FusedActivation;
    return GetEnumerator(op, "fused_activation_function", {None, Relu, ReluN1To1, Relu6, Tanh, SignBit});
}

EmbeddingCombiner GetCombiner(const OperatorView& op)
{
    using enum EmbeddingCombiner;
    return GetEnumerator(op, "combiner", {Sum, Mean, SqrtN});
}

PaddingMode GetMirrorMode(const OperatorView& op)
{
    return GetEnumerator(op, "mode", {PaddingMode::Reflect, PaddingMode::Symmetric});
}

/// Number 0 of the format says that there is none.
ReduceWindowFunction GetReduceWindowFunction(const OperatorView& op)
{
    using enum ReduceWindowFunction;
    if (op.Int("reduce_function", 0) == 0)
    {
        op.Fail("option reduce_function is missing or UNSUPPORTED");
    }
    return GetEnumerator(op, "reduce_function", {Add, Add, Mul, Min, Max, All, Any});
}

RngAlgorithm GetRngAlgorithm(const OperatorView& op)
{
    return GetEnumerator(op, "algorithm", {RngAlgorithm::Default, RngAlgorithm::Philox, RngAlgorithm::ThreeFry});
}

bool HasShuffledWeights(const OperatorView& op)
{
    return GetEnumerator(op, "weights_format", {false, true});
}

bool IsBasicLstm(const OperatorView& op)
{
    return GetEnumerator(op, "kernel_type", {false, true});
}

bool HasSumsOf32Bits(const OperatorView& op)
{
    return op.Int("quantized_bias_type", 0) == Int32; // the default stands for "as the data asks"
}

void CheckBiasType(const OperatorView& op, size_t data, size_t bias)
{
    const char* option = "quantized_bias_type";
    const DataType type = op.Input(data).m_Info.GetDataType();
    if (op.Int(option, 0) == 0 || (type != DataType::QSymmS16 && type != DataType::Signed16))
    {
        return;
    }
    const DataType wanted = GetIntegerType(op, option);
    if (op.HasInput(bias))
    {
        CheckType(op, option, wanted, op.Input(bias));
    }
}

DataType GetIntegerType(const OperatorView& op, const char* option)
{
    const int32_t type = op.Int(option, 0);
    if (type != Int32 && type != Int64)
    {
        op.Fail(fmt::format("option {} is {}, should be {} (INT32) or {} (INT64)", option, type, Int32, Int64));
    }
    return type == Int32 ? DataType::Signed32 : DataType::Signed64;
}

/// TFLite takes all types but INT64 for INT32.
DataType GetIndexType(const OperatorView& op)
{
    const char* option = "idx_out_type";
    const DataType wanted = op.Int(option, Int32) == Int64 ? DataType::Signed64 : DataType::Signed32;
    CheckType(op, option, wanted, op.Output(1));
    return wanted;
}

} // namespace tenon::tflite
