// SPDX-License-Identifier: Apache-2.0
// FullyConnected of CpuAcc for float data and constant weights: GemmF32.
#include "backends/cpu/gemm/driver/PrepareGemm.hpp"
#include "backends/cpu/matmul/UnpackedMatrixF32.hpp"
#include "backends/cpu/weights/WeightsCheckFloat.hpp"

#include <tenon/descriptors/Products.hpp>

namespace tenon::cpu
{

namespace
{

WeightOrder GetOrder(const LayerView& layer)
{
    return layer.GetDescriptor<FullyConnectedDescriptor>().m_TransposeWeightMatrix ? WeightOrder::Columns
                                                                                   : WeightOrder::Depth;
}

SupportResult Check(const LayerView& layer)
{
    const SupportResult result = CheckFloatWeights(layer, 2);
    return result && StaysUnpacked(layer, GetConnectedSizes(layer), GetOrder(layer)) ? RefuseToPack() : result;
}

std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    const FloatWeights weights(layer, 1);
    const WeightSizes sizes = GetConnectedSizes(layer);
    return PackMatrix(weights, sizes, GetOrder(layer), GetKnownRows(layer, sizes.m_Columns), store);
}

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
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

} // namespace

extern const backends::Kernel CpuFullyConnectedF32Kernel = {
    "CpuFullyConnectedF32", PackedFloatTypes, Prepare, Check, Pack, backends::FuseClamp};

} // namespace tenon::cpu
