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

DftDescriptor Dft(int32_t axis, uint32_t length, bool inverse = false, bool onesided = false)
{
    return Made<DftDescriptor>(
        [&](auto& d)
        {
            d.m_Axis = axis;
            d.m_Length = length;
            d.m_Inverse = inverse;
            d.m_Onesided = onesided;
        });
}

InferCases DftCases()
{
    constexpr LayerType type = LayerType::Dft;
    const auto fed = Made<DftDescriptor>([](auto& d) { d.m_ParametersAsInputs = true; });
    return {
        Case(type, "real", Dft(1, 0), {T({2, 5, 1})}).Gives({"[2,5,2]"}).Resolves(Dft(1, 5)),
        Case(type, "complex", Dft(-3, 0), {T({2, 5, 2})}).Gives({"[2,5,2]"}).Resolves(Dft(0, 2)),
        Case(type, "longer", Dft(1, 9), {T({2, 5, 1})}).Gives({"[2,9,2]"}),
        Case(type, "half", Dft(1, 0, false, true), {T({2, 5, 1})}).Gives({"[2,3,2]"}).Resolves(Dft(1, 5, false, true)),
        Case(type, "back", Dft(1, 0, true), {T({2, 5, 1})}).Gives({"[2,5,2]"}).Resolves(Dft(1, 5, true)),
        Case(type, "half back", Dft(1, 0, true, true), {T({2, 5, 2})})
            .Gives({"[2,8,1]"})
            .Resolves(Dft(1, 8, true, true)),
        Case(type, "fed", fed, {T({2, 5, 1}), P64({7})}).Gives({"[2,7,2]"}).Resolves(Dft(1, 7)),
        Case(type, "fed 0", fed, {T({2, 5, 1}), P({0})}).Rejects("input 1, the length, is 0"),
        Case(type, "two lengths", fed, {T({2, 5, 1}), P({3, 4})}).Rejects("in place of 1"),
        Case(type, "huge length", fed, {T({2, 5, 1}), P64({int64_t{1} << 40})}).Rejects("1099511627776"),
        Case(type, "parts", Dft(1, 0), {T({2, 5, 3})}).Rejects("last dimension"),
        Case(type, "axis of parts", Dft(-1, 0), {T({2, 5, 2})}).Rejects("axis -1"),
        Case(type, "axis", Dft(3, 0), {T({2, 5, 2})}).Rejects("axis 3"),
        Case(type, "rank", Dft(0, 0), {T({2})}).Rejects("at least 2 dimensions"),
        Case(type, "half of complex", Dft(1, 0, false, true), {T({2, 5, 2})}).Rejects("must be real"),
        Case(type, "half back of real", Dft(1, 0, true, true), {T({2, 5, 1})}).Rejects("takes frequencies"),
        Case(type, "nothing", Dft(1, 0), {T({2, 0, 1})}).Rejects("length 0"),
        Case(type, "nothing back", Dft(1, 0, true, true), {T({2, 1, 2})}).Rejects("length 0"),
    };
}

} // namespace

static InferCases MakeSignalCases()
{
    using enum LayerType;
    const auto fedRate = Made<MfccDescriptor>([](auto& d) { d.m_ParametersAsInputs = true; });
    const auto rate = Made<MfccDescriptor>([](auto& d) { d.m_SampleRate = 16000; });
    const auto fedSize = Made<RealFft2dDescriptor>([](auto& d) { d.m_ParametersAsInputs = true; });
    const auto fedBack = Made<RealFft2dDescriptor>([](auto& d) { d.m_Inverse = true; }, fedSize);
    InferCases all = {
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
    const InferCases dft = DftCases();
    all.insert(all.end(), dft.begin(), dft.end());
    return all;
}

static const InferTable SignalTable(MakeSignalCases);

} // namespace tenon::test::infer_signal_test
