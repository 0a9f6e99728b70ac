// SPDX-License-Identifier: Apache-2.0
// BatchMatMul of CpuAcc with one constant matrix as y, for Float32, BFloat16, int8 (RequantizationMode::FloatHalfEven),
// int16 by int8, Float32 by int8 (hybrid), and integers of 8 bits to sums of 32 (ONNX's MatMulInteger): one GEMM over
// the rows of all batches, with y packed like the weights of a FullyConnected layer.
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/gemm/driver/GemmBf16.hpp"
#include "backends/cpu/gemm/driver/GemmF32.hpp"
#include "backends/cpu/gemm/driver/GemmInt16.hpp"
#include "backends/cpu/gemm/driver/GemmInt8.hpp"
#include "backends/cpu/gemm/pack/PackedWeightsBf16.hpp"
#include "backends/cpu/matmul/BatchedGemmInt8.hpp"
#include "backends/cpu/matmul/UnpackedMatrixF32.hpp"
#include "backends/cpu/weights/WeightsCheck.hpp"
#include "backends/cpu/weights/WeightsCheckFloat.hpp"
#include "backends/cpu/weights/WeightsCheckInt8.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/MatMulGeometry.hpp"

#include <tenon/descriptors/Products.hpp>

#include <iterator>
#include <memory>
#include <utility>

