// SPDX-License-Identifier: Apache-2.0
// ChooseGemmInt8: row, reason and questions for facts of all rules, on all levels of TENON_FORCE_ISA, none of which the
// processor needs to have.
#include "backends/cpu/gemm/pack/KernelChoiceInt8.hpp"

#include "backends/cpu/gemm/pack/PermutedWeightsInt8.hpp"
#include "harness/IsaTest.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <initializer_list>
#include <set>
#include <string>
#include <vector>

namespace tenon::test::kernel_choice_int8_test
{

namespace
{

using cpu::CpuFeatures;
using cpu::GemmFactsInt8;
using cpu::KernelChoiceInt8;
using cpu::KernelRoleInt8;
using cpu::KernelRowInt8;
using cpu::KernelRowsInt8;
using Targets = cpu::KernelTargetsInt8;

struct Level
{
    const char* m_Name;
    unsigned int m_Target;
    std::vector<cpu::Feature CpuFeatures::*> m_Features;
};

/// Levels with rows of their own, and processors that differ within a level.
const std::vector<Level>& GetLevels()
{
    static const std::vector<Level> levels = {
        {"sse4", Targets::Sse4, {}},
        {"avx2", Targets::Avx2, {}},
        {"avxvnni", Targets::Avx2, {&CpuFeatures::m_AvxVnni}},
        {"avx512", Targets::Avx3, {&CpuFeatures::m_AvxVnni}},
        {"avx512vnni", Targets::Avx3, {&CpuFeatures::m_Avx512Vnni}},
        {"avx512bf16 of AMD", Targets::Avx3, {&CpuFeatures::m_Avx512Vnni, &CpuFeatures::m_HasSparePorts}},
        {"amx", Targets::Avx3, {&CpuFeatures::m_Avx512Vnni, &CpuFeatures::m_AmxInt8}},
        {"neon of 32 bits", Targets::Neon32, {}},
        {"neon", Targets::Neon64, {}},
        {"dotprod", Targets::Neon64, {&CpuFeatures::m_DotProd}},
        {"i8mm", Targets::Neon64, {&CpuFeatures::m_DotProd, &CpuFeatures::m_I8mm}},
    };
    return levels;
}

KernelRowsInt8 FindRows(const std::string& name)
{
    for (const Level& level : GetLevels())
    {
        if (level.m_Name == name)
        {
            CpuFeatures features;
            for (const auto feature : level.m_Features)
            {
                (features.*feature).Set(true);
            }
            return cpu::FindKernelRowsInt8(level.m_Target, features);
        }
    }
    ADD_FAILURE() << name;
    return {};
}

/// Of int8 data and int8 weights without a zero point: a convolution with many rows and columns.
GemmFactsInt8 Facts(const std::function<void(GemmFactsInt8&)>& change = {})
{
    GemmFactsInt8 facts;
    facts.m_Rows = 100;
    facts.m_Columns = 64;
    facts.m_Depth = 256;
    facts.m_IsDataSigned = facts.m_IsWeightSigned = true;
    if (change)
    {
        change(facts);
    }
    return facts;
}

/// Answers, and the questions that were asked.
struct Answers
{
    size_t m_MinWeights = 0;
    bool m_IsSplitWorthwhile = false;
    std::string m_Asked = {};

