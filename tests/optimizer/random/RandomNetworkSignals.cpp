// SPDX-License-Identifier: Apache-2.0
// RandomNetwork: layers of TFLM's signal library.
#include "optimizer/random/RandomNetwork.hpp"
#include "optimizer/random/RandomShapes.hpp"

#include <algorithm>
#include <bit>
#include <initializer_list>

namespace tenon::test
{

TENON_RANDOM_KIND(TransformLines)
{
    const Tensor* x = FindFloat();
    if (x == nullptr || x->m_Shape.GetNumDimensions() == 0)
    {
        return false;
    }
    const Tensor input = *x;
    const unsigned int last = LastOf(input.m_Shape);
    SignalFftDescriptor descriptor;
    descriptor.m_Length = last + last % 2 + 2 * Roll(2);
    Finish(m_Network->AddSignalFftLayer(descriptor, m_Name.c_str()), {input}, DataType::Float32, false,
           input.m_Bound * static_cast<float>(descriptor.m_Length));
    return true;
}

// A front end, from samples to logarithms.
TENON_RANDOM_KIND(AudioFeatures)
{
    const Tensor* x =
        Find([](const Tensor& t) { return t.m_Type == DataType::Float32 && t.m_IsExact && t.m_Bound <= 30000.0f; });
    if (x == nullptr || x->m_Shape.GetNumElements() < 4)
    {
        return false;
    }
    const Tensor input = *x;
    const unsigned int count = input.m_Shape.GetNumElements();
    const Tensor line = Reshaped(input, TensorShape({count}));
    const auto numbers = [&](DataType type, std::initializer_list<int16_t> values, unsigned int size)
    {
        std::vector<int16_t> all(values);
        all.resize(size, 77);
        TensorInfo info(TensorShape({size}), type);
        info.SetConstant();
        return AddBytes(info, all.data());
    };
    const auto add =
        [&](SignalFeatureFunction function, const std::vector<Tensor>& inputs, unsigned int size, DataType type)
    {
        SignalFeatureDescriptor descriptor;
        descriptor.m_Function = function;
        descriptor.m_Shift = 3;
        descriptor.m_Start = 1;
        descriptor.m_End = size;
        descriptor.m_Scale = 64;
        std::vector<Made> outputs = {{TensorShape({size}), type, true, 40000.0f}};
        if (function == SignalFeatureFunction::AutoScale)
        {
            outputs.push_back({TensorShape(Dimensionality::Scalar), DataType::Signed32, true, 15.0f});
        }
        FinishAs(m_Network->AddSignalFeatureLayer(descriptor, m_Name.c_str()), inputs, outputs);
        return m_Tensors.back();
    };
    using enum SignalFeatureFunction;
    FinishAs(m_Network->AddCastLayer(m_Name.c_str()), {line}, {{line.m_Shape, DataType::Signed16, true, 30000.0f}});
    Tensor signal = m_Tensors.back();
    signal = add(Window, {signal, numbers(DataType::Signed16, {5, 6}, count)}, count, DataType::Signed16);
    signal = add(AutoScale, {signal}, count, DataType::Signed16);
    const Tensor bits{m_Unread.back(), TensorShape(Dimensionality::Scalar), DataType::Signed32, true, 15.0f};
    SignalFftDescriptor fft;
    fft.m_Length = std::bit_ceil(count);
    Finish(m_Network->AddSignalFftLayer(fft, m_Name.c_str()), {signal}, DataType::Signed16, true, 32768.0f);
    const unsigned int frequencies = fft.m_Length / 2 + 1;
    const Tensor energies = add(Energy, {m_Tensors.back()}, frequencies, DataType::Unsigned32);
    const Tensor starts = numbers(DataType::Signed16, {0, 1, 0}, 3);
    const Tensor weights = numbers(DataType::Signed16, {100, -3, 4}, 3);
    const Tensor sums =
        add(FilterBank, {energies, weights, weights, starts, starts, numbers(DataType::Signed16, {1, 2, 2}, 3)}, 2,
            DataType::Unsigned64);
    const Tensor roots = add(SquareRoot, {sums, bits}, 2, DataType::Unsigned32);
    SpectralSubtractionDescriptor subtraction;
    subtraction.m_Smoothing = subtraction.m_AlternateSmoothing = 300;
    subtraction.m_OneMinusSmoothing = subtraction.m_AlternateOneMinusSmoothing = 724;
    subtraction.m_Bits = 10;
    const Made channels{TensorShape({2}), DataType::Unsigned32, true, 40000.0f};
    FinishAs(m_Network->AddSpectralSubtractionLayer(subtraction, m_Name.c_str()), {roots, roots}, {channels, channels});
    const Tensor noise = m_Tensors.back();
    signal = add(Gain, {m_Tensors[m_Tensors.size() - 2], noise, numbers(DataType::Signed16, {900, 800, 700, 600}, 125)},
                 2, DataType::Unsigned32);
    signal = add(Log, {signal}, 2, DataType::Signed16);
    FinishAs(m_Network->AddCastLayer(m_Name.c_str()), {signal},
             {{TensorShape({2}), DataType::Float32, true, 32768.0f}});
    return true;
}

TENON_RANDOM_KIND(FramesOfSignal)
{
    const Tensor* x = FindFloat();
    if (x == nullptr || x->m_Shape.GetNumDimensions() < 2)
    {
        return false;
    }
    const Tensor input = *x;
    const unsigned int rank = input.m_Shape.GetNumDimensions();
    std::vector<unsigned int> sizes;
    for (unsigned int i = 0; i + 2 < rank; ++i)
    {
        sizes.push_back(input.m_Shape[i]);
    }
    const auto with = [&](unsigned int last)
    {
        std::vector<unsigned int> all = sizes;
        all.push_back(last);
        return TensorShape(static_cast<unsigned int>(all.size()), all.data());
    };
    const unsigned int size = LastOf(input.m_Shape);
    SignalFramesDescriptor descriptor;
    descriptor.m_Function = SignalFramesFunction::OverlapAdd;
    descriptor.m_FrameStep = 1 + Roll(size);
    const TensorShape end = with(size);
    const float bound = input.m_Bound * static_cast<float>(size) + 2.0f;
    FinishAs(m_Network->AddSignalFramesLayer(descriptor, m_Name.c_str()), {input, Constant(end, 1.0f, true)},
             {{with(input.m_Shape[rank - 2] * descriptor.m_FrameStep), DataType::Float32, false, bound},
              {end, DataType::Float32, false, bound}});
    return true;
}

} // namespace tenon::test
