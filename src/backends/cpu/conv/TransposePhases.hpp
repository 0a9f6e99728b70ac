// SPDX-License-Identifier: Apache-2.0
// TransposeConvolution2d by polyphase decomposition (XNNPACK: subconvolution). With stride s, the output pixels p, p +
// s, p + 2s, ... read the taps t, t + s, t + 2s, ... with t = (p + pad) % s. Each of the sy * sx phases is therefore an
// ordinary convolution of stride 1 by a subset of the weights in reverse order, whose pixels are written s apart:
//
//   taps 0 1 2 3 4, s = 2:   phase 0: taps 4 2 0,   phase 1: taps 3 1      output: 0 1 0 1 0 1 ...
//
// `Traits` name the packed weights and the GEMM of a data type. Used by TransposeConvolution2dFloat.cpp and
// TransposeConvolution2dInteger.cpp.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/cpu/im2col/Im2col.hpp"
#include "backends/cpu/weights/PackedSizeCheck.hpp"

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

} // namespace tenon::cpu
