// SPDX-License-Identifier: Apache-2.0
// FullyConnected and 1x1 Convolution2d of CpuAcc for floats, with weights that change from run to run.
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/matmul/BatchedGemmF32.hpp"
#include "backends/cpu/matmul/RunTimeWeights.hpp"
#include "backends/cpu/weights/WeightsCheckFloat.hpp"
#include "backends/reference/Kernels.hpp"

#include <optional>

namespace tenon::cpu
{

namespace
{

EpilogueParamsF32 MakeEpilogueParams(const ReshapeArgs& args)
{
    return {args.HasInput(2), backends::FloatClamp(args.m_FusedActivation)};
}

backends::Prepared PrepareFullyConnected(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const std::optional<ref::MatMulGeometry> g = MakeFullyConnectedGeometry(args);
    return g ? PrepareBatchedGemmF32(*g, args.m_MaxThreads, MakeEpilogueParams(args))
             : backends::Prepared::Declined("the product is empty, or its shapes do not fit together");
}

backends::Prepared PreparePointwise(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const std::optional<ref::MatMulGeometry> g = MakePointwiseGeometry(args);
    return g ? PrepareBatchedGemmF32(*g, args.m_MaxThreads, MakeEpilogueParams(args))
             : backends::Prepared::Declined("the product is empty, or its shapes do not fit together");
}

} // namespace

extern const backends::Kernel CpuFullyConnectedRunTimeF32Kernel = {.m_Name = "CpuFullyConnectedRunTimeF32",
                                                                   .m_Types = FloatTypes,
                                                                   .m_Prepare = PrepareFullyConnected,
                                                                   .m_Check = CheckFullyConnected,
                                                                   .m_Fuse = backends::FuseClamp,
                                                                   .m_Reference = &ref::RefFullyConnectedKernel};

extern const backends::Kernel CpuConvolution2dRunTimeF32Kernel = {.m_Name = "CpuConvolution2dRunTimeF32",
                                                                  .m_Types = FloatTypes,
                                                                  .m_Prepare = PreparePointwise,
                                                                  .m_Check = CheckPointwiseConvolution,
                                                                  .m_Fuse = backends::FuseClamp,
                                                                  .m_Reference = &ref::RefConvolution2dKernel};

} // namespace tenon::cpu