namespace tenon::cpu
{

namespace
{

constexpr backends::TypeRow FloatMatrixTypes[] = {backends::SameType(DataType::Float32, 2)};
constexpr backends::TypeRow Bf16MatrixTypes[] = {backends::SameType(DataType::BFloat16, 2)};
constexpr backends::TypeRow Int16MatrixTypes[] = {backends::WithScales(
    backends::Types({DataType::QSymmS16, {DataType::QAsymmS8, DataType::QSymmS8}}, DataType::QSymmS16),
    {backends::Scales::PerTensor}, backends::Scales::PerTensor)};
constexpr backends::TypeRow HybridMatrixTypes[] = {
    backends::Types({DataType::Float32, SignedInt8Weights}, DataType::Float32)};

constexpr backends::TypeRow SumTypes[] = {backends::Types({DataType::Signed8, DataType::Signed8}, DataType::Signed32)};

bool IsTransposed(const BatchMatMulDescriptor& descriptor)
{
    return descriptor.m_TransposeY || descriptor.m_AdjointY; // the adjoint of a real matrix is its transpose
}

SupportResult Check(const LayerView& layer)
{
    const auto& descriptor = layer.GetDescriptor<BatchMatMulDescriptor>();
    const TensorShape& y = layer.GetInput(1).GetShape();
    if (!layer.IsConstant(1) || !y.AreAllDimensionsSpecified() || y.GetNumDimensions() < 2)
    {
        return SupportResult::No(SupportCode::UnsupportedDynamic, "its second matrix is not constant");
    }
    const unsigned int rank = y.GetNumDimensions();
    const bool isOne = y.GetNumElements64() == uint64_t{y[rank - 1]} * y[rank - 2] && y.GetNumElements64() != 0;
    const bool isPlain = ref::GetColumnsFromEnd(descriptor.m_DataLayoutX) == 1 &&
                         ref::GetColumnsFromEnd(descriptor.m_DataLayoutY) == 1 && !descriptor.m_TransposeX &&
                         !descriptor.m_AdjointX;
    return isOne && isPlain ? SupportResult::Yes()
                            : SupportResult::No(SupportCode::UnsupportedParameters,
                                                "it has several constant matrices, or turns its data around");
}

WeightOrder GetOrder(const LayerView& layer)
{
    return IsTransposed(layer.GetDescriptor<BatchMatMulDescriptor>()) ? WeightOrder::Columns : WeightOrder::Depth;
}

WeightSizes GetSizes(const LayerView& layer)
{
    const TensorShape& shape = layer.GetInput(1).GetShape();
    const unsigned int rank = shape.GetNumDimensions();
    WeightSizes sizes;
    sizes.m_Columns = shape[GetOrder(layer) == WeightOrder::Columns ? rank - 2 : rank - 1];
    sizes.m_Depth = shape[GetOrder(layer) == WeightOrder::Columns ? rank - 1 : rank - 2];
    return sizes;
}

SupportResult CheckF32(const LayerView& layer)
{
    const SupportResult result = Check(layer);
    return result && StaysUnpacked(layer, GetSizes(layer), GetOrder(layer)) ? RefuseToPack() : result;
}

std::unique_ptr<backends::PackedWeights> PackF32(const LayerView& layer, backends::PackedStore& store)
{
    const WeightSizes sizes = GetSizes(layer);
    return PackMatrix(FloatWeights(layer, 1), sizes, GetOrder(layer), GetKnownRows(layer, sizes.m_Columns), store);
}

SupportResult CheckBf16(const LayerView& layer)
{
    const SupportResult result = Check(layer);
    return result ? CheckPackedSize(PackedWeightsBf16::GetPackedBytes(GetSizes(layer)),
                                    layer.GetInput(1).GetShape().GetNumElements64() * sizeof(uint16_t))
                  : result;
}

std::unique_ptr<backends::PackedWeights> PackBf16(const LayerView& layer, backends::PackedStore& store)
{
    return std::make_unique<PackedWeightsBf16>(static_cast<const uint16_t*>(layer.m_ConstantData[1]), GetSizes(layer),
                                               GetOrder(layer), layer, store);
}

WeightSizesInt16 GetSizesInt16(const LayerView& layer)
{
    const WeightSizes sizes = GetSizes(layer);
    return {1, sizes.m_Columns, sizes.m_Depth};
}

SupportResult CheckInt16(const LayerView& layer)
{
    const SupportResult result = Check(layer);
    return result ? CheckPackedSize(PackedWeightsInt16::GetPackedBytes(GetSizesInt16(layer)),
                                    layer.GetInput(1).GetShape().GetNumElements64())
                  : result;
}

std::unique_ptr<backends::PackedWeights> PackInt16(const LayerView& layer, backends::PackedStore& store)
{
    // As in the reference kernel: the product of the scales is a float, and 0 where y has several scales.
    const TensorInfo& y = layer.GetInput(1);
    const float scale = y.HasMultipleQuantizationScales() ? 0.0f : y.GetQuantizationScale();
    const float product = layer.GetInput(0).GetQuantizationScale() * scale;
    const double real = static_cast<double>(product) / static_cast<double>(layer.GetOutput(0).GetQuantizationScale());
    return std::make_unique<PackedWeightsInt16>(
        WeightReaderInt16(static_cast<const int8_t*>(layer.m_ConstantData[1]), real), GetSizesInt16(layer),
        GetKnownRows(layer, GetSizesInt16(layer).m_Columns), store, GetOrder(layer) == WeightOrder::Depth);
}

SupportResult CheckMatrixInt8(const LayerView& layer)
{
    const SupportResult result = Check(layer);
    if (!result)
    {
        return result;
    }
    const WeightSizes sizes = GetSizes(layer);
    return CheckPackedSize(PackedWeightsInt8::GetPackedBytes(sizes.m_Columns, sizes.m_Depth),
                           layer.GetInput(1).GetShape().GetNumElements64());
}

SupportResult CheckInt8(const LayerView& layer)
{
    // In fixed point a BatchMatMul's scales differ from those of other layers.
    return GetRounding(layer) == RoundingInt8::Float
               ? CheckMatrixInt8(layer)
               : SupportResult::No(SupportCode::UnsupportedParameters, "it is requantized in fixed point");
}

SupportResult CheckHybrid(const LayerView& layer)
{
    const TensorInfo& y = layer.GetInput(1);
    if (y.GetDataType() == DataType::QAsymmS8 && !y.HasMultipleQuantizationScales() && y.GetQuantizationOffset() != 0)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "its second matrix has a zero point");
    }
    return CheckMatrixInt8(layer);
}

/// For int8 and hybrid layers.
std::unique_ptr<backends::PackedWeights> PackInt8(const LayerView& layer, backends::PackedStore& store)
{
    const WeightSizes sizes = GetSizes(layer);
    GemmShapeInt8 shape = {sizes.m_Columns, sizes.m_Depth, GetKnownRows(layer, sizes.m_Columns), GetRounding(layer),
                           GetOrder(layer) == WeightOrder::Depth};
    shape.m_MayStayUnpacked = true;
    return std::make_unique<PackedWeightsInt8>(layer, shape, store);
}

