// SPDX-License-Identifier: Apache-2.0
// TransposeConvolution2d of CpuAcc for Float32 and BFloat16, for int8, uint8 and int16 data with the numbers of the
// reference kernel, and for float data by weights of 8 or 4 bits (hybrid).
//
// Polyphase decomposition (XNNPACK: subconvolution). With stride s, the output pixels p, p + s, p + 2s, ... read the
// taps t, t + s, t + 2s, ... with t = (p + pad) % s. Each of the sy * sx phases is therefore an ordinary convolution of
// stride 1 by a subset of the weights in reverse order, whose pixels are written s apart:
//
//   taps 0 1 2 3 4, s = 2:   phase 0: taps 4 2 0,   phase 1: taps 3 1      output: 0 1 0 1 0 1 ...
//
// `Traits` name the packed weights and the GEMM of a data type.
#include "backends/common/FusedActivation.hpp"
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/gemm/driver/GemmBf16.hpp"
#include "backends/cpu/gemm/driver/GemmF32.hpp"
#include "backends/cpu/gemm/driver/GemmInt16.hpp"
#include "backends/cpu/gemm/driver/GemmInt8.hpp"
#include "backends/cpu/gemm/pack/PackedWeightsBf16.hpp"
#include "backends/cpu/im2col/Im2col.hpp"
#include "backends/cpu/weights/LayerWithWeights.hpp"
#include "backends/cpu/weights/WeightsCheck.hpp"
#include "backends/cpu/weights/WeightsCheckFloat.hpp"
#include "backends/cpu/weights/WeightsCheckInt8.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Convolution.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace tenon::cpu
{

namespace
{

/// Every stride-th tap of the weights along one axis, in reverse: the order in which a window reads the image.
struct Taps
{
    size_t m_Count = 0;
    size_t m_Last = 0;

    Taps(size_t first, size_t kernel, size_t stride)
        : m_Count(first < kernel ? (kernel - first - 1) / stride + 1 : 0),
          m_Last(m_Count != 0 ? first + (m_Count - 1) * stride : 0)
    {
    }
};

/// The output positions of a phase along one axis, and the input that they read.
struct PhaseAxis
{
    size_t m_First = 0; ///< first output position; the others follow a stride apart
    size_t m_Tap = 0;   ///< first tap of the phase
    size_t m_Shift = 0; ///< input position of that tap for the first output position

    PhaseAxis(size_t phase, size_t stride, size_t pad)
        : m_First(phase), m_Tap((phase + pad) % stride), m_Shift((phase + pad) / stride)
    {
    }
    size_t GetOutputs(size_t size, size_t stride) const
    {
        return size > m_First ? (size - m_First - 1) / stride + 1 : 0;
    }
    /// Padding before the image; may be negative.
    int64_t GetPad(const Taps& taps) const
    {
        return static_cast<int64_t>(taps.m_Count) - 1 - static_cast<int64_t>(m_Shift);
    }
};

/// The taps of a phase, along both axes.
struct PhaseTaps
{
    Taps m_Y;
    Taps m_X;
    size_t m_StrideY;
    size_t m_StrideX;
    TensorShape m_Weights; ///< [outputs, height, width, channels] of the layer

    PhaseTaps(const LayerView& layer, size_t tapY, size_t tapX)
        : m_Y(0, 0, 1), m_X(0, 0, 1), m_StrideY(layer.GetDescriptor<TransposeConvolution2dDescriptor>().m_StrideY),
          m_StrideX(layer.GetDescriptor<TransposeConvolution2dDescriptor>().m_StrideX),
          m_Weights(layer.GetInput(1).GetShape())
    {
        m_Y = Taps(tapY, m_Weights[1], m_StrideY);
        m_X = Taps(tapX, m_Weights[2], m_StrideX);
    }

    size_t GetOutputs() const { return m_Weights[0]; }
    size_t GetRowDepth() const { return m_X.m_Count * m_Weights[3]; }
    size_t GetDepth() const { return m_Y.m_Count * GetRowDepth(); }

    /// [outputs, taps down, taps across, channels]
    template <typename Element>
    std::vector<Element> Take(const Element* weights) const
    {
        const size_t channels = m_Weights[3];
        std::vector<Element> taken;
        taken.reserve(GetOutputs() * GetDepth());
        for (size_t o = 0; o < m_Weights[0]; ++o)
        {
            for (size_t i = 0; i < m_Y.m_Count; ++i)
            {
                const size_t row = o * m_Weights[1] + m_Y.m_Last - i * m_StrideY;
                for (size_t j = 0; j < m_X.m_Count; ++j)
                {
                    const size_t tap = row * m_Weights[2] + m_X.m_Last - j * m_StrideX;
                    taken.insert(taken.end(), weights + tap * channels, weights + (tap + 1) * channels);
                }
            }
        }
        return taken;
    }
};

/// The packed weights of all phases, by first tap: the padding, which maps a phase to its first tap, is known with the
/// shapes only. `Traits` of a data type have these members:
///   Packed, Gemm: the classes of packed weights and of the GEMM driver;
///   Check(layer): requirements of weights and bias; GetPackedBytes(phase): memory of packed weights;
///   Pack(layer, phase, store): the packed weights of a phase, for which IsExact(packed) has to hold;
///   GetWindowHeight(phase), GetWindowWidth(phase): size of the packed window;
///   MakeGemm(packed, windows, rows, args): the GEMM of a phase; Run(gemms, args): runs those of all phases.
template <typename Traits>
class TransposePhases final : public backends::PackedWeights
{
public:
    TransposePhases(const LayerView& layer, backends::PackedStore& store)
    {
        ForEach(layer, [&](const PhaseTaps& taps) { m_Weights.push_back({taps, Traits::Pack(layer, taps, store)}); });
    }

    static uint64_t GetPackedBytes(const LayerView& layer)
    {
        uint64_t bytes = 0;
        ForEach(layer, [&](const PhaseTaps& taps) { bytes += Traits::GetPackedBytes(taps); });
        return bytes;
    }

    bool IsExact() const
    {
        return std::all_of(m_Weights.begin(), m_Weights.end(),
                           [](const Weights& weights) { return Traits::IsExact(weights.m_Packed); });
    }
    bool RefersToConstants() const override { return !IsExact(); }

    struct Weights
    {
        PhaseTaps m_Taps;
        typename Traits::Packed m_Packed;
    };
    /// The weights of the phase that begins with these taps.
    const Weights& Get(size_t tapY, size_t tapX, size_t strideX) const { return m_Weights[tapY * strideX + tapX]; }

private:
    template <typename F>
    static void ForEach(const LayerView& layer, const F& visit)
    {
        const auto& descriptor = layer.GetDescriptor<TransposeConvolution2dDescriptor>();
        for (size_t y = 0; y < descriptor.m_StrideY; ++y)
        {
            for (size_t x = 0; x < descriptor.m_StrideX; ++x)
            {
                visit(PhaseTaps(layer, y, x));
            }
        }
    }

    std::vector<Weights> m_Weights; ///< [first tap down][first tap across]
};

/// The GEMM of a phase of known shapes.
template <typename Traits>
typename Traits::Gemm MakePhaseGemm(const ReshapeArgs& args, const TransposePhases<Traits>& phases,
                                    const PhaseAxis& down, const PhaseAxis& across)
{
    const auto& descriptor = args.GetDescriptor<TransposeConvolution2dDescriptor>();
    const auto& weights = phases.Get(down.m_Tap, across.m_Tap, descriptor.m_StrideX);
    const TensorShape& data = args.GetInput(0).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    const size_t pitch = args.m_OutputPitch != 0 ? args.m_OutputPitch : output[3];
    const size_t height = down.GetOutputs(output[1], descriptor.m_StrideY);
    const size_t width = across.GetOutputs(output[2], descriptor.m_StrideX);
    Im2col windows;
    windows.m_InputHeight = data[1];
    windows.m_InputWidth = data[2];
    windows.m_OutputHeight = static_cast<int64_t>(height);
    windows.m_OutputWidth = static_cast<int64_t>(width);
    windows.m_Channels = windows.m_GroupChannels = data[3];
    windows.m_Height = static_cast<int64_t>(Traits::GetWindowHeight(weights.m_Taps));
    windows.m_Width = static_cast<int64_t>(Traits::GetWindowWidth(weights.m_Taps));
    windows.m_PadTop = down.GetPad(weights.m_Taps.m_Y);
    windows.m_PadLeft = across.GetPad(weights.m_Taps.m_X);
    auto product = Traits::MakeGemm(weights.m_Packed, windows, output[0] * height * width, args);
    OutputLayout place;
    place.m_First = (down.m_First * output[2] + across.m_First) * pitch;
    place.m_PixelStride = descriptor.m_StrideX * pitch;
    place.m_Width = width;
    place.m_Height = height;
    place.m_RowStride = size_t{descriptor.m_StrideY} * output[2] * pitch;
    place.m_ImageStride = size_t{output[1]} * output[2] * pitch;
    product.SetOutputLayout(place);
    return product;
}

template <typename Traits>
SupportResult CheckTransposed(const LayerView& layer)
{
    const auto& descriptor = layer.GetDescriptor<TransposeConvolution2dDescriptor>();
    constexpr uint32_t MaxPhases = 64; // each phase has packed weights of its own
    if (descriptor.m_DataLayout != DataLayout::NHWC || descriptor.m_StrideX == 0 || descriptor.m_StrideY == 0 ||
        descriptor.m_StrideX > MaxPhases / descriptor.m_StrideY)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "its layout or strides are not to be split");
    }
    const SupportResult result = Traits::Check(layer);
    return result ? CheckPackedSize(TransposePhases<Traits>::GetPackedBytes(layer), layer.GetInput(1).GetNumBytes())
                  : result;
}

