// SPDX-License-Identifier: Apache-2.0
// Splitter: one box of the input for each output.
#include "ops/MovementOracle.hpp"

#include <tenon/descriptors/Slicing.hpp>

#include <gtest/gtest.h>

#include <string>

namespace tenon::test::splitter_test
{

namespace
{

using Sizes = std::vector<unsigned int>;

struct View
{
    Sizes m_Origin;
    Sizes m_Size;
};

OpCase MakeCase(const Sizes& input, const std::vector<View>& views, DataType type)
{
    SplitterDescriptor descriptor(static_cast<uint32_t>(views.size()), static_cast<uint32_t>(input.size()));
    std::vector<TensorInfo> outputs;
    for (uint32_t view = 0; view < views.size(); ++view)
    {
        for (uint32_t i = 0; i < input.size(); ++i)
        {
            descriptor.SetViewOriginCoord(view, i, views[view].m_Origin[i]);
            descriptor.SetViewSize(view, i, views[view].m_Size[i]);
        }
        outputs.push_back(MakeInfo(MakeShape(views[view].m_Size), type));
    }
    OpCase op;
    op.m_Name = MakeShape(input).ToString() + " into " + std::to_string(views.size()) + " views";
    op.m_Type = LayerType::Splitter;
    op.m_Descriptor = MakeDescriptor(descriptor);
    op.m_Inputs = {Random(MakeInfo(MakeShape(input), type), 4)};
    op.m_Output = outputs.front();
    op.m_MoreOutputs.assign(outputs.begin() + 1, outputs.end());
    op.m_Oracle = [views](const std::vector<RealTensor>& in)
    {
        std::vector<double> values;
        for (const View& view : views)
        {
            const std::vector<double> box = Move(MakeShape(view.m_Size), in[0],
                                                 [&view](Coordinates at)
                                                 {
                                                     for (size_t i = 0; i < at.size(); ++i)
                                                     {
                                                         at[i] += view.m_Origin[i];
                                                     }
                                                     return at;
                                                 });
            values.insert(values.end(), box.begin(), box.end());
        }
        return values;
    };
    return Exactly(op);
}

} // namespace

ISA_TEST(Splitter, AnyTypeAndAxis)
{
    for (const DataType type : GetMovedTypes())
    {
        CheckOp(MakeCase({4, 3, 2}, {{{0, 0, 0}, {1, 3, 2}}, {{1, 0, 0}, {3, 3, 2}}}, type));
        CheckOp(MakeCase({4, 3, 2}, {{{0, 0, 0}, {4, 1, 2}}, {{0, 1, 0}, {4, 1, 2}}, {{0, 2, 0}, {4, 1, 2}}}, type));
        CheckOp(MakeCase({4, 5}, {{{0, 0}, {4, 2}}, {{0, 2}, {4, 0}}, {{0, 2}, {4, 3}}}, type));
        CheckOp(MakeCase({6}, {{{0}, {6}}}, type));
        CheckOp(MakeCase({4, 5}, {{{1, 1}, {2, 3}}, {{0, 0}, {4, 5}}, {{3, 4}, {1, 1}}}, type));
        CheckOp(MakeCase({0, 4}, {{{0, 0}, {0, 2}}, {{0, 2}, {0, 2}}}, type));
    }
}

ISA_TEST(Splitter, CutsHalfBytes)
{
    const auto info = [](const Sizes& sizes) { return TensorInfo(MakeShape(sizes), DataType::QSymmS4, 0.5f); };
    OpCase op = MakeCase({2, 3}, {{{0, 0}, {2, 1}}, {{0, 1}, {2, 2}}}, DataType::Float32);
    op.m_Inputs = {FromBytes(info({2, 3}), {0x21, 0x83, 0xFE})};
    op.m_Output = info({2, 1});
    op.m_MoreOutputs = {info({2, 2})};
    EXPECT_EQ(ToNumbers(RunOnCpuRef(op)), (std::vector<unsigned int>{0x81, 0x32, 0xFE}));
}

ISA_TEST(Splitter, RefusesWhatDoesNotFit)
{
    OpCase type = MakeCase({4}, {{{0}, {2}}, {{2}, {2}}}, DataType::Float32);
    type.m_MoreOutputs[0].SetDataType(DataType::Signed32);
    CheckUnsupported(type, SupportCode::UnsupportedType, "output 1");

    OpCase outside = MakeCase({4}, {{{0}, {2}}, {{2}, {2}}}, DataType::Float32);
    outside.m_Inputs[0] = Random(TensorInfo(TensorShape({3}), DataType::Float32), 1);
    CheckRejectsShapes(outside, "view 1");
    OpCase size = MakeCase({4}, {{{0}, {2}}, {{2}, {2}}}, DataType::Float32);
    size.m_MoreOutputs[0].SetShape(TensorShape({1}));
    CheckRejectsShapes(size, "view 1");
    OpCase missing = MakeCase({4}, {{{0}, {2}}, {{2}, {2}}}, DataType::Float32);
    missing.m_MoreOutputs.clear();
    CheckRejectsShapes(missing, "2 views");
}

} // namespace tenon::test::splitter_test
