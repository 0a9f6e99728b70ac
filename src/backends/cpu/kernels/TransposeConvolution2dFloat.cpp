// SPDX-License-Identifier: Apache-2.0
// TransposeConvolution2d of CpuAcc for NHWC data of Float32 or BFloat16 and constant weights. The output pixels that
// lie alike between the strides, a phase, see the same points of the weights: for each phase there is an ordinary
// convolution of stride 1, whose pixels are written a stride apart.
#include "backends/cpu/gemm/PackedSize.hpp"
#include "backends/cpu/gemm/ProductBf16.hpp"
#include "backends/cpu/gemm/ProductF32.hpp"
#include "backends/cpu/kernels/FloatCheck.hpp"

#include <algorithm>
#include <vector>

namespace tenon::cpu
{

namespace
{

/// Every stride-th tap of the weights in one direction, backwards: the order in which windows see the image.
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

/// The output positions of a phase in one direction, and how they see the image.
struct PhaseAxis
{
    size_t m_First = 0; ///< position in the output; the others follow a stride apart
    size_t m_Tap = 0;   ///< the first of the weights' taps that it sees
    size_t m_Shift = 0; ///< where in the image that tap lies for the first position

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

struct Float32Kind
{
    using Element = float;
    using Packed = PackedWeightsF32;
    using Product = ProductF32;

    static Packed Pack(FunctionRef<const float*()> getWeights, const WeightSizes& sizes, const LayerView&,
                       backends::PackedStore& store)
    {
        return {getWeights, sizes, WeightOrder::Columns, store};
    }
    static void Run(const Product& product, const ExecuteArgs& args, size_t offset, bool hasBias)
    {
        product.Run(args.GetInput<float>(0), hasBias ? args.GetInput<float>(2) : nullptr,
                    args.GetOutput<float>(0) + offset, args.m_Scratch, *args.m_Parallel);
    }
};

struct BFloat16Kind
{
    using Element = uint16_t;
    using Packed = PackedWeightsBf16;
    using Product = ProductBf16;

    static Packed Pack(FunctionRef<const uint16_t*()> getWeights, const WeightSizes& sizes, const LayerView& layer,
                       backends::PackedStore& store)
    {
        return {getWeights, sizes, WeightOrder::Columns, layer, store};
    }
    static void Run(const Product& product, const ExecuteArgs& args, size_t offset, bool)
    {
        product.Run(args.GetInput<uint16_t>(0), args.GetOutput<uint16_t>(0) + offset, args.m_Scratch, *args.m_Parallel);
    }
};

/// The weights that the pixels of a phase see. Which phase they are for depends on the padding, which is known with the
/// shapes only.
template <typename Kind>
struct PhaseWeights
{
    Taps m_Y;
    Taps m_X;
    typename Kind::Packed m_Packed;
};

template <typename Kind>
class Phases final : public backends::PackedWeights
{
public:
    Phases(const LayerView& layer, backends::PackedStore& store)
    {
        const auto& descriptor = layer.GetDescriptor<TransposeConvolution2dDescriptor>();
        const TensorShape& shape = layer.GetInput(1).GetShape();
        for (size_t y = 0; y < descriptor.m_StrideY; ++y)
        {
            for (size_t x = 0; x < descriptor.m_StrideX; ++x)
            {
                const Taps down(y, shape[1], descriptor.m_StrideY);
                const Taps across(x, shape[2], descriptor.m_StrideX);
                std::vector<Element> weights;
                const auto takeTaps = [&]() -> const Element*
                {
                    weights = TakeTaps(layer, down, across);
                    return weights.data();
                };
                m_Weights.push_back({down, across, Kind::Pack(takeTaps, GetSizes(shape, down, across), layer, store)});
            }
        }
    }

    static uint64_t GetPackedBytes(const LayerView& layer)
    {
        const auto& descriptor = layer.GetDescriptor<TransposeConvolution2dDescriptor>();
        const TensorShape& shape = layer.GetInput(1).GetShape();
        uint64_t bytes = 0;
        for (size_t phase = 0; phase < size_t{descriptor.m_StrideY} * descriptor.m_StrideX; ++phase)
        {
            const Taps down(phase / descriptor.m_StrideX, shape[1], descriptor.m_StrideY);
            const Taps across(phase % descriptor.m_StrideX, shape[2], descriptor.m_StrideX);
            bytes += Kind::Packed::GetPackedBytes(GetSizes(shape, down, across));
        }
        return bytes;
    }

    /// For windows that start with these taps.
    const PhaseWeights<Kind>& Get(size_t tapY, size_t tapX, size_t strideX) const
    {
        return m_Weights[tapY * strideX + tapX];
    }

private:
    using Element = typename Kind::Element;

    static WeightSizes GetSizes(const TensorShape& weights, const Taps& down, const Taps& across)
    {
        const size_t rowDepth = across.m_Count * weights[3];
        return {1, weights[0], down.m_Count * rowDepth, rowDepth};
    }

    static std::vector<Element> TakeTaps(const LayerView& layer, const Taps& down, const Taps& across)
    {
        const auto& descriptor = layer.GetDescriptor<TransposeConvolution2dDescriptor>();
        const TensorShape& shape = layer.GetInput(1).GetShape();
        const auto* weights = static_cast<const Element*>(layer.m_ConstantData[1]);
        const size_t channels = shape[3];
        std::vector<Element> taken;
        taken.reserve(shape[0] * down.m_Count * across.m_Count * channels);
        for (size_t o = 0; o < shape[0]; ++o)
        {
            for (size_t i = 0; i < down.m_Count; ++i)
            {
                const size_t row = o * shape[1] + down.m_Last - i * descriptor.m_StrideY;
                for (size_t j = 0; j < across.m_Count; ++j)
                {
                    const size_t tap = row * shape[2] + across.m_Last - j * descriptor.m_StrideX;
                    taken.insert(taken.end(), weights + tap * channels, weights + (tap + 1) * channels);
                }
            }
        }
        return taken;
    }