/// Calls make(windows, rows) for one GEMM over the rows of all batches.
template <typename F>
backends::Prepared PrepareRows(const ReshapeArgs& args, const F& make)
{
    const ref::MatMulGeometry g(args); // checks the shapes
    if (g.IsEmpty())
    {
        return [](const ExecuteArgs&) {};
    }
    const size_t rows = g.m_NumBatches * g.m_Rows;
    return make(MakeMatrixIm2col(rows, g.m_Depth), rows);
}

/// For GemmInt16 and GemmInt8.
template <typename Gemm>
backends::Prepared Run(Gemm product)
{
    const size_t bytes = product.GetScratchBytes();
    return {[product = std::move(product)](const ExecuteArgs& run) { product.Run(run); }, bytes};
}

backends::Prepared PrepareF32(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& weights = static_cast<const PackedWeightsF32&>(*packed);
    return PrepareRows(args,
                       [&](const Im2col& windows, size_t rows) -> backends::Prepared
                       {
                           const GemmF32 product(weights, windows, rows, backends::FloatClamp(), args.m_MaxThreads);
                           return {[product](const ExecuteArgs& run) {
                                       product.Run(run.GetInput<float>(0), nullptr, run.GetOutput<float>(0),
                                                   run.m_Scratch, *run.m_Parallel);
                                   },
                                   product.GetScratchBytes()};
                       });
}

backends::Prepared PrepareBf16(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& weights = static_cast<const PackedWeightsBf16&>(*packed);
    return PrepareRows(args,
                       [&](const Im2col& windows, size_t rows) -> backends::Prepared
                       {
                           const GemmBf16 product(weights, windows, rows, backends::FloatClamp(), args.m_MaxThreads);
                           return {[product](const ExecuteArgs& run) {
                                       product.Run(run.GetInput<uint16_t>(0), run.GetOutput<uint16_t>(0), run.m_Scratch,
                                                   *run.m_Parallel);
                                   },
                                   product.GetScratchBytes()};
                       });
}

backends::Prepared PrepareInt16(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& weights = static_cast<const PackedWeightsInt16&>(*packed);
    if (!weights.IsExact())
    {
        return backends::Prepared::Declined("its weights are not exact in sums of 32 bits");
    }
    return PrepareRows(args,
                       [&](const Im2col& windows, size_t rows) {
                           return Run(GemmInt16(weights, windows, rows, backends::GetTypeRange(DataType::QSymmS16),
                                                args.m_MaxThreads));
                       });
}

/// For int8 and hybrid layers.
backends::Prepared PrepareInt8(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& weights = static_cast<const PackedWeightsInt8&>(*packed);
    if (!weights.IsExact())
    {
        return backends::Prepared::Declined("its weights are not exact in sums of 32 bits");
    }
    const bool isAsymmetric = args.GetDescriptor<BatchMatMulDescriptor>().m_AsymmetricQuantizeInputs;
    return PrepareRows(args,
                       [&](const Im2col& windows, size_t rows)
                       {
                           const GemmInt8 product = args.GetInput(0).GetDataType() == DataType::Float32
                                                        ? GemmInt8(weights, windows, rows, {rows, isAsymmetric}, args)
                                                        : GemmInt8(weights, windows, rows, args);
                           backends::Prepared prepared = Run(product);
                           prepared.m_Variant = product.DescribeVariant();
                           return prepared;
                       });
}

/// Weights whose sums of products are the output, and initial accumulators.
class PackedSums final : public backends::PackedWeights
{
public:
    PackedSums(const LayerView& layer, const GemmShapeInt8& shape, backends::PackedStore& store)
        : m_Weights(layer, shape, store)
    {
        if (m_Weights.IsExact())
        {
            m_Start = m_Weights.MakeSumStart(0, nullptr);
        }
    }

    bool RefersToConstants() const override { return m_Weights.RefersToConstants(); }
    const PackedWeightsInt8& GetWeights() const { return m_Weights; }
    const int32_t* GetStart() const { return reinterpret_cast<const int32_t*>(m_Start.Data()); }

private:
    PackedWeightsInt8 m_Weights;
    AlignedMemory m_Start;
};

