// SPDX-License-Identifier: Apache-2.0
// FieldToString: see Names.hpp.
#include "common/Names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon
{

namespace
{

/// The name at the enumerator's number, or the number itself for a value that is none.
template <typename Enum, size_t N>
std::string NameOf(Enum value, const char* const (&names)[N], int first = 0)
{
    const int index = static_cast<int>(value) - first;
    return index >= 0 && index < static_cast<int>(N) ? names[index] : fmt::format("{}", static_cast<int>(value));
}

} // namespace

std::string FieldToString(bool value)
{
    return value ? "true" : "false";
}

std::string FieldToString(int32_t value)
{
    return fmt::format("{}", value);
}

std::string FieldToString(uint32_t value)
{
    // Only an axis that counts from the end is so large.
    return value > UINT32_MAX - MaxNumOfTensorDimensions ? fmt::format("{}", static_cast<int32_t>(value))
                                                         : fmt::format("{}", value);
}

std::string FieldToString(int64_t value)
{
    return fmt::format("{}", value);
}

std::string FieldToString(float value)
{
    return fmt::format("{}", value);
}

std::string FieldToString(const std::string& value)
{
    return value;
}

std::string FieldToString(const std::vector<uint8_t>& value)
{
    return fmt::format("{} bytes", value.size());
}

std::string FieldToString(const std::vector<float>& value)
{
    return fmt::format("[{}]", fmt::join(value, ","));
}

std::string FieldToString(const std::vector<int32_t>& value)
{
    return fmt::format("[{}]", fmt::join(value, ","));
}

std::string FieldToString(const std::vector<uint32_t>& value)
{
    return fmt::format("[{}]", fmt::join(value, ","));
}

std::string FieldToString(const std::vector<std::pair<unsigned int, unsigned int>>& value)
{
    return fmt::format("[{}]", fmt::join(value, ","));
}

std::string FieldToString(const TensorShape& value)
{
    return value.ToString();
}

std::string FieldToString(const PermutationVector& value)
{
    return fmt::format("[{}]", fmt::join(value.begin(), value.end(), ","));
}

std::string FieldToString(const OriginsDescriptor& value)
{
    std::string text;
    OriginsDescriptor::Visit(
        [&](const char* name, auto member)
        { text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, FieldToString(value.*member)); });
    return text;
}

std::string FieldToString(DataType value)
{
    return GetDataTypeName(value);
}

std::string FieldToString(DataLayout value)
{
    static const char* const names[] = {"NCHW", "NHWC", "NDHWC", "NCDHW"};
    return NameOf(value, names, 1);
}

std::string FieldToString(ActivationFunction value)
{
    static const char* const names[] = {"Sigmoid",  "TanH",      "Linear", "ReLu",  "BoundedReLu",
                                        "SoftReLu", "LeakyReLu", "Abs",    "Sqrt",  "Square",
                                        "Elu",      "HardSwish", "Gelu",   "Swish", "Mish"};
    return NameOf(value, names);
}

std::string FieldToString(ArgMinMaxFunction value)
{
    static const char* const names[] = {"Min", "Max"};
    return NameOf(value, names);
}

std::string FieldToString(ComplexComponent value)
{
    static const char* const names[] = {"Real", "Imaginary", "Magnitude"};
    return NameOf(value, names);
}

std::string FieldToString(ComparisonOperation value)
{
    static const char* const names[] = {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "NotEqual"};
    return NameOf(value, names);
}

std::string FieldToString(LogicalBinaryOperation value)
{
    static const char* const names[] = {"LogicalAnd", "LogicalOr"};
    return NameOf(value, names);
}

std::string FieldToString(UnaryOperation value)
{
    static const char* const names[] = {"Abs",  "Exp",  "Sqrt",  "Rsqrt", "Neg",   "LogicalNot", "Log",  "Sin",
                                        "Ceil", "Cos",  "Round", "Sign",  "Erf",   "Tan",        "Asin", "Acos",
                                        "Atan", "Sinh", "Cosh",  "Asinh", "Acosh", "Atanh"};
    return NameOf(value, names);
}

std::string FieldToString(BinaryOperation value)
{
    static const char* const names[] = {"Add",       "Div",        "Maximum",   "Minimum",    "Mul",      "Sub",
                                        "SqDiff",    "Power",      "FloorDiv",  "FloorMod",   "Atan2",    "BitwiseAnd",
                                        "BitwiseOr", "BitwiseXor", "ShiftLeft", "ShiftRight", "Remainder"};
    return NameOf(value, names);
}

std::string FieldToString(PoolingAlgorithm value)
{
    static const char* const names[] = {"Max", "Average", "L2"};
    return NameOf(value, names);
}

std::string FieldToString(ReduceOperation value)
{
    static const char* const names[] = {"Sum", "Max", "Mean", "Min", "Prod", "All", "Any"};
    return NameOf(value, names);
}

