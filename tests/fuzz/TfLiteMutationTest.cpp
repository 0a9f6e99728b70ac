// SPDX-License-Identifier: Apache-2.0
// Hostile .tflite files: the bundled model cut short at every byte, and each of its words bent. Whatever comes of it is
// a network or an exception of Tenon; what is a network is optimized, loaded and run under small limits. Run under the
// sanitizers this also shows reads outside of the file and of tensors.
#include "DigitsModel.hpp"
#include "MutateBytes.hpp"
#include "TfLiteVictim.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace tenon::test::tf_lite_mutation_test
{

namespace
{

/// Whether the bytes are a model.
bool Parses(ITfLiteParser& parser, const Bytes& bytes)
{
    try
    {
        return parser.CreateNetworkFromBinary(bytes) != nullptr;
    }
    catch (const Exception& error)
    {
        EXPECT_STRNE(error.what(), "");
        return false;
    }
}

} // namespace

TEST(TfLiteMutation, CutShortAtEveryByte)
{
    const Bytes model = DigitsModel();
    const ITfLiteParserPtr parser = ITfLiteParser::Create();
    ASSERT_TRUE(Parses(*parser, model));
    for (size_t length = 0; length < model.size(); ++length)
    {
        // Of a size of its own, so that a sanitizer sees the end.
        Parses(*parser, Bytes(model.begin(), model.begin() + static_cast<std::ptrdiff_t>(length)));
    }
    EXPECT_FALSE(Parses(*parser, Bytes(model.begin(), model.begin() + static_cast<std::ptrdiff_t>(model.size() / 2))));
}

TEST(TfLiteMutation, EachWordBent)
{
    Bytes model = DigitsModel();
    const ITfLiteParserPtr parser = ITfLiteParser::Create();
    size_t refused = 0;
    for (size_t at = 0; at + 4 <= model.size(); at += 4)
    {
        uint32_t word = 0;
        std::memcpy(&word, model.data() + at, 4);
        for (const uint32_t bent : {0U, 0xFFFFFFFFU, word + 1, word - 1, word + 4, 0x7FFFFFFFU, 0x80000000U, 0x10000U,
                                    static_cast<uint32_t>(model.size())})
        {
            std::memcpy(model.data() + at, &bent, 4);
            refused += Parses(*parser, model) ? 0 : 1;
        }
        std::memcpy(model.data() + at, &word, 4);
    }
    EXPECT_GT(refused, 1000u);
    EXPECT_TRUE(Parses(*parser, model));
}

TEST(TfLiteMutation, EachByteOfTheStructureBent)
{
    Bytes model = DigitsModel();
    TfLiteVictim victim;
    ASSERT_TRUE(victim.Runs(model));
    for (const size_t at : PlacesOfStructure(model))
    {
        BendByte(model, at, {0, 1, 127, 128, 255}, [&] { victim.Runs(model); });
    }
}

TEST(TfLiteMutation, SeveralPlacesAtOnce)
{
    const Bytes model = DigitsModel();
    TfLiteVictim victim;
    std::mt19937 random(20240611); // any seed: failures must repeat
    for (int round = 0; round < 20000; ++round)
    {
        victim.Runs(MutateBytes(model, random, 8));
    }
}

} // namespace tenon::test::tf_lite_mutation_test
