// SPDX-License-Identifier: Apache-2.0
// FullyConnected of CpuAcc for float64, constant weights or others: see BatchedGemmF64.hpp.
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/matmul/BatchedGemmF64.hpp"
#include "backends/cpu/matmul/ProductGeometry.hpp"
#include "backends/reference/Kernels.hpp"

#include <optional>

namespace tenon::cpu
{

namespace
{

constexpr backends::TypeRow Types[] = {backends::SameType(DataType::Float64, 3)};

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const std::optional<ref::MatMulGeometry> g = MakeFullyConnectedGeometry(args);
    return g ? PrepareBatchedGemmF64(*g, {args.HasInput(2), backends::FloatClamp(args.m_FusedActivation)})
             : backends::Prepared::Declined("the product is empty, or its shapes do not fit together");
}

} // namespace

extern const backends::Kernel CpuFullyConnectedF64Kernel = {.m_Name = "CpuFullyConnectedF64",
                                                            .m_Types = Types,
                                                            .m_Prepare = Prepare,
                                                            .m_Fuse = backends::FuseClamp,
                                                            .m_Reference = &ref::RefFullyConnectedKernel};

} // namespace tenon::cpu
