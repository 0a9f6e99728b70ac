// SPDX-License-Identifier: Apache-2.0
// FullyConnected and 1x1 Convolution2d of CpuAcc whose weights are not constant (another layer or the caller provides
// them), for floats, and for int8 and uint8 data with the bytes of the reference kernels: the geometry of the matrix
// product that such a layer is, and its batched GEMM.
#include "backends/common/FusedActivation.hpp"
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/matmul/BatchedGemmF32.hpp"
#include "backends/cpu/matmul/BatchedGemmInt8.hpp"
#include "backends/cpu/matmul/ProductGeometry.hpp"
#include "backends/cpu/matmul/UnpackedMatrixF32.hpp"
#include "backends/cpu/weights/WeightsCheckFloat.hpp"
#include "backends/cpu/weights/WeightsCheckInt8.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/MatMulGeometry.hpp"
#include "backends/reference/kernels/Requantizer.hpp"

#include <tenon/backend/ILayerSupport.hpp>
#include <tenon/backend/IWorkload.hpp>
#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Products.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace tenon::cpu
{

namespace
{

/// Refuses constant weights: the kernels that pack them once are faster.
SupportResult CheckWeightsChange(const LayerView& layer)
{
    return layer.HasInput(1) && !layer.IsConstant(1)
               ? SupportResult::Yes()
               : SupportResult::No(SupportCode::UnsupportedParameters, "the weights are constant, or there are none");
}

/// Whether a FullyConnected reads its constant weights in place; see StaysUnpacked().
bool HasUnpackedWeights(const LayerView& layer)
{
    return CheckFloatWeights(layer, 2) && StaysUnpacked(layer, GetConnectedSizes(layer), GetConnectedOrder(layer));
}

/// Checks a FullyConnected that the reference kernel supports.
SupportResult CheckFullyConnected(const LayerView& layer)
{
    const SupportResult result = HasUnpackedWeights(layer) ? SupportResult::Yes() : CheckWeightsChange(layer);
    if (result && layer.GetDescriptor<FullyConnectedDescriptor>().m_ShuffledWeights)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "its weights are shuffled");
    }
    return result;
}

/// Checks a Convolution2d that the reference kernel supports: its windows have to be the pixels of the image. Weights
/// may be of unknown shape.
SupportResult CheckPointwiseConvolution(const LayerView& layer)
{
    const SupportResult result = CheckWeightsChange(layer);
    if (!result)
    {
        return result;
    }
    const auto& d = layer.GetDescriptor<Convolution2dDescriptor>();
    const TensorShape& weights = layer.GetInput(1).GetShape();
    const bool hasOneTap =
        !weights.AreAllDimensionsSpecified() || (weights.GetNumDimensions() == 4 && weights[1] == 1 && weights[2] == 1);
    if (!hasOneTap || d.m_StrideX != 1 || d.m_StrideY != 1 || d.m_PadTop != 0 || d.m_PadBottom != 0 ||
        d.m_PadLeft != 0 || d.m_PadRight != 0)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "its windows are not the pixels of the image");
    }
    return SupportResult::Yes();
}

/// The matrix product of a Convolution2d. None where it is empty, its shapes do not fit together (the reference kernel
/// reports the error), it is grouped, or the weights have several taps.
std::optional<ref::MatMulGeometry> MakePointwiseGeometry(const ReshapeArgs& args)
{
    const TensorShape& image = args.GetInput(0).GetShape();
    const TensorShape& weights = args.GetInput(1).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    if (image.GetNumDimensions() != 4 || weights.GetNumDimensions() != 4 || output.GetNumDimensions() != 4)
    {
        return std::nullopt;
    }
    const bool fits = weights[1] == 1 && weights[2] == 1 && image[3] == weights[3] && output[3] == weights[0] &&
                      output[0] == image[0] && output[1] == image[1] && output[2] == image[2];
    return fits ? MakeMatrices(args, size_t{image[0]} * image[1] * image[2], weights[3], weights[0], true)
                : std::nullopt;
}

