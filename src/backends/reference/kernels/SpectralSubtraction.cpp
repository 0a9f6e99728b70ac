// SPDX-License-Identifier: Apache-2.0
// SpectralSubtraction: channels less their noise, bit for bit as TFLM's SignalFilterBankSpectralSubtraction. Integers
// wrap where it lets them.
#include "backends/common/KernelTable.hpp"
#include "backends/reference/kernels/MovedElement.hpp"

#include <tenon/descriptors/Signal.hpp>

#include <algorithm>
#include <string>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow SpectralSubtractionTypes[] = {backends::SameType({DataType::Unsigned32}, 2)};

SupportResult CheckSpectralSubtraction(const LayerView& layer)
{
    const auto& descriptor = layer.GetDescriptor<SpectralSubtractionDescriptor>();
    if (descriptor.m_SmoothingBits > 31 || descriptor.m_Bits > 63)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 std::to_string(descriptor.m_SmoothingBits) + " fraction bits of the noise and " +
                                     std::to_string(descriptor.m_Bits) + " of factors: the maxima are 31 and 63");
    }
    return CheckSameType(layer.GetOutput(1), "output 1", DataType::Unsigned32);
}

backends::Prepared PrepareSpectralSubtraction(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const size_t channels = args.GetInput(0).GetNumElements();
    RequireElements(args.GetInput(1), "input 1", channels);
    RequireElements(args.GetOutput(0), "output 0", channels);
    RequireElements(args.GetOutput(1), "output 1", channels);
    return [channels, d = args.GetDescriptor<SpectralSubtractionDescriptor>()](const ExecuteArgs& run)
    {
        const auto* const in = run.GetInput<uint32_t>(0);
        const auto* const noiseBefore = run.GetInput<uint32_t>(1);
        auto* const out = run.GetOutput<uint32_t>(0);
        auto* const noise = run.GetOutput<uint32_t>(1);
        for (size_t i = 0; i < channels; ++i)
        {
            const bool isAlternate = i % 2 != 0;
            const uint64_t ofSignal = isAlternate ? d.m_AlternateSmoothing : d.m_Smoothing;
            const uint64_t ofNoise = isAlternate ? d.m_AlternateOneMinusSmoothing : d.m_OneMinusSmoothing;
            const uint32_t signal = in[i] << d.m_SmoothingBits;
            const auto average = static_cast<uint32_t>((signal * ofSignal + noiseBefore[i] * ofNoise) >> d.m_Bits);
            const uint32_t subtracted = std::min(average, signal);
            const auto floor = static_cast<uint32_t>((uint64_t{in[i]} * d.m_MinSignalRemaining) >> d.m_Bits);
            noise[i] = d.m_Clamping ? subtracted : average;
            out[i] = std::max((signal - subtracted) >> d.m_SmoothingBits, floor);
        }
    };
}

} // namespace

extern const backends::Kernel RefSpectralSubtractionKernel = {"RefSpectralSubtraction", SpectralSubtractionTypes,
                                                              PrepareSpectralSubtraction, CheckSpectralSubtraction};

} // namespace tenon::ref
