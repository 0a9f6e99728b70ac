// SPDX-License-Identifier: Apache-2.0
// Table: bytes looked up, shorts interpolated.
#include "harness/Networks.hpp"
#include "ops/ElementwiseOracle.hpp"
#include "ops/cpu/CompareWithReference.hpp"

#include <tenon/descriptors/Arrangement.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>

namespace tenon::test::table_test
{

namespace
{

/// Oracle on stored values.
OpCase MakeCase(TestTensor input, TestTensor table, const TensorInfo& output, Oracle oracle)
{
    OpCase op{input.m_Info.ToString() + " through " + table.m_Info.ToString(),
              LayerType::Table,
              MakeDescriptor(NullDescriptor()),
              {std::move(input), std::move(table)},
              output,
              std::move(oracle)};
    op.m_Steps = 0;
    return op;
}

TensorInfo Plain(const TensorShape& shape, DataType type)
{
    return TensorInfo(shape, type);
}

} // namespace

ISA_TEST(Table, BytesAreLookedUp)
{
    for (const DataType entry : {DataType::Signed8, DataType::Signed16})
    {
        const TensorInfo output = Plain(TensorShape({3, 40}), entry);
        CheckOp(MakeCase(Random(Plain(TensorShape({3, 40}), DataType::Signed8), 1),
                         Random(Plain(TensorShape({256}), entry), 2), output,
                         [](const auto& in) {
                             return Map(in[0],
                                        [&](double x) { return in[1].m_Values.at(static_cast<size_t>(x + 128)); });
                         }));
    }
}

ISA_TEST(Table, ShortsAreInterpolated)
{
    for (const DataType entry : {DataType::Signed8, DataType::Signed16})
    {
        const TensorInfo output = Plain(TensorShape({120}), entry);
        CheckOp(MakeCase(Random(Plain(TensorShape({120}), DataType::Signed16), 1),
                         Random(Plain(TensorShape({513}), entry), 2, -60, 60), output, // so that no slope wraps
                         [](const auto& in)
                         {
                             return Map(in[0],
                                        [&](double x)
                                        {
                                            const double at = std::floor(x / 128);
                                            const auto index = static_cast<size_t>(at + 256);
                                            const double base = in[1].m_Values.at(index);
                                            const double slope = in[1].m_Values.at(index + 1) - base;
                                            return base + std::floor((slope * (x - at * 128) + 64) / 128);
                                        });
                         }));
    }
}

ISA_TEST(Table, QuantizationDoesNotMatter)
{
    const TensorInfo input(TensorShape({3}), DataType::QAsymmS8, 0.5f, 3);
    const TensorInfo entries(TensorShape({256}), DataType::QAsymmS8, 0.25f, -7);
    const TensorInfo output(TensorShape({3}), DataType::QAsymmS8, 2.0f, 9);
    TestTensor table = AllBytes(entries); // entry i is i - 128
    CheckOp(MakeCase(Stored(input, {-128, 0, 127}), table, output, Expect(output, {-128, 0, 127})));
}

// Entries are from the lowest value on.
ISA_TEST(Table, UnsignedBytes)
{
    const TensorInfo input(TensorShape({4}), DataType::QAsymmU8, 0.5f, 3);
    const TensorInfo entries(TensorShape({256}), DataType::QAsymmS8, 0.25f, -7);
    const TensorInfo output(TensorShape({4}), DataType::QAsymmS8, 0.25f, -7);
    CheckOp(MakeCase(Stored(input, {0, 1, 128, 255}), AllBytes(entries), output, Expect(output, {-128, -127, 0, 127})));
    const TensorInfo plain = Plain(TensorShape({4}), DataType::Unsigned8);
    const TensorInfo bytes = Plain(TensorShape({256}), DataType::Unsigned8);
    CheckOp(MakeCase(Stored(plain, {0, 1, 128, 255}), AllBytes(bytes), plain, Expect(plain, {0, 1, 128, 255})));
}

ISA_TEST(Table, OnCpuAccAsReference)
{
    for (const DataType type :
         {DataType::QAsymmS8, DataType::QAsymmU8, DataType::QSymmS8, DataType::Signed8, DataType::Unsigned8})
    {
        for (const DataType entry : {DataType::QAsymmS8, DataType::QAsymmU8, DataType::Unsigned8})
        {
            for (const unsigned int count : {0U, 1U, 63U, 100003U})
            {
                const TensorInfo data(TensorShape({count}), type, 0.1f, 0);
                const TensorInfo entries(TensorShape({256}), entry, 0.2f, 5);
                ExpectAsReference(ReferenceCase(std::string(GetDataTypeName(type)) + " by " + GetDataTypeName(entry),
                                                LayerType::Table, MakeDescriptor(NullDescriptor()),
                                                {Random(data, 1), Random(entries, 2)},
                                                TensorInfo(data.GetShape(), entry, 0.2f, 5)),
                                  "CpuTable");
            }
        }
    }
}

// A table that comes at run time and is read here last: the output may take over its memory.
ISA_TEST(Table, InPlaceOfItsTable)
{
    const INetworkPtr network = INetwork::Create();
    const TensorInfo info(TensorShape({16, 16}), DataType::Signed8);
    const auto turn = [&](IConnectableLayer* x)
    {
        IConnectableLayer* const layer = network->AddTransposeLayer(TransposeDescriptor({1, 0}));
        Connect(x, layer);
        layer->GetOutputSlot(0).SetTensorInfo(info);
        return layer;
    };
    IConnectableLayer* const table = network->AddTableLayer();
    Connect(AddInput(*network, 0, info), table, 0);
    Connect(turn(AddInput(*network, 1, info)), table, 1);
    table->GetOutputSlot(0).SetTensorInfo(info);
    Connect(turn(table), network->AddOutputLayer(0));
    std::vector<int8_t> values(256);
    std::iota(values.begin(), values.end(), int8_t{-128});
    TensorInfo input = info;
    input.SetConstant();
    const ConstTensor all(input, values.data());
    for (const char* backend : {"CpuRef", "CpuAcc"})
    {
        const IRuntimePtr runtime = IRuntime::Create({});
        const NetworkId id = Load(*runtime, *network, {backend});
        std::vector<int8_t> result(256);
        runtime->EnqueueWorkload(id, {{0, all}, {1, all}}, {{0, Tensor(info, result.data())}});
        EXPECT_EQ(result, values) << backend;
    }
}

ISA_TEST(Table, RefusesTablesOfOtherSizesAndTypes)
{
    const TestTensor input = Random(Plain(TensorShape({2}), DataType::Signed8), 1);
    const TensorInfo output = Plain(TensorShape({2}), DataType::Signed8);
    CheckRejectsShapes(MakeCase(input, Random(Plain(TensorShape({255}), DataType::Signed8), 1), output, {}), "256");
    CheckRejectsShapes(MakeCase(input, Random(Plain(TensorShape({256}), DataType::Signed8), 1),
                                Plain(TensorShape({3}), DataType::Signed8), {}),
                       "shape of the input");
    CheckUnsupported(MakeCase(input, Random(Plain(TensorShape({256}), DataType::Signed16), 1), output, {}),
                     SupportCode::UnsupportedType, "");
}

} // namespace tenon::test::table_test
