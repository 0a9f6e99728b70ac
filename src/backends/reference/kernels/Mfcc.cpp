// SPDX-License-Identifier: Apache-2.0
// Mfcc: cepstral coefficients of a spectrogram of squared magnitudes. The algorithm is TensorFlow's: magnitudes are
// summed under triangles that are equally wide on the mel scale; the result is the first coefficients of a cosine
// transform (DCT-II) of the sums' logarithms.
#include "backends/common/KernelTable.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/reference/kernels/RunTasks.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Signal.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

namespace tenon::ref
{

namespace
{

using backends::Prepared;
using backends::Scratch;

constexpr backends::TypeRow MfccTypes[] = {backends::SameType(DataType::Float32)};

constexpr uint32_t MaxChannels = 1U << 16; ///< channels of the filter bank: far more than spectrograms can resolve
constexpr double SmallestSum = 1e-12;      ///< minimum sum under a triangle, so that it has a logarithm

double ToMel(double hertz)
{
    return 1127.0 * std::log1p(hertz / 700.0);
}

/// A triangle rises from the top of the previous one, and falls to the top of the next one: the part of a frequency
/// that the falling triangle does not get belongs to the rising one.
class FilterBank
{
public:
    FilterBank(const MfccDescriptor& descriptor, size_t frequencies) : m_Channels(descriptor.m_FilterbankChannelCount)
    {
        const double lower = static_cast<double>(descriptor.m_LowerFrequencyLimit);
        const double upper = static_cast<double>(descriptor.m_UpperFrequencyLimit);
        const double step = 0.5 * descriptor.m_SampleRate / static_cast<double>(frequencies - 1); // Hz
        const double last = std::floor(upper / step);
        if (last >= static_cast<double>(frequencies))
        {
            throw LayerValidationException("the upper frequency limit of " + std::to_string(upper) +
                                           " Hz is above half the sample rate of " +
                                           std::to_string(descriptor.m_SampleRate) + " Hz");
        }
        // Frequency 0 is left out.
        m_First = static_cast<size_t>(std::floor(1.5 + lower / step));
        const auto end = static_cast<size_t>(last) + 1;
        const double lowest = ToMel(lower);
        const double spacing = (ToMel(upper) - lowest) / (static_cast<double>(m_Channels) + 1.0);
        size_t rising = 0;
        for (size_t i = m_First; i < end; ++i)
        {
            const double mel = ToMel(static_cast<double>(i) * step);
            const auto top = [&](size_t channel) { return lowest + spacing * (static_cast<double>(channel) + 1.0); };
            while (rising < m_Channels && top(rising) < mel)
            {
                ++rising;
            }
            const double before = rising == 0 ? lowest : top(rising - 1);
            m_Taps.push_back({rising, (top(rising) - mel) / (top(rising) - before)});
        }
    }

    /// Sums of the magnitudes under each triangle.
    void Run(const float* squares, double* sums) const
    {
        std::fill_n(sums, m_Channels, 0.0);
        for (size_t i = 0; i < m_Taps.size(); ++i)
        {
            const Tap& tap = m_Taps[i];
            const double magnitude = std::sqrt(static_cast<double>(squares[m_First + i]));
            const double falling = magnitude * tap.m_FallingShare;
            if (tap.m_Rising > 0)
            {
                sums[tap.m_Rising - 1] += falling;
            }
            if (tap.m_Rising < m_Channels)
            {
                sums[tap.m_Rising] += magnitude - falling;
            }
        }
    }

private:
    struct Tap
    {
        size_t m_Rising; ///< the channel whose triangle rises here; the previous one falls
        double m_FallingShare;
    };

    size_t m_Channels;
    size_t m_First = 0;
    std::vector<Tap> m_Taps; ///< taps of the frequencies from m_First on
};

/// sqrt(2 / length) * sum over j of x[j] * cos(pi / length * i * (j + 1/2))
class CosineTransform
{
public:
    explicit CosineTransform(size_t length) : m_Length(length), m_Cosines(4 * length)
    {
        const double factor = std::sqrt(2.0 / static_cast<double>(length));
        for (size_t i = 0; i < m_Cosines.size(); ++i)
        {
            m_Cosines[i] =
                factor * std::cos(std::numbers::pi * static_cast<double>(i) / (2.0 * static_cast<double>(length)));
        }
    }