EpilogueParamsF32 MakeEpilogueParamsF32(const ReshapeArgs& args)
{
    return {args.HasInput(2), backends::FloatClamp(args.m_FusedActivation)};
}

backends::Prepared PrepareFullyConnectedF32(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const std::optional<ref::MatMulGeometry> g = MakeFullyConnectedGeometry(args);
    return g ? PrepareBatchedGemmF32(*g, args.m_MaxThreads, MakeEpilogueParamsF32(args))
             : backends::Prepared::Declined("the product is empty, or its shapes do not fit together");
}

backends::Prepared PreparePointwiseF32(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const std::optional<ref::MatMulGeometry> g = MakePointwiseGeometry(args);
    return g ? PrepareBatchedGemmF32(*g, args.m_MaxThreads, MakeEpilogueParamsF32(args))
             : backends::Prepared::Declined("the product is empty, or its shapes do not fit together");
}

/// data, weights, bias -> output. Weights have 8 bits: they are read without unpacking.
constexpr backends::TypeRow RunTimeInt8Types[] = {
    backends::Types({DataType::QAsymmU8, DataType::QAsymmU8, DataType::Signed32}, DataType::QAsymmU8),
    backends::Types({DataType::QAsymmS8, SignedInt8Weights, DataType::Signed32}, DataType::QAsymmS8),
};

/// The largest |bias| for which neither the sums nor their fixed-point products overflow.
constexpr int32_t MaxBias = 1 << 29;

bool HasLargeBias(const int32_t* bias, size_t columns)
{
    return std::any_of(bias, bias + columns, [](int32_t b) { return b > MaxBias || b < -MaxBias; });
}

/// With fewer rows the reference kernel, which packs nothing, is faster than packing for vectors of this length.
size_t GetMinRowsPacked()
{
    constexpr size_t OfShortVectors = 8;
    constexpr size_t OfLongVectors = 5;
    return GetMicrokernelsInt8().m_Lanes < 8 ? OfShortVectors : OfLongVectors;
}

/// Runs `products` if fits(products, args), else `any`, the kernel that takes any operands.
template <typename Products, typename Fits>
backends::Prepared RunWhereItFits(Products products, size_t scratchBytes, backends::Prepared any, Fits fits)
{
    const size_t bytes = std::max(scratchBytes, any.m_ScratchBytes);
    return {[products = std::move(products), any = std::move(any.m_Run), fits](const ExecuteArgs& args)
            { fits(products, args) ? products(args) : any(args); },
            bytes};
}

/// Runs `products` if the bias is not too large for 32-bit sums.
template <typename Products>
backends::Prepared RunWhereBiasFits(Products products, size_t scratchBytes, backends::Prepared any,
                                    const EpilogueParamsInt8& epilogue, size_t columns)
{
    if (!epilogue.m_HasBias)
    {
        return {std::move(products), scratchBytes};
    }
    return RunWhereItFits(std::move(products), scratchBytes, std::move(any),
                          [columns](const Products&, const ExecuteArgs& args)
                          { return !HasLargeBias(args.GetInput<int32_t>(2), columns); });
}

