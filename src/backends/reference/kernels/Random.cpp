// SPDX-License-Identifier: Apache-2.0
// Random, Multinomial, RngBitGenerator: random numbers that follow from seeds or a state alone, equal to TensorFlow's.
// A run starts from the seeds each time: kernels keep nothing from one run to the next.
#include "backends/common/KernelTable.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/RandomBits.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Random.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <type_traits>

namespace tenon::ref
{

namespace
{

using backends::Prepared;
using backends::Scratch;
using backends::Types;
using backends::TypeSet;

constexpr TypeSet IndexTypes = {DataType::Signed32, DataType::Signed64};
constexpr TypeSet BitTypes = {DataType::Signed32, DataType::Signed64, DataType::Unsigned32, DataType::Unsigned64};

constexpr backends::TypeRow RandomTypes[] = {Types({IndexTypes}, DataType::Float32)};
constexpr backends::TypeRow MultinomialTypes[] = {Types({DataType::Float32, IndexTypes}, IndexTypes)};
constexpr backends::TypeRow BitGeneratorTypes[] = {Types({DataType::Unsigned64}, DataType::Unsigned64)};

/// A number in [0, 1): the low 23 bits are the fraction of a number in [1, 2).
float ToUnitFloat(uint32_t bits)
{
    return std::bit_cast<float>(uint32_t{127} << 23 | (bits & 0x7FFFFFU)) - 1.0f;
}

/// The same with 52 bits, the upper ones first.
double ToUnitDouble(uint32_t upper, uint32_t lower)
{
    const uint64_t bits = (uint64_t{upper} << 32 | lower) & 0xFFFFFFFFFFFFFU;
    return std::bit_cast<double>(uint64_t{1023} << 52 | bits) - 1.0;
}

std::array<float, 4> ToUniform(const std::array<uint32_t, 4>& block)
{
    return {ToUnitFloat(block[0]), ToUnitFloat(block[1]), ToUnitFloat(block[2]), ToUnitFloat(block[3])};
}

/// The Box-Muller transform: converts two uniform numbers to two normal ones.
std::array<float, 4> ToNormal(const std::array<uint32_t, 4>& block)
{
    constexpr float Min = 1.0e-7f; // minimum argument of the logarithm
    std::array<float, 4> values{};
    for (size_t i = 0; i < 4; i += 2)
    {
        const float radius = std::sqrt(-2.0f * std::log(std::max(ToUnitFloat(block[i]), Min)));
        const auto angle = static_cast<float>(2.0 * std::numbers::pi * double{ToUnitFloat(block[i + 1])});
        values[i] = std::sin(angle) * radius;
        values[i + 1] = std::cos(angle) * radius;
    }
    return values;
}

Prepared PrepareRandom(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<RandomDescriptor>();
    const auto convert = descriptor.m_Distribution == RandomDistribution::Uniform ? ToUniform : ToNormal;
    return [convert, start = PhiloxSequence(descriptor.m_Seed, descriptor.m_Seed2),
            count = args.GetOutput(0).GetNumElements()](const ExecuteArgs& run)
    {
        PhiloxSequence sequence = start;
        auto* out = run.GetOutput<float>(0);
        for (size_t done = 0; done < count; done += 4)
        {
            const std::array<float, 4> values = convert(sequence.Next());
            std::copy_n(values.begin(), std::min<size_t>(4, count - done), out + done);
        }
    };
}

/// Sums of the probabilities up to each class, not normalized. Logits that are not finite are ignored.
void AccumulateOdds(const float* logits, size_t classes, double* sums)
{
    float largest = std::numeric_limits<float>::lowest();
    for (size_t i = 0; i < classes; ++i)
    {
        largest = std::isfinite(logits[i]) ? std::max(largest, logits[i]) : largest;
    }
    double sum = 0.0;
    for (size_t i = 0; i < classes; ++i)
    {
        sum += std::isfinite(logits[i]) ? std::exp(double{logits[i]} - double{largest}) : 0.0;
        sums[i] = sum;
    }
}

template <typename T>
Prepared MakeMultinomial(const ReshapeArgs& args)
{
    const auto& descriptor = args.GetDescriptor<MultinomialDescriptor>();
    const size_t batch = args.GetOutput(0).GetShape()[0];
    const size_t samples = args.GetOutput(0).GetShape()[1];
    const size_t classes = args.GetInput(0).GetShape()[1];
    Scratch scratch;
    const size_t sumsAt = scratch.Add<double>(classes);
    return {[=, start = PhiloxSequence(descriptor.m_Seed, descriptor.m_Seed2)](const ExecuteArgs& run)
            {
                PhiloxSequence sequence = start;
                std::array<uint32_t, 4> block{};
                size_t used = block.size();
                const auto* logits = run.GetInput<float>(0);
                auto* sums = Scratch::At<double>(run.m_Scratch, sumsAt);
                T* out = run.GetOutput<T>(0);
                for (size_t row = 0; row < batch; ++row, logits += classes)
                {
                    AccumulateOdds(logits, classes, sums);
                    for (size_t i = 0; i < samples; ++i, used += 2)
                    {
                        if (used == block.size()) // two words per sample, across rows
                        {
                            block = sequence.Next();
                            used = 0;
                        }
                        const double drawn = ToUnitDouble(block[used], block[used + 1]) * sums[classes - 1];
                        *out++ = static_cast<T>(std::upper_bound(sums, sums + classes, drawn) - sums);
                    }
                }
            },
            scratch.GetBytes()};
}

Prepared PrepareMultinomial(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorShape& logits = args.GetInput(0).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    if (logits.GetNumDimensions() != 2 || output.GetNumDimensions() != 2 || logits[0] != output[0] || logits[1] == 0)
    {
        throw LayerValidationException("Multinomial of logits of shape " + logits.ToString() + " to " +
                                       output.ToString() + ": they must be [batch, classes] and [batch, samples]");
    }
    return DispatchType<int32_t, int64_t>(args.GetOutput(0).GetDataType(), [&](auto tag)
                                          { return MakeMultinomial<typename decltype(tag)::Type>(args); });
}

/// Fills `words` words with blocks of numbers. Advances the lower 64 bits of the counter.
template <size_t N, typename Generator>
void FillWords(const RandomKey& key, std::array<uint32_t, N>& counter, std::byte* out, size_t words,
               const Generator& generate)
{
    for (size_t done = 0; done < words; done += N)
    {
        const std::array<uint32_t, N> block = generate(key, counter);
        std::memcpy(out + done * sizeof(uint32_t), block.data(), std::min(N, words - done) * sizeof(uint32_t));
        counter[1] += ++counter[0] == 0 ? 1 : 0;
    }
}

Prepared PrepareRngBitGenerator(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const bool isThreeFry = args.GetDescriptor<RngBitGeneratorDescriptor>().m_Algorithm == RngAlgorithm::ThreeFry;
    const size_t stateSize = args.GetInput(0).GetNumElements();
    if ((stateSize != 2 && (isThreeFry || stateSize != 3)) || args.GetOutput(0).GetNumElements() != stateSize)
    {
        throw LayerValidationException(
            "RngBitGenerator with a state of shape " + args.GetInput(0).GetShape().ToString() + " to " +
            args.GetOutput(0).GetShape().ToString() + ": both must have 2 elements, or 3 for Philox");
    }
    return [isThreeFry, stateSize, words = args.GetOutput(1).GetNumBytes() / sizeof(uint32_t)](const ExecuteArgs& run)
    {
        std::array<uint64_t, 3> state{};
        std::copy_n(run.GetInput<uint64_t>(0), stateSize, state.begin());
        const auto lower = [&](size_t i) { return static_cast<uint32_t>(state[i]); };
        const auto upper = [&](size_t i) { return static_cast<uint32_t>(state[i] >> 32); };
        const RandomKey key = {lower(0), upper(0)};
        auto* out = run.GetOutput<std::byte>(1);
        if (isThreeFry)
        {
            std::array<uint32_t, 2> counter = {lower(1), upper(1)};
            FillWords(key, counter, out, words, ThreeFry);
            state[1] = uint64_t{counter[1]} << 32 | counter[0];
        }
        else
        {
            const size_t last = stateSize == 3 ? 2 : 0; // a state of two words uses the key again
            std::array<uint32_t, 4> counter = {lower(1), upper(1), lower(last), upper(last)};
            FillWords(key, counter, out, words, Philox);
            state[1] = uint64_t{counter[1]} << 32 | counter[0];
        }
        std::copy_n(state.begin(), stateSize, run.GetOutput<uint64_t>(0));
    };
}

SupportResult CheckRngBitGenerator(const LayerView& layer)
{
    if (!BitTypes.Has(layer.GetOutput(1).GetDataType()))
    {
        return SupportResult::No(SupportCode::UnsupportedType, "output 1 must be of 32- or 64-bit integers");
    }
    return SupportResult::Yes();
}

} // namespace

extern const backends::Kernel RefRandomKernel = {"RefRandom", RandomTypes, PrepareRandom};
extern const backends::Kernel RefMultinomialKernel = {"RefMultinomial", MultinomialTypes, PrepareMultinomial};
extern const backends::Kernel RefRngBitGeneratorKernel = {"RefRngBitGenerator", BitGeneratorTypes,
                                                          PrepareRngBitGenerator, CheckRngBitGenerator};

} // namespace tenon::ref
