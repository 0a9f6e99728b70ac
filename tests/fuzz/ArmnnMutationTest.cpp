// SPDX-License-Identifier: Apache-2.0
// Hostile .armnn files: the committed ones, which have each kind of layer, weights in layers and of their own, types of
// old files, overridden inputs and layers in any order, cut short at every byte and with each byte bent. Whatever comes
// of it is a network or an exception of Tenon; what is a network is optimized, loaded and run under small limits. Run
// under the sanitizers this also shows reads outside of the file and of tensors.
#include "FuzzTarget.hpp"
#include "MutateBytes.hpp"

#include <tenon/serializer/IDeserializer.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace tenon::test::armnn_mutation_test
{

namespace
{

class ArmnnVictim final : public FuzzTarget
{
public:
    ArmnnVictim() : FuzzTarget(1) // a Boolean as well
    {
        IDeserializer::DeserializerOptions options;
        options.m_Limits = GetLimits();
        m_Deserializer = IDeserializer::Create(options);
    }

private:
    IOptimizedNetworkPtr Read(const Bytes& bytes) override
    {
        return OptimizeIt(*m_Deserializer->CreateNetworkFromBinary(bytes));
    }

    std::vector<LayerBindingId> InputIds() const override
    {
        std::vector<LayerBindingId> ids;
        for (const std::string& name : m_Deserializer->GetNetworkInputNames())
        {
            ids.push_back(m_Deserializer->GetNetworkInputBindingInfo(0, name).first);
        }
        return ids;
    }

    IDeserializerPtr m_Deserializer{nullptr, &IDeserializer::Destroy};
};

/// Those of tests/golden/armnn, by name.
std::map<std::string, Bytes> ReadFiles()
{
    std::map<std::string, Bytes> files;
    for (const auto& entry : std::filesystem::directory_iterator("tests/golden/armnn"))
    {
        std::ifstream file(entry.path(), std::ios::binary);
        files.emplace(entry.path().stem(),
                      Bytes(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()));
    }
    EXPECT_GT(files.size(), 80u);
    return files;
}

Bytes Start(const Bytes& file, size_t length)
{
    return Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length));
}

} // namespace

TEST(ArmnnMutation, CutShortAtEveryByte)
{
    ArmnnVictim victim;
    size_t ran = 0;
    for (const auto& [name, file] : ReadFiles())
    {
        ran += victim.Runs(file) ? 1 : 0;
        for (size_t length = 0; length < file.size(); ++length)
        {
            // Of a size of its own, so that a sanitizer sees the end. Nothing but padding is behind the last table.
            constexpr size_t maxPadding = 7;
            const bool isWhole = victim.Runs(Start(file, length));
            EXPECT_TRUE(!isWhole || length + maxPadding >= file.size()) << name << " of " << length << " bytes";
        }
    }
    EXPECT_GT(ran, 80u) << "all but those with layers that no built-in backend runs";
}

TEST(ArmnnMutation, EachByteBent)
{
    ArmnnVictim victim;
    for (auto [name, file] : ReadFiles())
    {
        const bool runs = victim.Runs(file);
        size_t refused = 0;
        for (size_t at = 0; at < file.size(); ++at)
        {
            const uint8_t byte = file[at];
            BendByte(file, at, {0, 1, 127, 255, byte + 1, byte - 1, byte ^ 0x80},
                     [&] { refused += victim.Runs(file) ? 0 : 1; });
        }
        EXPECT_GT(refused, 500u) << name;
        EXPECT_EQ(victim.Runs(file), runs) << name;
    }
}

TEST(ArmnnMutation, SeveralPlacesAtOnce)
{
    ArmnnVictim victim;
    std::mt19937 random(20240611); // any seed: failures must repeat
    for (const auto& [name, file] : ReadFiles())
    {
        for (int round = 0; round < 1000; ++round)
        {
            victim.Runs(MutateBytes(file, random, 4));
        }
    }
}

} // namespace tenon::test::armnn_mutation_test
