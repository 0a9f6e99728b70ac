// SPDX-License-Identifier: Apache-2.0
// Cast: every pair of types, and what happens to numbers that the other type does not have.
#include "ops/ElementwiseOracle.hpp"

#include <tenon/descriptors/Base.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>

namespace tenon::test::cast_test
{

namespace
{

const std::vector<DataType>& GetRealTypes()
{
    static const std::vector<DataType> types = {
        DataType::Float16,   DataType::Float32,    DataType::Float64,    DataType::BFloat16,
        DataType::Signed8,   DataType::Signed16,   DataType::Signed32,   DataType::Signed64,
        DataType::Unsigned8, DataType::Unsigned16, DataType::Unsigned32, DataType::Unsigned64,
        DataType::QAsymmU8,  DataType::QAsymmS8,   DataType::QSymmS16,   DataType::Boolean};
    return types;
}

OpCase MakeCase(TestTensor input, DataType to)
{
    OpCase op;
    op.m_Name = input.m_Info.ToString() + " to " + GetDataTypeName(to);
    op.m_Type = LayerType::Cast;
    op.m_Descriptor = MakeDescriptor(NullDescriptor());
    op.m_Output = TensorInfo(input.m_Info.GetShape(), to);
    op.m_Inputs = {std::move(input)};
    op.m_Steps = op.m_Relative = op.m_Absolute = 0;
    return op;
}

void CheckExact(DataType from, const std::vector<double>& in, DataType to, const std::vector<double>& out)
{
    OpCase op = MakeCase(Stored(TensorInfo(TensorShape({static_cast<unsigned int>(in.size())}), from), in), to);
    op.m_Oracle = Expect(op.m_Output, out);
    CheckOp(op);
}

TestTensor FromBytes(const TensorInfo& info, const void* data, size_t bytes)
{
    TestTensor tensor;
    tensor.m_Info = info;
    tensor.m_Bytes.resize(bytes);
    std::memcpy(tensor.m_Bytes.data(), data, bytes);
    return tensor;
}

std::vector<std::byte> RunReference(const OpCase& op)
{
    return RunOp(*GetTestBackends().front(), op, RunVariant());
}

} // namespace

ISA_TEST(Cast, BetweenAllTypes)
{
    const std::vector<double> numbers = {0, 1, 2, 3, 100, 117};
    for (const DataType from : GetRealTypes())
    {
        for (const DataType to : GetRealTypes())
        {
            std::vector<double> in = numbers;
            if (from == DataType::Boolean)
            {
                in = {0, 1, 1, 0, 1, 1};
            }
            std::vector<double> out = in;
            if (to == DataType::Boolean)
            {
                std::transform(in.begin(), in.end(), out.begin(), [](double x) { return x != 0 ? 1.0 : 0.0; });
            }
            CheckExact(from, in, to, out);
        }
    }
}

ISA_TEST(Cast, FloatsAreCutAndSaturate)
{
    const double inf = std::numeric_limits<double>::infinity();
    for (const DataType from : {DataType::Float32, DataType::Float64, DataType::BFloat16})
    {
        CheckExact(from, {1.5, -1.5, -0.75, 0.75, 1e20, -1e20, inf, -inf, std::nan("")}, DataType::Signed32,
                   {1, -1, 0, 0, 2147483647, -2147483648.0, 2147483647, -2147483648.0, 2147483647});
        CheckExact(from, {1.5, -1.5, 300, -300, inf, -inf}, DataType::Unsigned8, {1, 0, 255, 0, 255, 0});
        CheckExact(from, {127.5, -128.5, 300, -300}, DataType::Signed8, {127, -128, 127, -128});
        CheckExact(from, {1e30, -1e30, -9223372036854775808.0}, DataType::Signed64,
                   {9223372036854775807.0, -9223372036854775808.0, -9223372036854775808.0});
        CheckExact(from, {1e30, -1}, DataType::Unsigned64, {18446744073709551615.0, 0});
    }
    CheckExact(DataType::Float16, {65504, -65504}, DataType::Signed16, {32767, -32768});
    CheckExact(DataType::Float32, {1e30, -1e30}, DataType::Float16, {inf, -inf});
    CheckExact(DataType::Float32, {0.5, -0.5, 0, std::nan("")}, DataType::Boolean, {1, 1, 0, 1});
}

ISA_TEST(Cast, IntegersWrap)
{
    CheckExact(DataType::Signed32, {256, 300, -1, -129}, DataType::Unsigned8, {0, 44, 255, 127});
    CheckExact(DataType::Signed32, {-1, 2147483647}, DataType::Unsigned32, {4294967295.0, 2147483647});
    CheckExact(DataType::Unsigned32, {4294967295.0}, DataType::Signed32, {-1});
    CheckExact(DataType::Signed64, {4294967296.0 + 5}, DataType::Signed32, {5});
}

ISA_TEST(Cast, BytesOfBooleans)
{
    CheckExact(DataType::Boolean, {0, 1, 2, 255}, DataType::Float32, {0, 1, 1, 1});
    CheckExact(DataType::Boolean, {0, 1, 2, 255}, DataType::Boolean, {0, 1, 1, 1});
}

ISA_TEST(Cast, QuantizedTypesAreTheIntegersThatAreStored)
{
    OpCase op =
        MakeCase(Stored(TensorInfo(TensorShape({2}), DataType::QAsymmU8, 0.5f, 100), {3, 200}), DataType::Float32);
    op.m_Oracle = Expect(op.m_Output, {3, 200});
    CheckOp(op);
}

ISA_TEST(Cast, ComplexNumbers)
{
    const float complexes[] = {1.5f, 2.0f, -3.0f, 4.0f};
    const TestTensor input = FromBytes(TensorInfo(TensorShape({2}), DataType::Complex64), complexes, sizeof(complexes));
    const auto real = [&](DataType type)
    {
        const OpCase op = MakeCase(input, type);
        return GetStored(op.m_Output, RunReference(op).data());
    };
    EXPECT_EQ(real(DataType::Float32), (std::vector<double>{1.5, -3}));
    EXPECT_EQ(real(DataType::Signed32), (std::vector<double>{1, -3}));
    EXPECT_EQ(RunReference(MakeCase(input, DataType::Complex64)), input.m_Bytes);

    const OpCase widened = MakeCase(input, DataType::Complex128);
    const double doubles[] = {1.5, 2.0, -3.0, 4.0};
    EXPECT_EQ(RunReference(widened), FromBytes(widened.m_Output, doubles, sizeof(doubles)).m_Bytes);

    const OpCase fromReal =
        MakeCase(Stored(TensorInfo(TensorShape({2}), DataType::Signed16), {7, -8}), DataType::Complex64);
    const float reals[] = {7.0f, 0.0f, -8.0f, 0.0f};
    EXPECT_EQ(RunReference(fromReal), FromBytes(fromReal.m_Output, reals, sizeof(reals)).m_Bytes);
}

ISA_TEST(Cast, HalfBytes)
{
    const unsigned char nibbles[] = {0x8F, 0x07};
    const TensorInfo info(TensorShape({3}), DataType::QSymmS4, 0.5f);
    const OpCase fromNibbles = MakeCase(FromBytes(info, nibbles, sizeof(nibbles)), DataType::Float32);
    EXPECT_EQ(GetStored(fromNibbles.m_Output, RunReference(fromNibbles).data()), (std::vector<double>{-1, -8, 7}));

    const OpCase toNibbles =
        MakeCase(Values(TensorInfo(TensorShape({3}), DataType::Float32), {-1.9, -100, 100}), DataType::QSymmS4);
    EXPECT_EQ(RunReference(toNibbles), FromBytes(toNibbles.m_Output, nibbles, sizeof(nibbles)).m_Bytes);
    const uint64_t large[] = {uint64_t{1} << 63, 7, ~uint64_t{0}};
    const OpCase fromLarge = MakeCase(
        FromBytes(TensorInfo(TensorShape({3}), DataType::Unsigned64), large, sizeof(large)), DataType::QSymmS4);
    const unsigned char sevens[] = {0x77, 0x07};
    EXPECT_EQ(RunReference(fromLarge), FromBytes(fromLarge.m_Output, sevens, sizeof(sevens)).m_Bytes);
    const unsigned char booleans[] = {0, 2, 255};
    const OpCase fromBooleans = MakeCase(
        FromBytes(TensorInfo(TensorShape({3}), DataType::Boolean), booleans, sizeof(booleans)), DataType::QSymmS4);
    const unsigned char ones[] = {0x10, 0x01};
    EXPECT_EQ(RunReference(fromBooleans), FromBytes(fromBooleans.m_Output, ones, sizeof(ones)).m_Bytes);
    EXPECT_EQ(RunReference(MakeCase(FromBytes(info, nibbles, sizeof(nibbles)), DataType::QSymmS4)),
              FromBytes(info, nibbles, sizeof(nibbles)).m_Bytes);
}

ISA_TEST(ConvertFp16ToFp32, GivesEveryHalfExactly)
{
    std::vector<double> halves;
    for (int i = -2048; i <= 2048; ++i)
    {
        halves.push_back(i);
        halves.push_back(i * std::ldexp(1.0, -24)); // the smallest steps there are
    }
    OpCase op =
        MakeCase(Stored(TensorInfo(TensorShape({static_cast<unsigned int>(halves.size())}), DataType::Float16), halves),
                 DataType::Float32);
    op.m_Type = LayerType::ConvertFp16ToFp32;
    op.m_Oracle = Expect(op.m_Output, halves);
    CheckOp(op);
}

ISA_TEST(ConvertFp32ToFp16, RoundsToTheNearestAndTiesToEven)
{
    const double inf = std::numeric_limits<double>::infinity();
    const std::vector<double> in = {2049, 2051, -2049, 1e-8, 65519, 65520, -1e30, inf};
    OpCase op = MakeCase(Values(TensorInfo(TensorShape({8}), DataType::Float32), in), DataType::Float16);
    op.m_Type = LayerType::ConvertFp32ToFp16;
    op.m_Oracle = Expect(op.m_Output, {2048, 2052, -2048, 0, 65504, inf, -inf, inf});
    CheckOp(op);
}

ISA_TEST(ConvertFp32ToFp16, TakesTheseTypesOnly)
{
    const TensorInfo info(TensorShape({2}), DataType::Float32);
    OpCase op = MakeCase(Values(info, {1, 2}), DataType::BFloat16);
    op.m_Type = LayerType::ConvertFp32ToFp16;
    CheckUnsupported(op, SupportCode::UnsupportedType, "output 0");
    op.m_Type = LayerType::ConvertFp16ToFp32;
    CheckUnsupported(op, SupportCode::UnsupportedType, "input 0");
}

ISA_TEST(Cast, NoElements)
{
    CheckExact(DataType::Float32, {}, DataType::Signed32, {});
}

} // namespace tenon::test::cast_test
