// SPDX-License-Identifier: Apache-2.0
// FullyConnected of CpuAcc for BFloat16 data, constant weights and bias: GemmBf16.
#include "backends/cpu/gemm/driver/PrepareGemm.hpp"
#include "backends/cpu/weights/PackedSizeCheck.hpp"
#include "backends/cpu/weights/WeightsCheckFloat.hpp"

namespace tenon::cpu
{

namespace
{

SupportResult Check(const LayerView& layer)
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

std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    const bool isTransposed = layer.GetDescriptor<FullyConnectedDescriptor>().m_TransposeWeightMatrix;
    const auto* weights = static_cast<const uint16_t*>(layer.m_ConstantData[1]);
    return std::make_unique<PackedWeightsBf16>(weights, GetConnectedSizes(layer),
                                               isTransposed ? WeightOrder::Columns : WeightOrder::Depth, layer, store);
}

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
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

extern const backends::Kernel CpuFullyConnectedBf16Kernel = {
    "CpuFullyConnectedBf16", Bf16Types, Prepare, Check, Pack, backends::FuseClamp, CheckBf16Products};

} // namespace tenon::cpu
