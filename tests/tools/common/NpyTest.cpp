// SPDX-License-Identifier: Apache-2.0
// .npy files: bytes as NumPy writes them, every type there and back, and files that lie.
#include "tools/common/Npy.hpp"

#include "tools/common/Elements.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/NpyHeader.hpp"
#include "tools/harness/Expect.hpp"
#include "tools/harness/TempFolder.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace tenon::tools
{
namespace
{

constexpr uint64_t MaxBytes = 1 << 20;

/// A file of version 1, padded as NumPy does.
std::string NpyFile(const std::string& dictionary, const std::string& data, char major = 1)
{
    std::string header = dictionary;
    const size_t prefix = major == 1 ? 10 : 12;
    header.append(63 - (prefix + header.size()) % 64, ' ');
    header += '\n';
    std::string file = "\x93NUMPY";
    file += major;
    file += '\0';
    file += static_cast<char>(header.size() & 0xFF);
    file += static_cast<char>(header.size() >> 8);
    file.append(prefix - file.size(), '\0');
    return file + header + data;
}

std::string Dictionary(const std::string& type, const std::string& shape, const char* fortran = "False")
{
    return "{'descr': '" + type + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
}

template <typename T>
std::string Bytes(const std::vector<T>& values)
{
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::vector<double> Values(const NpyArray& array)
{
    std::vector<double> values;
    for (size_t i = 0; i < array.m_Info.GetNumElements(); ++i)
    {
        values.push_back(GetElement(array.m_Info.GetDataType(), array.m_Data.Data(), i));
    }
    return values;
}

class Npy : public testing::Test
{
protected:
    NpyArray Read(const std::string& content, const TensorInfo& expected)
    {
        return ReadNpy(m_Folder.Write("in.npy", content), expected, MaxBytes);
    }

    test::TempFolder m_Folder;
};

const TensorInfo Floats({2, 3}, DataType::Float32);

TEST_F(Npy, WritesWhatNumPyWrites)
{
    const std::vector<float> values = {1, 2, 3, 4, 5, 6};
    WriteNpy(m_Folder.Path("out.npy"), Floats, reinterpret_cast<const std::byte*>(values.data()));
    EXPECT_EQ(m_Folder.Read("out.npy"), NpyFile(Dictionary("<f4", "(2, 3)"), Bytes(values)));

    WriteNpy(m_Folder.Path("one.npy"), TensorInfo({1}, DataType::Float32),
             reinterpret_cast<const std::byte*>(values.data()));
    EXPECT_EQ(m_Folder.Read("one.npy"), NpyFile(Dictionary("<f4", "(1,)"), Bytes<float>({1})));

    const TensorInfo scalar(TensorShape(Dimensionality::Scalar), DataType::Float32);
    WriteNpy(m_Folder.Path("scalar.npy"), scalar, reinterpret_cast<const std::byte*>(values.data()));
    EXPECT_EQ(m_Folder.Read("scalar.npy"), NpyFile(Dictionary("<f4", "()"), Bytes<float>({1})));
}

TEST_F(Npy, EveryTypeComesBack)
{
    for (int i = 0; i <= static_cast<int>(DataType::Complex128); ++i)
    {
        const auto type = static_cast<DataType>(i);
        const TensorInfo info({3, 1}, type, 0.5f, 0);
        std::vector<std::byte> data(info.GetNumBytes());
        for (size_t k = 0; k < 3; ++k)
        {
            SetElement(type, data.data(), k, static_cast<double>(k + 1));
        }
        WriteNpy(m_Folder.Path("x.npy"), info, data.data());
        const NpyArray array = ReadNpy(m_Folder.Path("x.npy"), info, MaxBytes);
        EXPECT_EQ(array.m_Info, info) << GetDataTypeName(type);
        ASSERT_EQ(array.m_Data.Size(), data.size()) << GetDataTypeName(type);
        EXPECT_EQ(std::memcmp(array.m_Data.Data(), data.data(), data.size()), 0) << GetDataTypeName(type);
    }
}

TEST_F(Npy, TheFileGivesTheShape)
{
    const std::vector<float> values = {1, 2, 3, 4};
    EXPECT_EQ(Read(NpyFile(Dictionary("<f4", "(2, 1, 2)"), Bytes(values)), Floats).m_Info.GetShape(),
              TensorShape({2, 1, 2}));
    EXPECT_TRUE(Read(NpyFile(Dictionary("<f4", "()"), Bytes<float>({7})), Floats).m_Info.GetShape().IsScalar());
    const NpyArray empty = Read(NpyFile(Dictionary("<f4", "(4, 0)"), ""), Floats);
    EXPECT_EQ(empty.m_Info.GetShape(), TensorShape({4, 0}));
    EXPECT_EQ(empty.m_Data.Size(), 0U);
}

TEST_F(Npy, VersionsTwoAndThree)
{
    const std::string dictionary = Dictionary("<f4", "(1,)");
    EXPECT_EQ(Values(Read(NpyFile(dictionary, Bytes<float>({8}), 2), Floats)), std::vector<double>{8});
    EXPECT_EQ(Values(Read(NpyFile(dictionary, Bytes<float>({9}), 3), Floats)), std::vector<double>{9});
    EXPECT_THROW_WITH(Read(NpyFile(dictionary, Bytes<float>({9}), 4), Floats), InputError, "version 4");
}

TEST_F(Npy, FortranOrderIsTransposed)
{
    // [[1, 2, 3], [4, 5, 6]] column by column.
    const std::vector<float> columns = {1, 4, 2, 5, 3, 6};
    const NpyArray array = Read(NpyFile(Dictionary("<f4", "(2, 3)", "True"), Bytes(columns)), Floats);
    EXPECT_EQ(Values(array), (std::vector<double>{1, 2, 3, 4, 5, 6}));

    // Element [i, j, k] holds 100 i + 10 j + k.
    std::vector<int16_t> cube;
    std::vector<double> expected;
    for (int a = 0; a < 12; ++a)
    {
        cube.push_back(static_cast<int16_t>(100 * (a % 2) + 10 * (a / 2 % 3) + a / 6));
        expected.push_back(100 * (a / 6) + 10 * (a / 2 % 3) + a % 2);
    }
    const TensorInfo shorts({2, 3, 2}, DataType::QSymmS16);
    EXPECT_EQ(Values(Read(NpyFile(Dictionary("<i2", "(2, 3, 2)", "True"), Bytes(cube)), shorts)), expected);
}

TEST_F(Npy, OtherSpellingsOfATypeAreTheSame)
{
    const TensorInfo bytes({2}, DataType::QAsymmU8);
    for (const char* type : {"|u1", "<u1", ">u1", "=u1"})
    {
        EXPECT_EQ(Values(Read(NpyFile(Dictionary(type, "(2,)"), "\x01\x02"), bytes)), (std::vector<double>{1, 2}))
            << type;
    }
    const TensorInfo brains({1}, DataType::BFloat16);
    EXPECT_EQ(Values(Read(NpyFile(Dictionary("|V2", "(1,)"), Bytes<uint16_t>({0x3F80})), brains)),
              std::vector<double>{1});
}

TEST_F(Npy, BooleansAreZeroOrOne)
{
    const TensorInfo bools({3}, DataType::Boolean);
    const NpyArray array = Read(NpyFile(Dictionary("|b1", "(3,)"), std::string("\x00\x01\x80", 3)), bools);
    EXPECT_EQ(static_cast<int>(array.m_Data.Data()[2]), 1);
}

TEST_F(Npy, AnotherTypeIsNamed)
{
    EXPECT_THROW_WITH(Read(NpyFile(Dictionary("|i1", "(1,)"), "a"), Floats), InputError,
                      "it holds elements of type '|i1'; expected '<f4' (float32)");
    EXPECT_THROW(Read(NpyFile(Dictionary(">f4", "(1,)"), "abcd"), Floats), InputError);
    EXPECT_THROW(Read(NpyFile(Dictionary("<f8", "(1,)"), "abcdefgh"), Floats), InputError);
    EXPECT_THROW(Read(NpyFile(Dictionary("", "(1,)"), "abcd"), Floats), InputError);
    const TensorInfo small({1}, DataType::QSymmS4, 1.0f);
    EXPECT_THROW_WITH(Read(NpyFile(Dictionary("|i1", "(1,)"), "\x08"), small), InputError, "no 4-bit value");
}

TEST_F(Npy, SizesAreCheckedBeforeMemoryIsTaken)
{
    const char* shapes[] = {"(3,)",
                            "(1000000000000,)",
                            "(4294967295, 4294967295, 4294967295)",
                            "(18446744073709551616,)",
                            "(-1,)",
                            "(1, 1, 1, 1, 1, 1, 1, 1, 1)",
                            "(2",
                            "2",
                            "(a,)"};
    for (const char* shape : shapes)
    {
        EXPECT_THROW(Read(NpyFile(Dictionary("<f4", shape), "12345678"), Floats), InputError) << shape;
    }
    EXPECT_THROW_WITH(ReadNpy(m_Folder.Write("big.npy", NpyFile(Dictionary("<f4", "(2,)"), "12345678")), Floats, 7),
                      InputError, "the limit is 7");
}

TEST_F(Npy, CorruptHeadersAreRefused)
{
    const std::string good = NpyFile(Dictionary("<f4", "(2,)"), "12345678");
    ASSERT_NO_THROW(Read(good, Floats));
    for (size_t length = 0; length < good.size(); ++length)
    {
        EXPECT_THROW(Read(good.substr(0, length), Floats), InputError) << length;
    }
    EXPECT_THROW(Read(good + "x", Floats), InputError);
    const char* dictionaries[] = {
        "",
        "{",
        "}",
        "{}",
        "[]",
        "{'descr': '<f4'}",
        "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,)}",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} {}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}",
        "{'descr: <f4, 'fortran_order': False, 'shape': (2,)}",
    };
    for (const char* dictionary : dictionaries)
    {
        EXPECT_THROW(ParseNpyDictionary(dictionary), InputError) << dictionary;
    }
}

TEST_F(Npy, DictionariesMayBeWrittenInOtherWays)
{
    const NpyHeader header = ParseNpyDictionary("{\"shape\":(3L , 4),'fortran_order':True,'descr':\"<i8\"}\n");
    EXPECT_EQ(header.m_Type, "<i8");
    EXPECT_TRUE(header.m_FortranOrder);
    EXPECT_EQ(header.m_Shape, (std::vector<uint64_t>{3, 4}));
}

TEST_F(Npy, FilesThatCannotBeReadOrWritten)
{
    EXPECT_THROW_WITH(ReadNpy(m_Folder.Path("none.npy"), Floats, MaxBytes), InputError, "does not exist");
    EXPECT_THROW_WITH(ReadNpy(m_Folder.Path("."), Floats, MaxBytes), InputError, "not a regular file");
    const float value = 1;
    EXPECT_THROW_WITH(WriteNpy(m_Folder.Path("no/such/folder.npy"), TensorInfo({1}, DataType::Float32),
                               reinterpret_cast<const std::byte*>(&value)),
                      RunError, "cannot write");
}

} // namespace
} // namespace tenon::tools
