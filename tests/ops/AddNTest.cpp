// SPDX-License-Identifier: Apache-2.0
// AddN: sums of any number of tensors.
#include "ops/ElementwiseOracle.hpp"

#include <tenon/descriptors/Elementwise.hpp>

#include <gtest/gtest.h>

namespace tenon::test::add_n_test
{

namespace
{

OpCase MakeCase(const TensorInfo& info, uint32_t numInputs)
{
    AddNDescriptor descriptor;
    descriptor.m_NumInputs = numInputs;
    OpCase op{"sum of " + std::to_string(numInputs) + " " + info.ToString(),
              LayerType::AddN,
              MakeDescriptor(descriptor),
              {},
              info,
              [](const std::vector<RealTensor>& in)
              {
                  std::vector<double> sums(in[0].m_Values.size());
                  for (const RealTensor& tensor : in)
                  {
                      for (size_t i = 0; i < sums.size(); ++i)
                      {
                          sums[i] += tensor.m_Values[i];
                      }
                  }
                  return sums;
              }};
    for (uint32_t i = 0; i < numInputs; ++i)
    {
        op.m_Inputs.push_back(Random(info, i + 1, 0, 20));
    }
    op.m_Relative = op.m_Absolute = 4 * GetRounding(info.GetDataType());
    return op;
}

} // namespace

ISA_TEST(AddN, AnyNumberOfAnyType)
{
    for (const DataType type : {DataType::Float32, DataType::Float64, DataType::Float16, DataType::BFloat16,
                                DataType::Signed8, DataType::Signed16, DataType::Signed32, DataType::Signed64,
                                DataType::Unsigned8, DataType::Unsigned16, DataType::Unsigned32, DataType::Unsigned64})
    {
        CheckOp(MakeCase(TensorInfo(TensorShape({3, 5}), type), 1));
        CheckOp(MakeCase(TensorInfo(TensorShape({3, 5}), type), 5));
        CheckOp(MakeCase(TensorInfo(TensorShape(Dimensionality::Scalar), type), 2));
        CheckOp(MakeCase(TensorInfo(TensorShape({3, 0}), type), 2));
    }
}

ISA_TEST(AddN, IntegersWrap)
{
    const TensorInfo info(TensorShape({2}), DataType::Signed32);
    OpCase op = MakeCase(info, 2);
    op.m_Inputs = {Stored(info, {2147483647.0, -2147483648.0}), Stored(info, {1, -1})};
    op.m_Oracle = Expect(info, {-2147483648.0, 2147483647.0});
    CheckOp(op);
}

ISA_TEST(AddN, RefusesWhatDoesNotFit)
{
    const TensorInfo info(TensorShape({2}), DataType::Float32);
    OpCase shapes = MakeCase(info, 2);
    shapes.m_Inputs[1] = Random(TensorInfo(TensorShape({1}), DataType::Float32), 1);
    CheckRejectsShapes(shapes, "one shape");
    OpCase types = MakeCase(info, 2);
    types.m_Inputs[1] = Random(TensorInfo(TensorShape({2}), DataType::Signed32), 1);
    CheckUnsupported(types, SupportCode::UnsupportedType, "one type");
    OpCase missing = MakeCase(info, 3);
    missing.m_Inputs[2] = NotConnected();
    CheckUnsupported(missing, SupportCode::UnsupportedParameters, "input 2");
}

} // namespace tenon::test::add_n_test
