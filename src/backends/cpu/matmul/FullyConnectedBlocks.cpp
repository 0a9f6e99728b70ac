// SPDX-License-Identifier: Apache-2.0
// FullyConnected of CpuAcc for float data by constant weights of 4 or 8 bits with a scale per block, with the bits of
// the reference kernel: GemmBlocksInt8.
#include "backends/common/FusedActivation.hpp"
#include "backends/cpu/gemm/driver/GemmBlocksInt8.hpp"
#include "backends/cpu/weights/WeightsCheck.hpp"
#include "backends/cpu/weights/WeightsCheckInt8.hpp"
#include "backends/reference/kernels/BlockwiseProduct.hpp"

#include <tenon/descriptors/Products.hpp>

namespace tenon::cpu
{

namespace
{

SupportResult Refuse(const char* reason)
{
    return SupportResult::No(SupportCode::UnsupportedParameters, reason);
}

SupportResult Check(const LayerView& layer)
{
    if (!layer.HasInput(1) || !ref::HasBlocks(layer.GetInput(1)))
    {
        return Refuse("its weights have no scale per block");
    }
    SupportResult result = ref::CheckBlockwiseProduct(layer);
    if (result)
    {
        result = CheckConstantWeights(layer, 2, 0);
    }
    if (!result)
    {
        return result;
    }
    const TensorInfo& weights = layer.GetInput(1);
    const size_t size = weights.GetQuantizationBlockSize();
    if (size % PackedBlocksInt8::BlockUnit != 0 || size > PackedBlocksInt8::MaxBlockSize)
    {
        return Refuse("the size of its blocks is no multiple of 8, or above 65536");
    }
    return CheckPackedSize(PackedBlocksInt8::GetPackedBytes(weights), weights.GetShape().GetNumElements64());
}

std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    return std::make_unique<PackedBlocksInt8>(layer, GetKnownRows(layer, layer.GetInput(1).GetShape()[0]), store);
}

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& weights = static_cast<const PackedBlocksInt8&>(*packed);
    const std::optional<size_t> rows = FindConnectedRows(args, weights.GetColumns(), weights.GetDepth());
    if (!rows)
    {
        return backends::Prepared::Declined("its shapes do not fit together");
    }
    if (*rows == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    const GemmBlocksInt8 product(weights, *rows, args);
    backends::Prepared prepared([product](const ExecuteArgs& run) { product.Run(run); }, product.GetScratchBytes());
    prepared.m_Variant = product.DescribeVariant();
    return prepared;
}

} // namespace

extern const backends::Kernel CpuFullyConnectedBlocksKernel = {
    "CpuFullyConnectedBlocks", HybridTypes, Prepare, Check, Pack, backends::FuseClamp};

} // namespace tenon::cpu
