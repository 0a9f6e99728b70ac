// SPDX-License-Identifier: Apache-2.0
// SignalFeature: features of audio, bit for bit as TFLM's signal library. Integers wrap where it lets them.
#include "backends/common/FixedPoint16.hpp"
#include "backends/reference/kernels/FilterBank.hpp"
#include "backends/reference/kernels/MovedElement.hpp"

#include <tenon/descriptors/Signal.hpp>

#include <algorithm>
#include <bit>
#include <memory>
#include <string>
#include <vector>

namespace tenon::ref
{

namespace
{

using enum SignalFeatureFunction;

constexpr backends::TypeRow SignalFeatureTypes[] = {
    backends::Types({DataType::Signed16}, {DataType::Signed16, DataType::Unsigned32}),
    backends::Types({DataType::Unsigned32}, {DataType::Signed16, DataType::Unsigned32, DataType::Unsigned64}),
    backends::Types({DataType::Unsigned64}, DataType::Unsigned32)};

/// The types of a function's inputs and outputs.
struct FunctionTypes
{
    std::vector<DataType> m_Inputs;
    std::vector<DataType> m_Outputs;
};

FunctionTypes GetTypes(SignalFeatureFunction function)
{
    using enum DataType;
    switch (function)
    {
    case Window: return {{Signed16, Signed16}, {Signed16}};
    case AutoScale: return {{Signed16}, {Signed16, Signed32}};
    case Energy: return {{Signed16}, {Unsigned32}};
    case FilterBank: return {{Unsigned32, Signed16, Signed16, Signed16, Signed16, Signed16}, {Unsigned64}};
    case SquareRoot: return {{Unsigned64, Signed32}, {Unsigned32}};
    case Gain: return {{Unsigned32, Unsigned32, Signed16}, {Unsigned32}};
    case Log: return {{Unsigned32}, {Signed16}};
    }
    return {};
}

SupportResult RefuseType(const char* kind, size_t i, DataType type, DataType wanted)
{
    return SupportResult::No(SupportCode::UnsupportedType, std::string(kind) + ' ' + std::to_string(i) + " is " +
                                                               GetDataTypeName(type) + ", but must be " +
                                                               GetDataTypeName(wanted));
}

SupportResult CheckSignalFeature(const LayerView& layer)
{
    const auto& descriptor = layer.GetDescriptor<SignalFeatureDescriptor>();
    const FunctionTypes types = GetTypes(descriptor.m_Function);
    for (unsigned int i = 0; i < types.m_Inputs.size(); ++i)
    {
        if (layer.GetInput(i).GetDataType() != types.m_Inputs[i])
        {
            return RefuseType("input", i, layer.GetInput(i).GetDataType(), types.m_Inputs[i]);
        }
    }
    for (unsigned int i = 0; i < types.m_Outputs.size(); ++i)
    {
        if (layer.GetOutput(i).GetDataType() != types.m_Outputs[i])
        {
            return RefuseType("output", i, layer.GetOutput(i).GetDataType(), types.m_Outputs[i]);
        }
    }
    const uint32_t max = descriptor.m_Function == Gain ? 63 : 31;
    if (descriptor.m_Shift > max)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "a shift by " + std::to_string(descriptor.m_Shift) + " bits: the maximum is " +
                                     std::to_string(max));
    }
    return SupportResult::Yes();
}

[[noreturn]] void RefuseShapes(const ReshapeArgs& args)
{
    throw LayerValidationException("SignalFeature of " + args.GetInput(0).GetShape().ToString() + " to " +
                                   args.GetOutput(0).GetShape().ToString() + ": the shapes do not fit together");
}

/// The number of elements of input 0, which output 0 has as well.
size_t RequireSameElements(const ReshapeArgs& args)
{
    if (args.GetInput(0).GetNumElements() != args.GetOutput(0).GetNumElements())
    {
        RefuseShapes(args);
    }
    return args.GetInput(0).GetNumElements();
}

backends::Prepared PrepareWindow(const ReshapeArgs& args, uint32_t shift)
{
    const size_t elements = RequireSameElements(args);
    const size_t size = args.GetInput(1).GetNumElements();
    if (size == 0 ? elements != 0 : elements % size != 0)
    {
        RefuseShapes(args);
    }
    return [elements, size, shift](const ExecuteArgs& run)
    {
        const auto* const in = run.GetInput<int16_t>(0);
        const auto* const weights = run.GetInput<int16_t>(1);
        auto* const out = run.GetOutput<int16_t>(0);
        for (size_t i = 0; i < elements; ++i)
        {
            out[i] = backends::SaturateToInt16((in[i] * weights[i % size]) >> shift);
        }
    };
}

/// How far the samples can be shifted. -32768 has no absolute value in 16 bits: it counts as a negative maximum, which
/// any later sample exceeds.
int CountFreeBits(const int16_t* samples, size_t count)
{
    int16_t max = 0;
    for (size_t i = 0; i < count; ++i)
    {
        const int sample = samples[i];
        max = sample > max ? samples[i] : -sample > max ? static_cast<int16_t>(-sample) : max;
    }
    return max <= 0 ? 0 : std::max(15 - static_cast<int>(std::bit_width(static_cast<uint16_t>(max))), 0);
}