std::string FieldToString(ResizeMethod value)
{
    static const char* const names[] = {"Bilinear", "NearestNeighbor"};
    return NameOf(value, names);
}

std::string FieldToString(PaddingMethod value)
{
    static const char* const names[] = {"IgnoreValue", "Exclude"};
    return NameOf(value, names);
}

std::string FieldToString(PaddingScheme value)
{
    static const char* const names[] = {"Explicit", "Same", "Valid"};
    return NameOf(value, names);
}

std::string FieldToString(RequantizationMode value)
{
    static const char* const names[] = {"FixedPoint", "FloatHalfEven"};
    return NameOf(value, names);
}

std::string FieldToString(PaddingMode value)
{
    static const char* const names[] = {"Constant", "Reflect", "Symmetric", "Edge", "Wrap"};
    return NameOf(value, names);
}

std::string FieldToString(NormalizationAlgorithmChannel value)
{
    static const char* const names[] = {"Across", "Within"};
    return NameOf(value, names);
}

std::string FieldToString(NormalizationAlgorithmMethod value)
{
    static const char* const names[] = {"LocalBrightness", "LocalContrast"};
    return NameOf(value, names);
}

std::string FieldToString(OutputShapeRounding value)
{
    static const char* const names[] = {"Floor", "Ceiling"};
    return NameOf(value, names);
}

std::string FieldToString(ScatterNdFunction value)
{
    static const char* const names[] = {"Update", "Add", "Sub", "Max", "Min", "Mul"};
    return NameOf(value, names);
}

std::string FieldToString(ReduceWindowFunction value)
{
    static const char* const names[] = {"Add", "Mul", "Min", "Max", "All", "Any"};
    return NameOf(value, names);
}

std::string FieldToString(InterpolationMode value)
{
    static const char* const names[] = {"Nearest", "Linear", "Cubic"};
    return NameOf(value, names);
}

std::string FieldToString(InterpolationCoordinates value)
{
    static const char* const names[] = {"HalfPixel",  "HalfPixelSymmetric", "PytorchHalfPixel", "AlignCorners",
                                        "Asymmetric", "TfHalfPixelForNn",   "TfCropAndResize"};
    return NameOf(value, names);
}

std::string FieldToString(NearestRounding value)
{
    static const char* const names[] = {"PreferFloor", "PreferCeil", "Floor", "Ceil"};
    return NameOf(value, names);
}

std::string FieldToString(AspectRatioPolicy value)
{
    static const char* const names[] = {"Stretch", "NotLarger", "NotSmaller"};
    return NameOf(value, names);
}

std::string FieldToString(GridPadding value)
{
    static const char* const names[] = {"Zeros", "Border", "Reflection"};
    return NameOf(value, names);
}

std::string FieldToString(PoolingNdFunction value)
{
    static const char* const names[] = {"Max", "Average", "Lp"};
    return NameOf(value, names);
}

std::string FieldToString(RandomDistribution value)
{
    static const char* const names[] = {"Uniform", "StandardNormal"};
    return NameOf(value, names);
}

std::string FieldToString(RngAlgorithm value)
{
    static const char* const names[] = {"Default", "Philox", "ThreeFry"};
    return NameOf(value, names);
}

std::string FieldToString(EmbeddingCombiner value)
{
    static const char* const names[] = {"Sum", "Mean", "SqrtN"};
    return NameOf(value, names);
}

std::string FieldToString(RecurrentCell value)
{
    static const char* const names[] = {"Rnn", "Gru", "Lstm"};
    return NameOf(value, names);
}

std::string FieldToString(SequenceDirection value)
{
    static const char* const names[] = {"Forward", "Reverse", "Bidirectional"};
    return NameOf(value, names);
}

std::string FieldToString(RecurrentActivation value)
{
    static const char* const names[] = {
        "Relu",       "Tanh",        "Sigmoid", "Affine",   "LeakyRelu", "ThresholdedRelu",
        "ScaledTanh", "HardSigmoid", "Elu",     "Softsign", "Softplus"};
    return NameOf(value, names);
}

std::string FieldToString(const std::vector<RecurrentActivation>& value)
{
    std::string text;
    for (const RecurrentActivation function : value)
    {
        text += (text.empty() ? "" : ",") + FieldToString(function);
    }
    return '[' + text + ']';
}

std::string FieldToString(SignalFeatureFunction value)
{
    static const char* const names[] = {"Window", "AutoScale", "Energy", "FilterBank", "SquareRoot", "Gain", "Log"};
    return NameOf(value, names);
}

std::string FieldToString(SignalFramesFunction value)
{
    static const char* const names[] = {"Cut", "Stack", "OverlapAdd"};
    return NameOf(value, names);
}

std::string FieldToString(FusedKernelType value)
{
    static const char* const names[] = {"AddMulAdd"};
    return NameOf(value, names);
}

} // namespace tenon
