// SPDX-License-Identifier: Apache-2.0
// Files of packed weights: what is saved is read and not packed again; files of something else, cut short, damaged or
// made up are refused.
#include "backends/common/PackedArchive.hpp"

#include "backends/common/PackedFormat.hpp"
#include "harness/MessageOf.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Products.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace tenon::test::packed_archive_test
{

namespace
{

using backends::PackedFor;
using backends::PackedHeader;
using testing::HasSubstr;

const backends::Kernel FirstKernel = {"First", {}, nullptr};
const backends::Kernel SecondKernel = {"Second", {}, nullptr};
const PackedFor Here = {"1.2.3", "avx9", "none"};

/// A fully connected layer with four weights.
class Layer
{
public:
    explicit Layer(std::vector<float> weights = {1, 2, 3, 4}, bool isTransposed = true) : m_Values(std::move(weights))
    {
        m_Descriptor.m_TransposeWeightMatrix = isTransposed;
        m_View.m_Type = LayerType::FullyConnected;
        m_View.m_Descriptor = &m_Descriptor;
        m_View.m_Name = &m_Name;
        m_Constants = {nullptr, m_Values.data()};
        m_View.m_Inputs = m_Inputs;
        m_View.m_Outputs = m_Outputs;
        m_View.m_ConstantData = m_Constants;
    }
    Layer(const Layer&) = delete;

    const LayerView& View() const { return m_View; }

private:
    std::string m_Name = "layer under test";
    std::vector<float> m_Values;
    FullyConnectedDescriptor m_Descriptor;
    TensorInfo m_Data = TensorInfo({1, 2}, DataType::Float32);
    TensorInfo m_Weights = TensorInfo({2, 2}, DataType::Float32);
    std::vector<const TensorInfo*> m_Inputs = {&m_Data, &m_Weights};
    std::vector<const TensorInfo*> m_Outputs = {&m_Data};
    std::vector<const void*> m_Constants;
    LayerView m_View;
};

class PackedArchive : public testing::Test
{
protected:
    PackedArchive()
    {
        std::string pattern = (std::filesystem::temp_directory_path() / "tenon-packed-XXXXXX").string();
        m_Folder = mkdtemp(pattern.data());
        m_Path = m_Folder / "packed";
    }
    ~PackedArchive() override { std::filesystem::remove_all(m_Folder); }

    /// Two blocks, of 100 and 3 bytes, in which all bytes are `value` and one more. Returns how many were filled.
    static int PackBlocks(backends::PackedArchive& archive, const backends::Kernel& kernel, const Layer& layer,
                          int value)
    {
        int fills = 0;
        const auto store = archive.OpenStore(kernel, layer.View());
        for (const size_t bytes : {size_t{100}, size_t{0}, size_t{3}})
        {
            const backends::PackedBlock block = store->GetBlock(bytes,
                                                                [&](std::byte* to)
                                                                {
                                                                    ++fills;
                                                                    std::memset(to, value, bytes);
                                                                });
            EXPECT_EQ(block.Bytes(), bytes);
            EXPECT_EQ(reinterpret_cast<uintptr_t>(block.Data()) % ArenaAlignment, 0U);
            EXPECT_TRUE(std::all_of(block.Data(), block.Data() + bytes,
                                    [&](std::byte byte) { return byte == static_cast<std::byte>(value); }));
            value += bytes == 0 ? 0 : 1;
        }
        return fills;
    }

    void Save() const
    {
        const auto archive = backends::MakePackedWriter(m_Path, Here);
        EXPECT_EQ(PackBlocks(*archive, FirstKernel, Layer(), 10), 2);
        EXPECT_EQ(PackBlocks(*archive, SecondKernel, Layer(), 20), 2);
        archive->Finish();
    }

    std::string Read() const
    {
        std::ifstream file(m_Path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    void Write(const std::string& content) const { std::ofstream(m_Path, std::ios::binary) << content; }

    /// What is said of the file when it is opened, and the layers are packed.
    template <typename ExceptionType>
    std::string Refusal(const PackedFor& packedFor = Here) const
    {
        return MessageOf<ExceptionType>(
            [&]
            {
                const auto archive = backends::OpenPackedFile(m_Path, packedFor);
                PackBlocks(*archive, FirstKernel, Layer(), 10);
                PackBlocks(*archive, SecondKernel, Layer(), 20);
            });
    }

    /// What is said of the file after a change of its header, with the checksum that belongs to it.
    template <typename ExceptionType>
    std::string RefusalOf(const std::function<void(PackedHeader&, backends::PackedEntry&)>& change) const
    {
        Save();
        std::string content = Read();
        PackedHeader header;
        backends::PackedEntry entry;
        std::memcpy(&header, content.data(), sizeof(header));
        std::memcpy(&entry, content.data() + sizeof(header), sizeof(entry));
        const size_t end = sizeof(header) + static_cast<size_t>(header.m_NumBlocks) * sizeof(entry);
        change(header, entry);
        std::memcpy(content.data(), &header, sizeof(header));
        std::memcpy(content.data() + sizeof(header), &entry, sizeof(entry));
        header.m_Checksum = backends::GetDirectoryChecksum(reinterpret_cast<const std::byte*>(content.data()), end);
        std::memcpy(content.data(), &header, sizeof(header));
        Write(content);
        return Refusal<ExceptionType>();
    }

    std::filesystem::path m_Folder;
    std::filesystem::path m_Path;
};

} // namespace

TEST_F(PackedArchive, WhatIsSavedIsNotFilledAgain)
{
    Save();
    const auto archive = backends::OpenPackedFile(m_Path, Here);
    EXPECT_EQ(PackBlocks(*archive, SecondKernel, Layer(), 20), 0) << "in any order";
    EXPECT_EQ(PackBlocks(*archive, FirstKernel, Layer(), 10), 0);
    EXPECT_EQ(PackBlocks(*archive, FirstKernel, Layer(), 10), 0) << "an equal layer";
    const std::string before = Read();
    Save();
    EXPECT_EQ(Read(), before) << "the same network gives the same file";
    EXPECT_EQ(PackBlocks(*archive, FirstKernel, Layer(), 10), 0) << "the old file stays mapped";
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(m_Folder), {}), 1) << "nothing is left beside it";
}

TEST_F(PackedArchive, EqualLayersAreFilledAndSavedOnce)
{
    const auto archive = backends::MakePackedWriter(m_Path, Here);
    EXPECT_EQ(PackBlocks(*archive, FirstKernel, Layer(), 10), 2);
    EXPECT_EQ(PackBlocks(*archive, FirstKernel, Layer(), 10), 0);
    archive->Finish();
    EXPECT_LT(Read().size(), 2 * 256 + sizeof(PackedHeader));
}

TEST_F(PackedArchive, RefusesAnotherNetwork)
{
    Save();
    const auto refusal = [&](const Layer& layer)
    {
        const auto archive = backends::OpenPackedFile(m_Path, Here);
        return MessageOf<InvalidArgumentException>([&] { PackBlocks(*archive, FirstKernel, layer, 10); });
    };
    EXPECT_THAT(refusal(Layer({1, 2, 3, 5})), HasSubstr("of another network")) << "constants";
    EXPECT_THAT(refusal(Layer({1, 2, 3, 4}, false)), HasSubstr("of another network")) << "parameters";
    EXPECT_THAT(refusal(Layer({1, 2, 3, 5})), HasSubstr(m_Path.string()));
    EXPECT_THAT(refusal(Layer({1, 2, 3, 5})), HasSubstr("delete the file, or save it anew"));

    const Layer layer;
    const auto archive = backends::OpenPackedFile(m_Path, Here);
    const auto store = archive->OpenStore(FirstKernel, layer.View());
    const auto fill = [](std::byte*) { ADD_FAILURE() << "a file never packs"; };
    EXPECT_THAT(MessageOf<InvalidArgumentException>([&] { store->GetBlock(99, fill); }), HasSubstr("other blocks"));
    EXPECT_EQ(store->GetBlock(100, fill).Bytes(), 100U);
    EXPECT_EQ(store->GetBlock(3, fill).Bytes(), 3U);
    EXPECT_THAT(MessageOf<InvalidArgumentException>([&] { store->GetBlock(1, fill); }), HasSubstr("other blocks"))
        << "past the layer's last one";
}

TEST_F(PackedArchive, RefusesOtherVersionsInstructionsAndOptions)
{
    Save();
    EXPECT_THAT(Refusal<InvalidArgumentException>({"1.2.4", "avx9", "none"}),
                HasSubstr("'1.2.3', and this is '1.2.4'"));
    EXPECT_THAT(Refusal<InvalidArgumentException>({"1.2.3", "avx8", "none"}), HasSubstr("instructions 'avx9'"));
    EXPECT_THAT(Refusal<InvalidArgumentException>({"1.2.3", "avx9", "some"}), HasSubstr("options 'none'"));
}

TEST_F(PackedArchive, RefusesFilesCutShortAnywhere)
{
    Save();
    const std::string whole = Read();
    for (size_t size = 0; size < whole.size(); ++size)
    {
        Write(whole.substr(0, size));
        EXPECT_THAT(Refusal<ParseException>(), HasSubstr("bytes")) << size;
    }
    Write(whole + "x");
    EXPECT_THAT(Refusal<ParseException>(), HasSubstr("bytes"));
}

TEST_F(PackedArchive, FlippedBytesAreFound)
{
    Save();
    const std::string whole = Read();
    size_t found = 0;
    for (size_t i = 0; i < whole.size(); ++i)
    {
        std::string flipped = whole;
        flipped[i] = static_cast<char>(flipped[i] ^ 0x10);
        Write(flipped);
        // PackBlocks expects the bytes that were written, so that bytes between blocks alone may change.
        found += Refusal<Exception>() != "no exception" ? 1U : 0U;
    }
    EXPECT_GE(found, sizeof(PackedHeader) + 4 * sizeof(backends::PackedEntry) + 2 * 103);
}

TEST_F(PackedArchive, RefusesWhatAFileClaims)
{
    using backends::PackedEntry;
    constexpr uint64_t Huge = ~uint64_t{0};
    EXPECT_THAT(RefusalOf<ParseException>([](PackedHeader& h, PackedEntry&) { h.m_Magic ^= 1; }),
                HasSubstr("do not start"));
    EXPECT_THAT(RefusalOf<InvalidArgumentException>([](PackedHeader& h, PackedEntry&) { ++h.m_Format; }),
                HasSubstr("format"));
    EXPECT_THAT(RefusalOf<InvalidArgumentException>([](PackedHeader& h, PackedEntry&) { h.m_AddressBytes = 3; }),
                HasSubstr("24-bit"));
    EXPECT_THAT(RefusalOf<ParseException>([&](PackedHeader& h, PackedEntry&) { h.m_FileBytes = Huge; }),
                HasSubstr("instead of"));
    for (const uint64_t blocks : {Huge, Huge / sizeof(PackedEntry), Huge / sizeof(PackedEntry) + 1})
    {
        EXPECT_THAT(RefusalOf<ParseException>([&](PackedHeader& h, PackedEntry&) { h.m_NumBlocks = blocks; }),
                    HasSubstr("larger than the file"));
    }
    EXPECT_THAT(RefusalOf<ParseException>([&](PackedHeader& h, PackedEntry&) { h.m_NumBlocks = 0; }),
                HasSubstr("damaged"));
    for (const uint64_t bytes : {Huge, Huge - 63, Huge / 2, uint64_t{100000}})
    {
        EXPECT_THAT(RefusalOf<ParseException>([&](PackedHeader&, PackedEntry& e) { e.m_Bytes = bytes; }),
                    HasSubstr("larger than the file"))
            << bytes;
    }
    EXPECT_THAT(RefusalOf<ParseException>([&](PackedHeader&, PackedEntry& e) { ++e.m_Checksum; }),
                HasSubstr("damaged"));
    EXPECT_THAT(RefusalOf<InvalidArgumentException>([](PackedHeader& h, PackedEntry&)
                                                    { std::fill_n(h.m_Version, PackedHeader::TextBytes, 'x'); }),
                HasSubstr("version 'xxx"))
        << "a text without an end";
}

TEST_F(PackedArchive, PathsThatCannotBeReadOrWritten)
{
    EXPECT_THAT(Refusal<FileNotFoundException>(), HasSubstr("SaveCachedNetwork"));
    const auto refusal = [](const std::string& path)
    { return MessageOf<Exception>([&] { backends::MakePackedWriter(path, Here)->Finish(); }); };
    EXPECT_THAT(refusal(m_Folder / "no" / "packed"), HasSubstr("cannot write"));
    EXPECT_THAT(refusal(m_Folder), HasSubstr("not a regular file"));
    EXPECT_THAT(refusal("/dev/full"), HasSubstr("not a regular file"));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(m_Folder), {}), 0);
    m_Path = m_Folder;
    EXPECT_THAT(Refusal<InvalidArgumentException>(), HasSubstr("a directory"));
}

