// SPDX-License-Identifier: Apache-2.0
// Hostile .armnn files: committed ones with lists of lists, constants in layers and layers of their own, old weights
// and types, overridden inputs and layers in any order, cut short at every byte and with each byte bent. Whatever comes
// of it is a network or an exception of Tenon; what is a network is optimized, loaded and run under small limits. Run
// under the sanitizers this also shows reads outside of the file and of tensors.
#include "Bend.hpp"
#include "Victim.hpp"

#include <tenon/serializer/IDeserializer.hpp>

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace tenon::test::armnn_mutation_test
{

namespace
{

class ArmnnVictim final : public Victim
{
public:
    ArmnnVictim() : Victim(1) // a Boolean as well
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

/// By the name of a file in tests/golden/armnn.
class ArmnnMutation : public testing::TestWithParam<const char*>
{
protected:
    ArmnnMutation()
    {
        std::ifstream file("tests/golden/armnn/" + std::string(GetParam()) + ".armnn", std::ios::binary);
        m_File.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
        EXPECT_GT(m_File.size(), 100u) << "run this test in the root of the source tree";
    }

    ArmnnVictim m_Victim;
    Bytes m_File;
};

} // namespace

TEST_P(ArmnnMutation, CutShortAtEveryByte)
{
    ASSERT_TRUE(m_Victim.Runs(m_File));
    for (size_t length = 0; length < m_File.size(); ++length)
    {
        // Of a size of its own, so that a sanitizer sees the end.
        m_Victim.Runs(Bytes(m_File.begin(), m_File.begin() + static_cast<std::ptrdiff_t>(length)));
    }
    EXPECT_FALSE(m_Victim.Runs(Bytes(m_File.begin(), m_File.begin() + static_cast<std::ptrdiff_t>(m_File.size() / 2))));
}

TEST_P(ArmnnMutation, EachByteBent)
{
    ASSERT_TRUE(m_Victim.Runs(m_File));
    size_t refused = 0;
    for (size_t at = 0; at < m_File.size(); ++at)
    {
        const uint8_t byte = m_File[at];
        for (const int bent : {0, 1, 127, 255, byte + 1, byte - 1, byte ^ 0x80})
        {
            m_File[at] = static_cast<uint8_t>(bent);
            refused += m_Victim.Runs(m_File) ? 0 : 1;
        }
        m_File[at] = byte;
    }
    EXPECT_GT(refused, 500u);
    EXPECT_TRUE(m_Victim.Runs(m_File));
}

TEST_P(ArmnnMutation, SeveralPlacesAtOnce)
{
    std::mt19937 random(20240611); // any seed: failures must repeat
    for (int round = 0; round < 3000; ++round)
    {
        m_Victim.Runs(Bend(m_File, random, 4));
    }
}

INSTANTIATE_TEST_SUITE_P(All, ArmnnMutation,
                         testing::Values("Activation_without_identifier", "BatchNormalization", "Concat",
                                         "Dequantize_overridden", "DepthwiseConvolution2d_constant_old",
                                         "DepthwiseConvolution2d_scales_old", "DetectionPostProcess", "FullyConnected",
                                         "Lstm_coupled", "Mean_of_all", "QLstm", "Splitter", "StridedSlice",
                                         "Subtraction_turned", "TransposeConvolution2d"),
                         [](const auto& tested) { return std::string(tested.param); });

} // namespace tenon::test::armnn_mutation_test
