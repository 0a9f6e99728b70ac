// SPDX-License-Identifier: Apache-2.0
// BatchMatMul against products in double precision: transposed and broadcast matrices, every combination of types.
#include "ops/HalfEvenOracle.hpp"

#include <tenon/descriptors/Products.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace tenon::test::batch_mat_mul_test
{

namespace
{

struct Case
{
    const char* m_Name;
    TensorShape m_X;
    TensorShape m_Y;
    TensorShape m_Output;
    bool m_TransposeX = false;
    bool m_TransposeY = false;
    bool m_ChannelsLast = false;
};

const Case Cases[] = {
    {"one product", {3, 5}, {5, 4}, {3, 4}},
    {"many rows", {21, 17}, {17, 9}, {21, 9}},
    {"x transposed", {5, 11}, {5, 4}, {11, 4}, true},
    {"y transposed", {11, 5}, {4, 5}, {11, 4}, false, true},
    {"both transposed", {2, 5, 9}, {2, 3, 5}, {2, 9, 3}, true, true},
    {"batches", {2, 3, 4, 5}, {2, 3, 5, 6}, {2, 3, 4, 6}},
    {"x broadcast", {1, 4, 5}, {3, 5, 6}, {3, 4, 6}},
    {"y broadcast", {3, 2, 4, 5}, {5, 6}, {3, 2, 4, 6}},
    {"both broadcast", {3, 1, 4, 5}, {2, 5, 6}, {3, 2, 4, 6}},
    {"broadcast between", {2, 1, 3, 4, 5}, {2, 4, 1, 5, 2}, {2, 4, 3, 4, 2}},
    {"channels last", {2, 4, 5, 3}, {1, 5, 6, 3}, {2, 4, 6, 3}, false, false, true},
    // Batches of one matrix of y, which are rows of one batch where they follow each other.
    {"a row a batch", {6, 1, 5}, {5, 4}, {6, 1, 4}},
    {"a row a batch, x transposed", {6, 5, 1}, {5, 4}, {6, 1, 4}, true},
    {"a row a batch, outer ones", {3, 2, 1, 5}, {1, 2, 5, 4}, {3, 2, 1, 4}},
    {"y broadcast to outer batches", {3, 2, 4, 5}, {1, 2, 5, 6}, {3, 2, 4, 6}},
    {"y broadcast to inner batches", {3, 2, 4, 5}, {3, 1, 5, 6}, {3, 2, 4, 6}},
    {"x transposed, y broadcast", {3, 5, 4}, {5, 6}, {3, 4, 6}, true},
    {"x transposed, y broadcast, a depth of one", {3, 1, 4}, {1, 6}, {3, 4, 6}, true},
    {"channels last, y broadcast", {2, 4, 5, 3}, {1, 5, 6, 1}, {2, 4, 6, 3}, false, false, true},
    {"channels last, y broadcast, a row", {2, 1, 5, 3}, {1, 5, 6, 1}, {2, 1, 6, 3}, false, false, true},
    {"no depth", {2, 3, 0}, {2, 0, 4}, {2, 3, 4}},
    {"no rows", {2, 0, 3}, {2, 3, 4}, {2, 0, 4}},
    {"no batches", {0, 2, 3}, {1, 3, 4}, {0, 2, 4}},
};

/// The element of a tensor of at most the output's rank, at the output's batch and its own row and column.
double Element(const RealTensor& tensor, const std::vector<size_t>& batch, size_t row, size_t column, bool transposed,
               unsigned int fromEnd)
{
    const unsigned int rank = tensor.m_Shape.GetNumDimensions();
    std::vector<size_t> index(batch.end() - rank, batch.end());
    index[rank - fromEnd - 1] = transposed ? column : row;
    index[rank - fromEnd] = transposed ? row : column;
    size_t offset = 0;
    for (unsigned int i = 0; i < rank; ++i)
    {
        const bool isMatrix = i == rank - fromEnd || i + 1 == rank - fromEnd;
        offset = offset * tensor.m_Shape[i] + (tensor.m_Shape[i] == 1 && !isMatrix ? 0 : index[i]);
    }
    return tensor.m_Values.at(offset);
}

/// Matrices that CpuAcc cuts: into panels that one cache holds, parts of rows, columns for threads; and few rows.
const Case CutCases[] = {
    {"several groups of panels", {70, 600}, {600, 300}, {70, 300}},
    {"several groups of panels, y transposed", {70, 600}, {300, 600}, {70, 300}, false, true},
    {"parts of rows", {260, 90}, {90, 30}, {260, 30}},
    {"parts of rows, x transposed", {90, 260}, {90, 30}, {260, 30}, true},
    {"one matrix of y for several of x", {5, 70, 40}, {40, 33}, {5, 70, 33}},
    {"batches, both transposed", {3, 40, 70}, {3, 33, 40}, {3, 70, 33}, true, true},
    {"many batches of a row", {90, 1, 70}, {70, 200}, {90, 1, 200}},
    {"one row", {1, 67}, {67, 300}, {1, 300}},
    {"one row, y transposed", {1, 67}, {300, 67}, {1, 300}, false, true},
    {"one row, y transposed, a great depth", {1, 300}, {45, 300}, {1, 45}, false, true},
    {"batches of a row, y transposed, a small depth", {3, 1, 20}, {3, 23, 20}, {3, 1, 23}, false, true},
    {"two rows, x transposed", {3, 67, 2}, {3, 67, 35}, {3, 2, 35}, true},
    {"three rows of a broadcast matrix", {4, 3, 19}, {19, 21}, {4, 3, 21}},
    {"four rows, both transposed", {9, 4}, {21, 9}, {4, 21}, true, true},
    {"odd depths, y transposed", {2, 17, 35}, {2, 21, 35}, {2, 17, 21}, false, true},
    {"odd depths, both transposed", {2, 35, 17}, {2, 40, 35}, {2, 17, 40}, true, true},
    {"columns of several vectors", {2, 2, 30, 64}, {2, 1, 64, 133}, {2, 2, 30, 133}},
    // y where it lies: few rows of whole vectors, or matrices that the first-level cache holds.
    {"y in place, panels of every width", {2, 17, 70}, {2, 70, 112}, {2, 17, 112}},
    {"y in place, all rows of a tile", {29, 19}, {19, 48}, {29, 48}},
    {"y in place, one vector", {2, 40, 9}, {2, 9, 16}, {2, 40, 16}},
    {"y in place, several blocks of rows", {2, 500, 3}, {2, 3, 32}, {2, 500, 32}},
    {"y in place, more than a cache, threads share rows", {120, 260}, {260, 192}, {120, 192}},
    {"y in place, threads share panels", {6, 500}, {500, 960}, {6, 960}},
    {"y in place, x transposed", {3, 33, 20}, {3, 33, 64}, {3, 20, 64}, true},
    {"y in place, broadcast", {5, 7, 20}, {20, 32}, {5, 7, 32}},
    {"a depth of one, y in place", {6, 1}, {1, 48}, {6, 48}},
    {"a depth of one", {6, 1}, {1, 40}, {6, 40}},
    {"four rows in columns of threads", {4, 300}, {300, 900}, {4, 900}},
};

Oracle Products(const Case& c)
{
    return [c](const std::vector<RealTensor>& in)
    {
        const unsigned int fromEnd = c.m_ChannelsLast ? 2 : 1;
        const unsigned int rank = c.m_Output.GetNumDimensions();
        const unsigned int rankX = c.m_X.GetNumDimensions();
        const size_t depth = c.m_X[c.m_TransposeX ? rankX - fromEnd - 1 : rankX - fromEnd];
        std::vector<double> values(c.m_Output.GetNumElements());
        for (size_t i = 0; i < values.size(); ++i)
        {
            std::vector<size_t> index(rank);
            size_t rest = i;
            for (unsigned int d = rank; d-- > 0;)
            {
                index[d] = rest % c.m_Output[d];
                rest /= c.m_Output[d];
            }
            for (size_t k = 0; k < depth; ++k)
            {
                values[i] += Element(in[0], index, index[rank - fromEnd - 1], k, c.m_TransposeX, fromEnd) *
                             Element(in[1], index, k, index[rank - fromEnd], c.m_TransposeY, fromEnd);
            }
        }
        return values;
    };
}

OpCase MakeOp(const Case& c, TensorInfo x, TensorInfo y, TensorInfo output)
{
    BatchMatMulDescriptor descriptor(c.m_TransposeX, c.m_TransposeY);
    descriptor.m_DataLayoutX = descriptor.m_DataLayoutY = c.m_ChannelsLast ? DataLayout::NHWC : DataLayout::NCHW;
    x.SetShape(c.m_X);
    y.SetShape(c.m_Y);
    output.SetShape(c.m_Output);
    return {std::string(c.m_Name) + " of " + GetDataTypeName(x.GetDataType()),
            LayerType::BatchMatMul,
            MakeDescriptor(descriptor),
            {Random(x, 5), Constant(Random(y, 6))},
            output,
            Products(c)};
}

TensorInfo Info(DataType type, float scale = 0.0f, int32_t zeroPoint = 0)
{
    return TensorInfo(TensorShape({1}), type, scale, zeroPoint);
}

/// The case by RequantizationMode::FloatHalfEven, exactly; y may have a scale for each column.
OpCase WithHalvesToEven(const Case& c, const TensorInfo& x, const TensorInfo& y, const TensorInfo& output)
{
    OpCase op = MakeOp(c, x, y, output);
    BatchMatMulDescriptor descriptor = static_cast<const BatchMatMulDescriptor&>(*op.m_Descriptor);
    descriptor.m_Requantization = RequantizationMode::FloatHalfEven;
    op.m_Descriptor = MakeDescriptor(descriptor);
    const std::vector<float> scales = y.GetQuantizationScales();
    const size_t columns = c.m_Output[c.m_Output.GetNumDimensions() - 1];
    std::vector<double> values = Products(c)({GetSteps(op.m_Inputs[0]), GetSteps(op.m_Inputs[1])});
    for (size_t i = 0; i < values.size(); ++i)
    {
        const float factor = FactorOfSums(x.GetQuantizationScale(), scales[scales.size() == 1 ? 0 : i % columns],
                                          output.GetQuantizationScale());
        values[i] = RescaleHalfEven(static_cast<int64_t>(values[i]), factor, op.m_Output);
    }
    op.m_Oracle = Expect(op.m_Output, values);
    op.m_Steps = 0;
    return op;
}

} // namespace

ISA_TEST(BatchMatMul, AgreesWithDoublePrecision)
{
    using D = DataType;
    for (const Case& c : Cases)
    {
        CheckOp(MakeOp(c, Info(D::Float32), Info(D::Float32), Info(D::Float32)));
        OpCase doubles = MakeOp(c, Info(D::Float64), Info(D::Float64), Info(D::Float64));
        doubles.m_Relative = doubles.m_Absolute = 1e-14;
        CheckOp(doubles);
        for (const DataType type : {D::Float16, D::BFloat16})
        {
            OpCase half = MakeOp(c, Info(type), Info(type), Info(type));
            half.m_Relative = half.m_Absolute = type == D::Float16 ? 2e-3 : 1.6e-2;
            CheckOp(half);
        }
        CheckOp(MakeOp(c, Info(D::QAsymmS8, 0.03f, 7), Info(D::QAsymmS8, 0.02f, -11), Info(D::QAsymmS8, 0.3f, 5)));
        CheckOp(MakeOp(c, Info(D::QAsymmU8, 0.03f, 130), Info(D::QAsymmU8, 0.02f, 111), Info(D::QAsymmU8, 0.3f, 99)));
        // Multipliers of 64-bit sums have 16 bits.
        OpCase shorts = MakeOp(c, Info(D::QSymmS16, 1e-4f), Info(D::QSymmS16, 1e-4f), Info(D::QSymmS16, 1e-3f));
        shorts.m_Steps = 2;
        CheckOp(shorts);
        shorts = MakeOp(c, Info(D::QSymmS16, 1e-4f), Info(D::QSymmS8, 0.02f), Info(D::QSymmS16, 1e-3f));
        shorts.m_Steps = 2;
        CheckOp(shorts);
        CheckOp(MakeOp(c, Info(D::Signed8), Info(D::Signed8), Info(D::Signed32)));
    }
}

ISA_TEST(BatchMatMul, IsExactWithHalvesToEven)
{
    using D = DataType;
    const auto check = [](const Case& c)
    {
        CheckOp(WithHalvesToEven(c, Info(D::QAsymmS8, 0.03f, 7), Info(D::QAsymmS8, 0.02f, -11),
                                 Info(D::QAsymmS8, 0.3f, 5)));
        CheckOp(
            WithHalvesToEven(c, Info(D::QAsymmS8, 0.03f, -128), Info(D::QSymmS8, 0.02f), Info(D::QAsymmS8, 0.3f, 127)));
        CheckOp(WithHalvesToEven(c, Info(D::QAsymmU8, 0.03f, 130), Info(D::QAsymmU8, 0.02f, 255),
                                 Info(D::QAsymmU8, 0.3f, 99)));
        CheckOp(WithHalvesToEven(c, Info(D::QSymmS16, 1e-4f), Info(D::QSymmS16, 1e-4f), Info(D::QSymmS16, 1e-3f)));
        CheckOp(WithHalvesToEven(c, Info(D::QSymmS16, 1e-4f), Info(D::QSymmS8, 0.02f), Info(D::QSymmS16, 1e-3f)));
    };
    for (const Case& c : Cases)
    {
        if (c.m_Output.GetNumElements() != 0)
        {
            check(c);
        }
    }
    check(CutCases[0]);
}

// Columns in both places of y. A model of TFLite has no such scales.
ISA_TEST(BatchMatMul, PerColumnScalesWithHalvesToEven)
{
    const std::vector<float> scales = {0.01f, 0.02f, 0.03f, 0.04f};
    const TensorInfo x = Info(DataType::QAsymmS8, 0.03f, 7);
    const TensorInfo output = Info(DataType::QAsymmS8, 0.3f, 5);
    CheckOp(WithHalvesToEven(Cases[0], x, TensorInfo({5, 4}, DataType::QSymmS8, scales, 1), output));
    CheckOp(WithHalvesToEven(Cases[3], x, TensorInfo({4, 5}, DataType::QSymmS8, scales, 0), output));
    CheckUnsupported(WithHalvesToEven(Cases[3], x, TensorInfo({4, 5}, DataType::QSymmS8, scales, 1), output),
                     SupportCode::UnsupportedParameters, "other than its columns");
    TensorInfo shifted({5, 4}, DataType::QAsymmS8, scales, 1);
    shifted.SetQuantizationOffsets({0, 0, 1, 0});
    OpCase op = WithHalvesToEven(Cases[0], x, TensorInfo({5, 4}, DataType::QAsymmS8, scales, 1), output);
    op.m_Inputs[1].m_Info = shifted;
    CheckUnsupported(op, SupportCode::UnsupportedParameters, "zero points other than 0");
    op = WithHalvesToEven(Cases[0], x, TensorInfo({5, 4}, DataType::QSymmS8, scales, 1), output);
    op.m_Inputs[1].m_Info.SetQuantizationScales({0.1f, 0.2f});
    CheckRejectsShapes(op, "2 scales for 4 columns");
}

ISA_TEST(BatchMatMul, OfTwoFloatMatricesIsCut)
{
    for (const Case& c : CutCases)
    {
        for (const DataType type : {DataType::Float32, DataType::Float64, DataType::Float16, DataType::BFloat16})
        {
            OpCase op = MakeOp(c, Info(type), Info(type), Info(type));
            op.m_Inputs[1].m_Constant = false;
            // Sums of up to 600 products, each rounded; types of two bytes round them once more.
            op.m_Absolute = type == DataType::Float64 ? 1e-13 : 2e-5;
            op.m_Relative = type == DataType::Float32   ? op.m_Relative
                            : type == DataType::Float64 ? 1e-13
                            : type == DataType::Float16 ? 1e-3
                                                        : 8e-3;
            CheckOp(op);
        }
    }
}

// Rows that 8 bits hold exactly, in both ways of quantizing them.
ISA_TEST(BatchMatMul, QuantizesFloatsBesideBytes)
{
    for (const bool asymmetric : {false, true})
    {
        const Case c{"hybrid", {2, 2, 4}, {4, 3}, {2, 2, 3}};
        TensorInfo scales({4, 3}, DataType::QSymmS8, {0.1f, 0.2f, 0.4f}, 1);
        for (const TensorInfo& y : {TensorInfo({4, 3}, DataType::QAsymmS8, 0.05f, 0), scales})
        {
            OpCase op = MakeOp(c, Info(DataType::Float32), y, Info(DataType::Float32));
            const double least = asymmetric ? -128 : -127;
            op.m_Inputs[0] = Values(op.m_Inputs[0].m_Info, {least, 127, 3, -50, least / 2, 63.5, 0, 1.5, //
                                                            least, 127, 0, 0, 0, 0, 0, 0});
            BatchMatMulDescriptor descriptor;
            descriptor.m_AsymmetricQuantizeInputs = asymmetric;
            op.m_Descriptor = MakeDescriptor(descriptor);
            CheckOp(op);
        }
    }
}

// TFLite finds no scale for the tensor as a whole.
ISA_TEST(BatchMatMul, IntegersBesidePerAxisQuantizationGiveZeroPoints)
{
    const TensorInfo y({5, 4}, DataType::QSymmS8, {0.1f, 0.2f, 0.3f, 0.4f}, 1);
    OpCase op = MakeOp(Cases[0], Info(DataType::QSymmS16, 1e-4f), y, Info(DataType::QSymmS16, 1e-3f));
    op.m_Oracle = Expect(op.m_Output, std::vector<double>(12, 0.0));
    CheckOp(op);
}

ISA_TEST(BatchMatMul, IsRefused)
{
    using D = DataType;
    const TensorInfo rows({5, 4}, D::QSymmS8, {0.1f, 0.2f, 0.3f, 0.4f, 0.5f}, 0);
    CheckUnsupported(MakeOp(Cases[0], Info(D::Float32), rows, Info(D::Float32)), SupportCode::UnsupportedParameters,
                     "other than its columns");
    CheckUnsupported(MakeOp(Cases[0], Info(D::Float32), Info(D::Float64), Info(D::Float32)),
                     SupportCode::UnsupportedType, "input 1");
    const auto floats = [](const Case& c) { return MakeOp(c, Info(D::Float32), Info(D::Float32), Info(D::Float32)); };
    CheckRejectsShapes(floats({"", {3, 5}, {4, 4}, {3, 4}}), "no product");
    CheckRejectsShapes(floats({"", {3, 5}, {5, 4}, {4, 4}}), "no product");
    CheckRejectsShapes(floats({"", {2, 3, 5}, {3, 5, 4}, {3, 3, 4}}), "no product");
    CheckRejectsShapes(floats({"", {5}, {5, 4}, {1, 4}}), "no product");
}

} // namespace tenon::test::batch_mat_mul_test
