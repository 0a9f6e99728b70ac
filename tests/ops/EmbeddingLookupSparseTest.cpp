// SPDX-License-Identifier: Apache-2.0
// EmbeddingLookupSparse: bags by each combiner, and numbers and places outside.
#include "ops/MovementOracle.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Indexing.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace tenon::test::embedding_lookup_sparse_test
{

namespace
{

struct Entry
{
    std::vector<double> m_Place;
    double m_Number;
    double m_Weight;
};

OpCase MakeCase(EmbeddingCombiner combiner, const std::vector<unsigned int>& dense, const std::vector<Entry>& entries)
{
    OpCase op;
    op.m_Name = MakeShape(dense).ToString();
    op.m_Type = LayerType::EmbeddingLookupSparse;
    EmbeddingLookupSparseDescriptor descriptor;
    descriptor.m_Combiner = combiner;
    op.m_Descriptor = MakeDescriptor(descriptor);
    std::vector<double> numbers;
    std::vector<double> places;
    std::vector<double> weights;
    for (const Entry& entry : entries)
    {
        numbers.push_back(entry.m_Number);
        places.insert(places.end(), entry.m_Place.begin(), entry.m_Place.end());
        weights.push_back(entry.m_Weight);
    }
    const auto count = static_cast<unsigned int>(entries.size());
    const auto rank = static_cast<unsigned int>(dense.size());
    op.m_Inputs = {Stored(TensorInfo({count}, DataType::Signed32), numbers),
                   Stored(TensorInfo({count, rank}, DataType::Signed32), places),
                   Stored(TensorInfo({rank}, DataType::Signed32), {dense.begin(), dense.end()}),
                   Stored(TensorInfo({count}, DataType::Float32), weights),
                   Random(TensorInfo({4, 3}, DataType::Float32), 3, -2, 2)};
    std::vector<unsigned int> sizes(dense.begin(), dense.end() - 1);
    sizes.push_back(3);
    op.m_Output = TensorInfo(MakeShape(sizes), DataType::Float32);
    op.m_Oracle = [=, size = op.m_Output.GetNumElements()](const std::vector<RealTensor>& in)
    {
        std::vector<double> sums(size);
        std::vector<double> weight(size);
        std::vector<double> squares(size);
        for (const Entry& entry : entries)
        {
            size_t bag = 0;
            for (size_t d = 0; d + 1 < dense.size(); ++d)
            {
                bag = bag * dense[d] + static_cast<size_t>(entry.m_Place[d]);
            }
            for (size_t k = 0; k < 3; ++k)
            {
                sums[bag * 3 + k] += entry.m_Weight * in[4].At(entry.m_Number, k);
                weight[bag * 3 + k] += entry.m_Weight;
                squares[bag * 3 + k] += entry.m_Weight * entry.m_Weight;
            }
        }
        for (size_t i = 0; i < size; ++i)
        {
            const double divisor = combiner == EmbeddingCombiner::Mean ? weight[i] : std::sqrt(squares[i]);
            sums[i] /= combiner == EmbeddingCombiner::Sum || weight[i] == 0.0 ? 1.0 : divisor;
        }
        return sums;
    };
    return op;
}

} // namespace

ISA_TEST(EmbeddingLookupSparse, EveryCombiner)
{
    using enum EmbeddingCombiner;
    for (const EmbeddingCombiner combiner : {Sum, Mean, SqrtN})
    {
        CheckOp(MakeCase(combiner, {3, 2}, {{{0, 0}, 1, 2}, {{0, 1}, 3, 0.5}, {{2, 0}, 0, 1}, {{2, 1}, 1, 3}}));
        CheckOp(MakeCase(combiner, {2, 2, 9}, {{{0, 1, 0}, 1, 2}, {{1, 0, 5}, 3, 4}, {{1, 0, 6}, 2, 4}}));
        CheckOp(MakeCase(combiner, {9}, {{{0}, 1, 2}, {{1}, 3, 4}}));
        CheckOp(MakeCase(combiner, {2, 2}, {}));
        CheckOp(MakeCase(combiner, {0, 2}, {}));
    }
}

ISA_TEST(EmbeddingLookupSparse, RefusesWhatIsOutside)
{
    const IBackend& reference = *GetTestBackends().front();
    for (const Entry& entry : {Entry{{0, 0}, 4, 1}, Entry{{0, 0}, -1, 1}, Entry{{2, 0}, 0, 1}, Entry{{-1, 0}, 0, 1}})
    {
        const OpCase op = MakeCase(EmbeddingCombiner::Sum, {2, 2}, {entry});
        EXPECT_THROW(RunOp(reference, op, RunVariant()), RuntimeException);
    }
    OpCase output = MakeCase(EmbeddingCombiner::Sum, {2, 2}, {{{0, 0}, 1, 1}});
    output.m_Output.SetShape(TensorShape({2, 4}));
    CheckRejectsShapes(output, "output 0");
    OpCase table = MakeCase(EmbeddingCombiner::Sum, {2, 2}, {{{0, 0}, 1, 1}});
    table.m_Inputs[4].m_Info.SetDataType(DataType::Signed32);
    CheckUnsupported(table, SupportCode::UnsupportedType, "input 4");
}

} // namespace tenon::test::embedding_lookup_sparse_test
