// SPDX-License-Identifier: Apache-2.0
// The parameters of layers that compute each element of the output from the elements at its place in the inputs.
#pragma once

#include <tenon/Types.hpp>
#include <tenon/descriptors/Base.hpp>

#include <cstdint>
#include <vector>

namespace tenon
{

/// Activation: out = f(in).
struct ActivationDescriptor : detail::Described<ActivationDescriptor>
{
    ActivationDescriptor() = default;
    ActivationDescriptor(ActivationFunction function, float a = 0.0f, float b = 0.0f)
        : m_Function(function), m_A(a), m_B(b)
    {
    }

    ActivationFunction m_Function = ActivationFunction::Sigmoid;
    float m_A = 0.0f; ///< upper bound, slope or alpha: see ActivationFunction
    float m_B = 0.0f; ///< lower bound or offset
    RequantizationMode m_Requantization = RequantizationMode::FixedPoint; ///< Tenon; of quantized outputs

    template <typename V>
    static void Visit(V&& v)
    {
        v("Function", &ActivationDescriptor::m_Function);
        v("A", &ActivationDescriptor::m_A);
        v("B", &ActivationDescriptor::m_B);
        v("Requantization", &ActivationDescriptor::m_Requantization);
    }
};

/// ElementwiseBinary: out = in0 OP in1, with broadcasting.
struct ElementwiseBinaryDescriptor : detail::Described<ElementwiseBinaryDescriptor>
{
    ElementwiseBinaryDescriptor() = default;
    ElementwiseBinaryDescriptor(BinaryOperation operation) : m_Operation(operation) {}

    BinaryOperation m_Operation = BinaryOperation::Add;
    RequantizationMode m_Requantization = RequantizationMode::FixedPoint; ///< Tenon; of quantized outputs

    template <typename V>
    static void Visit(V&& v)
    {
        v("Operation", &ElementwiseBinaryDescriptor::m_Operation);
        v("Requantization", &ElementwiseBinaryDescriptor::m_Requantization);
    }
};

/// ElementwiseUnary: out = OP in.
struct ElementwiseUnaryDescriptor : detail::Described<ElementwiseUnaryDescriptor>
{
    ElementwiseUnaryDescriptor() = default;
    ElementwiseUnaryDescriptor(UnaryOperation operation) : m_Operation(operation) {}

    UnaryOperation m_Operation = UnaryOperation::Abs;

    template <typename V>
    static void Visit(V&& v)
    {
        v("Operation", &ElementwiseUnaryDescriptor::m_Operation);
    }
};

/// Comparison: Boolean out = in0 OP in1, with broadcasting.
struct ComparisonDescriptor : detail::Described<ComparisonDescriptor>
{
    ComparisonDescriptor() = default;
    ComparisonDescriptor(ComparisonOperation operation) : m_Operation(operation) {}

    ComparisonOperation m_Operation = ComparisonOperation::Equal;

    template <typename V>
    static void Visit(V&& v)
    {
        v("Operation", &ComparisonDescriptor::m_Operation);
    }
};

/// LogicalBinary: Boolean out = in0 OP in1, with broadcasting.
struct LogicalBinaryDescriptor : detail::Described<LogicalBinaryDescriptor>
{
    LogicalBinaryDescriptor() = default;
    LogicalBinaryDescriptor(LogicalBinaryOperation operation) : m_Operation(operation) {}

    LogicalBinaryOperation m_Operation = LogicalBinaryOperation::LogicalAnd;

    template <typename V>
    static void Visit(V&& v)
    {
        v("Operation", &LogicalBinaryDescriptor::m_Operation);
    }
};

/// Select (Tenon).
struct SelectDescriptor : detail::Described<SelectDescriptor>
{
    /// The data inputs must be of one shape, and a condition of rank 1 chooses among their slices along dimension 0, as
    /// TFLite's SELECT does; else all three inputs are broadcast to each other.
    bool m_ConditionBySlice = false;

    template <typename V>
    static void Visit(V&& v)
    {
        v("ConditionBySlice", &SelectDescriptor::m_ConditionBySlice);
    }
};

/// AddN (Tenon): the sum of inputs of one shape and type, taken from the first to the last.
struct AddNDescriptor : detail::Described<AddNDescriptor>
{
    uint32_t m_NumInputs = 0; ///< at least 1

    uint32_t GetNumInputs() const { return m_NumInputs; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("NumInputs", &AddNDescriptor::m_NumInputs);
    }
};

/// Bucketize (Tenon): for each element how many boundaries are not above it; Signed32. NaN is above all.
struct BucketizeDescriptor : detail::Described<BucketizeDescriptor>
{
    std::vector<float> m_Boundaries; ///< ascending

    template <typename V>
    static void Visit(V&& v)
    {
        v("Boundaries", &BucketizeDescriptor::m_Boundaries);
    }
};

/// Quantize: out = clamp(round(in / scale) + zero point), with the scale and zero point of the output's info.
struct QuantizeDescriptor : detail::Described<QuantizeDescriptor>
{
    QuantizeDescriptor() = default;
    explicit QuantizeDescriptor(RequantizationMode requantization) : m_Requantization(requantization) {}

    RequantizationMode m_Requantization = RequantizationMode::FixedPoint; ///< Tenon

    template <typename V>
    static void Visit(V&& v)
    {
        v("Requantization", &QuantizeDescriptor::m_Requantization);
    }
};

/// FakeQuantization: rounds to the grid of 2^bits values in [min, max], which is shifted so that 0 is on it.
struct FakeQuantizationDescriptor : detail::Described<FakeQuantizationDescriptor>
{
    float m_Min = -6.0f;
    float m_Max = 6.0f;
    uint32_t m_NumBits = 8;     ///< Tenon: 2..16
    bool m_NarrowRange = false; ///< Tenon: the grid has one value less, at the lower end

    template <typename V>
    static void Visit(V&& v)
    {
        v("Min", &FakeQuantizationDescriptor::m_Min);
        v("Max", &FakeQuantizationDescriptor::m_Max);
        v("NumBits", &FakeQuantizationDescriptor::m_NumBits);
        v("NarrowRange", &FakeQuantizationDescriptor::m_NarrowRange);
    }
};

} // namespace tenon