/// As quantized numbers with a scale of 1 and a zero point of 0.
std::unique_ptr<backends::PackedWeights> PackSums(const LayerView& layer, backends::PackedStore& store)
{
    const TensorInfo data(layer.GetInput(0).GetShape(), DataType::QAsymmS8, 1.0f, 0);
    const TensorInfo matrix(layer.GetInput(1).GetShape(), DataType::QAsymmS8, 1.0f, 0, true);
    const TensorInfo* const inputs[] = {&data, &matrix};
    LayerView view = layer;
    view.m_Inputs = {inputs, std::size(inputs)};
    const WeightSizes sizes = GetSizes(layer);
    GemmShapeInt8 shape = {sizes.m_Columns, sizes.m_Depth, GetKnownRows(layer, sizes.m_Columns), RoundingInt8::None,
                           GetOrder(layer) == WeightOrder::Depth};
    shape.m_MayStayUnpacked = true;
    return std::make_unique<PackedSums>(view, shape, store);
}

backends::Prepared PrepareSums(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& sums = static_cast<const PackedSums&>(*packed);
    if (!sums.GetWeights().IsExact())
    {
        return backends::Prepared::Declined("its sums need more than 32 bits");
    }
    return PrepareRows(
        args,
        [&](const Im2col& windows, size_t rows) -> backends::Prepared
        {
            const GemmInt8 product(sums.GetWeights(), windows, rows, args.m_MaxThreads);
            backends::Prepared prepared(
                [product, start = sums.GetStart()](const ExecuteArgs& run)
                { product.RunSums(run.m_Inputs[0], start, run.GetOutput<int32_t>(0), run.m_Scratch, *run.m_Parallel); },
                product.GetScratchBytes());
            prepared.m_Variant = product.DescribeVariant();
            return prepared;
        });
}

} // namespace

extern const backends::Kernel CpuBatchMatMulConstantF32Kernel = {.m_Name = "CpuBatchMatMulConstantF32",
                                                                 .m_Types = FloatMatrixTypes,
                                                                 .m_Prepare = PrepareF32,
                                                                 .m_Check = CheckF32,
                                                                 .m_Pack = PackF32,
                                                                 .m_Reference = &ref::RefBatchMatMulKernel};
extern const backends::Kernel CpuBatchMatMulConstantBf16Kernel = {.m_Name = "CpuBatchMatMulConstantBf16",
                                                                  .m_Types = Bf16MatrixTypes,
                                                                  .m_Prepare = PrepareBf16,
                                                                  .m_Check = CheckBf16,
                                                                  .m_Pack = PackBf16,
                                                                  .m_CheckMachine = CheckBf16Products,
                                                                  .m_Reference = &ref::RefBatchMatMulKernel};
extern const backends::Kernel CpuBatchMatMulConstantInt16Kernel = {.m_Name = "CpuBatchMatMulConstantInt16",
                                                                   .m_Types = Int16MatrixTypes,
                                                                   .m_Prepare = PrepareInt16,
                                                                   .m_Check = CheckInt16,
                                                                   .m_Pack = PackInt16,
                                                                   .m_Reference = &ref::RefBatchMatMulKernel};

extern const backends::Kernel CpuBatchMatMulConstantInt8Kernel = {.m_Name = "CpuBatchMatMulConstantInt8",
                                                                  .m_Types = Int8MatrixTypes,
                                                                  .m_Prepare = PrepareInt8,
                                                                  .m_Check = CheckInt8,
                                                                  .m_Pack = PackInt8,
                                                                  .m_RoundsHalfToEven = true,
                                                                  .m_Reference = &ref::RefBatchMatMulKernel};

extern const backends::Kernel CpuBatchMatMulConstantSumsKernel = {.m_Name = "CpuBatchMatMulConstantSums",
                                                                  .m_Types = SumTypes,
                                                                  .m_Prepare = PrepareSums,
                                                                  .m_Check = CheckMatrixInt8,
                                                                  .m_Pack = PackSums,
                                                                  .m_Reference = &ref::RefBatchMatMulKernel};

extern const backends::Kernel CpuBatchMatMulConstantHybridKernel = {.m_Name = "CpuBatchMatMulConstantHybrid",
                                                                    .m_Types = HybridMatrixTypes,
                                                                    .m_Prepare = PrepareInt8,
                                                                    .m_Check = CheckHybrid,
                                                                    .m_Pack = PackInt8,
                                                                    .m_Reference = &ref::RefBatchMatMulKernel};

} // namespace tenon::cpu
