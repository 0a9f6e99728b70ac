// SPDX-License-Identifier: Apache-2.0
// FullyConnected and 1x1 Convolution2d of CpuAcc for int8 and uint8 data, with weights that change from run to run;
// results are the bytes of the reference kernels.
#include "backends/common/FusedActivation.hpp"
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/matmul/BatchedGemmInt8.hpp"
#include "backends/cpu/matmul/RunTimeWeights.hpp"
#include "backends/cpu/weights/WeightsCheckInt8.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/Requantizer.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace tenon::cpu
{

namespace
{

/// data, weights, bias -> output. Weights have 8 bits: they are read without unpacking.
constexpr backends::TypeRow Types[] = {
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
backends::Prepared RefineMatMul(const std::optional<ref::MatMulGeometry>& g, const ReshapeArgs& args,
                                RoundingInt8 rounding, backends::Prepared& any)
{
    const bool isFixedPoint = rounding == RoundingInt8::FixedPoint;
    if (!g || !BatchedGemmInt8::Takes(*g, isFixedPoint ? MaxBias : 0))
    {
        return backends::Prepared::Declined(
            "the product is empty, its shapes do not fit together, or its sums need more than 32 bits");
    }
    const TensorInfo& x = args.GetInput(0);
    EpilogueParamsInt8 epilogue;
    epilogue.m_Scales = ref::GetSumScales(x, args.GetInput(1), args.GetOutput(0), isFixedPoint);
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

backends::Prepared RefineFullyConnected(const ReshapeArgs& args, const backends::PackedWeights*,
                                        backends::Prepared& reference)
{
    return RefineMatMul(MakeFullyConnectedGeometry(args), args, RoundingInt8::Double, reference);
}

backends::Prepared RefinePointwise(const ReshapeArgs& args, const backends::PackedWeights*,
                                   backends::Prepared& reference)
{
    return RefineMatMul(MakePointwiseGeometry(args), args, RoundingInt8::FixedPoint, reference);
}

} // namespace

extern const backends::Kernel CpuFullyConnectedRunTimeInt8Kernel = {.m_Name = "CpuFullyConnectedRunTimeInt8",
                                                                    .m_Types = Types,
                                                                    .m_Check = CheckFullyConnected,
                                                                    .m_Fuse = backends::FuseClamp,
                                                                    .m_Reference = &ref::RefFullyConnectedKernel,
                                                                    .m_Refine = RefineFullyConnected};

extern const backends::Kernel CpuConvolution2dRunTimeInt8Kernel = {.m_Name = "CpuConvolution2dRunTimeInt8",
                                                                   .m_Types = Types,
                                                                   .m_Check = CheckPointwiseConvolution,
                                                                   .m_Fuse = backends::FuseClamp,
                                                                   .m_Reference = &ref::RefConvolution2dKernel,
                                                                   .m_Refine = RefinePointwise};

} // namespace tenon::cpu
