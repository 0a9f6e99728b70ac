// SPDX-License-Identifier: Apache-2.0
// TransposeConvolution2d of CpuAcc for Float32 and BFloat16: see TransposePhases.hpp.
#include "backends/cpu/conv/TransposePhases.hpp"
#include "backends/cpu/gemm/driver/GemmBf16.hpp"
#include "backends/cpu/gemm/driver/GemmF32.hpp"
#include "backends/cpu/weights/WeightsCheckFloat.hpp"

namespace tenon::cpu
{

namespace
{

/// Common part of the traits of both types.
struct TraitsFloat
{
    static size_t GetWindowHeight(const PhaseTaps& taps) { return taps.m_Y.m_Count; }
    static size_t GetWindowWidth(const PhaseTaps& taps) { return taps.m_X.m_Count; }
    static WeightSizes GetSizes(const PhaseTaps& taps)
    {
        return {1, taps.GetOutputs(), taps.GetDepth(), taps.GetRowDepth()};
    }
    static SupportResult Check(const LayerView& layer)
    {
        const SupportResult result = CheckFloatWeights(layer, 4);
        return result ? CheckConstantBias(layer, layer.GetInput(1).GetShape()[0]) : result;
    }
};

struct TraitsF32 : TraitsFloat
{
    using Packed = PackedWeightsF32;
    using Gemm = GemmF32;

    static uint64_t GetPackedBytes(const PhaseTaps& taps) { return Packed::GetPackedBytes(GetSizes(taps)); }
    static bool IsExact(const Packed&) { return true; }

    static Packed Pack(const LayerView& layer, const PhaseTaps& taps, backends::PackedStore& store)
    {
        std::vector<float> weights;
        const auto take = [&]() -> const float*
        {
            std::vector<float> copy;
            const FloatWeights all(layer, 1);
            weights = taps.Take(all.GetAll(layer.GetInput(1).GetNumElements(), copy));
            return weights.data();
        };
        return {take, GetSizes(taps), WeightOrder::Columns, store};
    }
    static Gemm MakeGemm(const Packed& packed, const Im2col& windows, size_t rows, const ReshapeArgs& args)
    {
        return {packed, windows, rows, backends::FloatClamp(args.m_FusedActivation), args.m_MaxThreads};
    }
    static void Run(const std::vector<Gemm>& products, const ExecuteArgs& args, bool hasBias)
    {
        for (const Gemm& product : products)
        {
            product.Run(args.GetInput<float>(0), hasBias ? args.GetInput<float>(2) : nullptr, args.GetOutput<float>(0),
                        args.m_Scratch, *args.m_Parallel);
        }
    }
};

struct TraitsBf16 : TraitsFloat
{
    using Packed = PackedWeightsBf16;
    using Gemm = GemmBf16;

    static uint64_t GetPackedBytes(const PhaseTaps& taps) { return Packed::GetPackedBytes(GetSizes(taps)); }
    static bool IsExact(const Packed&) { return true; }

    static Packed Pack(const LayerView& layer, const PhaseTaps& taps, backends::PackedStore& store)
    {
        std::vector<uint16_t> weights;
        const auto take = [&]() -> const uint16_t*
        {
            weights = taps.Take(static_cast<const uint16_t*>(layer.m_ConstantData[1]));
            return weights.data();
        };
        return {take, GetSizes(taps), WeightOrder::Columns, layer, store};
    }
    static Gemm MakeGemm(const Packed& packed, const Im2col& windows, size_t rows, const ReshapeArgs& args)
    {
        return {packed, windows, rows, backends::FloatClamp(args.m_FusedActivation), args.m_MaxThreads};
    }
    static void Run(const std::vector<Gemm>& products, const ExecuteArgs& args, bool)
    {
        for (const Gemm& product : products)
        {
            product.Run(args.GetInput<uint16_t>(0), args.GetOutput<uint16_t>(0), args.m_Scratch, *args.m_Parallel);
        }
    }
};

} // namespace

extern const backends::Kernel CpuTransposeConvolution2dF32Kernel = {.m_Name = "CpuTransposeConvolution2dF32",
                                                                    .m_Types = FloatTypes,
                                                                    .m_Prepare = PrepareTransposed<TraitsF32>,
                                                                    .m_Check = CheckTransposed<TraitsF32>,
                                                                    .m_Pack = PackTransposed<TraitsF32>,
                                                                    .m_Fuse = backends::FuseClamp,
                                                                    .m_WritesPitched = true};
extern const backends::Kernel CpuTransposeConvolution2dBf16Kernel = {.m_Name = "CpuTransposeConvolution2dBf16",
                                                                     .m_Types = Bf16Types,
                                                                     .m_Prepare = PrepareTransposed<TraitsBf16>,
                                                                     .m_Check = CheckTransposed<TraitsBf16>,
                                                                     .m_Pack = PackTransposed<TraitsBf16>,
                                                                     .m_Fuse = backends::FuseClamp,
                                                                     .m_CheckMachine = CheckBf16Products,
                                                                     .m_WritesPitched = true};

} // namespace tenon::cpu
