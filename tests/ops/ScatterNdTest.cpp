// SPDX-License-Identifier: Apache-2.0
// ScatterNd: updates of slices, in order, in every function, and indices that nobody vouches for.
#include "ops/MovementOracle.hpp"

#include <tenon/descriptors/Indexing.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace tenon::test::scatter_nd_test
{

namespace
{

using Sizes = std::vector<unsigned int>;

/// Six updates of slices of a [5, 2] tensor, two of them of one slice. With `isTensor` input 0 is what they update.
OpCase MakeCase(ScatterNdFunction function, bool isTensor, DataType type, DataType indexType = DataType::Signed32)
{
    const TensorInfo info(TensorShape({5, 2}), type);
    const TensorInfo updates(TensorShape({2, 3, 2}), type);
    const TensorInfo indices(TensorShape({2, 3, 1}), indexType);
    const bool isUnsigned = type == DataType::Unsigned8 || type == DataType::Boolean;
    const double low = isUnsigned ? 0 : -4;
    const double high = type == DataType::Boolean ? 1 : 4;
    const TestTensor first = isTensor ? Random(info, 1, low, high) : Indices({5, 2});
    return Exactly({std::string(GetDataTypeName(type)) + " function " + std::to_string(static_cast<int>(function)),
                    LayerType::ScatterNd,
                    MakeDescriptor(ScatterNdDescriptor(function, isTensor)),
                    {first, Constant(Stored(indices, {4, 0, 3, 0, 1, 4})), Random(updates, 2, low, high)},
                    info,
                    [=](const auto& in)
                    {
                        std::vector<double> values = isTensor ? in[0].m_Values : std::vector<double>(10, 0.0);
                        for (size_t i = 0; i < in[2].m_Values.size(); ++i)
                        {
                            double& to = values[static_cast<size_t>(in[1].m_Values[i / 2]) * 2 + i % 2];
                            const double from = in[2].m_Values[i];
                            switch (function)
                            {
                            case ScatterNdFunction::Update: to = from; break;
                            case ScatterNdFunction::Add: to += from; break;
                            case ScatterNdFunction::Sub: to -= from; break;
                            case ScatterNdFunction::Max: to = std::max(to, from); break;
                            case ScatterNdFunction::Min: to = std::min(to, from); break;
                            case ScatterNdFunction::Mul: to *= from; break;
                            }
                            if (type == DataType::Unsigned8)
                            {
                                to = std::fmod(to + 256, 256);
                            }
                            if (type == DataType::Signed8)
                            {
                                to = std::fmod(to + 384, 256) - 128;
                            }
                            if (type == DataType::Boolean)
                            {
                                to = to != 0 ? 1 : 0;
                            }
                        }
                        return values;
                    }});
}

} // namespace

ISA_TEST(ScatterNd, AnyTypeAndFunction)
{
    for (const ScatterNdFunction function : {ScatterNdFunction::Update, ScatterNdFunction::Add, ScatterNdFunction::Sub,
                                             ScatterNdFunction::Max, ScatterNdFunction::Min, ScatterNdFunction::Mul})
    {
        for (const bool isTensor : {false, true})
        {
            for (const DataType type : {DataType::Float64, DataType::Signed8, DataType::Signed16, DataType::Signed32,
                                        DataType::Signed64, DataType::Unsigned8, DataType::Boolean})
            {
                CheckOp(MakeCase(function, isTensor, type));
                CheckOp(MakeCase(function, isTensor, type, DataType::Signed64));
                CheckOp(MakeCase(function, isTensor, type, DataType::Signed16));
            }
            for (const DataType type : {DataType::Float32, DataType::Float16, DataType::BFloat16})
            {
                OpCase op = MakeCase(function, isTensor, type);
                op.m_Absolute = type == DataType::Float32 ? 1e-6 : 0.1;
                op.m_Relative = function != ScatterNdFunction::Mul ? 0 : type == DataType::Float32 ? 1e-6 : 0.01;
                CheckOp(op);
            }
        }
    }
}

ISA_TEST(ScatterNd, NegativeIndicesCountFromTheEnd)
{
    for (const DataType indexType : {DataType::Signed16, DataType::Signed32, DataType::Signed64})
    {
        for (const ScatterNdFunction function : {ScatterNdFunction::Update, ScatterNdFunction::Max})
        {
            OpCase op = MakeCase(function, true, DataType::Float32, indexType);
            ScatterNdDescriptor descriptor(function, true);
            descriptor.m_NegativeIndices = true;
            op.m_Descriptor = MakeDescriptor(descriptor);
            op.m_Inputs[1] = Stored(op.m_Inputs[1].m_Info, {-1, 0, -2, -5, 1, 4});
            const Oracle plain = op.m_Oracle;
            op.m_Oracle = [plain](std::vector<RealTensor> in)
            {
                for (double& index : in[1].m_Values)
                {
                    index += index < 0 ? 5 : 0;
                }
                return plain(in);
            };
            CheckOp(op);
            op.m_Inputs[1] = Stored(op.m_Inputs[1].m_Info, {-1, 0, -2, -6, 1, 4});
            CheckFailsToRun(op, "element 3 of input 1 is -6; it must be at least -5");
        }
    }
}

ISA_TEST(ScatterNd, AddsWhatIsStored)
{
    OpCase op = MakeCase(ScatterNdFunction::Add, false, DataType::Float32);
    op.m_Output = TensorInfo(TensorShape({3}), DataType::QAsymmU8, 0.5f, 7);
    op.m_Inputs = {Indices({3}), Stored(TensorInfo(TensorShape({3, 1}), DataType::Signed32), {2, 0, 2}),
                   Stored(op.m_Output, {200, 9, 100})};
    op.m_Oracle = Expect(op.m_Output, {9, 0, 44});
    CheckOp(op);
}

ISA_TEST(ScatterNd, EmptyTuplesUpdateEverything)
{
    OpCase op = MakeCase(ScatterNdFunction::Add, false, DataType::Float32);
    op.m_Output = TensorInfo(TensorShape({2}), DataType::Float32);
    op.m_Inputs = {Indices({2}), Stored(TensorInfo(TensorShape({2, 0}), DataType::Signed32), {}),
                   Values(TensorInfo(TensorShape({2, 2}), DataType::Float32), {1, 2, 3, 4})};
    op.m_Oracle = Expect(op.m_Output, {4, 6});
    CheckOp(op);
}

ISA_TEST(ScatterNd, RefusesWhatDoesNotFit)
{
    OpCase outside = MakeCase(ScatterNdFunction::Add, false, DataType::Float32);
    outside.m_Inputs[1] = Stored(outside.m_Inputs[1].m_Info, {0, 0, 0, 0, 5, 0});
    CheckFailsToRun(outside, "element 4 of input 1 is 5");
    outside.m_Inputs[1] = Stored(outside.m_Inputs[1].m_Info, {-1, 0, 0, 0, 0, 0});
    CheckFailsToRun(outside, "element 0 of input 1 is -1");

    OpCase type = MakeCase(ScatterNdFunction::Add, false, DataType::Float32);
    type.m_Inputs[2].m_Info.SetDataType(DataType::Signed32);
    CheckUnsupported(type, SupportCode::UnsupportedType, "input 2");
    type = MakeCase(ScatterNdFunction::Add, true, DataType::Float32);
    type.m_Inputs[0].m_Info.SetDataType(DataType::Signed32);
    CheckUnsupported(type, SupportCode::UnsupportedType, "input 0");
    CheckUnsupported(MakeCase(ScatterNdFunction::Add, false, DataType::Float32, DataType::Float32),
                     SupportCode::UnsupportedType, "input 1");

    OpCase shape = MakeCase(ScatterNdFunction::Add, false, DataType::Float32);
    shape.m_Inputs[2] = Random(TensorInfo(TensorShape({2, 3}), DataType::Float32), 1);
    CheckRejectsShapes(shape, "an update for each index tuple");
    shape = MakeCase(ScatterNdFunction::Add, true, DataType::Float32);
    shape.m_Inputs[0] = Random(TensorInfo(TensorShape({4, 2}), DataType::Float32), 1);
    CheckRejectsShapes(shape, "the output's shape");
}

} // namespace tenon::test::scatter_nd_test
