// SPDX-License-Identifier: Apache-2.0
// See ErrorBounds.hpp.
#include "harness/ErrorBounds.hpp"

#include <tenon/Exceptions.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace tenon::test
{

namespace
{

constexpr double Infinity = std::numeric_limits<double>::infinity();
/// Units in the last place that exp, tanh and their like may be off by.
constexpr double FunctionUlps = 8.0;

bool IsFloat(DataType type)
{
    return type == DataType::Float32 || type == DataType::Float16 || type == DataType::BFloat16;
}

/// The distance of two neighbours around 1.
double EpsilonOf(DataType type)
{
    switch (type)
    {
    case DataType::Float16: return 0x1p-10;
    case DataType::BFloat16: return 0x1p-7;
    default: return 0x1p-23;
    }
}

/// What numbers of the type may be off by where they are so small that they lose digits.
double TinyOf(DataType type)
{
    return type == DataType::Float16 ? 0x1p-23 : 1e-36;
}

/// What bounds need to know of a tensor.
struct Extent
{
    double m_Max = 0.0;          ///< magnitude
    double m_MinSize = Infinity; ///< magnitude
    double m_Min = Infinity;     ///< value
    double m_MaxOfRow = 0.0;     ///< the largest sum of magnitudes along the last dimension
};

Extent Measure(const std::vector<double>& values, size_t row)
{
    Extent extent;
    double sum = 0.0;
    for (size_t i = 0; i < values.size(); ++i)
    {
        const double size = std::abs(values[i]);
        extent.m_Max = std::max(extent.m_Max, size);
        extent.m_MinSize = std::min(extent.m_MinSize, size);
        extent.m_Min = std::min(extent.m_Min, values[i]);
        sum += size;
        if ((i + 1) % row == 0)
        {
            extent.m_MaxOfRow = std::max(extent.m_MaxOfRow, sum);
            sum = 0.0;
        }
    }
    return extent;
}

} // namespace

class ErrorBounds::Calculator
{
public:
    Calculator(const TensorValues& values, std::map<const OutputSlot*, double>& bounds)
        : m_Values(values), m_Bounds(bounds)
    {
    }

    void Add(const Layer& layer)
    {
        m_Layer = &layer;
        const bool isSource = layer.GetType() == LayerType::Input || layer.GetType() == LayerType::Constant;
        for (const OutputSlot& output : layer.Outputs())
        {
            m_Output = &output;
            const bool isExact = MaxInputBound() == 0.0;
            double bound = 0.0;
            if (!isSource && IsFloat(TypeOf(output)))
            {
                bound = BoundFloat();
            }
            else if (!isSource && !isExact)
            {
                bound = layer.GetType() == LayerType::Shape || layer.GetType() == LayerType::Rank ? 0.0 : Infinity;
            }
            m_Bounds[&output] = std::isnan(bound) ? Infinity : bound; // of 0 times what may be anything
        }
    }

private:
    DataType TypeOf(const OutputSlot& slot) const { return InfoOf(slot).GetDataType(); }

    const OutputSlot* Source(unsigned int i) const { return m_Layer->Input(i).GetConnectedOutputSlot(); }
    bool HasInput(unsigned int i) const { return i < m_Layer->NumInputs() && Source(i) != nullptr; }

    /// Of input i, as large as it may be off.
    double InputBound(unsigned int i) const { return m_Bounds.at(Source(i)); }
    double MaxInputBound() const
    {
        double bound = 0.0;
        for (unsigned int i = 0; i < m_Layer->NumInputs(); ++i)
        {
            bound = HasInput(i) ? std::max(bound, InputBound(i)) : bound;
        }
        return bound;
    }

    TensorInfo InfoOf(const OutputSlot& slot) const
    {
        const ConstantPayload* const constant = slot.GetOwningLayer().GetConstant();
        return constant != nullptr ? constant->m_Tensor.GetInfo() : ResultOf(slot).m_Info;
    }
    const Result& ResultOf(const OutputSlot& slot) const
    {
        return m_Values.at({slot.GetOwningLayerGuid(), slot.CalculateIndexOnOwner()});
    }
    std::vector<double> ValuesOf(const OutputSlot& slot) const
    {
        const ConstantPayload* const constant = slot.GetOwningLayer().GetConstant();
        return constant != nullptr ? ToDoubles(constant->m_Tensor.GetInfo(), constant->m_Tensor.GetMemoryArea())
                                   : ToDoubles(ResultOf(slot).m_Info, ResultOf(slot).m_Bytes.data());
    }
    const Extent& ExtentOf(const OutputSlot& slot)
    {
        const auto known = m_Extents.find(&slot);
        if (known != m_Extents.end())
        {
            return known->second;
        }
        const TensorShape shape = InfoOf(slot).GetShape();
        const unsigned int rank = shape.GetNumDimensions();
        const size_t row = rank == 0 ? 1 : std::max(shape[rank - 1], 1U);
        return m_Extents[&slot] = Measure(ValuesOf(slot), row);
    }
    const Extent& In(unsigned int i) { return ExtentOf(*Source(i)); }
    const Extent& Out() { return ExtentOf(*m_Output); }
    TensorShape ShapeOfInput(unsigned int i) const { return InfoOf(*Source(i)).GetShape(); }

    /// Two implementations that are each off by so many units of the largest output.
    double Rounding(double ulps) { return RoundingOf(Out().m_Max, ulps); }
    double RoundingOf(double size, double ulps) const
    {
        return 2.0 * ulps * EpsilonOf(TypeOf(*m_Output)) * size + TinyOf(TypeOf(*m_Output));
    }
    /// A sum of so many terms, whose magnitudes add up to `sizes` at most.
    double RoundingOfSum(double terms, double sizes) const
    {
        // Products and their sums are taken in Float32 where data have 16 bits, or are rounded to these each time.
        return terms * EpsilonOf(TypeOf(*m_Output)) * sizes + RoundingOf(sizes, 1.0);
    }

    double BoundFloat()
    {
        const OpSchema& schema = m_Layer->GetSchema();
        if (schema.Has(OpFlags::Moves) || schema.Has(OpFlags::View))
        {
            return MaxInputBound();
        }
        switch (m_Layer->GetType())
        {
        case LayerType::ElementwiseBinary: return BoundBinary();
        case LayerType::ElementwiseUnary: return BoundUnary();
        case LayerType::Activation: return BoundActivation();
        case LayerType::AddN: return BoundAddN();
        case LayerType::Select: return InputBound(0) == 0.0 ? MaxInputBound() : Infinity;
        case LayerType::Concat:
        case LayerType::Pad: return MaxInputBound();
        case LayerType::Cast:
        {
            // Integers below 2^24 are floats.
            const bool isWhole = !IsFloat(TypeOf(*Source(0))) && TypeOf(*m_Output) == DataType::Float32;
            return isWhole && In(0).m_Max <= 0x1p24 ? InputBound(0) : InputBound(0) + Rounding(1.0);
        }
        case LayerType::Dequantize: return InputBound(0) == 0.0 ? Rounding(1.0) : Infinity;
        case LayerType::Floor: return InputBound(0) == 0.0 ? 0.0 : Infinity;
        case LayerType::FullyConnected: return BoundProduct(FullyConnectedTerms());
        case LayerType::Convolution2d:
        case LayerType::DepthwiseConvolution2d: return BoundProduct(ConvolutionTerms());
        case LayerType::BatchMatMul: return BoundMatMul();
        case LayerType::Softmax: return BoundSoftmax();
        case LayerType::Mean: return BoundSum(true);
        case LayerType::Reduce: return BoundReduce();
        case LayerType::LayerNormalization: return BoundLayerNormalization();
        case LayerType::Pooling2d: return BoundPool();
        default:
            throw UnimplementedException(std::string("ErrorBounds has no bound for layers of type ") +
                                         GetLayerTypeAsCString(m_Layer->GetType()) + ": add one to ErrorBounds.cpp");
        }
    }

    double BoundBinary()
    {
        const double a = InputBound(0);
        const double b = InputBound(1);
        const double maxA = In(0).m_Max;
        const double maxB = In(1).m_Max;
        switch (m_Layer->Descriptor<ElementwiseBinaryDescriptor>().m_Operation)
        {
        case BinaryOperation::Add:
        case BinaryOperation::Sub: return a + b + RoundingOf(std::max(maxA, maxB), 2.0);
        case BinaryOperation::Mul: return a * maxB + b * maxA + a * b + Rounding(1.0);
        case BinaryOperation::Div:
        {
            const double min = In(1).m_MinSize - b;
            return min > 0.0 ? (a + Out().m_Max * b) / min + Rounding(2.0) : Infinity;
        }
        case BinaryOperation::Maximum:
        case BinaryOperation::Minimum: return std::max(a, b);
        case BinaryOperation::SqDiff:
        {
            const double max = maxA + maxB;
            return 2.0 * max * (a + b) + (a + b) * (a + b) + RoundingOf(max * max, 3.0);
        }
        default: return Infinity;
        }
    }

    double BoundUnary()
    {
        const double d = InputBound(0);
        const double min = In(0).m_Min - d;
        switch (m_Layer->Descriptor<ElementwiseUnaryDescriptor>().m_Operation)
        {
        case UnaryOperation::Abs:
        case UnaryOperation::Neg: return d;
        case UnaryOperation::Exp: return Out().m_Max * std::expm1(d) + Rounding(FunctionUlps);
        case UnaryOperation::Sqrt: return SqrtOf(d, min);
        case UnaryOperation::Rsqrt:
            return min > 0.0 ? d / (2.0 * min * std::sqrt(min)) + Rounding(FunctionUlps) : Infinity;
        case UnaryOperation::Log:
            return min > 0.0 ? d / min + RoundingOf(std::max(1.0, Out().m_Max), FunctionUlps) : Infinity;
        case UnaryOperation::Sin:
        case UnaryOperation::Cos: return d + RoundingOf(1.0, FunctionUlps);
        case UnaryOperation::Erf: return 1.13 * d + RoundingOf(1.0, FunctionUlps);
        default: return d == 0.0 ? 0.0 : Infinity; // Ceil, Round, Sign
        }
    }

    double SqrtOf(double d, double min)
    {
        if (d == 0.0)
        {
            return Rounding(1.0);
        }
        return (min > 0.0 ? d / (2.0 * std::sqrt(min)) : std::sqrt(d)) + Rounding(1.0);
    }

    double BoundActivation()
    {
        const auto& descriptor = m_Layer->Descriptor<ActivationDescriptor>();
        const double d = InputBound(0);
        const double a = std::abs(static_cast<double>(descriptor.m_A));
        const double b = std::abs(static_cast<double>(descriptor.m_B));
        const double max = In(0).m_Max;
        const double function = RoundingOf(std::max(1.0, max), FunctionUlps);
        switch (descriptor.m_Function)
        {
        case ActivationFunction::Sigmoid: return d / 4.0 + RoundingOf(1.0, FunctionUlps);
        case ActivationFunction::TanH: return a * b * d + RoundingOf(std::max(a, 1.0), FunctionUlps);
        case ActivationFunction::Linear: return a * d + RoundingOf(a * max + b, 2.0);
        case ActivationFunction::ReLu:
        case ActivationFunction::BoundedReLu:
        case ActivationFunction::Abs: return d;
        case ActivationFunction::LeakyReLu: return std::max(1.0, a) * d + Rounding(1.0);
        case ActivationFunction::SoftReLu: return d + function;
        case ActivationFunction::Sqrt: return SqrtOf(d, In(0).m_Min - d);
        case ActivationFunction::Square: return 2.0 * max * d + d * d + Rounding(1.0);
        case ActivationFunction::Elu: return std::max(1.0, a) * d + RoundingOf(std::max(a, max), FunctionUlps);
        case ActivationFunction::HardSwish: return 1.5 * d + function;
        case ActivationFunction::Gelu: return 1.13 * d + function;
        case ActivationFunction::Swish:
        case ActivationFunction::Mish: return 1.1 * std::max(1.0, a) * d + function;
        default: return Infinity;
        }
    }

    double BoundAddN()
    {
        double bound = 0.0;
        double sizes = 0.0;
        for (unsigned int i = 0; i < m_Layer->NumInputs(); ++i)
        {
            bound += InputBound(i);
            sizes += In(i).m_Max;
        }
        return bound + RoundingOfSum(m_Layer->NumInputs(), sizes);
    }

    /// Terms of each output, and the largest sum of magnitudes of the weights of one.
    struct Terms
    {
        double m_Count = 0.0;
        double m_Weights = 0.0;
    };

    /// Of weights [outputs, n], flat, or [n, outputs].
    Terms TermsOf(size_t outputs, bool outputsFirst) const
    {
        const std::vector<double> weights = ValuesOf(*Source(1));
        const size_t count = weights.size() / std::max<size_t>(outputs, 1);
        Terms terms{static_cast<double>(count), 0.0};
        for (size_t o = 0; o < outputs; ++o)
        {
            double sum = 0.0;
            for (size_t i = 0; i < count; ++i)
            {
                sum += std::abs(weights[outputsFirst ? o * count + i : i * outputs + o]);
            }
            terms.m_Weights = std::max(terms.m_Weights, sum);
        }
        return terms;
    }
    Terms FullyConnectedTerms() const
    {
        const bool outputsFirst = m_Layer->Descriptor<FullyConnectedDescriptor>().m_TransposeWeightMatrix;
        return TermsOf(ShapeOfInput(1)[outputsFirst ? 0 : 1], outputsFirst);
    }
    Terms ConvolutionTerms() const
    {
        const bool isDepthwise = m_Layer->GetType() == LayerType::DepthwiseConvolution2d;
        return TermsOf(ShapeOfInput(1)[isDepthwise ? 3 : 0], !isDepthwise);
    }
    /// Of data and weights, which are exact or not, and a bias.
    double BoundProduct(const Terms& terms)
    {
        const double bias = HasInput(2) ? In(2).m_Max : 0.0;
        const double sizes = In(0).m_Max * terms.m_Weights + bias;
        const double fromWeights = InputBound(1) * terms.m_Count * (In(0).m_Max + InputBound(0));
        return InputBound(0) * terms.m_Weights + fromWeights + (HasInput(2) ? InputBound(2) : 0.0) +
               RoundingOfSum(terms.m_Count + 1.0, sizes);
    }

    double BoundMatMul()
    {
        const TensorShape shape = ShapeOfInput(0);
        const unsigned int rank = shape.GetNumDimensions();
        const auto& descriptor = m_Layer->Descriptor<BatchMatMulDescriptor>();
        const double depth = shape[descriptor.m_TransposeX ? rank - 2 : rank - 1];
        const double a = InputBound(0);
        const double b = InputBound(1);
        const double maxA = In(0).m_Max;
        const double maxB = In(1).m_Max;
        const double rowA = descriptor.m_TransposeX ? depth * maxA : In(0).m_MaxOfRow;
        const double sizes = std::min(rowA * maxB, depth * maxA * maxB);
        return a * depth * maxB + b * rowA + a * b * depth + RoundingOfSum(depth, sizes);
    }

    double BoundSoftmax()
    {
        const auto& descriptor = m_Layer->Descriptor<SoftmaxDescriptor>();
        const TensorShape shape = ShapeOfInput(0);
        const int rank = static_cast<int>(shape.GetNumDimensions());
        const int axis = descriptor.m_Axis < 0 ? descriptor.m_Axis + rank : descriptor.m_Axis;
        const double count = shape[static_cast<unsigned int>(axis)];
        const double beta = std::abs(static_cast<double>(descriptor.m_Beta));
        // Of exponents: those of the input, and what rounding of differences makes.
        const double exponent = 2.0 * beta * InputBound(0) + RoundingOf(2.0 * beta * In(0).m_Max, 1.0);
        return Out().m_Max * std::expm1(exponent) + Rounding(FunctionUlps + count / 2.0);
    }

    double BoundSum(bool isMean)
    {
        const double count = static_cast<double>(ShapeOfInput(0).GetNumElements()) /
                             std::max<double>(InfoOf(*m_Output).GetNumElements(), 1.0);
        const double bound = InputBound(0) * count + RoundingOfSum(count + 1.0, In(0).m_Max * count);
        return isMean ? bound / count + Rounding(2.0) : bound;
    }

    double BoundReduce()
    {
        switch (m_Layer->Descriptor<ReduceDescriptor>().m_ReduceOperation)
        {
        case ReduceOperation::Sum: return BoundSum(false);
        case ReduceOperation::Mean: return BoundSum(true);
        case ReduceOperation::Max:
        case ReduceOperation::Min: return InputBound(0);
        default: return Infinity;
        }
    }

    double BoundLayerNormalization()
    {
        const auto& descriptor = m_Layer->Descriptor<LayerNormalizationDescriptor>();
        const TensorShape shape = ShapeOfInput(0);
        const int rank = static_cast<int>(shape.GetNumDimensions());
        const int axis = descriptor.m_Axis < 0 ? descriptor.m_Axis + rank : descriptor.m_Axis;
        if (descriptor.m_NumAxes != 0 || (HasInput(1) && InputBound(1) != 0.0) || (HasInput(2) && InputBound(2) != 0.0))
        {
            return Infinity;
        }
        size_t row = 1;
        for (int i = axis; i < rank; ++i)
        {
            row *= shape[static_cast<unsigned int>(i)];
        }
        const std::vector<double> values = ValuesOf(*Source(0));
        double minVariance = Infinity;
        for (size_t begin = 0; begin + row <= values.size(); begin += row)
        {
            double sum = 0.0;
            double squares = 0.0;
            for (size_t i = begin; i < begin + row; ++i)
            {
                sum += values[i];
            }
            const double mean = sum / static_cast<double>(row);
            for (size_t i = begin; i < begin + row; ++i)
            {
                squares += (values[i] - mean) * (values[i] - mean);
            }
            minVariance = std::min(minVariance, squares / static_cast<double>(row));
        }
        const double count = static_cast<double>(row);
        const double max = 2.0 * In(0).m_Max; // of what is left without the mean
        const double centred = 2.0 * InputBound(0) + RoundingOfSum(count, In(0).m_Max);
        const double variance = 2.0 * max * centred + centred * centred + RoundingOfSum(count, max * max);
        const double min = minVariance + static_cast<double>(descriptor.m_Epsilon) - variance;
        if (min <= 0.0)
        {
            return Infinity;
        }
        const double scale = HasInput(1) ? In(1).m_Max : 1.0;
        const double deviation = std::sqrt(min);
        return scale * (centred / deviation + max * variance / (2.0 * min * deviation)) +
               RoundingOf(Out().m_Max + scale * max / deviation, FunctionUlps);
    }

    double BoundPool()
    {
        const auto& descriptor = m_Layer->Descriptor<Pooling2dDescriptor>();
        switch (descriptor.m_PoolType)
        {
        case PoolingAlgorithm::Max: return InputBound(0);
        case PoolingAlgorithm::Average:
            return InputBound(0) + RoundingOfSum(1.0 + descriptor.m_PoolWidth * descriptor.m_PoolHeight, In(0).m_Max);
        default: return Infinity;
        }
    }

    const TensorValues& m_Values;
    std::map<const OutputSlot*, double>& m_Bounds;
    std::map<const OutputSlot*, Extent> m_Extents;
    const Layer* m_Layer = nullptr;
    const OutputSlot* m_Output = nullptr;
};

ErrorBounds::ErrorBounds(const Graph& graph, const TensorValues& values)
{
    Calculator calculator(values, m_Bounds);
    for (const Layer* layer : graph.TopologicalOrder())
    {
        calculator.Add(*layer);
    }
}

} // namespace tenon::test
