// SPDX-License-Identifier: Apache-2.0
// BatchMatMul of CpuAcc for int8 and uint8 (BatchedGemmInt8, FewRowsInt8); results are the bytes of the reference
// kernel.
#include "backends/common/Quantization.hpp"
#include "backends/cpu/matmul/BatchedGemmInt8.hpp"
#include "backends/cpu/matmul/BatchedGemmTasks.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/MatMulGeometry.hpp"

#include <tenon/descriptors/Products.hpp>

#include <utility>
#include <vector>

namespace tenon::cpu
{

namespace
{

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const ref::MatMulGeometry g(args);
    const TensorInfo& y = args.GetInput(1);
    const RoundingInt8 rounding =
        GetRounding(args.GetDescriptor<BatchMatMulDescriptor>().m_Requantization, RoundingInt8::FixedPoint);
    const bool isFloat = rounding == RoundingInt8::Float;
    if (y.HasMultipleQuantizationScales() && !(isFloat && y.GetQuantizationScales().size() == g.m_Columns))
    {
        return backends::Prepared::Declined("its second matrix has several scales");
    }
    if (!BatchedGemmInt8::Takes(g))
    {
        return backends::Prepared::Declined(
            "its matrices are empty, rows and columns lie apart, or their sums need more than 32 bits");
    }
    EpilogueParamsInt8 epilogue;
    epilogue.m_Scales = isFloat ? GetScales(args.GetInput(0), y, args.GetOutput(0), rounding)
                                : std::vector<double>{GetProductScale(args)};
    epilogue.m_Rounding = rounding;
    epilogue.m_Range = backends::GetTypeRange(args.GetOutput(0).GetDataType());
    if (FewRowsInt8::Takes(g, args.GetInput(0)) && FewRowsInt8::TakesMinByte(args.GetInput(0)))
    {
        return FewRowsInt8(g, args, epilogue);
    }
    BatchedGemmInt8 products(g, args, epilogue);
    const size_t bytes = products.GetScratchBytes();
    return {std::move(products), bytes};
}

} // namespace

extern const backends::Kernel CpuBatchMatMulInt8Kernel = {.m_Name = "CpuBatchMatMulInt8",
                                                          .m_Types = Int8MatrixTypes,
                                                          .m_Prepare = Prepare,
                                                          .m_RoundsHalfToEven = true,
                                                          .m_Reference = &ref::RefBatchMatMulKernel};

} // namespace tenon::cpu