    void Run(const double* in, size_t coefficients, float* out) const
    {
        for (size_t i = 0; i < coefficients; ++i)
        {
            // Because i < m_Length, a step passes the end at most once.
            double sum = 0.0;
            size_t angle = i;
            for (size_t j = 0; j < m_Length; ++j)
            {
                sum += m_Cosines[angle] * in[j];
                angle += 2 * i;
                angle -= angle >= m_Cosines.size() ? m_Cosines.size() : 0;
            }
            out[i] = static_cast<float>(sum);
        }
    }

private:
    size_t m_Length;
    std::vector<double> m_Cosines; ///< cosines of a full circle in 4 * length steps
};

SupportResult CheckMfcc(const LayerView& layer)
{
    const auto& d = layer.GetDescriptor<MfccDescriptor>();
    const auto refuse = [](const std::string& reason)
    { return SupportResult::No(SupportCode::UnsupportedParameters, reason); };
    if (!d.m_ParametersAsInputs && d.m_SampleRate == 0)
    {
        return refuse("the sample rate must be positive");
    }
    if (!(d.m_LowerFrequencyLimit >= 0.0f && d.m_UpperFrequencyLimit > d.m_LowerFrequencyLimit &&
          std::isfinite(d.m_UpperFrequencyLimit)))
    {
        return refuse("frequencies from " + std::to_string(d.m_LowerFrequencyLimit) + " to " +
                      std::to_string(d.m_UpperFrequencyLimit) +
                      " Hz: the limits must be finite, the lower one at least 0 and below the other");
    }
    if (d.m_FilterbankChannelCount < 1 || d.m_FilterbankChannelCount > MaxChannels || d.m_DctCoefficientCount < 1 ||
        d.m_DctCoefficientCount > d.m_FilterbankChannelCount)
    {
        return refuse(std::to_string(d.m_FilterbankChannelCount) + " filter bank channels, " +
                      std::to_string(d.m_DctCoefficientCount) +
                      " coefficients: there must be at least 1 of each, at most " + std::to_string(MaxChannels) +
                      " channels and no more coefficients than those");
    }
    return SupportResult::Yes();
}

void CheckShapes(const ReshapeArgs& args, const MfccDescriptor& descriptor)
{
    const TensorShape& input = args.GetInput(0).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    if (input.GetNumDimensions() != 3 || output.GetNumDimensions() != 3 || input[0] != output[0] ||
        input[1] != output[1] || output[2] != descriptor.m_DctCoefficientCount)
    {
        throw LayerValidationException(std::to_string(descriptor.m_DctCoefficientCount) + " coefficients from " +
                                       input.ToString() + " to " + output.ToString() +
                                       ": the shapes do not fit together");
    }
    if (input[2] < 2)
    {
        throw LayerValidationException("the input has shape " + input.ToString() +
                                       ", but it must have at least 2 frequencies, its last dimension");
    }
}

Prepared PrepareMfcc(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<MfccDescriptor>();
    CheckShapes(args, descriptor);
    const TensorShape& input = args.GetInput(0).GetShape();
    const size_t windows = size_t{input[0]} * input[1];
    if (windows == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    const size_t frequencies = input[2];
    const size_t channels = descriptor.m_FilterbankChannelCount;
    const size_t coefficients = descriptor.m_DctCoefficientCount;
    Scratch scratch;
    scratch.Add<double>(std::min(windows, MaxTasks), channels);
    const auto run = [=, bank = FilterBank(descriptor, frequencies),
                      transform = CosineTransform(channels)](const ExecuteArgs& execute)
    {
        const auto task = [&](size_t number, size_t begin, size_t end)
        {
            double* sums = static_cast<double*>(execute.m_Scratch) + number * channels;
            for (size_t i = begin; i < end; ++i)
            {
                bank.Run(execute.GetInput<float>(0) + i * frequencies, sums);
                std::transform(sums, sums + channels, sums,
                               [](double sum) { return std::log(sum < SmallestSum ? SmallestSum : sum); });
                transform.Run(sums, coefficients, execute.GetOutput<float>(0) + i * coefficients);
            }
        };
        RunTasks(*execute.m_Parallel, windows, task);
    };
    return Prepared(run, scratch.GetBytes());
}

} // namespace

extern const backends::Kernel RefMfccKernel = {"RefMfcc", MfccTypes, PrepareMfcc, CheckMfcc};

} // namespace tenon::ref
