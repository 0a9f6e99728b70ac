// SPDX-License-Identifier: Apache-2.0
// Products of few rows of bytes on processors that have no dot product of bytes: by magnitudes and signs, where no
// weight is -128, or 0 of uint8; and of one row by weights of four bits.
#include "backends/cpu/gemm/pack/PackedWeightsInt8.hpp"
#include "ops/cpu/gemm/LayerCasesInt8.hpp"
#include "ops/cpu/gemm/PackingCasesInt8.hpp"
#include "ops/cpu/gemm/SplitCasesInt8.hpp"

#include <tenon/descriptors/Products.hpp>

#include <random>

namespace tenon::test::few_rows_int8_test
{

namespace
{

/// Any int8 but -128, the ends often.
std::vector<uint8_t> MakeWeights(size_t count)
{
    std::mt19937 random(static_cast<uint32_t>(count));
    std::vector<uint8_t> weights(count);
    for (uint8_t& weight : weights)
    {
        const int32_t any = static_cast<int32_t>(random() % 255) - 127;
        weight = static_cast<uint8_t>(random() % 3 != 0 ? any : any < 0 ? -127 : 127);
    }
    return weights;
}

TestTensor FilledWith(const TensorInfo& info, int8_t value)
{
    return {info, std::vector<std::byte>(info.GetNumBytes(), static_cast<std::byte>(value))};
}

} // namespace

ISA_TEST(FewRowsInt8, WeightsWhoseNegativeIsNoByte)
{
    if (!cpu::GetCpuFeatures().m_Simd || !cpu::GetMicrokernelsInt8().Has(cpu::KernelRoleInt8::SignTransferInt8))
    {
        ISA_SKIP() << "other tiles are used on this processor";
    }
    for (const bool hasMinByte : {false, true})
    {
        for (const size_t rows : {1U, 4U, 5U})
        {
            std::vector<uint8_t> bytes = MakeWeights(40 * 50);
            bytes.back() = hasMinByte ? 0x80 : 0;
            backends::FillingStore store;
            const auto packed = Packing(InfoInt8({8, 50}, true, 0.1f, 3), InfoInt8({40, 50}, true, 0.1f, 0), bytes,
                                        InfoInt8({8, 40}, true, 1.0f, 0))
                                    .Pack(store, rows);
            ASSERT_TRUE(packed->IsExact());
            EXPECT_EQ(&packed->GetTiles() == &cpu::GetMicrokernelsInt8().Get(cpu::KernelRoleInt8::SignTransferInt8),
                      !hasMinByte && rows < 5)
                << rows << " rows, has -128: " << hasMinByte;
        }
    }
}

// Data of both ends, which is where sums of 16 bits are largest, with and without a weight of -128.
ISA_TEST(FewRowsInt8, LayersAsReference)
{
    for (const unsigned int depth : {4U, 7U, 64U, 257U})
    {
        for (const unsigned int columns : {1U, 19U, 40U, 67U})
        {
            for (const bool hasMinByte : {false, true})
            {
                std::vector<uint8_t> bytes = MakeWeights(size_t{columns} * depth);
                bytes.back() = hasMinByte ? 0x80 : bytes.back();
                const TestTensor stored =
                    StoreBytes(TensorInfo(TensorShape({columns, depth}), DataType::QSymmS8, 0.1f, 0), bytes);
                for (const unsigned int rows : {1U, 2U, 3U, 4U})
                {
                    const std::string name = std::to_string(rows) + " x " + std::to_string(depth) + " x " +
                                             std::to_string(columns) + (hasMinByte ? ", with -128" : "");
                    const TensorInfo data = InfoInt8({rows, depth}, true, 0.1f, -128 + static_cast<int>(rows) * 51);
                    for (const TestTensor& input : {Random(data, rows), FilledWith(data, -128), FilledWith(data, 127)})
                    {
                        ExpectConnectedAsReference(name, input, stored, 40.0f);
                    }
                    ExpectHybridAsReference(name, rows, stored);
                }
            }
        }
    }
}

// The same of uint8, for weights with any zero point, and of int8 with one.
ISA_TEST(FewRowsInt8, LayersWithZeroPointsAsReference)
{
    for (const bool isSigned : {false, true})
    {
        const int32_t middle = isSigned ? 0 : 128;
        for (const unsigned int depth : {4U, 7U, 257U})
        {
            for (const unsigned int columns : {1U, 19U, 67U})
            {
                for (const bool hasMinByte : {false, true})
                {
                    std::vector<uint8_t> bytes = MakeWeights(size_t{columns} * depth);
                    for (uint8_t& byte : bytes)
                    {
                        byte = static_cast<uint8_t>(isSigned ? byte : byte ^ 0x80U);
                    }
                    bytes.back() = hasMinByte ? (isSigned ? 0x80 : 0) : bytes.back();
                    for (const unsigned int rows : {1U, 3U, 4U})
                    {
                        const int32_t weightsPoint = middle + static_cast<int32_t>(rows) * 40 - 100;
                        const TestTensor stored =
                            StoreBytes(InfoInt8({columns, depth}, isSigned, 0.1f, weightsPoint), bytes);
                        const int32_t dataPoint = middle - 128 + static_cast<int32_t>(rows) * 51;
                        const TensorInfo data = InfoInt8({rows, depth}, isSigned, 0.1f, dataPoint);
                        const std::string name = std::to_string(rows) + " x " + std::to_string(depth) + " x " +
                                                 std::to_string(columns) + (hasMinByte ? ", with the least" : "");
                        for (const TestTensor& input : {Random(data, rows), FilledWith(data, isSigned ? -128 : 0),
                                                        FilledWith(data, isSigned ? 127 : -1)})
                        {
                            ASSERT_NO_FATAL_FAILURE(ExpectConnectedAsReference(name, input, stored, 80.0f));
                        }
                    }
                }
            }
        }
    }
}

// One row has panels of its own where dot products of bytes are missing: of one to four vectors.
ISA_TEST(FewRowsInt8, WeightsOfFourBitsAsReference)
{
    FullyConnectedDescriptor d;
    d.m_TransposeWeightMatrix = true;
    for (const unsigned int columns : {1U, 8U, 9U, 16U, 21U, 32U, 45U, 64U, 91U})
    {
        for (const unsigned int depth : {8U, 30U, 32U, 36U, 64U, 129U})
        {
            const TensorInfo weights(TensorShape({columns, depth}), DataType::QSymmS4, 0.1f, 0);
            const auto bytes = static_cast<unsigned int>(weights.GetNumBytes());
            const TestTensor stored = {weights, Random(InfoInt8({bytes}, true, 0.1f, 0), columns).m_Bytes};
            const TensorInfo data(TensorShape({1, depth}), DataType::Float32);
            ExpectAsReference(ReferenceCase(std::to_string(columns) + " columns of depth " + std::to_string(depth),
                                            LayerType::FullyConnected, d,
                                            {Random(data, depth, -1, 1), Constant(stored)},
                                            TensorInfo(TensorShape({1, columns}), DataType::Float32)),
                              "CpuFullyConnectedHybrid");
        }
    }
}

} // namespace tenon::test::few_rows_int8_test
