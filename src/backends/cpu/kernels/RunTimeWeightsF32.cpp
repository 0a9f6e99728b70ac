// SPDX-License-Identifier: Apache-2.0
// FullyConnected and Convolution2d of single pixels of CpuAcc for floats, with weights that change from run to run.
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/kernels/FloatCheck.hpp"
#include "backends/cpu/kernels/FloatMatrices.hpp"
#include "backends/cpu/kernels/RunTimeWeights.hpp"
#include "backends/reference/CpuRefBackend.hpp"

#include <optional>

namespace tenon::cpu
{

namespace
{

ProductEnds MakeEnds(const ReshapeArgs& args)
{
    return {args.HasInput(2), backends::FloatClamp(args.m_FusedActivation)};
}

backends::Prepared PrepareConnected(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const std::optional<ref::MatMulGeometry> g = FindConnectedMatrices(args);
    return g ? PrepareFloatMatrices(*g, args.m_MaxThreads, MakeEnds(args))
             : ref::FindKernel(LayerType::FullyConnected)->Prepare(args, nullptr);
}

backends::Prepared PreparePixels(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const std::optional<ref::MatMulGeometry> g = FindPixelMatrices(args);
    return g ? PrepareFloatMatrices(*g, args.m_MaxThreads, MakeEnds(args))
             : ref::FindKernel(LayerType::Convolution2d)->Prepare(args, nullptr);
}

} // namespace

extern const backends::Kernel CpuFullyConnectedRunTimeF32Kernel = {
    "CpuFullyConnectedRunTimeF32", FloatTypes, PrepareConnected, CheckConnectedMatrices, nullptr, backends::FuseClamp};

extern const backends::Kernel CpuConvolution2dRunTimeF32Kernel = {
    "CpuConvolution2dRunTimeF32", FloatTypes, PreparePixels, CheckPixelMatrices, nullptr, backends::FuseClamp};

} // namespace tenon::cpu
