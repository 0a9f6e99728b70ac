// SPDX-License-Identifier: Apache-2.0
// BatchMatMul, FullyConnected and Convolution2d of float64 against CpuRef: OpenBLAS's dgemm where it is found, and why
// it does not run where it is not.
#include "backends/cpu/gemm/driver/DgemmLibrary.hpp"
#include "harness/ShapedLayer.hpp"
#include "ops/cpu/CompareWithReference.hpp"

#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Elementwise.hpp>
#include <tenon/descriptors/Products.hpp>

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace tenon::test::products_f64_test
{

namespace
{

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

TensorInfo Double(const TensorShape& shape)
{
    return TensorInfo(shape, DataType::Float64);
}

bool HasDgemm()
{
    return cpu::DgemmLibrary::Get().GetFunction() != nullptr;
}

/// The case runs by this row of CpuAcc, or by CpuRef's without the library, within the bounds of double precision.
void Check(OpCase op, const std::string& layer)
{
    op.m_Relative = 1e-13;
    op.m_Absolute = 1e-13;
    ExpectAsReference(op, HasDgemm() ? "Cpu" + layer + "F64" : "Ref" + layer, 1e-15);
}

ActivationDescriptor MakeBounded(float low, float high)
{
    ActivationDescriptor bounded;
    bounded.m_Function = ActivationFunction::BoundedReLu;
    bounded.m_A = high;
    bounded.m_B = low;
    return bounded;
}

/// Rows, depths and columns: one row, few, several blocks of rows, one column.
constexpr unsigned int Sizes[][3] = {{1, 2, 3},   {1, 70, 37},    {3, 64, 65},   {17, 70, 1},
                                     {40, 1, 32}, {150, 65, 300}, {700, 129, 67}};

} // namespace

ISA_TEST(ProductsF64, FullyConnected)
{
    const ActivationDescriptor bounded = MakeBounded(-0.5f, 1.5f);
    for (const auto& [rows, depth, columns] : Sizes)
    {
        for (const bool isTransposed : {false, true})
        {
            for (const bool hasBias : {false, true})
            {
                FullyConnectedDescriptor d;
                d.m_TransposeWeightMatrix = isTransposed;
                d.m_BiasEnabled = hasBias;
                std::vector<TestTensor> inputs = {
                    Random(Double({rows, depth}), 1),
                    Random(Double(isTransposed ? TensorShape({columns, depth}) : TensorShape({depth, columns})), 2)};
                if (hasBias)
                {
                    inputs.push_back(Random(Double(TensorShape({columns})), 3));
                }
                OpCase op = ReferenceCase("rows " + std::to_string(rows), LayerType::FullyConnected, d, inputs,
                                          Double({rows, columns}));
                Check(op, "FullyConnected");
                op.m_Inputs[1] = Constant(op.m_Inputs[1]);
                op.m_FusedActivation = &bounded;
                Check(op, "FullyConnected");
            }
        }
    }
}

ISA_TEST(ProductsF64, BatchMatMul)
{
    for (const auto& [rows, depth, columns] : Sizes)
    {
        for (const bool isTransposedX : {false, true})
        {
            for (const bool isTransposedY : {false, true})
            {
                const TensorShape x = isTransposedX ? TensorShape({3, depth, rows}) : TensorShape({3, rows, depth});
                const TensorShape y =
                    isTransposedY ? TensorShape({1, columns, depth}) : TensorShape({1, depth, columns});
                Check(ReferenceCase("rows " + std::to_string(rows), LayerType::BatchMatMul,
                                    BatchMatMulDescriptor(isTransposedX, isTransposedY),
                                    {Random(Double(x), 1), Random(Double(y), 2)}, Double({3, rows, columns})),
                      "BatchMatMul");
            }
        }
    }
}

ISA_TEST(ProductsF64, Convolution2d)
{
    const ActivationDescriptor bounded = MakeBounded(-0.5f, 1.5f);
    for (const unsigned int groups : {1U, 2U, 6U})
    {
        for (const unsigned int kernel : {1U, 3U})
        {
            for (const unsigned int stride : {1U, 2U})
            {
                Convolution2dDescriptor d;
                d.m_DataLayout = DataLayout::NHWC;
                d.m_StrideX = d.m_StrideY = stride;
                d.m_PadTop = d.m_PadBottom = d.m_PadLeft = d.m_PadRight = kernel / 2;
                d.m_BiasEnabled = true;
                const unsigned int size = (31 - 1) / stride + 1;
                OpCase op = ReferenceCase("groups " + std::to_string(groups) + ", kernel " + std::to_string(kernel),
                                          LayerType::Convolution2d, d,
                                          {Random(Double({2, 31, 31, 12}), 1),
                                           Random(Double({18, kernel, kernel, 12 / groups}), 2),
                                           Random(Double(TensorShape({18})), 3)},
                                          Double({2, size, size, 18}));
                Check(op, "Convolution2d");
                op.m_Inputs[1] = Constant(op.m_Inputs[1]);
                op.m_FusedActivation = &bounded;
                Check(op, "Convolution2d");
            }
        }
    }
}

// Windows of several blocks of a task.
ISA_TEST(ProductsF64, Convolution2dOfManyChannels)
{
    Convolution2dDescriptor d;
    d.m_DataLayout = DataLayout::NHWC;
    d.m_PadTop = d.m_PadBottom = d.m_PadLeft = d.m_PadRight = 1;
    Check(ReferenceCase("many channels", LayerType::Convolution2d, d,
                        {Random(Double({1, 19, 23, 200}), 1), Constant(Random(Double({5, 3, 3, 200}), 2))},
                        Double({1, 19, 23, 5})),
          "Convolution2d");
}

ISA_TEST(ProductsF64, PlansSayWhyThereIsNoDgemm)
{
    ShapedLayer layer;
    layer.m_Type = LayerType::BatchMatMul;
    layer.m_Inputs = {Double({2, 3}), Double({3, 4})};
    layer.m_Outputs = {Double({2, 4})};
    const auto workload = layer.Create(FindTestBackend(Compute::CpuAcc));
    const auto shaped = layer.WithArgs([&](const ReshapeArgs& args) { return workload->Reshape(args); });
    const char* const declined = shaped->GetFusion().m_Declined;
    if (HasDgemm() || !cpu::GetCpuFeatures().m_Simd)
    {
        EXPECT_EQ(declined, nullptr);
        return;
    }
    ASSERT_NE(declined, nullptr);
    EXPECT_THAT(declined, StartsWith("CpuBatchMatMulF64: Float64 products need OpenBLAS's dgemm"));
}

TEST(DgemmLibrary, SaysWhyAFileIsNone)
{
    const cpu::DgemmLibrary missing = cpu::DgemmLibrary::Open("/nowhere/libopenblas.so.0");
    EXPECT_EQ(missing.GetFunction(), nullptr);
    EXPECT_THAT(missing.GetReason(), StartsWith("/nowhere/libopenblas.so.0 cannot be opened: "));
#if defined(__linux__)
    const cpu::DgemmLibrary other = cpu::DgemmLibrary::Open("libm.so.6");
    EXPECT_EQ(other.GetFunction(), nullptr);
    EXPECT_THAT(other.GetReason(), AllOf(StartsWith("libm.so.6 "), HasSubstr("is not an OpenBLAS")));
#endif
}

} // namespace tenon::test::products_f64_test
