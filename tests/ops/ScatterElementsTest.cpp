// SPDX-License-Identifier: Apache-2.0
// ScatterElements: elements along any axis, in order, in every function, and indices that are outside.
#include "ops/MovementOracle.hpp"

#include <tenon/descriptors/Indexing.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace tenon::test::scatter_elements_test
{

namespace
{

using Sizes = std::vector<unsigned int>;

double Combine(ScatterNdFunction function, double to, double from)
{
    switch (function)
    {
    case ScatterNdFunction::Update: return from;
    case ScatterNdFunction::Add: return to + from;
    case ScatterNdFunction::Sub: return to - from;
    case ScatterNdFunction::Max: return std::max(to, from);
    case ScatterNdFunction::Min: return std::min(to, from);
    case ScatterNdFunction::Mul: return to * from;
    }
    return 0;
}

/// Values from `low` to `high`, and indices that repeat.
OpCase MakeCase(const Sizes& data, const Sizes& indexSizes, int32_t axis, ScatterNdFunction function, DataType type,
                DataType indexType = DataType::Signed32, double low = -2, double high = 2)
{
    const auto along = static_cast<size_t>(axis < 0 ? axis + static_cast<int32_t>(data.size()) : axis);
    const double size = data[along];
    const TensorInfo info = MakeInfo(MakeShape(data), type);
    const TensorInfo updates = MakeInfo(MakeShape(indexSizes), type);
    OpCase op;
    op.m_Name = "into " + info.ToString() + " by " + updates.GetShape().ToString() + " along " + std::to_string(axis) +
                " function " + std::to_string(static_cast<int>(function));
    op.m_Type = LayerType::ScatterElements;
    op.m_Descriptor = MakeDescriptor(ScatterElementsDescriptor(axis, function));
    op.m_Inputs = {Random(info, 1, low, high),
                   Constant(Random(TensorInfo(updates.GetShape(), indexType), 4, -size, size - 1)),
                   Random(updates, 2, low, high)};
    op.m_Output = info;
    op.m_Oracle = [=](const std::vector<RealTensor>& in)
    {
        std::vector<double> values = in[0].m_Values;
        for (size_t i = 0; i < in[2].m_Values.size(); ++i)
        {
            const double index = in[1].m_Values[i];
            size_t rest = i;
            size_t to = 0;
            size_t stride = 1;
            for (size_t d = data.size(); d-- > 0;)
            {
                const size_t place =
                    d == along ? static_cast<size_t>(index < 0 ? index + size : index) : rest % indexSizes[d];
                rest /= indexSizes[d];
                to += place * stride;
                stride *= data[d];
            }
            values[to] = Combine(function, values[to], in[2].m_Values[i]);
        }
        return values;
    };
    return op;
}

constexpr ScatterNdFunction Functions[] = {ScatterNdFunction::Update, ScatterNdFunction::Add, ScatterNdFunction::Sub,
                                           ScatterNdFunction::Max,    ScatterNdFunction::Min, ScatterNdFunction::Mul};

} // namespace

ISA_TEST(ScatterElements, AnyTypeFunctionAndAxis)
{
    for (const ScatterNdFunction function : Functions)
    {
        for (const DataType type : {DataType::Float32, DataType::Float64, DataType::Float16, DataType::BFloat16,
                                    DataType::Signed8, DataType::Signed16, DataType::Signed32, DataType::Signed64})
        {
            for (const DataType indexType : {DataType::Signed16, DataType::Signed32, DataType::Signed64})
            {
                for (OpCase op : {MakeCase({5}, {4}, 0, function, type, indexType),
                                  MakeCase({4, 3}, {4, 3}, 0, function, type, indexType),
                                  MakeCase({4, 3}, {3, 4}, -1, function, type, indexType),
                                  MakeCase({2, 4, 3}, {2, 5, 2}, 1, function, type, indexType),
                                  MakeCase({4, 3}, {0, 3}, 0, function, type, indexType)})
                {
                    op.m_Absolute = type == DataType::Float16 ? 0.01 : type == DataType::BFloat16 ? 0.1 : 1e-6;
                    CheckOp(op);
                }
            }
        }
    }
}

ISA_TEST(ScatterElements, UnsignedBooleanAndQuantized)
{
    for (const DataType type : {DataType::Unsigned8, DataType::Unsigned16, DataType::Unsigned32, DataType::Unsigned64})
    {
        for (const ScatterNdFunction function :
             {ScatterNdFunction::Update, ScatterNdFunction::Add, ScatterNdFunction::Max, ScatterNdFunction::Min})
        {
            CheckOp(MakeCase({4, 3}, {3, 3}, 0, function, type, DataType::Signed64, 0, 9));
        }
    }
    for (const ScatterNdFunction function :
         {ScatterNdFunction::Update, ScatterNdFunction::Max, ScatterNdFunction::Min, ScatterNdFunction::Mul})
    {
        CheckOp(MakeCase({4, 3}, {3, 3}, 0, function, DataType::Boolean, DataType::Signed64, 0, 1));
    }
    OpCase update = MakeCase({4, 3}, {3, 3}, 0, ScatterNdFunction::Update, DataType::QAsymmU8);
    update.m_Steps = 0;
    CheckOp(update);
}

ISA_TEST(ScatterElements, SumsAreRoundedOnce)
{
    const TensorInfo info(TensorShape({1}), DataType::Float32);
    OpCase op = MakeCase({1}, {4}, 0, ScatterNdFunction::Add, DataType::Float32);
    op.m_Inputs = {Stored(info, {1}), Stored(TensorInfo(TensorShape({4}), DataType::Signed32), {0, 0, -1, 0}),
                   Stored(TensorInfo(TensorShape({4}), DataType::Float32), {0x1p-25, 0x1p-25, 0x1p-25, 0x1p-25})};
    op.m_Oracle = Expect(info, {1 + 0x1p-23});
    op.m_Relative = op.m_Absolute = 0;
    CheckOp(op);
}

ISA_TEST(ScatterElements, RefusesWhatDoesNotFit)
{
    OpCase outside = MakeCase({4, 3}, {2, 2}, 0, ScatterNdFunction::Update, DataType::Float32);
    outside.m_Inputs[1] = Stored(outside.m_Inputs[1].m_Info, {0, -4, 4, 3});
    CheckFailsToRun(outside, "element 2 of input 1 is 4; it must be at least -4 and below 4");
    OpCase sum = MakeCase({4, 3}, {2, 2}, 0, ScatterNdFunction::Add, DataType::Float32);
    sum.m_Inputs[1] = Stored(sum.m_Inputs[1].m_Info, {0, -5, 1, 3});
    CheckFailsToRun(sum, "element 1 of input 1 is -5");

    OpCase type = MakeCase({4}, {2}, 0, ScatterNdFunction::Add, DataType::Float32);
    type.m_Inputs[2].m_Info.SetDataType(DataType::Signed32);
    CheckUnsupported(type, SupportCode::UnsupportedType, "input 2");
    CheckUnsupported(MakeCase({4}, {2}, 0, ScatterNdFunction::Add, DataType::Float32, DataType::Float32),
                     SupportCode::UnsupportedType, "input 1");
    OpCase shape = MakeCase({4, 3}, {4, 3}, 0, ScatterNdFunction::Update, DataType::Float32);
    shape.m_Descriptor = MakeDescriptor(ScatterElementsDescriptor(2));
    CheckRejectsShapes(shape, "axis 2");
    shape = MakeCase({4, 3}, {2, 2}, 0, ScatterNdFunction::Update, DataType::Float32);
    shape.m_Inputs[2] = Random(TensorInfo(TensorShape({2, 1}), DataType::Float32), 1);
    CheckRejectsShapes(shape, "input 2");
}

} // namespace tenon::test::scatter_elements_test
