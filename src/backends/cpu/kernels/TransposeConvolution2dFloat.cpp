// SPDX-License-Identifier: Apache-2.0
// TransposeConvolution2d of CpuAcc for NHWC data of Float32 or BFloat16 and constant weights. The output pixels that
// lie alike between the strides, a phase, see the same points of the weights: for each phase there is an ordinary
// convolution of stride 1, whose pixels are written a stride apart.
#include "backends/cpu/gemm/ProductBf16.hpp"
#include "backends/cpu/gemm/ProductF32.hpp"
#include "backends/cpu/kernels/FloatCheck.hpp"

#include <algorithm>
#include <vector>

namespace tenon::cpu
{

namespace
{

/// What a phase is in one direction.
struct PhaseAxis
{
    size_t m_First = 0; ///< position in the output; the others follow a stride apart
    size_t m_Taps = 0;
    size_t m_LastTap = 0; ///< of the weights, which the first point of the window goes with; then a stride less each
    int64_t m_Pad = 0;    ///< of the convolution; may be negative

    PhaseAxis(size_t phase, size_t kernel, size_t stride, size_t pad) : m_First(phase)
    {
        const size_t firstTap = (phase + pad) % stride;
        m_Taps = firstTap < kernel ? (kernel - firstTap - 1) / stride + 1 : 0;
        m_LastTap = m_Taps != 0 ? firstTap + (m_Taps - 1) * stride : 0;
        m_Pad = static_cast<int64_t>(m_Taps) - 1 - static_cast<int64_t>((phase + pad) / stride);
    }
    size_t GetOutputs(size_t size, size_t stride) const
    {
        return size > m_First ? (size - m_First - 1) / stride + 1 : 0;
    }
};

struct Float32Kind
{
    using Element = float;
    using Packed = PackedWeightsF32;
    using Product = ProductF32;

    static Packed Pack(const float* weights, const WeightSizes& sizes, const LayerView&)
    {
        return {weights, sizes, WeightOrder::Columns};
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

    static Packed Pack(const uint16_t* weights, const WeightSizes& sizes, const LayerView& layer)
    {
        return {weights, sizes, WeightOrder::Columns, layer};
    }
    static void Run(const Product& product, const ExecuteArgs& args, size_t offset, bool)
    {
        product.Run(args.GetInput<uint16_t>(0), args.GetOutput<uint16_t>(0) + offset, args.m_Scratch, *args.m_Parallel);
    }
};

template <typename Kind>
struct Phase
{
    PhaseAxis m_Y;
    PhaseAxis m_X;
    typename Kind::Packed m_Weights;
};

template <typename Kind>
class Phases final : public backends::PackedWeights
{
public:
    explicit Phases(const LayerView& layer)
    {
        const auto& descriptor = layer.GetDescriptor<TransposeConvolution2dDescriptor>();
        const TensorShape& shape = layer.GetInput(1).GetShape();
        for (size_t y = 0; y < descriptor.m_StrideY; ++y)
        {
            for (size_t x = 0; x < descriptor.m_StrideX; ++x)
            {
                const PhaseAxis down(y, shape[1], descriptor.m_StrideY, descriptor.m_PadTop);
                const PhaseAxis across(x, shape[2], descriptor.m_StrideX, descriptor.m_PadLeft);
                const auto weights = TakeTaps(layer, down, across);
                const WeightSizes sizes = {1, shape[0], down.m_Taps * across.m_Taps * shape[3]};
                m_Phases.push_back({down, across, Kind::Pack(weights.data(), sizes, layer)});
            }
        }
    }

    const std::vector<Phase<Kind>>& Get() const { return m_Phases; }

private:
    using Element = typename Kind::Element;