    std::vector<PhaseWeights<Kind>> m_Weights; ///< [first tap down][first tap across]
};

/// A phase of known shapes.
template <typename Kind>
struct PhaseProduct
{
    typename Kind::Product m_Product;
    size_t m_Offset = 0; ///< of its first pixel in the output
};

template <typename Kind>
PhaseProduct<Kind> MakeProduct(const ReshapeArgs& args, const Phases<Kind>& phases, const PhaseAxis& down,
                               const PhaseAxis& across)
{
    const auto& descriptor = args.GetDescriptor<TransposeConvolution2dDescriptor>();
    const PhaseWeights<Kind>& weights = phases.Get(down.m_Tap, across.m_Tap, descriptor.m_StrideX);
    const TensorShape& data = args.GetInput(0).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    const size_t channels = output[3];
    const size_t height = down.GetOutputs(output[1], descriptor.m_StrideY);
    const size_t width = across.GetOutputs(output[2], descriptor.m_StrideX);
    Windows windows;
    windows.m_InputHeight = data[1];
    windows.m_InputWidth = data[2];
    windows.m_OutputHeight = static_cast<int64_t>(height);
    windows.m_OutputWidth = static_cast<int64_t>(width);
    windows.m_Channels = windows.m_GroupChannels = data[3];
    windows.m_Height = static_cast<int64_t>(weights.m_Y.m_Count);
    windows.m_Width = static_cast<int64_t>(weights.m_X.m_Count);
    windows.m_PadTop = down.GetPad(weights.m_Y);
    windows.m_PadLeft = across.GetPad(weights.m_X);
    PhaseProduct<Kind> product = {typename Kind::Product(weights.m_Packed, windows, output[0] * height * width,
                                                         backends::FloatClamp(args.m_FusedActivation)),
                                  (down.m_First * output[2] + across.m_First) * channels};
    product.m_Product.SetPlace({descriptor.m_StrideX * channels, width, height,
                                size_t{descriptor.m_StrideY} * output[2] * channels,
                                size_t{output[1]} * output[2] * channels});
    return product;
}

template <typename Kind>
SupportResult Check(const LayerView& layer)
{
    const auto& descriptor = layer.GetDescriptor<TransposeConvolution2dDescriptor>();
    constexpr uint32_t MostPhases = 64; // each has memory of its own
    if (descriptor.m_DataLayout != DataLayout::NHWC || descriptor.m_StrideX == 0 || descriptor.m_StrideY == 0 ||
        descriptor.m_StrideX > MostPhases / descriptor.m_StrideY)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "its layout or strides are not to be split");
    }
    SupportResult result = CheckFloatWeights(layer, 4);
    if (result)
    {
        result = CheckConstantBias(layer, layer.GetInput(1).GetShape()[0]);
    }
    return result ? CheckPackedBytes(Phases<Kind>::GetPackedBytes(layer),
                                     layer.GetInput(1).GetShape().GetNumElements64() * sizeof(typename Kind::Element))
                  : result;
}

template <typename Kind>
std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    return std::make_unique<Phases<Kind>>(layer, store);
}

template <typename Kind>
backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const TensorShape& data = args.GetInput(0).GetShape();
    const TensorShape& weights = args.GetInput(1).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    if (data.GetNumDimensions() != 4 || output.GetNumDimensions() != 4 || output[0] > data[0] ||
        weights[3] != data[3] || weights[0] != output[3])
    {
        throw LayerValidationException("data " + data.ToString() + ", weights " + weights.ToString() + " and output " +
                                       output.ToString() + " do not fit together: weights are [O, H, W, I]");
    }
    std::vector<PhaseProduct<Kind>> products;
    size_t scratchBytes = 0;
    const auto& descriptor = args.GetDescriptor<TransposeConvolution2dDescriptor>();
    const auto& phases = static_cast<const Phases<Kind>&>(*packed);
    const bool isEmpty = output.GetNumElements() == 0;
    for (size_t y = 0; !isEmpty && y < std::min(descriptor.m_StrideY, output[1]); ++y)
    {
        for (size_t x = 0; x < std::min(descriptor.m_StrideX, output[2]); ++x)
        {
            products.push_back(MakeProduct(args, phases, PhaseAxis(y, descriptor.m_StrideY, descriptor.m_PadTop),
                                           PhaseAxis(x, descriptor.m_StrideX, descriptor.m_PadLeft)));
            scratchBytes = std::max(scratchBytes, products.back().m_Product.GetScratchBytes());
        }
    }
    const bool hasBias = args.HasInput(2);
    return {[products, hasBias](const ExecuteArgs& run)
            {
                for (const PhaseProduct<Kind>& product : products)
                {
                    Kind::Run(product.m_Product, run, product.m_Offset, hasBias);
                }
            },
            scratchBytes};
}

} // namespace

extern const backends::Kernel CpuTransposeConvolution2dF32Kernel = {"CpuTransposeConvolution2dF32",
                                                                    FloatTypes,
                                                                    Prepare<Float32Kind>,
                                                                    Check<Float32Kind>,
                                                                    Pack<Float32Kind>,
                                                                    backends::FuseClamp};
extern const backends::Kernel CpuTransposeConvolution2dBf16Kernel = {"CpuTransposeConvolution2dBf16",
                                                                     Bf16Types,
                                                                     Prepare<BFloat16Kind>,
                                                                     Check<BFloat16Kind>,
                                                                     Pack<BFloat16Kind>,
                                                                     backends::FuseClamp};

} // namespace tenon::cpu