    KernelChoiceInt8 Choose(const GemmFactsInt8& facts, const KernelRowsInt8& rows)
    {
        const auto countMinWeights = [this]
        {
            m_Asked += "-128? ";
            return m_MinWeights;
        };
        const auto isSplitWorthwhile = [this](const KernelRowInt8& row)
        {
            m_Asked += std::string(row.m_Name) + "? ";
            return m_IsSplitWorthwhile;
        };
        return ChooseGemmInt8(facts, rows, {countMinWeights, isSplitWorthwhile});
    }
};

struct Case
{
    std::initializer_list<const char*> m_Levels;
    GemmFactsInt8 m_Facts;
    Answers m_Answers;
    const char* m_Expected; ///< KernelChoiceInt8::Describe
    const char* m_Asked;
};

void Check(const std::vector<Case>& cases)
{
    for (const Case& c : cases)
    {
        for (const char* const level : c.m_Levels)
        {
            SCOPED_TRACE(std::string(level) + ": " + c.m_Expected);
            Answers answers = c.m_Answers;
            EXPECT_EQ(answers.Choose(c.m_Facts, FindRows(level)).Describe(), c.m_Expected);
            EXPECT_EQ(answers.m_Asked, c.m_Asked);
        }
    }
}

GemmFactsInt8 Shallow(size_t columns, size_t depth)
{
    return Facts(
        [&](GemmFactsInt8& f)
        {
            f.m_Columns = columns;
            f.m_Depth = depth;
        });
}

GemmFactsInt8 FewRows()
{
    return Facts([](GemmFactsInt8& f) { f.m_Rows = 1; });
}

GemmFactsInt8 FewRowsInPlace(size_t depth = 256, size_t columns = 64)
{
    return Facts(
        [=](GemmFactsInt8& f)
        {
            f.m_Rows = 4;
            f.m_Depth = depth;
            f.m_Columns = columns;
            f.m_MayStayUnpacked = true;
        });
}

GemmFactsInt8 Unsigned(GemmFactsInt8 facts)
{
    facts.m_IsDataSigned = facts.m_IsWeightSigned = false;
    facts.m_WeightZeroPoint = 128;
    return facts;
}

GemmFactsInt8 Hybrid(size_t rows, bool isInt4 = false)
{
    return Facts(
        [=](GemmFactsInt8& f)
        {
            f.m_Rows = rows;
            f.m_IsDataFloat = f.m_IsHybrid = true;
            f.m_IsInt4 = isInt4;
        });
}

} // namespace

ISA_TEST(KernelChoiceInt8, ManyRowsByTheInstructionsOfEachLevel)
{
    Check({
        {{"avx512vnni"}, Facts(), {}, "Avx512VnniS8: dot products of bytes", ""},
        {{"avx512bf16 of AMD"}, Facts(), {}, "Avx512VnniS8Biased: dot products of bytes", ""},
        {{"amx"}, Facts(), {}, "AmxS8: dot products of bytes", ""},
        {{"avxvnni"}, Facts(), {}, "AvxVnniS8: dot products of bytes", ""},
        {{"dotprod"}, Facts(), {}, "DotProdS8: dot products of bytes", ""},
        {{"i8mm"}, Facts(), {}, "I8mmS8: dot products of bytes", ""},
        {{"neon", "neon of 32 bits"}, Facts(), {}, "Int8Pairs: int8 weights without a zero point, widened on load", ""},
        {{"avx512vnni", "avx512bf16 of AMD"}, Unsigned(Facts()), {}, "Avx512VnniU8: dot products of bytes", ""},
        {{"amx"}, Unsigned(Facts()), {}, "AmxU8: dot products of bytes", ""},
        {{"amx"}, Shallow(33, 40), {}, "Avx512VnniShallowS8: a short depth for tile registers", ""},
        {{"amx"}, Unsigned(Shallow(33, 40)), {}, "Avx512VnniShallowU8: a short depth for tile registers", ""},
        {{"amx"}, Shallow(32, 16), {}, "AmxS8: dot products of bytes", ""},
        {{"amx"}, Shallow(64, 41), {}, "AmxS8: dot products of bytes", ""},
        {{"amx"}, FewRows(), {}, "Avx512VnniShallowS8: few rows, too few for tile registers", ""},
        {{"amx"}, Hybrid(4), {}, "Avx512VnniShallowS8: few rows, too few for tile registers", ""},
        {{"avx512vnni"}, Shallow(33, 40), {}, "Avx512VnniS8: dot products of bytes", ""},
        {{"avxvnni"}, Unsigned(Facts()), {}, "AvxVnniU8: dot products of bytes", ""},
        {{"dotprod"}, Unsigned(Facts()), {}, "DotProdU8: dot products of bytes", ""},
        {{"i8mm"}, Unsigned(Facts()), {}, "I8mmU8: dot products of bytes", ""},
        {{"neon", "neon of 32 bits"}, Unsigned(Facts()), {}, "Int16PairsU8: no dot products of bytes", ""},
        {{"sse4", "avx2", "avx512"},
         Unsigned(Facts()),
         {},
         "Int16PairsU8: no dot products of bytes (not SplitU8: many weights overflow int16 pairs)",
         "SplitU8? "},
    });
}

ISA_TEST(KernelChoiceInt8, SumsInInt16WithoutDotProducts)
{
    const GemmFactsInt8 byChannel = Facts([](GemmFactsInt8& f) { f.m_HasScales = true; });
    GemmFactsInt8 few = byChannel;
    few.m_Columns = 8;
    GemmFactsInt8 shared = few;
    shared.m_SharesComplementBlocks = true;
    const GemmFactsInt8 someRows = Facts([](GemmFactsInt8& f) { f.m_Rows = 15; });
    GemmFactsInt8 deep = someRows;
    deep.m_Depth = 1024;
    GemmFactsInt8 shallow = byChannel;
    shallow.m_Depth = 32;
    Check({
        {{"sse4", "avx2", "avx512"}, Facts(), {9, true}, "SplitS8: few weights overflow int16 pairs", "SplitS8? "},
        {{"sse4", "avx2", "avx512"},
         Unsigned(Facts()),
         {9, true},
         "SplitU8: few weights overflow int16 pairs",
         "SplitU8? "},
        {{"sse4", "avx2", "avx512"},
         Facts(),
         {2, false},
         "PermutedS8: many rows, int8 weights without a zero point (not SplitS8: many weights overflow int16 pairs)",
         "SplitS8? -128? "},
        {{"sse4", "avx2", "avx512"},
         Facts(),
         {3, false},
         "Int8Pairs: int8 weights without a zero point, widened on load (not SplitS8: many weights overflow int16 "
         "pairs; not PermutedS8: more than two of eight weights are -128)",
         "SplitS8? -128? "},
        // With scales by channel nobody asks about splitting.
        {{"sse4", "avx2", "avx512"},
         byChannel,
         {},
         "PermutedS8: many rows, int8 weights without a zero point",
         "-128? "},
        {{"sse4", "avx2"}, few, {}, "SignTransferS8: few columns, no weight is -128", "-128? "},
        {{"sse4", "avx2"},
         few,
         {1, true},
         "PermutedS8: many rows, int8 weights without a zero point (not SignTransferS8: a weight is -128)",
         "-128? "},
        {{"avx512"}, few, {}, "PermutedS8: many rows, int8 weights without a zero point", "-128? "},
        {{"sse4", "avx2"}, shared, {}, "PermutedS8: many rows, int8 weights without a zero point", "-128? "},
        // Permuting is paid back by many rows or a large depth.
        {{"sse4", "avx2", "avx512"},
         someRows,
         {},
         "Int8Pairs: int8 weights without a zero point, widened on load (not SplitS8: many weights overflow int16 "
         "pairs)",
         "SplitS8? "},
        {{"sse4", "avx2", "avx512"},
         deep,
         {},
         "PermutedS8: many rows, int8 weights without a zero point (not SplitS8: many weights overflow int16 pairs)",
         "SplitS8? -128? "},
        {{"avx2"},
         shallow,
         {},
         "Int8Pairs: int8 weights without a zero point, widened on load (not SplitS8: many weights overflow int16 "
         "pairs)",
         "SplitS8? "},
    });
}

ISA_TEST(KernelChoiceInt8, FewRowsOrColumns)
{
    GemmFactsInt8 fewColumns = FewRowsInPlace(256, 4);
    fewColumns.m_Rows = 100;
    GemmFactsInt8 fiveColumns = FewRowsInPlace(256, 5);
    fiveColumns.m_Rows = 100;
    const char* const inPlace = ": few rows, weights of the model in place";
    const std::string bySigns = std::string("UnpackedSignTransferS8") + inPlace;
    const std::string dots = std::string("Avx512VnniUnpackedS8") + inPlace;
    const std::string dotsOfUnsigned = std::string("AvxVnniUnpackedU8") + inPlace;
    Check({
        {{"avx512vnni", "avx512bf16 of AMD", "amx"}, FewRowsInPlace(), {1, false}, dots.c_str(), ""},
        {{"avxvnni"}, Unsigned(FewRowsInPlace()), {1, false}, dotsOfUnsigned.c_str(), ""},
        {{"avx2"}, FewRowsInPlace(), {}, bySigns.c_str(), "-128? "},
        {{"avx2"},
         FewRowsInPlace(),
         {1, false},
         "Int8Pairs: int8 weights without a zero point, widened on load (not UnpackedSignTransferS8: a weight is -128)",
         "-128? "},
        {{"avx2"},
         Unsigned(FewRowsInPlace()),
         {1, false},
         "Int16PairsU8: no dot products of bytes (not UnpackedSignTransferU8: a weight is 0; not SplitU8: many weights "
         "overflow int16 pairs)",
         "-128? SplitU8? "},
        {{"sse4", "avx2"}, FewRows(), {}, "SignTransferS8: few rows, no weight is -128", "-128? "},
        {{"sse4", "avx2"}, Unsigned(FewRows()), {}, "SignTransferU8: few rows, no weight is 0", "-128? "},
        {{"avx512"}, FewRows(), {}, "Int8Pairs: int8 weights without a zero point, widened on load", ""},
        {{"avx512vnni"},
         FewRowsInPlace(63),
         {},
         "Avx512VnniS8: dot products of bytes (not Avx512VnniUnpackedS8: the depth is below 64)",
         ""},
        {{"avx512vnni"}, FewRowsInPlace(2048, 256), {}, dots.c_str(), ""},
        {{"avx512vnni"},
         FewRowsInPlace(2048, 257),
         {},
         "Avx512VnniS8: dot products of bytes (not Avx512VnniUnpackedS8: the weights are larger than 512 KiB)",
         ""},
        {{"avx512vnni"}, fewColumns, {}, "Avx512VnniUnpackedS8: few columns, weights of the model in place", ""},
        {{"avx512vnni"}, fiveColumns, {}, "Avx512VnniS8: dot products of bytes", ""},
        {{"avx2"}, fiveColumns, {}, "UnpackedSignTransferS8: few columns, weights of the model in place", "-128? "},
        // -128 is counted once.
        {{"avx2"},
         fiveColumns,
         {1, false},
         "PermutedS8: many rows, int8 weights without a zero point (not UnpackedSignTransferS8: a weight is -128; not "
         "SplitS8: many weights overflow int16 pairs; not SignTransferS8: a weight is -128)",
         "-128? SplitS8? "},
    });
}

ISA_TEST(KernelChoiceInt8, FloatDataAndWeightsOfFourBits)
{
    GemmFactsInt8 transposed = Hybrid(1, true);
    transposed.m_IsTransposed = true;
    Check({
        {{"avx512vnni"}, Hybrid(100), {}, "Avx512VnniHybrid: float data, quantized biased by 128", ""},
        {{"avx512bf16 of AMD"}, Hybrid(100), {}, "Avx512VnniHybridImplicit: float data, quantized biased by 128", ""},
        {{"amx"}, Hybrid(100), {}, "AmxS8: dot products of bytes", ""},
        {{"avxvnni"}, Hybrid(100), {}, "AvxVnniS8: dot products of bytes", ""},
        {{"i8mm"}, Hybrid(100), {}, "I8mmS8: dot products of bytes", ""},
        {{"avx512vnni", "avx512bf16 of AMD", "amx"},
         Hybrid(4, true),
         {},
         "Avx512VnniInt4: 4-bit weights, few rows",
         ""},
        {{"avxvnni"}, Hybrid(1, true), {}, "AvxVnniInt4: 4-bit weights, few rows", ""},
        {{"dotprod", "i8mm"}, Hybrid(1, true), {}, "DotProdInt4: 4-bit weights, few rows", ""},
        {{"amx"},
         Hybrid(5, true),
         {},
         "AmxS8: dot products of bytes (not Avx512VnniInt4: more than four rows, unpacking to bytes is faster)",
         ""},
        {{"sse4", "avx2", "avx512", "neon", "neon of 32 bits"}, Hybrid(100, true), {}, "PairsInt4: 4-bit weights", ""},
        {{"sse4", "avx2", "avx512", "neon", "neon of 32 bits"},
         Hybrid(1, true),
         {},
         "PairsInt4OneRow: 4-bit weights",
         ""},
        {{"sse4", "avx2", "avx512", "neon"}, transposed, {}, "Int16PairsS8: no dot products of bytes", ""},
        {{"avx512vnni"}, transposed, {}, "Avx512VnniHybrid: float data, quantized biased by 128", ""},
    });
}

ISA_TEST(KernelChoiceInt8, WeightsWithAScalePerBlock)
{
    const auto withBlocks = [](size_t rows, bool isInt4)
    {
        GemmFactsInt8 facts = Hybrid(rows, isInt4);
        facts.m_HasBlocks = true;
        return facts;
    };
    for (const size_t rows : {size_t{1}, size_t{2}, size_t{100}})
    {
        const std::string pairs =
            rows == 1 ? "PairsInt4BlocksOneRow: a scale per block" : "PairsInt4Blocks: a scale per block";
        Check({
            {{"avx512vnni", "avx512bf16 of AMD", "amx"},
             withBlocks(rows, true),
             {},
             "Avx512VnniInt4Blocks: a scale per block",
             ""},
            {{"avx512vnni", "avx512bf16 of AMD", "amx"},
             withBlocks(rows, false),
             {},
             "Avx512VnniInt8Blocks: a scale per block",
             ""},
            {{"avxvnni"}, withBlocks(rows, true), {}, "AvxVnniInt4Blocks: a scale per block", ""},
            {{"avxvnni"}, withBlocks(rows, false), {}, "AvxVnniInt8Blocks: a scale per block", ""},
            {{"dotprod", "i8mm"}, withBlocks(rows, true), {}, "DotProdInt4Blocks: a scale per block", ""},
            {{"dotprod", "i8mm"}, withBlocks(rows, false), {}, "DotProdInt8Blocks: a scale per block", ""},
            {{"sse4", "avx2", "avx512", "neon", "neon of 32 bits"}, withBlocks(rows, true), {}, pairs.c_str(), ""},
            {{"sse4", "avx2", "avx512", "neon", "neon of 32 bits"},
             withBlocks(rows, false),
             {},
             "Int8PairsBlocks: a scale per block",
             ""},
        });
    }
}

// The order of questions is part of the format of files with packed weights: their answers are blocks in sequence.
ISA_TEST(KernelChoiceInt8, AsksAtMostTwoQuestionsAndNoneTwice)
{
    std::set<std::string> orders;
    for (const Level& level : GetLevels())
    {
        const KernelRowsInt8 rows = FindRows(level.m_Name);
        for (const size_t numRows : {1U, 4U, 5U, 100U})
        {
            for (const size_t columns : {4U, 8U, 64U})
            {
                for (const bool isSigned : {false, true})
                {
                    for (const bool mayStay : {false, true})
                    {
                        for (const size_t minWeights : {0U, 1U, 3U})
                        {
                            GemmFactsInt8 facts = isSigned ? Facts() : Unsigned(Facts());
                            facts.m_Rows = numRows;
                            facts.m_Columns = columns;
                            facts.m_MayStayUnpacked = mayStay;
                            Answers answers = {minWeights};
                            EXPECT_NE(answers.Choose(facts, rows).m_Row, nullptr);
                            orders.insert(answers.m_Asked);
                        }
                    }
                }
            }
        }
    }
    EXPECT_THAT(orders, testing::ElementsAre("", "-128? ", "-128? SplitS8? ", "-128? SplitU8? ", "SplitS8? ",
                                             "SplitS8? -128? ", "SplitU8? "));
}

ISA_TEST(KernelRowsInt8, EachLevelHasWhatTheChooserNeeds)
{
    for (const Level& level : GetLevels())
    {
        SCOPED_TRACE(level.m_Name);
        const KernelRowsInt8 rows = FindRows(level.m_Name);
        EXPECT_TRUE(rows.Has(KernelRoleInt8::Int8) && rows.Has(KernelRoleInt8::UInt8));
        EXPECT_TRUE(rows.Has(KernelRoleInt8::Int4));
        EXPECT_TRUE(rows.Has(KernelRoleInt8::Int4Blocks) && rows.Has(KernelRoleInt8::Int8Blocks));
        const bool hasPairs = rows.Find(KernelRoleInt8::Int8)->m_Layout == cpu::WeightLayoutInt8::Int16x2;
        EXPECT_EQ(rows.Has(KernelRoleInt8::Int8x2), hasPairs);
        const KernelRowInt8* const unpacked = rows.Find(KernelRoleInt8::UnpackedInt8);
        if (unpacked != nullptr && !unpacked->TakesAnyMinWeights())
        {
            EXPECT_TRUE(rows.Has(KernelRoleInt8::SignTransferInt8));
        }
    }
}

// The table and the permuting loops have the same limit for weights of the type's minimum.
ISA_TEST(KernelRowsInt8, PermutedWeightsTakeAsManyMinWeightsAsTheirLoops)
{
    for (const KernelRowInt8& row : cpu::GetAllKernelRowsInt8(Targets::X86))
    {
        if (row.m_Layout == cpu::WeightLayoutInt8::Permuted)
        {
            EXPECT_EQ(row.m_MaxMinWeights, cpu::PermuteLoopsInt8::MaxMinWeights) << row.m_Name;
            EXPECT_EQ(cpu::KernelTraitsInt8::MinWeightsGroup, cpu::PermuteLoopsInt8::StepDepth);
        }
        else
        {
            EXPECT_TRUE(row.TakesAnyMinWeights() || row.m_MaxMinWeights == 0) << row.m_Name;
        }
    }
}

// Of two rows for one role, the second one would hide the first.
ISA_TEST(KernelRowsInt8, AProcessorHasOneRowForEachRole)
{
    std::set<std::string> used;
    for (const Level& level : GetLevels())
    {
        CpuFeatures features;
        for (const auto feature : level.m_Features)
        {
            (features.*feature).Set(true);
        }
        const KernelRowsInt8 rows = FindRows(level.m_Name);
        const bool hasDots = rows.Find(KernelRoleInt8::Int8)->m_Layout == cpu::WeightLayoutInt8::Int8x4;
        for (const KernelRowInt8& row : cpu::GetAllKernelRowsInt8(level.m_Target))
        {
            if ((row.m_Targets & level.m_Target) != 0 && row.m_IsThere(features, hasDots))
            {
                EXPECT_EQ(rows.Find(row.m_Role), &row) << level.m_Name << ": " << row.m_Name;
                used.insert(row.m_Name);
            }
        }
    }
    for (const KernelRowInt8& row : cpu::GetAllKernelRowsInt8(Targets::Avx3))
    {
        EXPECT_TRUE(used.contains(row.m_Name)) << row.m_Name;
    }
}

} // namespace tenon::test::kernel_choice_int8_test