TEST_F(PackedArchive, OneIsForManyThreads)
{
    const Layer layer;
    const auto packByFour = [&](backends::PackedArchive& archive)
    {
        std::atomic<int> fills{0};
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i)
        {
            threads.emplace_back(
                [&, i]
                {
                    for (int k = 0; k < 50; ++k) // equal layers, of two kernels
                    {
                        fills += i % 2 == 0 ? PackBlocks(archive, FirstKernel, layer, 10)
                                            : PackBlocks(archive, SecondKernel, layer, 20);
                    }
                });
        }
        for (std::thread& thread : threads)
        {
            thread.join();
        }
        archive.Finish();
        return fills.load();
    };
    EXPECT_EQ(packByFour(*backends::MakePackedWriter(m_Path, Here)), 4);
    const std::string saved = Read();
    EXPECT_EQ(packByFour(*backends::OpenPackedFile(m_Path, Here)), 0);
    Save();
    EXPECT_EQ(Read(), saved);
}

TEST_F(PackedArchive, SavedAndReadAtOnce)
{
    Save();
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
    {
        threads.emplace_back(
            [&]
            {
                for (int k = 0; k < 20; ++k)
                {
                    Save();
                    EXPECT_EQ(Refusal<Exception>(), "no exception");
                }
            });
    }
    for (std::thread& thread : threads)
    {
        thread.join();
    }
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(m_Folder), {}), 1);
}

} // namespace tenon::test::packed_archive_test