/// `any`: the reference kernel, which also runs operands that turn out not to fit at run time.
backends::Prepared RefineMatMulInt8(const std::optional<ref::MatMulGeometry>& g, const ReshapeArgs& args,
                                    RoundingInt8 rounding, backends::Prepared& any)
{
    if (!g || !BatchedGemmInt8::Takes(*g, rounding == RoundingInt8::FixedPoint ? MaxBias : 0))
    {
        return backends::Prepared::Declined(
            "the product is empty, its shapes do not fit together, or its sums need more than 32 bits");
    }
    const TensorInfo& x = args.GetInput(0);
    EpilogueParamsInt8 epilogue;
    epilogue.m_Scales = GetScales(x, args.GetInput(1), args.GetOutput(0), rounding);
    epilogue.m_Rounding = rounding;
    epilogue.m_Range = backends::GetFusedRange(args.GetOutput(0), args.m_FusedActivation);
    epilogue.m_HasBias = args.HasInput(2);
    const bool isFewRows = FewRowsInt8::Takes(*g, x);
    if (isFewRows && FewRowsInt8::TakesMinByte(x))
    {
        return RunWhereBiasFits(FewRowsInt8(*g, args, epilogue), 0, std::move(any), epilogue, g->m_Columns);
    }
    const bool isPacked = g->m_Rows >= GetMinRowsPacked() || g->m_Y.m_Row != 1;
    if (!isFewRows && !isPacked)
    {
        return backends::Prepared::Declined("it has too few rows to gain from packing the weights");
    }
    if (isPacked)
    {
        BatchedGemmInt8 products(*g, args, epilogue);
        const size_t bytes = products.GetScratchBytes();
        any = RunWhereBiasFits(std::move(products), bytes, std::move(any), epilogue, g->m_Columns);
    }
    if (!isFewRows)
    {
        return std::move(any);
    }
    backends::Prepared few =
        RunWhereItFits(FewRowsInt8(*g, args, epilogue), 0, any,
                       [](const FewRowsInt8& rows, const ExecuteArgs& run) { return !rows.HasMinByte(run); });
    return RunWhereBiasFits(std::move(few.m_Run), few.m_ScratchBytes, std::move(any), epilogue, g->m_Columns);
}

backends::Prepared RefineFullyConnectedInt8(const ReshapeArgs& args, const backends::PackedWeights*,
                                            backends::Prepared& reference)
{
    const RequantizationMode mode = args.GetDescriptor<FullyConnectedDescriptor>().m_Requantization;
    return RefineMatMulInt8(MakeFullyConnectedGeometry(args), args, GetRounding(mode, RoundingInt8::Double), reference);
}

backends::Prepared RefinePointwiseInt8(const ReshapeArgs& args, const backends::PackedWeights*,
                                       backends::Prepared& reference)
{
    const RequantizationMode mode = args.GetDescriptor<Convolution2dDescriptor>().m_Requantization;
    return RefineMatMulInt8(MakePointwiseGeometry(args), args, GetRounding(mode, RoundingInt8::FixedPoint), reference);
}

} // namespace

extern const backends::Kernel CpuFullyConnectedRunTimeF32Kernel = {.m_Name = "CpuFullyConnectedRunTimeF32",
                                                                   .m_Types = FloatTypes,
                                                                   .m_Prepare = PrepareFullyConnectedF32,
                                                                   .m_Check = CheckFullyConnected,
                                                                   .m_Fuse = backends::FuseClamp,
                                                                   .m_Reference = &ref::RefFullyConnectedKernel};

extern const backends::Kernel CpuConvolution2dRunTimeF32Kernel = {.m_Name = "CpuConvolution2dRunTimeF32",
                                                                  .m_Types = FloatTypes,
                                                                  .m_Prepare = PreparePointwiseF32,
                                                                  .m_Check = CheckPointwiseConvolution,
                                                                  .m_Fuse = backends::FuseClamp,
                                                                  .m_Reference = &ref::RefConvolution2dKernel};

extern const backends::Kernel CpuFullyConnectedRunTimeInt8Kernel = {.m_Name = "CpuFullyConnectedRunTimeInt8",
                                                                    .m_Types = RunTimeInt8Types,
                                                                    .m_Check = CheckFullyConnected,
                                                                    .m_Fuse = backends::FuseClamp,
                                                                    .m_RoundsHalfToEven = true,
                                                                    .m_Reference = &ref::RefFullyConnectedKernel,
                                                                    .m_Refine = RefineFullyConnectedInt8};

extern const backends::Kernel CpuConvolution2dRunTimeInt8Kernel = {.m_Name = "CpuConvolution2dRunTimeInt8",
                                                                   .m_Types = RunTimeInt8Types,
                                                                   .m_Check = CheckPointwiseConvolution,
                                                                   .m_Fuse = backends::FuseClamp,
                                                                   .m_RoundsHalfToEven = true,
                                                                   .m_Reference = &ref::RefConvolution2dKernel,
                                                                   .m_Refine = RefinePointwiseInt8};

} // namespace tenon::cpu