backends::Prepared PrepareAutoScale(const ReshapeArgs& args)
{
    RequireElements(args.GetOutput(1), "output 1", 1);
    return [elements = RequireSameElements(args)](const ExecuteArgs& run)
    {
        const auto* const in = run.GetInput<int16_t>(0);
        const int bits = CountFreeBits(in, elements);
        *run.GetOutput<int32_t>(1) = bits;
        std::transform(in, in + elements, run.GetOutput<int16_t>(0),
                       [bits](int16_t sample) { return static_cast<int16_t>(sample * (1 << bits)); });
    };
}

backends::Prepared PrepareEnergy(const ReshapeArgs& args, const SignalFeatureDescriptor& descriptor)
{
    const size_t frequencies = args.GetOutput(0).GetNumElements();
    if (args.GetInput(0).GetNumElements() != 2 * frequencies || descriptor.m_Start > descriptor.m_End ||
        descriptor.m_End > frequencies)
    {
        RefuseShapes(args);
    }
    return [frequencies, start = descriptor.m_Start, end = descriptor.m_End](const ExecuteArgs& run)
    {
        const auto* const in = run.GetInput<int16_t>(0);
        auto* const out = run.GetOutput<uint32_t>(0);
        std::fill_n(out, frequencies, 0U);
        for (size_t i = start; i < end; ++i)
        {
            const auto square = [](int number) { return static_cast<uint32_t>(number * number); };
            out[i] = square(in[2 * i]) + square(in[2 * i + 1]);
        }
    };
}

backends::Prepared PrepareFilterBank(const ReshapeArgs& args)
{
    FilterBankSizes sizes;
    sizes.m_Energies = args.GetInput(0).GetNumElements();
    sizes.m_Weights = args.GetInput(1).GetNumElements();
    sizes.m_Channels = args.GetOutput(0).GetNumElements();
    RequireElements(args.GetInput(2), "input 2", sizes.m_Weights);
    for (unsigned int i = 3; i < 6; ++i)
    {
        RequireElements(args.GetInput(i), ("input " + std::to_string(i)).c_str(), uint64_t{sizes.m_Channels} + 1);
    }
    return [sizes](const ExecuteArgs& run)
    {
        FilterBankArgs bank;
        bank.m_Energies = run.GetInput<uint32_t>(0);
        bank.m_Weights = run.GetInput<int16_t>(1);
        bank.m_Unweights = run.GetInput<int16_t>(2);
        bank.m_EnergyStarts = run.GetInput<int16_t>(3);
        bank.m_WeightStarts = run.GetInput<int16_t>(4);
        bank.m_Widths = run.GetInput<int16_t>(5);
        RunFilterBank(sizes, bank, run.GetOutput<uint64_t>(0));
    };
}

backends::Prepared PrepareSquareRoot(const ReshapeArgs& args)
{
    RequireElements(args.GetInput(1), "input 1", 1);
    return [elements = RequireSameElements(args)](const ExecuteArgs& run)
    {
        const int32_t bits = *run.GetInput<int32_t>(1);
        if (bits < 0 || bits > 31)
        {
            throw RuntimeException("input 1, the number of bits, is " + std::to_string(bits) +
                                   "; roots are shifted by 0 to 31");
        }
        const auto* const in = run.GetInput<uint64_t>(0);
        std::transform(in, in + elements, run.GetOutput<uint32_t>(0),
                       [bits](uint64_t energy) { return RoundedRoot(energy) >> bits; });
    };
}

backends::Prepared PrepareGain(const ReshapeArgs& args, uint32_t shift)
{
    const size_t elements = RequireSameElements(args);
    RequireElements(args.GetInput(1), "input 1", elements);
    RequireElements(args.GetInput(2), "input 2", GainTableSize);
    return [elements, shift](const ExecuteArgs& run)
    {
        const auto* const channels = run.GetInput<uint32_t>(0);
        const auto* const noise = run.GetInput<uint32_t>(1);
        const auto* const gains = run.GetInput<int16_t>(2);
        auto* const out = run.GetOutput<uint32_t>(0);
        for (size_t i = 0; i < elements; ++i)
        {
            const auto gain = static_cast<uint32_t>(int32_t{LookUpGain(noise[i], gains)});
            out[i] = Compress(static_cast<uint32_t>((uint64_t{channels[i]} * gain) >> shift));
        }
    };
}

backends::Prepared PrepareLog(const ReshapeArgs& args, const SignalFeatureDescriptor& descriptor)
{
    return [elements = RequireSameElements(args), shift = descriptor.m_Shift,
            logarithm = std::make_shared<const FixedLogarithm>(descriptor.m_Scale)](const ExecuteArgs& run)
    {
        const auto* const in = run.GetInput<uint32_t>(0);
        std::transform(in, in + elements, run.GetOutput<int16_t>(0),
                       [&](uint32_t channel) { return logarithm->Of(channel << shift); });
    };
}

backends::Prepared PrepareSignalFeature(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<SignalFeatureDescriptor>();
    switch (descriptor.m_Function)
    {
    case Window: return PrepareWindow(args, descriptor.m_Shift);
    case AutoScale: return PrepareAutoScale(args);
    case Energy: return PrepareEnergy(args, descriptor);
    case FilterBank: return PrepareFilterBank(args);
    case SquareRoot: return PrepareSquareRoot(args);
    case Gain: return PrepareGain(args, descriptor.m_Shift);
    case Log: break;
    }
    return PrepareLog(args, descriptor);
}

} // namespace

extern const backends::Kernel RefSignalFeatureKernel = {"RefSignalFeature", SignalFeatureTypes, PrepareSignalFeature,
                                                        CheckSignalFeature};

} // namespace tenon::ref
