// SPDX-License-Identifier: Apache-2.0
// GEMMs of two int8 or uint8 matrices that both change from run to run, in both modes of requantization, and of a
// matrix by a constant one, against CpuRef.
#include "ops/cpu/CompareWithReference.hpp"
#include "ops/cpu/TensorInfoInt8.hpp"

#include <tenon/descriptors/Products.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace tenon::test::batch_mat_mul_int8_test
{

namespace
{

struct Layer
{
    BatchMatMulDescriptor m_Descriptor;
    TensorShape m_X;
    TensorShape m_Y;
    TensorShape m_Output;
    bool m_IsSigned = false;
    int32_t m_ZeroX = 0; ///< zero point if uint8, like the others
    int32_t m_ZeroY = 0;
    float m_OutputScale = 1.0f;
    int32_t m_ZeroOutput = 120;
    RequantizationMode m_Mode = RequantizationMode::FixedPoint;
};

constexpr RequantizationMode Modes[] = {RequantizationMode::FixedPoint, RequantizationMode::FloatHalfEven};

void CheckLayer(const Layer& layer, const char* kernel)
{
    BatchMatMulDescriptor d = layer.m_Descriptor;
    d.m_Requantization = layer.m_Mode;
    const int32_t lowest = layer.m_IsSigned ? -128 : 0;
    const auto info = [&](const TensorShape& shape, float scale, int32_t zeroPoint)
    { return InfoInt8(shape, layer.m_IsSigned, scale, lowest + zeroPoint); };
    ExpectAsReference(
        ReferenceCase(
            layer.m_X.ToString() + " by " + layer.m_Y.ToString() + ", zero points " + std::to_string(layer.m_ZeroX) +
                " and " + std::to_string(layer.m_ZeroY) + ", output scale " + std::to_string(layer.m_OutputScale),
            LayerType::BatchMatMul, d,
            {Random(info(layer.m_X, 0.05f, layer.m_ZeroX), 1), Random(info(layer.m_Y, 0.02f, layer.m_ZeroY), 2)},
            info(layer.m_Output, layer.m_OutputScale, layer.m_ZeroOutput)),
        kernel);
}

/// An output scale for which most results are in range.
float GetOutputScale(unsigned int depth)
{
    return 0.05f * std::sqrt(static_cast<float>(depth + 1));
}

/// Matrices transposed or not, broadcast, with zero points.
void CheckProduct(unsigned int rows, unsigned int depth, unsigned int columns, const char* kernel)
{
    constexpr int32_t ZerosX[] = {100, 0, 255, 128};
    constexpr int32_t ZerosY[] = {128, 255, 0};
    for (const unsigned int turns : {0U, 1U, 2U, 3U})
    {
        for (const bool isSigned : {false, true})
        {
            const BatchMatMulDescriptor d(turns % 2 != 0, turns / 2 != 0);
            const TensorShape x = d.m_TransposeX ? TensorShape({2, 1, depth, rows}) : TensorShape({2, 1, rows, depth});
            const TensorShape y =
                d.m_TransposeY ? TensorShape({1, 3, columns, depth}) : TensorShape({1, 3, depth, columns});
            for (const RequantizationMode mode : Modes)
            {
                CheckLayer({d, x, y, TensorShape({2, 3, rows, columns}), isSigned, ZerosX[turns],
                            ZerosY[(turns + rows) % 3], GetOutputScale(depth), 120, mode},
                           kernel);
            }
        }
    }
}

class AnyLayers
{
public:
    Layer Make()
    {
        const unsigned int rows = PickSize(20, 150);
        const unsigned int depth = PickSize(40, 400);
        const unsigned int columns = PickSize(80, 300);
        Layer layer;
        layer.m_Descriptor = BatchMatMulDescriptor(Pick(2) == 0, Pick(2) == 0);
        layer.m_IsSigned = Pick(2) == 0;
        layer.m_Mode = Modes[Pick(2)];
        layer.m_ZeroX = PickZero();
        layer.m_ZeroY = PickZero();
        layer.m_ZeroOutput = PickZero();
        layer.m_OutputScale = Pick(3) == 0 ? std::ldexp(1.0f, static_cast<int>(Pick(60)) - 30) : GetOutputScale(depth);
        std::vector<unsigned int> x;
        std::vector<unsigned int> y;
        std::vector<unsigned int> output;
        for (unsigned int i = Pick(4); i > 0; --i)
        {
            output.push_back(1 + Pick(3));
            const unsigned int broadcast = Pick(4);
            x.push_back(broadcast == 1 ? 1 : output.back());
            y.push_back(broadcast == 2 ? 1 : output.back());
        }
        // The leading ones of an input may be missing.
        const auto shorten = [this](std::vector<unsigned int>& sizes) {
            sizes.erase(sizes.begin(), Pick(2) == 0 ? std::find_if(sizes.begin(), sizes.end(), IsMore) : sizes.begin());
        };
        shorten(x);
        shorten(y);
        Append(x, depth, rows, !layer.m_Descriptor.m_TransposeX);
        Append(y, columns, depth, !layer.m_Descriptor.m_TransposeY);
        Append(output, columns, rows, true);
        if (Pick(4) == 0)
        {
            layer.m_Descriptor.m_DataLayoutX = layer.m_Descriptor.m_DataLayoutY = DataLayout::NHWC;
            const unsigned int channels = 1 + Pick(2);
            x.push_back(channels);
            y.push_back(channels);
            output.push_back(channels);
        }
        layer.m_X = ToShape(x);
        layer.m_Y = ToShape(y);
        layer.m_Output = ToShape(output);
        return layer;
    }

private:
    static bool IsMore(unsigned int size) { return size != 1; }
    static TensorShape ToShape(const std::vector<unsigned int>& sizes)
    {
        return TensorShape(static_cast<unsigned int>(sizes.size()), sizes.data());
    }
    static void Append(std::vector<unsigned int>& sizes, unsigned int columns, unsigned int rows, bool rowsFirst)
    {
        sizes.push_back(rowsFirst ? rows : columns);
        sizes.push_back(rowsFirst ? columns : rows);
    }

    unsigned int Pick(unsigned int count) { return static_cast<unsigned int>(m_Random()) % count; }
    /// 0, 1, few or many.
    unsigned int PickSize(unsigned int few, unsigned int many)
    {
        const unsigned int most = Pick(8) != 0 ? few : many;
        return Pick(40) == 0 ? 0 : Pick(4) == 0 ? 1 : 1 + Pick(most);
    }
    /// The lowest, the highest, or any zero point.
    int32_t PickZero()
    {
        const unsigned int choice = Pick(4);
        return choice == 0 ? 0 : choice == 1 ? 255 : static_cast<int32_t>(Pick(256));
    }

    std::mt19937 m_Random{2};
};

} // namespace

ISA_TEST(BatchMatMulInt8, ProductsOfMatricesAsReference)
{
    const unsigned int sizes[][3] = {{1, 1, 1}, {1, 64, 70}, {7, 5, 19}, {33, 30, 16}, {17, 129, 40}};
    for (const auto& [rows, depth, columns] : sizes)
    {
        CheckProduct(rows, depth, columns, "CpuBatchMatMulInt8");
    }
}

// More panels and rows than are packed and copied at a time. The reference kernel runs a product whose sums could
// overflow.
ISA_TEST(BatchMatMulInt8, ProductsOfLargeMatricesAsReference)
{
    CheckProduct(3, 700, 600, "CpuBatchMatMulInt8");
    CheckProduct(1100, 70, 9, "CpuBatchMatMulInt8");
    CheckProduct(2, 9000, 3, "CpuBatchMatMulInt8");
    CheckProduct(1, 17000, 2, "RefBatchMatMul");
}

// Empty matrices, inputs of fewer dimensions, channels behind the matrices, extreme zero points, scales of all
// magnitudes.
ISA_TEST(BatchMatMulInt8, ProductsOfAnyMatricesAsReference)
{
    AnyLayers layers;
    for (int i = 0; i < 150 && !testing::Test::HasFailure(); ++i)
    {
        SCOPED_TRACE("layer " + std::to_string(i));
        CheckLayer(layers.Make(), "");
    }
}

// A packed matrix serves several products, whichever dimension is broadcast; tasks may begin in the middle of them.
ISA_TEST(BatchMatMulInt8, ProductsByOneMatrixAsReference)
{
    struct Batches
    {
        std::vector<unsigned int> m_X;
        std::vector<unsigned int> m_Y;
    };
    for (const Batches& batches : {Batches{{7, 1}, {1, 1}}, Batches{{5, 3}, {1, 3}}, Batches{{5, 3}, {5, 1}},
                                   Batches{{1, 3}, {5, 1}}, Batches{{1, 1}, {5, 3}}})
    {
        constexpr unsigned int Depth = 300;
        for (const unsigned int columns : {40U, 950U}) // packed at once, or not
        {
            for (const unsigned int rows : {1U, 2U, 70U}) // many rows are divided among threads
            {
                const std::vector<unsigned int>& x = batches.m_X;
                const std::vector<unsigned int>& y = batches.m_Y;
                CheckLayer({BatchMatMulDescriptor(), TensorShape({x[0], x[1], rows, Depth}),
                            TensorShape({y[0], y[1], Depth, columns}),
                            TensorShape({std::max(x[0], y[0]), std::max(x[1], y[1]), rows, columns}), true, 7, 100,
                            GetOutputScale(Depth), 120, Modes[rows % 2]},
                           "CpuBatchMatMulInt8");
            }
        }
    }
}

// RequantizationMode::FloatHalfEven: a matrix with one scale, or one for each column, constant or not.
ISA_TEST(BatchMatMulInt8, ProductsByScaledColumnsAsReference)
{
    constexpr unsigned int Depth = 67;
    for (unsigned int bits = 0; bits < 16; ++bits)
    {
        const bool isTransposed = (bits & 1) != 0;
        const bool hasScales = (bits & 2) != 0;
        const bool isConstant = (bits & 4) != 0;
        const bool isSigned = hasScales || (bits & 8) != 0;
        const int32_t lowest = isSigned ? -128 : 0;
        BatchMatMulDescriptor d(false, isTransposed);
        d.m_Requantization = RequantizationMode::FloatHalfEven;
        for (const unsigned int columns : {1U, 9U, 33U, 70U})
        {
            const TensorShape shape =
                isTransposed ? TensorShape({1, columns, Depth}) : TensorShape({1, Depth, columns});
            std::vector<float> scales(columns);
            for (unsigned int c = 0; c < columns; ++c)
            {
                scales[c] = std::exp2(-3.0f - static_cast<float>(c % 7));
            }
            const TensorInfo y =
                hasScales && columns > 1
                    ? TensorInfo(shape, DataType::QSymmS8, scales, isTransposed ? 1 : 2)
                    : TensorInfo(shape, isSigned ? DataType::QAsymmS8 : DataType::QAsymmU8, 0.125f, lowest + 131);
            for (const unsigned int rows : {1U, 3U, 13U})
            {
                const TestTensor matrix = Random(y, columns);
                const TensorInfo x = InfoInt8({2, rows, Depth}, isSigned, 0.5f, lowest + 100);
                ExpectAsReference(ReferenceCase(std::to_string(rows) + " rows by " + y.ToString(),
                                                LayerType::BatchMatMul, d,
                                                {Random(x, rows), isConstant ? Constant(matrix) : matrix},
                                                InfoInt8({2, rows, columns}, isSigned, 16.0f, lowest + 90)),
                                  isConstant ? "CpuBatchMatMulConstantInt8" : "CpuBatchMatMulInt8");
            }
        }
    }
}

// Integers of 8 bits by a constant matrix of them: sums of 32 bits.
ISA_TEST(BatchMatMulInt8, SumsByOneMatrixAsReference)
{
    for (const bool isTransposed : {false, true})
    {
        for (const unsigned int depth : {1U, 67U, 512U})
        {
            for (const unsigned int columns : {1U, 9U, 33U, 70U})
            {
                for (const unsigned int rows : {1U, 3U, 13U})
                {
                    const TensorInfo x({2, rows, depth}, DataType::Signed8);
                    const TensorInfo y(isTransposed ? TensorShape({columns, depth}) : TensorShape({depth, columns}),
                                       DataType::Signed8);
                    ExpectAsReference(ReferenceCase(std::to_string(rows) + " rows by " + y.ToString(),
                                                    LayerType::BatchMatMul, BatchMatMulDescriptor(false, isTransposed),
                                                    {Random(x, rows), Constant(Random(y, columns))},
                                                    TensorInfo({2, rows, columns}, DataType::Signed32)),
                                      "CpuBatchMatMulConstantSums");
                }
            }
        }
    }
}

// Floats by a constant int8 matrix, with one scale or one for each column.
ISA_TEST(BatchMatMulInt8, ProductsOfFloatsByOneMatrixAsReference)
{
    for (const bool isTurned : {false, true})
    {
        for (const bool isAsymmetric : {false, true})
        {
            for (const bool hasScales : {false, true})
            {
                for (const unsigned int columns : {1U, 9U, 33U, 70U})
                {
                    for (const unsigned int rows : {1U, 4U, 13U})
                    {
                        BatchMatMulDescriptor d;
                        (rows == 4 ? d.m_AdjointY : d.m_TransposeY) = isTurned;
                        d.m_AsymmetricQuantizeInputs = isAsymmetric;
                        constexpr unsigned int Depth = 37;
                        const TensorShape shape =
                            isTurned ? TensorShape({1, columns, Depth}) : TensorShape({1, Depth, columns});
                        std::vector<float> scales(columns);
                        for (unsigned int c = 0; c < columns; ++c)
                        {
                            scales[c] = 0.01f * static_cast<float>(1 + c % 7);
                        }
                        const TensorInfo y = hasScales ? TensorInfo(shape, DataType::QSymmS8, scales, isTurned ? 1 : 2)
                                                       : TensorInfo(shape, DataType::QSymmS8, 0.02f, 0);
                        const TensorInfo x(TensorShape({2, rows, Depth}), DataType::Float32);
                        ExpectAsReference(ReferenceCase(std::to_string(rows) + " rows by " + y.ToString(),
                                                        LayerType::BatchMatMul, d,
                                                        {Random(x, rows, -3, 1), Constant(Random(y, columns))},
                                                        TensorInfo(TensorShape({2, rows, columns}), DataType::Float32)),
                                          "CpuBatchMatMulConstantHybrid");
                    }
                }
            }
        }
    }
}

} // namespace tenon::test::batch_mat_mul_int8_test
