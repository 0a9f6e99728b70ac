// SPDX-License-Identifier: Apache-2.0
// TransposeConvolution2d of CpuAcc for int8, uint8 and int16 data, with the numbers of the reference kernel, and for
// float data (hybrid), all by weights of 8 or 4 bits: see TransposePhases.hpp.
#include "backends/common/FusedActivation.hpp"
#include "backends/cpu/conv/TransposePhases.hpp"
#include "backends/cpu/gemm/driver/GemmInt16.hpp"
#include "backends/cpu/gemm/driver/GemmInt8.hpp"
#include "backends/cpu/weights/KnownRows.hpp"
#include "backends/cpu/weights/LayerWithWeights.hpp"
#include "backends/cpu/weights/WeightsCheckInt16.hpp"

namespace tenon::cpu
{

namespace
{

/// Common part of the traits of all types. A phase without taps gets one tap whose weights add nothing.
struct TraitsInteger
{
    static size_t GetWindowHeight(const PhaseTaps& taps) { return std::max<size_t>(1, taps.m_Y.m_Count); }
    static size_t GetWindowWidth(const PhaseTaps& taps) { return std::max<size_t>(1, taps.m_X.m_Count); }
    static size_t GetDepth(const PhaseTaps& taps)
    {
        return GetWindowHeight(taps) * GetWindowWidth(taps) * taps.m_Weights[3];
    }
    static SupportResult Check(const LayerView& layer)
    {
        const SupportResult result = CheckWeightsInt8(layer, 4, 0);
        return result ? ref::CheckSignedWeights(layer, 0) : result;
    }

    static LayerWithWeights TakeWeights(const LayerView& layer, const PhaseTaps& taps)
    {
        const ConstantWeightsInt8 stored(layer);
        std::vector<uint8_t> weights = taps.Take(stored.Get());
        if (weights.empty())
        {
            weights.assign(taps.GetOutputs() * GetDepth(taps), ConstantWeightsInt8::GetZero(layer));
        }
        const TensorShape shape({taps.m_Weights[0], static_cast<unsigned int>(GetWindowHeight(taps)),
                                 static_cast<unsigned int>(GetWindowWidth(taps)), taps.m_Weights[3]});
        return {layer, shape, std::move(weights)};
    }

    static size_t GetPhaseRows(const LayerView& layer, const PhaseTaps& taps)
    {
        return GetKnownRows(layer, taps.GetOutputs()) / (taps.m_StrideY * taps.m_StrideX);
    }
};

constexpr backends::TypeRow SignedHybridTypes[] = {
    backends::Types({DataType::Float32, SignedWeights, DataType::Float32}, DataType::Float32)};

struct TraitsInt8 : TraitsInteger
{
    using Packed = PackedWeightsInt8;
    using Gemm = GemmInt8;

    static uint64_t GetPackedBytes(const PhaseTaps& taps)
    {
        return Packed::GetPackedBytes(taps.GetOutputs(), GetDepth(taps));
    }
    static bool IsExact(const Packed& packed) { return packed.IsExact(); }

    static Packed Pack(const LayerView& layer, const PhaseTaps& taps, backends::PackedStore& store)
    {
        const bool isHybrid = layer.GetInput(0).GetDataType() == DataType::Float32;
        const GemmShapeInt8 shape = {taps.GetOutputs(), GetDepth(taps), GetPhaseRows(layer, taps),
                                     isHybrid ? RoundingInt8::None : RoundingInt8::FixedPoint};
        return {TakeWeights(layer, taps).View(), shape, store};
    }
    static Gemm MakeGemm(const Packed& packed, const Im2col& windows, size_t rows, const ReshapeArgs& args)
    {
        // TFLite quantizes the data asymmetrically here, whatever the scales.
        return args.GetInput(0).GetDataType() == DataType::Float32
                   ? Gemm(packed, windows, rows, {args.GetInput(0).GetShape()[0], true}, args)
                   : Gemm(packed, windows, rows, args);
    }
    static void Run(const std::vector<Gemm>& products, const ExecuteArgs& args, bool)
    {
        // All phases share the quantized data, as they have the same microkernels: the choice depends on rows, columns
        // and types only.
        const GemmDataInt8 data = products.front().Quantize(args);
        for (const Gemm& product : products)
        {
            product.RunQuantized(args, data);
        }
    }
};

struct TraitsInt16 : TraitsInteger
{
    using Packed = PackedWeightsInt16;
    using Gemm = GemmInt16;

    static WeightSizesInt16 GetSizes(const PhaseTaps& taps) { return {1, taps.GetOutputs(), GetDepth(taps)}; }
    static uint64_t GetPackedBytes(const PhaseTaps& taps) { return Packed::GetPackedBytes(GetSizes(taps)); }
    static bool IsExact(const Packed& packed) { return packed.IsExact(); }

    static Packed Pack(const LayerView& layer, const PhaseTaps& taps, backends::PackedStore& store)
    {
        const LayerWithWeights taken = TakeWeights(layer, taps);
        const bool sumsOf32Bits = layer.GetDescriptor<TransposeConvolution2dDescriptor>().m_SumsOf32Bits;
        return {WeightReaderInt16(taken.View(), taps.GetOutputs(), false, sumsOf32Bits), GetSizes(taps),
                GetPhaseRows(layer, taps), store};
    }
    static Gemm MakeGemm(const Packed& packed, const Im2col& windows, size_t rows, const ReshapeArgs& args)
    {
        return {packed, windows, rows, backends::GetFusedRange(args.GetOutput(0), args.m_FusedActivation),
                args.m_MaxThreads};
    }
    static void Run(const std::vector<Gemm>& products, const ExecuteArgs& args, bool)
    {
        for (const Gemm& product : products)
        {
            product.Run(args);
        }
    }
};

} // namespace

extern const backends::Kernel CpuTransposeConvolution2dInt8Kernel = {.m_Name = "CpuTransposeConvolution2dInt8",
                                                                     .m_Types = Int8Types,
                                                                     .m_Prepare = PrepareTransposed<TraitsInt8>,
                                                                     .m_Check = CheckTransposed<TraitsInt8>,
                                                                     .m_Pack = PackTransposed<TraitsInt8>,
                                                                     .m_Fuse = backends::FuseClamp,
                                                                     .m_WritesPitched = true};
extern const backends::Kernel CpuTransposeConvolution2dHybridKernel = {.m_Name = "CpuTransposeConvolution2dHybrid",
                                                                       .m_Types = SignedHybridTypes,
                                                                       .m_Prepare = PrepareTransposed<TraitsInt8>,
                                                                       .m_Check = CheckTransposed<TraitsInt8>,
                                                                       .m_Pack = PackTransposed<TraitsInt8>,
                                                                       .m_Fuse = backends::FuseClamp,
                                                                       .m_WritesPitched = true};
extern const backends::Kernel CpuTransposeConvolution2dInt16Kernel = {.m_Name = "CpuTransposeConvolution2dInt16",
                                                                      .m_Types = Int16Types,
                                                                      .m_Prepare = PrepareTransposed<TraitsInt16>,
                                                                      .m_Check = CheckTransposed<TraitsInt16>,
                                                                      .m_Pack = PackTransposed<TraitsInt16>,
                                                                      .m_Fuse = backends::FuseClamp,
                                                                      .m_WritesPitched = true};

} // namespace tenon::cpu
