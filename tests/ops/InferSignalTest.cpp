// SPDX-License-Identifier: Apache-2.0
// Tables of shape inference: Fourier transforms, what is made of them, and complex numbers.
#include "ops/InferCases.hpp"

#include <tenon/descriptors/Signal.hpp>

namespace tenon::test::infer_signal_test
{

namespace
{

AudioSpectrogramDescriptor Windows(uint32_t size, uint32_t stride)
{
    return Made<AudioSpectrogramDescriptor>(
        [&](auto& d)
        {
            d.m_WindowSize = size;
            d.m_Stride = stride;
        });
}

RealFft2dDescriptor Transform(uint32_t height, uint32_t width, bool inverse = false)
{
    return Made<RealFft2dDescriptor>(
        [&](auto& d)
        {
            d.m_Height = height;
            d.m_Width = width;
            d.m_Inverse = inverse;
        });
}

} // namespace

static InferCases MakeSignalCases()
{
    using enum LayerType;
    const auto fedRate = Made<MfccDescriptor>([](auto& d) { d.m_ParametersAsInputs = true; });
    const auto rate = Made<MfccDescriptor>([](auto& d) { d.m_SampleRate = 16000; });
    const auto fedSize = Made<RealFft2dDescriptor>([](auto& d) { d.m_ParametersAsInputs = true; });
    const auto fedBack = Made<RealFft2dDescriptor>([](auto& d) { d.m_Inverse = true; }, fedSize);
    return {
        Case(AudioSpectrogram, "one window", Windows(8, 1), {T({8, 2})}).Gives({"[2,1,5]"}),
        Case(AudioSpectrogram, "padded windows", Windows(9, 4), {T({20, 1})}).Gives({"[1,3,9]"}),
        Case(AudioSpectrogram, "stride above window", Windows(2, 5), {T({13, 1})}).Gives({"[1,3,2]"}),
        Case(AudioSpectrogram, "too few samples", Windows(8, 1), {T({7, 3})}).Gives({"[3,0,5]"}),
        Case(AudioSpectrogram, "huge", Windows(0xffffffffU, 0xffffffffU), {T({7, 3})}).Gives({"[3,0,2147483649]"}),
        Case(AudioSpectrogram, "rank", Windows(8, 1), {T({8})}).Rejects("2 dimensions"),
        Case(AudioSpectrogram, "window", Windows(1, 1), {T({8, 1})}).Rejects("at least 2"),
        Case(AudioSpectrogram, "stride", Windows(8, 0), {T({8, 1})}).Rejects("at least 2"),

        Case(ComplexPart, "any", ComplexPartDescriptor(), {T({2, 3})}).Gives({"[2,3]"}),
        Case(ComplexPart, "scalar", ComplexPartDescriptor(ComplexComponent::Magnitude), {T({})}).Gives({"[]"}),

        Case(Mfcc, "known rate", rate, {T({2, 3, 513})}).Gives({"[2,3,13]"}),
        Case(Mfcc, "fed rate", fedRate, {T({2, 3, 513}), P({16000})}).Gives({"[2,3,13]"}).Resolves(rate),
        Case(Mfcc, "two rates", fedRate, {T({2, 3, 513}), P({16000, 8000})}).Rejects("in place of 1"),
        Case(Mfcc, "rate 0", fedRate, {T({2, 3, 513}), P({0})}).Rejects("is 0"),
        Case(Mfcc, "huge rate", fedRate, {T({2, 3, 513}), P64({int64_t{1} << 40})}).Rejects("sample rate"),
        Case(Mfcc, "rank", rate, {T({3, 513})}).Rejects("3 dimensions"),

        Case(RealFft2d, "matrix", Transform(4, 8), {T({3, 5})}).Gives({"[4,5]"}),
        Case(RealFft2d, "slices", Transform(1, 1), {T({2, 3, 5, 6})}).Gives({"[2,3,1,1]"}),
        Case(RealFft2d, "back", Transform(4, 8, true), {T({2, 4, 5})}).Gives({"[2,4,8]"}),
        Case(RealFft2d, "fed", fedSize, {T({3, 5}), P({4, 8})}).Gives({"[4,5]"}).Resolves(Transform(4, 8)),
        Case(RealFft2d, "fed back", fedBack, {T({3, 5}), P64({4, 8})}).Gives({"[4,8]"}).Resolves(Transform(4, 8, true)),
        Case(RealFft2d, "no power of two", Transform(4, 6), {T({4, 6})}).Rejects("powers of two"),
        Case(RealFft2d, "zero", fedSize, {T({4, 6}), P({0, 8})}).Rejects("powers of two"),
        Case(RealFft2d, "negative", fedSize, {T({4, 6}), P({4, -8})}).Rejects("-8"),
        Case(RealFft2d, "one length", fedSize, {T({4, 6}), P({4})}).Rejects("in place of 2"),
        Case(RealFft2d, "rank", Transform(4, 4), {T({4})}).Rejects("at least 2 dimensions"),
    };
}

static const InferTable SignalTable(MakeSignalCases);

} // namespace tenon::test::infer_signal_test
