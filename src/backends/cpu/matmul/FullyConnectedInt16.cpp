// SPDX-License-Identifier: Apache-2.0
// FullyConnected of CpuAcc for int16 data and constant weights of 8 or 4 bits (GemmInt16); results are the numbers of
// the reference kernel.
#include "backends/common/FusedActivation.hpp"
#include "backends/cpu/gemm/driver/GemmInt16.hpp"
#include "backends/cpu/weights/WeightsCheck.hpp"
#include "backends/cpu/weights/WeightsCheckInt8.hpp"

#include <tenon/descriptors/Products.hpp>

namespace tenon::cpu
{

namespace
{

bool HasOutputsFirst(const LayerView& layer)
{
    return layer.GetDescriptor<FullyConnectedDescriptor>().m_TransposeWeightMatrix;
}

WeightSizesInt16 GetSizes(const LayerView& layer)
{
    const TensorShape& weights = layer.GetInput(1).GetShape();
    const unsigned int axis = HasOutputsFirst(layer) ? 0 : 1;
    return {1, weights[axis], weights[1 - axis]};
}

SupportResult Check(const LayerView& layer)
{
    if (layer.GetDescriptor<FullyConnectedDescriptor>().m_ShuffledWeights)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "its weights are shuffled");
    }
    const SupportResult result = CheckWeightsInt8(layer, 2, HasOutputsFirst(layer) ? 0 : 1);
    return result ? CheckPackedSize(PackedWeightsInt16::GetPackedBytes(GetSizes(layer)),
                                    layer.GetInput(1).GetShape().GetNumElements64())
                  : result;
}

std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    const WeightSizesInt16 sizes = GetSizes(layer);
    return std::make_unique<PackedWeightsInt16>(WeightReaderInt16(layer, sizes.m_Columns, true), sizes,
                                                GetKnownRows(layer, sizes.m_Columns), store, !HasOutputsFirst(layer));
}

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& weights = static_cast<const PackedWeightsInt16&>(*packed);
    const WeightSizesInt16& sizes = weights.GetSizes();
    const std::optional<size_t> found = FindConnectedRows(args, sizes.m_Columns, sizes.m_Depth);
    if (!found)
    {
        return backends::Prepared::Declined("its shapes do not fit together");
    }
    const size_t rows = *found;
    if (!weights.IsExact())
    {
        return backends::Prepared::Declined("its weights are not exact in sums of 32 bits");
    }
    if (rows == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    const GemmInt16 product(weights, MakeMatrixIm2col(rows, sizes.m_Depth), rows,
                            backends::GetFusedRange(args.GetOutput(0), args.m_FusedActivation), args.m_MaxThreads);
    return {[product](const ExecuteArgs& run) { product.Run(run); }, product.GetScratchBytes()};
}

} // namespace

extern const backends::Kernel CpuFullyConnectedInt16Kernel = {
    "CpuFullyConnectedInt16", Int16Types, Prepare, Check, Pack, backends::FuseClamp};

} // namespace tenon::cpu
