// SPDX-License-Identifier: Apache-2.0
// FullyConnected of CpuAcc for int8 and uint8 data, with the bytes of the reference kernel, and for float data
// (hybrid), by weights of 8 or 4 bits: GemmInt8.
#include "backends/common/FusedActivation.hpp"
#include "backends/cpu/gemm/driver/GemmInt8.hpp"
#include "backends/cpu/weights/WeightsCheck.hpp"
#include "backends/cpu/weights/WeightsCheckInt8.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Products.hpp>

namespace tenon::cpu
{

namespace
{

SupportResult Check(const LayerView& layer)
{
    const auto& descriptor = layer.GetDescriptor<FullyConnectedDescriptor>();
    if (descriptor.m_ShuffledWeights)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "its weights are shuffled");
    }
    const unsigned int axis = descriptor.m_TransposeWeightMatrix ? 0 : 1;
    const SupportResult result = CheckWeightsInt8(layer, 2, axis);
    const TensorShape& weights = layer.GetInput(1).GetShape();
    return result ? CheckPackedSize(PackedWeightsInt8::GetPackedBytes(weights[axis], weights[1 - axis]),
                                    weights.GetNumElements64())
                  : result;
}

std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    const TensorShape& shape = layer.GetInput(1).GetShape();
    const bool outputsFirst = layer.GetDescriptor<FullyConnectedDescriptor>().m_TransposeWeightMatrix;
    const size_t columns = shape[outputsFirst ? 0 : 1];
    GemmShapeInt8 product = {columns, shape[outputsFirst ? 1 : 0], GetKnownRows(layer, columns),
                             GetRounding(layer, RoundingInt8::Double), !outputsFirst};
    product.m_MayStayUnpacked = true;
    return std::make_unique<PackedWeightsInt8>(layer, product, store);
}

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& weights = static_cast<const PackedWeightsInt8&>(*packed);
    const std::optional<size_t> found = FindConnectedRows(args, weights.GetColumns(), weights.GetDepth());
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
    const Im2col windows = MakeMatrixIm2col(rows, weights.GetDepth());
    const bool isAsymmetric = args.GetDescriptor<FullyConnectedDescriptor>().m_AsymmetricQuantizeInputs;
    const GemmInt8 product = args.GetInput(0).GetDataType() == DataType::Float32
                                 ? GemmInt8(weights, windows, rows, {rows, isAsymmetric}, args)
                                 : GemmInt8(weights, windows, rows, args);
    backends::Prepared prepared([product](const ExecuteArgs& run) { product.Run(run); }, product.GetScratchBytes());
    prepared.m_Variant = product.DescribeVariant();
    return prepared;
}

} // namespace

extern const backends::Kernel CpuFullyConnectedInt8Kernel = {.m_Name = "CpuFullyConnectedInt8",
                                                             .m_Types = Int8Types,
                                                             .m_Prepare = Prepare,
                                                             .m_Check = Check,
                                                             .m_Pack = Pack,
                                                             .m_Fuse = backends::FuseClamp,
                                                             .m_RoundsHalfToEven = true};

extern const backends::Kernel CpuFullyConnectedHybridKernel = {
    "CpuFullyConnectedHybrid", HybridTypes, Prepare, Check, Pack, backends::FuseClamp};

} // namespace tenon::cpu
