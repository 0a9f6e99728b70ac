// SPDX-License-Identifier: Apache-2.0
// BatchMatMul of CpuAcc for two float64 matrices, constant or not: see BatchedGemmF64.hpp.
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/matmul/BatchedGemmF64.hpp"
#include "backends/reference/Kernels.hpp"

namespace tenon::cpu
{

namespace
{

constexpr backends::TypeRow Types[] = {backends::SameType(DataType::Float64, 2)};

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights*)
{
    return PrepareBatchedGemmF64(ref::MatMulGeometry(args));
}

} // namespace

extern const backends::Kernel CpuBatchMatMulF64Kernel = {
    .m_Name = "CpuBatchMatMulF64", .m_Types = Types, .m_Prepare = Prepare, .m_Reference = &ref::RefBatchMatMulKernel};

} // namespace tenon::cpu
