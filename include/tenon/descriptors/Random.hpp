// SPDX-License-Identifier: Apache-2.0
// The parameters of layers that draw random numbers.
#pragma once

#include <tenon/Types.hpp>
#include <tenon/descriptors/Base.hpp>

#include <cstdint>

namespace tenon
{

/// Random (Tenon): random Float32 numbers; input 0 holds the output's shape. The numbers are those of TensorFlow's
/// generator: Philox4x32-10 with m_Seed as key and m_Seed2 as the upper half of the counter. They depend on the seeds
/// alone: every run of the layer gives the same ones, and 0 is a seed like any other.
struct RandomDescriptor : detail::Described<RandomDescriptor>
{
    RandomDistribution m_Distribution = RandomDistribution::Uniform;
    int64_t m_Seed = 0;
    int64_t m_Seed2 = 0;

    template <typename V>
    static void Visit(V&& v)
    {
        v("Distribution", &RandomDescriptor::m_Distribution);
        v("Seed", &RandomDescriptor::m_Seed);
        v("Seed2", &RandomDescriptor::m_Seed2);
    }
};

/// Multinomial (Tenon): draws classes with the probabilities softmax(input 0). Input 0: logits [batch, classes]; input
/// 1: how many to draw for each row. Output [batch, count], Signed64 (or Signed32 where declared so). Seeds: see
/// RandomDescriptor. Where no logit of a row is finite, the number of classes stands for a class.
struct MultinomialDescriptor : detail::Described<MultinomialDescriptor>
{
    int64_t m_Seed = 0;
    int64_t m_Seed2 = 0;

    template <typename V>
    static void Visit(V&& v)
    {
        v("Seed", &MultinomialDescriptor::m_Seed);
        v("Seed2", &MultinomialDescriptor::m_Seed2);
    }
};

/// RngBitGenerator (Tenon): StableHLO's rng_bit_generator. Input 0: the state, Unsigned64 [2] (for Philox also [3]):
/// key, then counter. Outputs: the next state, and 32- or 64-bit integers whose type and shape must be declared.
struct RngBitGeneratorDescriptor : detail::Described<RngBitGeneratorDescriptor>
{
    RngAlgorithm m_Algorithm = RngAlgorithm::Default;

    template <typename V>
    static void Visit(V&& v)
    {
        v("Algorithm", &RngBitGeneratorDescriptor::m_Algorithm);
    }
};

} // namespace tenon