    /// The phase's weights, in the order in which its windows see the image.
    static std::vector<Element> TakeTaps(const LayerView& layer, const PhaseAxis& down, const PhaseAxis& across)
    {
        const auto& descriptor = layer.GetDescriptor<TransposeConvolution2dDescriptor>();
        const TensorShape& shape = layer.GetInput(1).GetShape();
        const auto* weights = static_cast<const Element*>(layer.m_ConstantData[1]);
        const size_t channels = shape[3];
        std::vector<Element> taken;
        taken.reserve(shape[0] * down.m_Taps * across.m_Taps * channels);
        for (size_t o = 0; o < shape[0]; ++o)
        {
            for (size_t i = 0; i < down.m_Taps; ++i)
            {
                const size_t row = o * shape[1] + down.m_LastTap - i * descriptor.m_StrideY;
                for (size_t j = 0; j < across.m_Taps; ++j)
                {
                    const size_t tap = row * shape[2] + across.m_LastTap - j * descriptor.m_StrideX;
                    taken.insert(taken.end(), weights + tap * channels, weights + (tap + 1) * channels);
                }
            }
        }
        return taken;
    }

    std::vector<Phase<Kind>> m_Phases;
};

/// A phase of known shapes.
template <typename Kind>
struct PhaseProduct
{
    typename Kind::Product m_Product;
    size_t m_Offset = 0; ///< of its first pixel in the output
};

template <typename Kind>
PhaseProduct<Kind> MakeProduct(const ReshapeArgs& args, const Phase<Kind>& phase)
{
    const auto& descriptor = args.GetDescriptor<TransposeConvolution2dDescriptor>();
    const TensorShape& data = args.GetInput(0).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    const size_t channels = output[3];
    const size_t height = phase.m_Y.GetOutputs(output[1], descriptor.m_StrideY);
    const size_t width = phase.m_X.GetOutputs(output[2], descriptor.m_StrideX);
    Windows windows;
    windows.m_InputHeight = data[1];
    windows.m_InputWidth = data[2];
    windows.m_OutputHeight = static_cast<int64_t>(height);
    windows.m_OutputWidth = static_cast<int64_t>(width);
    windows.m_Channels = windows.m_GroupChannels = data[3];
    windows.m_Height = static_cast<int64_t>(phase.m_Y.m_Taps);
    windows.m_Width = static_cast<int64_t>(phase.m_X.m_Taps);
    windows.m_PadTop = phase.m_Y.m_Pad;
    windows.m_PadLeft = phase.m_X.m_Pad;
    PhaseProduct<Kind> product = {typename Kind::Product(phase.m_Weights, windows, output[0] * height * width,
                                                         backends::FloatClamp(args.m_FusedActivation)),
                                  (phase.m_Y.m_First * output[2] + phase.m_X.m_First) * channels};
    product.m_Product.SetPlace({descriptor.m_StrideX * channels, width, height,
                                size_t{descriptor.m_StrideY} * output[2] * channels,
                                size_t{output[1]} * output[2] * channels});
    return product;
}

SupportResult Check(const LayerView& layer)
{
    const auto& descriptor = layer.GetDescriptor<TransposeConvolution2dDescriptor>();
    constexpr uint32_t MostPhases = 64; // each has memory of its own
    if (descriptor.m_DataLayout != DataLayout::NHWC || descriptor.m_StrideX == 0 || descriptor.m_StrideY == 0 ||
        descriptor.m_StrideX > MostPhases / descriptor.m_StrideY)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "its layout or strides are not to be split");
    }
    const SupportResult result = CheckFloatWeights(layer, 4);
    return result ? CheckConstantBias(layer, layer.GetInput(1).GetShape()[0]) : result;
}

template <typename Kind>
std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer)
{
    return std::make_unique<Phases<Kind>>(layer);
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
    for (const Phase<Kind>& phase : static_cast<const Phases<Kind>&>(*packed).Get())
    {
        if (output.GetNumElements() != 0 && phase.m_Y.m_First < output[1] && phase.m_X.m_First < output[2])
        {
            products.push_back(MakeProduct(args, phase));
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

extern const backends::Kernel CpuTransposeConvolution2dF32Kernel = {
    "CpuTransposeConvolution2dF32", FloatTypes, Prepare<Float32Kind>, Check, Pack<Float32Kind>, backends::FuseClamp};
extern const backends::Kernel CpuTransposeConvolution2dBf16Kernel = {
    "CpuTransposeConvolution2dBf16", Bf16Types, Prepare<BFloat16Kind>, Check, Pack<BFloat16Kind>, backends::FuseClamp};

} // namespace tenon::cpu
