// SPDX-License-Identifier: Apache-2.0
// .npz files: those of NumPy, and hostile ones.
#include "tools/common/Npz.hpp"

#include "tools/common/Elements.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/Inputs.hpp"
#include "tools/common/Npy.hpp"
#include "tools/harness/Expect.hpp"
#include "tools/harness/Npz.hpp"
#include "tools/harness/TempFolder.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tenon::tools
{
namespace
{

using tenon::test::MakeZip;
using test::Deflate;
using test::DeflatedFile;
using test::StoredFile;
using Names = std::vector<std::string>;

class Npz : public testing::Test
{
protected:
    /// The bytes of an .npy file of [2,3] that begins with `first`.
    std::string Npy(float first) const
    {
        const TensorInfo info({2, 3}, DataType::Float32);
        const std::vector<float> values = {first, 1, 2, 3, 4, 5};
        WriteNpy(m_Folder.Path("floats.npy"), info, reinterpret_cast<const std::byte*>(values.data()));
        return m_Folder.Read("floats.npy");
    }

    std::string Write(const std::string& archive) const { return m_Folder.Write("in.npz", archive); }

    std::vector<InputData> Load(const std::string& path, unsigned int iterations = 1) const
    {
        return LoadInputs({m_Floats, m_Bytes}, {path}, {}, {}, m_Limits, iterations);
    }

    /// Of an archive for one input.
    std::vector<InputData> LoadOne(const std::string& archive) const
    {
        return LoadInputs({m_Floats}, {Write(archive)}, {}, {}, m_Limits);
    }

    /// The same without a file.
    NpyArray ReadOne(const std::string& archive) const
    {
        const std::vector<uint8_t> bytes(archive.begin(), archive.end());
        const NpzFile npz(InputSource("in.npz", std::make_shared<const std::vector<uint8_t>>(bytes)), m_Limits);
        return ReadNpy(npz.Open(ChooseArrays(npz.GetNames(), {m_Floats}).front()), m_Floats.m_Info, 1000);
    }

    void ExpectRefusal(const std::string& archive, const std::string& words) const
    {
        EXPECT_THROW_WITH(LoadOne(archive), InputError, words);
        EXPECT_THROW_WITH(LoadOne(archive), InputError, "in.npz");
    }

    const Binding m_Floats{"floats", 0, TensorInfo({2, 3}, DataType::Float32)};
    const Binding m_Bytes{"bytes", 1, TensorInfo({3}, DataType::QAsymmS8, 0.5f)};
    Limits m_Limits;
    test::TempFolder m_Folder;
};

double First(const InputData& data)
{
    return GetElement(data.m_Info.GetDataType(), data.m_Data.Data(), 0);
}

TEST_F(Npz, FilesOfNumPy)
{
    for (const char* file : {"named_deflated.npz", "numbered_stored.npz"})
    {
        const std::vector<InputData> inputs = Load(std::string("tests/golden/npz/") + file);
        ASSERT_EQ(inputs.size(), 2U);
        EXPECT_EQ(First(inputs[0]), -2.0);
        EXPECT_EQ(GetElement(DataType::Float32, inputs[0].m_Data.Data(), 5), 3.0);
        EXPECT_EQ(First(inputs[1]), 1.0);
        EXPECT_EQ(inputs[0].m_Remark + inputs[1].m_Remark, "");
        EXPECT_NE(inputs[0].m_Description.find(file), std::string::npos) << inputs[0].m_Description;
    }
}

TEST_F(Npz, AreToldByContentAndName)
{
    const std::string archive = MakeZip({StoredFile("arr_0.npy", Npy(7))});
    for (const char* name : {"in.npz", "in.NPZ", "in", "in.dat"})
    {
        EXPECT_EQ(First(LoadInputs({m_Floats}, {m_Folder.Write(name, archive)}, {}, {}, m_Limits)[0]), 7.0) << name;
    }
    EXPECT_FALSE(IsNpz("in.bin", archive));
    EXPECT_TRUE(IsNpz("in.npz", "no archive"));
    EXPECT_THROW_WITH(LoadInputs({m_Floats}, {m_Folder.Write("in.raw", archive)}, {}, {}, m_Limits), InputError,
                      "a raw file of 24 bytes was expected");
}

TEST_F(Npz, ArraysAreChosenByNameOrNumber)
{
    EXPECT_EQ(ChooseArrays({"bytes", "more", "floats"}, {m_Floats, m_Bytes}), (Names{"floats", "bytes"}));
    EXPECT_EQ(ChooseArrays({"arr_1", "arr_0", "arr_2"}, {m_Floats, m_Bytes}), (Names{"arr_0", "arr_1"}));
    EXPECT_THROW_WITH(ChooseArrays({"floats", "arr_1"}, {m_Floats, m_Bytes}), InputError,
                      "it has no array for input 'bytes'; its arrays are 'floats' and 'arr_1'");
    EXPECT_THROW_WITH(ChooseArrays({"arr_0", "x"}, {m_Floats, m_Bytes}), InputError,
                      "it has no array for input 'bytes', by name or as 'arr_1'; its arrays are 'arr_0' and 'x'");
    EXPECT_THROW_WITH(ChooseArrays({}, {m_Floats}), InputError, "its arrays are none");
}

TEST_F(Npz, AnIterationTakesAFileOfItsOwn)
{
    const std::string a = m_Folder.Write("a.npz", MakeZip({StoredFile("floats.npy", Npy(1))}));
    const std::string b = m_Folder.Write("b.npz", MakeZip({DeflatedFile("arr_0.npy", Npy(2))}));
    const std::string c = m_Folder.Write("c.npy", Npy(3));
    const std::vector<InputData> sets = LoadInputs({m_Floats}, {a, b, c}, {}, {}, m_Limits, 3);
    ASSERT_EQ(sets.size(), 3U);
    EXPECT_EQ(First(sets[1]), 2.0);
    EXPECT_EQ(First(sets[2]), 3.0);
    EXPECT_THROW_WITH(LoadInputs({m_Floats}, {a, b}, {}, {}, m_Limits), UsageError, "add --iterations 2");
    const std::string bytes = m_Folder.Write("bytes.txt", "1 2 3");
    EXPECT_THROW_WITH(LoadInputs({m_Floats, m_Bytes}, {c, a, bytes}, {}, {}, m_Limits, 2), UsageError,
                      "holds all inputs of an iteration, so it cannot stand between files of single inputs");
}

TEST_F(Npz, FurtherArraysAreRemarked)
{
    const std::string npy = Npy(1);
    const auto inputs = LoadOne(MakeZip({StoredFile("floats.npy", npy), StoredFile("labels.npy", npy)}));
    EXPECT_NE(inputs[0].m_Remark.find("in.npz' also has arrays that are no inputs: 'labels'"), std::string::npos)
        << inputs[0].m_Remark;
    EXPECT_EQ(LoadOne(MakeZip({StoredFile("floats.npy", npy), StoredFile("notes.txt", "x")}))[0].m_Remark, "");
}

TEST_F(Npz, CutShort)
{
    const std::string archive = MakeZip({StoredFile("floats.npy", Npy(1)), DeflatedFile("more.npy", Npy(2))});
    for (size_t bytes = 0; bytes < archive.size(); ++bytes)
    {
        EXPECT_THROW(ReadOne(archive.substr(0, bytes)), InputError) << bytes;
    }
    EXPECT_EQ(First(LoadOne(archive)[0]), 1.0);
}

TEST_F(Npz, ArraysThatAreNone)
{
    ExpectRefusal("no archive", "there is no zip archive, or it is cut short");
    ExpectRefusal(MakeZip({}), "it has no array for input 'floats', by name or as 'arr_0'; its arrays are none");
    ExpectRefusal(MakeZip({StoredFile("arr_0.npy", "")}), "arr_0.npy' for input 'floats', which is float32 [2,3]: the "
                                                          "file is empty");
    ExpectRefusal(MakeZip({StoredFile("arr_0.npy", "1 2 3 4 5 6")}), "it is no .npy file");
    ExpectRefusal(MakeZip({StoredFile("arr_0.npy", Npy(1).substr(0, 140))}), "its header promises 24 bytes of data");
    ExpectRefusal(MakeZip({{"arr_0.npy", Npy(1), 1}}), "'arr_0.npy' is encrypted");
    ExpectRefusal(MakeZip({{"arr_0.npy", Npy(1), 0, 14}}), "(method 14), which is not supported");
    const std::string twice = MakeZip({StoredFile("a.npy", Npy(1)), StoredFile("a.npy", Npy(1))});
    ExpectRefusal(twice, "it has two files 'a.npy'");
}

TEST_F(Npz, DamagedData)
{
    const std::string npy = Npy(1);
    tenon::test::ZipFile stored = StoredFile("arr_0.npy", npy);
    stored.m_Bytes.back() ^= 1;
    ExpectRefusal(MakeZip({stored}), "its array 'arr_0' is damaged: its checksum is another one");

    tenon::test::ZipFile deflated = DeflatedFile("arr_0.npy", npy);
    deflated.m_Checksum ^= 1;
    ExpectRefusal(MakeZip({deflated}), "its checksum is another one");
    for (const int difference : {-1, 1})
    {
        deflated = DeflatedFile("arr_0.npy", npy);
        deflated.m_Size = static_cast<uint32_t>(static_cast<int>(npy.size()) + difference);
        ExpectRefusal(MakeZip({deflated}), "its compressed data are damaged, or are not the");
    }
    deflated = DeflatedFile("arr_0.npy", npy);
    for (size_t bytes = 0; bytes + 1 < deflated.m_Bytes.size(); ++bytes) // the last one may be zero, as what follows
    {
        tenon::test::ZipFile cut = deflated;
        cut.m_Bytes.resize(bytes);
        EXPECT_THROW(ReadOne(MakeZip({cut})), InputError) << bytes;
    }
    for (const char* bytes : {"\x07", "\xFF\xFF\xFF\xFF", "\x01\x05\x05\x05\x05"})
    {
        deflated.m_Bytes = bytes;
        EXPECT_THROW(LoadOne(MakeZip({deflated})), InputError);
    }
}

TEST_F(Npz, BombsAreRefusedBeforeMemoryIsTaken)
{
    tenon::test::ZipFile bomb = {"arr_0.npy", Deflate(std::string(1 << 16, '\0')), 0, 8, {}, 0xFFFFFFF0U, 0};
    ExpectRefusal(MakeZip({bomb}), "'arr_0.npy' cannot have 4294967280 bytes");
    m_Limits.m_MaxTensorBytes = 1 << 20;
    const std::string zeros(3 << 20, '\0');
    ExpectRefusal(MakeZip({DeflatedFile("arr_0.npy", zeros)}),
                  "its array 'arr_0' has 3145728 bytes of data; the limit is 1048576 (--limit tensor-bytes)");
    // More than it says, for which there is no room.
    bomb = DeflatedFile("arr_0.npy", zeros);
    bomb.m_Size = 4096;
    ExpectRefusal(MakeZip({bomb}), "its compressed data are damaged, or are not the 4096 bytes that it says");
}

TEST_F(Npz, ChangedBytesDoNoHarm)
{
    const std::string archive = MakeZip({DeflatedFile("arr_0.npy", Npy(1)), StoredFile("more.npy", Npy(2))});
    size_t numRead = 0;
    for (size_t at = 0; at < archive.size(); ++at)
    {
        for (const int change : {0x01, 0x80, 0xFF})
        {
            std::string changed = archive;
            changed[at] = static_cast<char>(static_cast<unsigned char>(changed[at]) ^ change);
            try
            {
                ReadOne(changed);
                ++numRead;
            }
            catch (const InputError&)
            {
            }
        }
    }
    EXPECT_GT(numRead, 0U) << "times, and the array that is no input";
}

} // namespace
} // namespace tenon::tools
