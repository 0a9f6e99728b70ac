// SPDX-License-Identifier: Apache-2.0
// CpuAcc's kernels that copy slices by index beside CpuRef's: slices of all sizes, few and many of them, batches,
// indices of all types and such as are outside, on one and three threads.
#include "ops/cpu/CompareWithReference.hpp"

#include <tenon/descriptors/Indexing.hpp>

namespace tenon::test::gather_slices_test
{

namespace
{

/// Elements of 1, 2, 4 and 8 bytes.
const TensorInfo Types[] = {TensorInfo({1}, DataType::QAsymmU8, 0.5f, 3), TensorInfo({1}, DataType::Signed16),
                            TensorInfo({1}, DataType::Float32), TensorInfo({1}, DataType::Signed64)};

constexpr DataType IndexTypes[] = {DataType::Signed16, DataType::Signed32, DataType::Signed64};

struct Shapes
{
    TensorShape m_Data;
    TensorShape m_Indices;
    TensorShape m_Output;
    int m_Axis = 0;
    int m_BatchDims = 0;
};

OpCase GatherCase(const Shapes& shapes, const TensorInfo& type, DataType indexType)
{
    GatherDescriptor descriptor(shapes.m_Axis);
    descriptor.m_BatchDims = shapes.m_BatchDims;
    const unsigned int size = shapes.m_Data[static_cast<unsigned int>(shapes.m_Axis)];
    return ReferenceCase(std::string(GetDataTypeName(type.GetDataType())) + " " + shapes.m_Data.ToString() + " by " +
                             shapes.m_Indices.ToString(),
                         LayerType::Gather, descriptor,
                         {Random(Shaped(type, shapes.m_Data), 1),
                          Random(TensorInfo(shapes.m_Indices, indexType), 2, 0, static_cast<double>(size) - 1)},
                         Shaped(type, shapes.m_Output));
}

/// CpuAcc says what CpuRef does of an index that is outside.
void ExpectRefused(const OpCase& op, const std::string& text)
{
    for (const auto& backend : {Compute::CpuRef, Compute::CpuAcc})
    {
        try
        {
            RunOp(FindTestBackend(backend), op, {});
            ADD_FAILURE() << "no exception";
        }
        catch (const RuntimeException& error)
        {
            EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
        }
    }
}

} // namespace

ISA_TEST(GatherSlices, GatherAsReference)
{
    const Shapes all[] = {{{1000}, {1301}, {1301}}, // more than are read at a time
                          {{50, 7}, {3}, {3, 7}},
                          {{90, 33}, {700, 3}, {700, 3, 33}},
                          {{300, 1000}, {5, 20}, {5, 20, 1000}},
                          {{1300, 31}, {3}, {1300, 3}, 1}, // few of each row
                          {{700, 31, 5}, {37}, {700, 37, 5}, 1},
                          {{60, 50, 2}, {600}, {60, 600, 2}, 1},
                          {{3, 150, 31, 2}, {3, 2, 2}, {3, 150, 2, 2, 2}, 2, 1}, // indices of their own
                          {{900, 31, 5}, {900, 3}, {900, 3, 5}, 1, 1},
                          {{900, 31}, {900, 1}, {900, 1}, 1, 1},
                          {{4, 31, 5}, {4, 600}, {4, 600, 5}, 1, 1},
                          {{4, 31, 5}, TensorShape(Dimensionality::Scalar), {4, 5}, 1},
                          {{4, 31, 0}, {3}, {4, 3, 0}, 1}};
    for (const TensorInfo& type : Types)
    {
        for (const DataType indexType : IndexTypes)
        {
            for (const Shapes& shapes : all)
            {
                const bool isEmpty = shapes.m_Output.GetNumElements() == 0;
                ASSERT_NO_FATAL_FAILURE(
                    ExpectAsReference(GatherCase(shapes, type, indexType), isEmpty ? "RefGather" : "CpuGather"));
            }
        }
    }
}

ISA_TEST(GatherSlices, GatherNdAsReference)
{
    struct
    {
        TensorShape m_Data;
        TensorShape m_Indices;
        TensorShape m_Output;
        const char* m_Kernel = "CpuGatherNd";
    } const all[] = {{{40}, {900, 1}, {900}},
                     {{40, 50}, {700, 2}, {700}},
                     {{40, 50, 3}, {10, 70, 2}, {10, 70, 3}},
                     {{40, 50, 6, 4}, {1300, 3}, {1300, 4}},
                     {{40, 2000}, {90, 1}, {90, 2000}},
                     {{40, 50}, {2}, TensorShape(Dimensionality::Scalar)},
                     {{4, 5}, {3, 0}, {3, 4, 5}, "RefGatherNd"},
                     {{4, 5}, {0, 2}, {0}, "RefGatherNd"}};
    for (const TensorInfo& type : Types)
    {
        for (const DataType indexType : IndexTypes)
        {
            for (const auto& shapes : all)
            {
                const TensorShape& tuples = shapes.m_Indices;
                TestTensor indices = Random(TensorInfo(tuples, indexType), 2, 0, 3);
                ASSERT_NO_FATAL_FAILURE(ExpectAsReference(
                    ReferenceCase(shapes.m_Data.ToString() + " by " + tuples.ToString(), LayerType::GatherNd,
                                  GatherNdDescriptor(), {Random(Shaped(type, shapes.m_Data), 1), std::move(indices)},
                                  Shaped(type, shapes.m_Output)),
                    shapes.m_Kernel));
            }
        }
    }
}

ISA_TEST(GatherSlices, BatchesAndIndicesFromTheEndAsReference)
{
    struct
    {
        TensorShape m_Data;
        TensorShape m_Indices;
        TensorShape m_Output;
        unsigned int m_BatchDims = 0;
    } const tuples[] = {{{40}, {900, 1}, {900}},
                        {{40, 50, 3}, {10, 70, 2}, {10, 70, 3}},
                        {{6, 40, 50}, {6, 700, 2}, {6, 700}, 1},
                        {{600, 40, 5}, {600, 1}, {600, 5}, 1},
                        {{3, 7, 40, 9}, {3, 7, 30, 1}, {3, 7, 30, 9}, 2}};
    const Shapes gathers[] = {
        {{1000}, {1301}, {1301}}, {{700, 31, 5}, {37}, {700, 37, 5}, 1}, {{900, 31, 5}, {900, 3}, {900, 3, 5}, 1, 1}};
    for (const TensorInfo& type : Types)
    {
        for (const DataType indexType : IndexTypes)
        {
            for (const auto& shapes : tuples)
            {
                GatherNdDescriptor descriptor;
                descriptor.m_BatchDims = shapes.m_BatchDims;
                descriptor.m_NegativeIndices = true;
                ASSERT_NO_FATAL_FAILURE(
                    ExpectAsReference(ReferenceCase(shapes.m_Data.ToString() + " by " + shapes.m_Indices.ToString(),
                                                    LayerType::GatherNd, descriptor,
                                                    {Random(Shaped(type, shapes.m_Data), 1),
                                                     Random(TensorInfo(shapes.m_Indices, indexType), 2, -40, 39)},
                                                    Shaped(type, shapes.m_Output)),
                                      "CpuGatherNd"));
            }
            for (const Shapes& shapes : gathers)
            {
                OpCase op = GatherCase(shapes, type, indexType);
                GatherDescriptor descriptor = static_cast<const GatherDescriptor&>(*op.m_Descriptor);
                descriptor.m_NegativeIndices = true;
                op.m_Descriptor = MakeDescriptor(descriptor);
                op.m_Inputs[1] = Random(TensorInfo(shapes.m_Indices, indexType), 2, -31, 30);
                ASSERT_NO_FATAL_FAILURE(ExpectAsReference(op, "CpuGather"));
            }
        }
    }
    std::vector<double> stored(700, -50);
    stored[600] = -51;
    GatherDescriptor fromEnd(0);
    fromEnd.m_NegativeIndices = true;
    ExpectRefused(ReferenceCase("gather", LayerType::Gather, fromEnd,
                                {Random(TensorInfo({50, 4}, DataType::Float32), 1),
                                 Stored(TensorInfo({700}, DataType::Signed32), stored)},
                                TensorInfo({700, 4}, DataType::Float32)),
                  "element 600 of input 1 is -51");
}

ISA_TEST(GatherSlices, EmbeddingLookupAsReference)
{
    for (const TensorInfo& type : Types)
    {
        for (const unsigned int width : {1u, 3u, 16u, 100u, 1000u})
        {
            for (const unsigned int count : {0u, 1u, 600u})
            {
                const TestTensor table = Random(Shaped(type, {70, width}), 1);
                ASSERT_NO_FATAL_FAILURE(ExpectAsReference(
                    ReferenceCase("lookup of " + table.m_Info.ToString(), LayerType::EmbeddingLookup, NullDescriptor(),
                                  {Random(TensorInfo({count}, DataType::Signed32), 2, 0, 69), table},
                                  Shaped(type, {count, width})),
                    count == 0 ? "RefEmbeddingLookup" : "CpuEmbeddingLookup"));
            }
        }
    }
    // Converted ones are the reference kernel's.
    ASSERT_NO_FATAL_FAILURE(ExpectAsReference(ReferenceCase("converted", LayerType::EmbeddingLookup, NullDescriptor(),
                                                            {Random(TensorInfo({9}, DataType::Signed32), 2, 0, 69),
                                                             Random(TensorInfo({70, 5}, DataType::QSymmS8, 0.5f), 1)},
                                                            TensorInfo({9, 5}, DataType::Float32)),
                                              "RefEmbeddingLookup"));
}

ISA_TEST(GatherSlices, RefusesIndicesThatAreOutside)
{
    const TensorInfo info({50, 4}, DataType::Float32);
    for (const double index : {-1.0, 50.0})
    {
        std::vector<double> stored(700);
        stored[600] = index;
        const TestTensor indices = Stored(TensorInfo({700}, DataType::Signed32), stored);
        const std::string text = "element 600 of input 1 is " + std::to_string(static_cast<int>(index));
        ExpectRefused(ReferenceCase("gather", LayerType::Gather, GatherDescriptor(0), {Random(info, 1), indices},
                                    TensorInfo({700, 4}, DataType::Float32)),
                      text);
        ExpectRefused(ReferenceCase("gather of rows", LayerType::Gather, GatherDescriptor(1),
                                    {Random(TensorInfo({3, 50}, DataType::Float32), 1), indices},
                                    TensorInfo({3, 700}, DataType::Float32)),
                      text);
        ExpectRefused(ReferenceCase("lookup", LayerType::EmbeddingLookup, NullDescriptor(), {indices, Random(info, 1)},
                                    TensorInfo({700, 4}, DataType::Float32)),
                      "element 600 of input 0");
        ExpectRefused(ReferenceCase("tuples", LayerType::GatherNd, GatherNdDescriptor(),
                                    {Random(TensorInfo({50, 60, 4}, DataType::Float32), 1),
                                     Stored(TensorInfo({350, 2}, DataType::Signed32), stored)},
                                    TensorInfo({350, 4}, DataType::Float32)),
                      text);
    }
}

ISA_TEST(GatherSlices, RefusesIndicesOfNoSlices)
{
    const TensorInfo none({0, 4}, DataType::Float32);
    for (const DataType type : IndexTypes)
    {
        const TestTensor indices = Stored(TensorInfo({30}, type), std::vector<double>(30, 0.0));
        const TensorInfo picked({30, 4}, DataType::Float32);
        ExpectRefused(
            ReferenceCase("gather", LayerType::Gather, GatherDescriptor(0), {Random(none, 1), indices}, picked),
            "element 0 of input 1 is 0");
    }
}

ISA_TEST(GatherSlices, RefusesIndicesAtTheEndsOfTheirType)
{
    struct
    {
        DataType m_Type;
        double m_Lowest;
        double m_Large;
    } const all[] = {{DataType::Signed16, -32768, 32767},
                     {DataType::Signed32, -2147483648.0, 2147483647},
                     {DataType::Signed64, -0x1p63, 0x1p62}};
    for (const auto& type : all)
    {
        for (const double index : {type.m_Lowest, type.m_Large, -1.0, 50.0})
        {
            std::vector<double> stored(700, 49);
            stored[600] = index;
            ExpectRefused(ReferenceCase("gather", LayerType::Gather, GatherDescriptor(0),
                                        {Random(TensorInfo({50, 4}, DataType::QAsymmU8, 0.5f, 3), 1),
                                         Stored(TensorInfo({700}, type.m_Type), stored)},
                                        TensorInfo({700, 4}, DataType::QAsymmU8, 0.5f, 3)),
                          "element 600 of input 1 is " + std::to_string(static_cast<int64_t>(index)));
        }
    }
    // Of more slices than indices of 16 bits count, all that are not negative are inside.
    const TensorInfo data({40000, 3}, DataType::QAsymmU8, 0.5f, 3);
    ASSERT_NO_FATAL_FAILURE(
        ExpectAsReference(ReferenceCase("many slices", LayerType::Gather, GatherDescriptor(0),
                                        {Random(data, 1), Random(TensorInfo({700}, DataType::Signed16), 2, 0, 32767)},
                                        Shaped(data, {700, 3})),
                          "CpuGather"));
}

} // namespace tenon::test::gather_slices_test
