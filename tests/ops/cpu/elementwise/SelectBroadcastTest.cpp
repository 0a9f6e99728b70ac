// SPDX-License-Identifier: Apache-2.0
// CpuAcc's Select beside CpuRef's: elements of all sizes, every way in which three inputs are broadcast against each
// other, lengths with something left over. Some are split over threads; each tensor ends at a guard page.
#include "ops/ComplexTensor.hpp"
#include "ops/cpu/CompareWithReference.hpp"

#include <tenon/descriptors/Elementwise.hpp>

#include <algorithm>

namespace tenon::test::select_broadcast_test
{

namespace
{

struct Shapes
{
    TensorShape m_Condition;
    TensorShape m_X;
    TensorShape m_Y;
    TensorShape m_Output;
    bool m_BySlice = false;
};

/// Bytes of which some are true without being 1.
TestTensor Condition(const TensorShape& shape)
{
    TestTensor condition = Random(TensorInfo(shape, DataType::Boolean), 3, 0, 1);
    for (size_t i = 0; i < condition.m_Bytes.size(); i += 3)
    {
        condition.m_Bytes[i] = condition.m_Bytes[i] == std::byte{0} ? std::byte{0} : std::byte{0x80};
    }
    return condition;
}

OpCase Case(const Shapes& shapes, DataType type)
{
    SelectDescriptor descriptor;
    descriptor.m_ConditionBySlice = shapes.m_BySlice;
    const auto info = [type](const TensorShape& shape) { return TensorInfo(shape, type, 0.5f, 0); };
    return ReferenceCase(std::string(GetDataTypeName(type)) + " " + shapes.m_Condition.ToString() +
                             shapes.m_X.ToString() + shapes.m_Y.ToString(),
                         LayerType::Select, descriptor,
                         {Condition(shapes.m_Condition), Random(info(shapes.m_X), 1), Random(info(shapes.m_Y), 2)},
                         info(shapes.m_Output));
}

/// Of 1, 2, 4 and 8 bytes.
constexpr DataType Types[] = {DataType::QAsymmU8, DataType::Float16, DataType::Float32, DataType::Signed64};

} // namespace

ISA_TEST(SelectBroadcast, LengthsAsReference)
{
    for (const DataType type : Types)
    {
        for (unsigned int count = 1; count < 140; count += count < 20 ? 1 : 17)
        {
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(Case({{count}, {count}, {count}, {count}}, type), "CpuSelect"));
        }
        for (const unsigned int count : {0u, 100003u})
        {
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(Case({{count}, {count}, {count}, {count}}, type), "CpuSelect"));
        }
    }
}

ISA_TEST(SelectBroadcast, BroadcastsAsReference)
{
    const TensorShape scalar(Dimensionality::Scalar);
    const Shapes all[] = {{{1}, {99}, {99}, {99}}, // one input stands, two, all
                          {{99}, {1}, {99}, {99}},
                          {{99}, {99}, {1, 1}, {99}},
                          {scalar, {99}, {1}, {99}},
                          {{1}, scalar, {99}, {99}},
                          {{99}, {1}, scalar, {99}},
                          {{1}, {1}, {1}, {3, 33}},
                          {scalar, scalar, scalar, scalar},
                          {{1, 1, 30, 37}, {3, 4, 30, 37}, {1}, {3, 4, 30, 37}}, // masks
                          {{3, 1, 1, 37}, {3, 4, 30, 37}, {1}, {3, 4, 30, 37}},
                          {{300, 1}, {300, 211}, {1}, {300, 211}},
                          {{9000, 1}, {9000, 4}, {9000, 4}, {9000, 4}}, // short rows
                          {{9000, 3}, {3}, {9000, 1}, {9000, 3}},
                          {{5, 1, 1}, {1, 6, 1}, {1, 1, 7}, {5, 6, 7}},
                          {{2, 1, 2, 1, 3, 1, 2, 1}, {3, 1, 2, 1}, {1, 3, 1, 3, 1, 3, 1, 3}, {2, 3, 2, 3, 3, 3, 2, 3}},
                          {{0}, {3, 1}, {3, 0}, {3, 0}},
                          {{700}, {700, 90}, {700, 90}, {700, 90}, true},
                          {{5}, {5, 2, 3}, {5, 2, 3}, {5, 2, 3}, true}};
    for (const DataType type : Types)
    {
        for (const Shapes& shapes : all)
        {
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(Case(shapes, type), "CpuSelect"));
        }
    }
}

ISA_TEST(SelectBroadcast, ComplexAsReference)
{
    std::vector<std::complex<double>> wide(99);
    std::vector<std::complex<float>> narrow(99);
    for (size_t i = 0; i < 99; ++i)
    {
        wide[i] = {static_cast<double>(i), 0.5};
        narrow[i] = {static_cast<float>(i), -0.5f};
    }
    const auto toCase = [](const TestTensor& x, const TestTensor& y)
    {
        return ReferenceCase(GetDataTypeName(x.m_Info.GetDataType()), LayerType::Select, SelectDescriptor(),
                             {Condition({99}), x, y}, x.m_Info);
    };
    const TestTensor x16 = FromComplex<double>({99}, wide);
    const TestTensor x8 = FromComplex<float>({99}, narrow);
    std::reverse(wide.begin(), wide.end());
    std::reverse(narrow.begin(), narrow.end());
    // Elements of 16 bytes are the reference kernel's.
    ASSERT_NO_FATAL_FAILURE(ExpectAsReference(toCase(x16, FromComplex<double>({99}, wide)), "RefSelect"));
    ASSERT_NO_FATAL_FAILURE(ExpectAsReference(toCase(x8, FromComplex<float>({99}, narrow)), "CpuSelect"));
}

} // namespace tenon::test::select_broadcast_test
