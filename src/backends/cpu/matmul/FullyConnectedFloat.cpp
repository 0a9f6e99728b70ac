// SPDX-License-Identifier: Apache-2.0
// FullyConnected of CpuAcc for Float32 or BFloat16 data and constant weights: GemmF32, GemmBf16.
#include "backends/cpu/gemm/driver/PrepareGemm.hpp"
#include "backends/cpu/gemm/pack/PackedWeightsBf16.hpp"
#include "backends/cpu/matmul/UnpackedMatrixF32.hpp"
#include "backends/cpu/weights/WeightsCheck.hpp"
#include "backends/cpu/weights/WeightsCheckFloat.hpp"

#include <tenon/descriptors/Products.hpp>

namespace tenon::cpu
{

namespace
{

SupportResult CheckF32(const LayerView& layer)
{
    const SupportResult result = CheckFloatWeights(layer, 2);
    return result && StaysUnpacked(layer, GetConnectedSizes(layer), GetConnectedOrder(layer)) ? RefuseToPack() : result;
}

std::unique_ptr<backends::PackedWeights> PackF32(const LayerView& layer, backends::PackedStore& store)
{
    const FloatWeights weights(layer, 1);
    const WeightSizes sizes = GetConnectedSizes(layer);
    return PackMatrix(weights, sizes, GetConnectedOrder(layer), GetKnownRows(layer, sizes.m_Columns), store);
}

backends::Prepared PrepareF32(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& weights = static_cast<const PackedWeightsF32&>(*packed);
    const WeightSizes& sizes = weights.GetSizes();
    const size_t rows = GetConnectedRows(args, sizes);
    if (rows == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    return PrepareGemm(GemmF32(weights, MakeMatrixIm2col(rows, sizes.m_Depth), rows,
                               backends::FloatClamp(args.m_FusedActivation), args.m_MaxThreads),
                       args);
}

SupportResult CheckBf16(const LayerView& layer)
{
    SupportResult result = CheckFloatWeights(layer, 2);
    if (result)
    {
        result = CheckConstantBias(layer, static_cast<unsigned int>(GetConnectedSizes(layer).m_Columns));
    }
    return result ? CheckPackedSize(PackedWeightsBf16::GetPackedBytes(GetConnectedSizes(layer)),
                                    layer.GetInput(1).GetShape().GetNumElements64() * sizeof(uint16_t))
                  : result;
}

std::unique_ptr<backends::PackedWeights> PackBf16(const LayerView& layer, backends::PackedStore& store)
{
    const auto* weights = static_cast<const uint16_t*>(layer.m_ConstantData[1]);
    return std::make_unique<PackedWeightsBf16>(weights, GetConnectedSizes(layer), GetConnectedOrder(layer), layer,
                                               store);
}

backends::Prepared PrepareBf16(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& weights = static_cast<const PackedWeightsBf16&>(*packed);
    const size_t rows = GetConnectedRows(args, weights.GetSizes());
    if (rows == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    return PrepareGemm(GemmBf16(weights, MakeMatrixIm2col(rows, weights.GetSizes().m_Depth), rows,
                                backends::FloatClamp(args.m_FusedActivation), args.m_MaxThreads),
                       args);
}

} // namespace

extern const backends::Kernel CpuFullyConnectedF32Kernel = {
    "CpuFullyConnectedF32", PackedFloatTypes, PrepareF32, CheckF32, PackF32, backends::FuseClamp};

extern const backends::Kernel CpuFullyConnectedBf16Kernel = {
    "CpuFullyConnectedBf16", Bf16Types, PrepareBf16, CheckBf16, PackBf16, backends::FuseClamp, CheckBf16Products};

} // namespace tenon::cpu
