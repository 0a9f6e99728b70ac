// SPDX-License-Identifier: Apache-2.0
// FullyConnected and 1x1 Convolution2d of CpuAcc for int8 and uint8 data, with weights that change from run to run;
// results are the bytes of the reference kernels.
#include "backends/common/FusedActivation.hpp"
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/matmul/BatchedGemmInt8.hpp"
#include "backends/cpu/matmul/FewRowsInt8.hpp"
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
    backends::Types({DataType::QAsymmS8, SignedByteWeights, DataType::Signed32}, DataType::QAsymmS8),
};

/// The largest |bias| for which neither the sums nor their fixed-point products overflow.
constexpr int32_t MostBias = 1 << 29;

bool HasLargeBias(const int32_t* bias, size_t columns)
{
    return std::any_of(bias, bias + columns, [](int32_t b) { return b > MostBias || b < -MostBias; });
}

/// With fewer rows the reference kernel, which packs nothing, is faster than packing for vectors of this length.
size_t GetLeastRowsOfPacked()
{
    constexpr size_t OfShortVectors = 8;
    constexpr size_t OfLongVectors = 5;
    return GetEngine8().m_Lanes < 8 ? OfShortVectors : OfLongVectors;
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
                                    const ByteEnds& ends, size_t columns)
{
    if (!ends.m_HasBias)
    {
        return {std::move(products), scratchBytes};
    }
    return RunWhereItFits(std::move(products), scratchBytes, std::move(any),
                          [columns](const Products&, const ExecuteArgs& args)
                          { return !HasLargeBias(args.GetInput<int32_t>(2), columns); });
}

/// `any`: the reference kernel, which also runs operands that turn out not to fit at run time.
backends::Prepared RefineMatrices(const std::optional<ref::MatMulGeometry>& g, const ReshapeArgs& args,
                                  Rounding8 rounding, backends::Prepared& any)
{
    const bool isFixedPoint = rounding == Rounding8::FixedPoint;
    if (!g || !ByteProducts::Takes(*g, isFixedPoint ? MostBias : 0))
    {
        return backends::Prepared::Declined(
            "the product is empty, its shapes do not fit together, or its sums need more than 32 bits");
    }
    const TensorInfo& x = args.GetInput(0);
    ByteEnds ends;
    ends.m_Scales = ref::GetSumScales(x, args.GetInput(1), args.GetOutput(0), isFixedPoint);
    ends.m_Rounding = rounding;
    ends.m_Range = backends::GetFusedRange(args.GetOutput(0), args.m_FusedActivation);
    ends.m_HasBias = args.HasInput(2);
    const bool areFew = FewByteRows::Takes(*g, x);
    if (areFew && FewByteRows::TakesLeastByte(x))
    {
        return RunWhereBiasFits(FewByteRows(*g, args, ends), 0, std::move(any), ends, g->m_Columns);
    }
    const bool arePacked = g->m_Rows >= GetLeastRowsOfPacked() || g->m_Y.m_Row != 1;
    if (!areFew && !arePacked)
    {
        return backends::Prepared::Declined("it has too few rows to gain from packing the weights");
    }
    if (arePacked)
    {
        ByteProducts products(*g, args, ends);
        const size_t bytes = products.GetScratchBytes();
        any = RunWhereBiasFits(std::move(products), bytes, std::move(any), ends, g->m_Columns);
    }
    if (!areFew)
    {
        return std::move(any);
    }
    backends::Prepared few =
        RunWhereItFits(FewByteRows(*g, args, ends), 0, any,
                       [](const FewByteRows& rows, const ExecuteArgs& run) { return !rows.HasLeastByte(run); });
    return RunWhereBiasFits(std::move(few.m_Run), few.m_ScratchBytes, std::move(any), ends, g->m_Columns);
}

backends::Prepared RefineConnected(const ReshapeArgs& args, const backends::PackedWeights*,
                                   backends::Prepared& reference)
{
    return RefineMatrices(FindConnectedMatrices(args), args, Rounding8::Double, reference);
}

backends::Prepared RefinePixels(const ReshapeArgs& args, const backends::PackedWeights*, backends::Prepared& reference)
{
    return RefineMatrices(FindPixelMatrices(args), args, Rounding8::FixedPoint, reference);
}

} // namespace

extern const backends::Kernel CpuFullyConnectedRunTimeBytesKernel = {.m_Name = "CpuFullyConnectedRunTimeBytes",
                                                                     .m_Types = Types,
                                                                     .m_Check = CheckConnectedMatrices,
                                                                     .m_Fuse = backends::FuseClamp,
                                                                     .m_Reference = &ref::RefFullyConnectedKernel,
                                                                     .m_Refine = RefineConnected};

extern const backends::Kernel CpuConvolution2dRunTimeBytesKernel = {.m_Name = "CpuConvolution2dRunTimeBytes",
                                                                    .m_Types = Types,
                                                                    .m_Check = CheckPixelMatrices,
                                                                    .m_Fuse = backends::FuseClamp,
                                                                    .m_Reference = &ref::RefConvolution2dKernel,
                                                                    .m_Refine = RefinePixels};

} // namespace tenon::cpu