template <typename Traits>
std::unique_ptr<backends::PackedWeights> PackTransposed(const LayerView& layer, backends::PackedStore& store)
{
    return std::make_unique<TransposePhases<Traits>>(layer, store);
}

template <typename Traits>
backends::Prepared PrepareTransposed(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const TensorShape& data = args.GetInput(0).GetShape();
    const TensorShape& weights = args.GetInput(1).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    const auto& phases = static_cast<const TransposePhases<Traits>&>(*packed);
    const bool fits = data.GetNumDimensions() == 4 && output.GetNumDimensions() == 4 && output[0] == data[0] &&
                      weights[3] == data[3] && weights[0] == output[3];
    if (!fits)
    {
        return backends::Prepared::Declined("its shapes do not fit together");
    }
    if (!phases.IsExact())
    {
        return backends::Prepared::Declined("its weights are not exact in sums of 32 bits");
    }
    std::vector<typename Traits::Gemm> products;
    size_t scratchBytes = 0;
    const auto& descriptor = args.GetDescriptor<TransposeConvolution2dDescriptor>();
    const bool isEmpty = output.GetNumElements() == 0;
    for (size_t y = 0; !isEmpty && y < std::min(descriptor.m_StrideY, output[1]); ++y)
    {
        for (size_t x = 0; x < std::min(descriptor.m_StrideX, output[2]); ++x)
        {
            products.push_back(MakePhaseGemm(args, phases, PhaseAxis(y, descriptor.m_StrideY, descriptor.m_PadTop),
                                             PhaseAxis(x, descriptor.m_StrideX, descriptor.m_PadLeft)));
            scratchBytes = std::max(scratchBytes, products.back().GetScratchBytes());
        }
    }
    if (isEmpty)
    {
        return [](const ExecuteArgs&) {};
    }
    return {[products = std::move(products), hasBias = args.HasInput(2)](const ExecuteArgs& run)
            { Traits::Run(products, run, hasBias); },
            scratchBytes};
}

/// Common part of the traits of the float types.
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

/// Common part of the traits of the integer types. A phase without taps gets one tap whose weights add nothing.
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
        const GemmShapeInt8 shape = {taps.GetOutputs(), GetDepth(taps), GetPhaseRows(layer, taps), GetRounding(layer)};
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

extern const backends::Kernel CpuTransposeConvolution2dInt8Kernel = {.m_Name = "CpuTransposeConvolution2dInt8",
                                                                     .m_Types = Int8Types,
                                                                     .m_Prepare = PrepareTransposed<TraitsInt8>,
                                                                     .m_Check = CheckTransposed<TraitsInt8>,
                                                                     .m_Pack = PackTransposed<TraitsInt8>,
                                                                     .m_Fuse = backends::FuseClamp,
                                                                     .m_RoundsHalfToEven = true,
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
