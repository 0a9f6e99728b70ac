// SPDX-License-Identifier: Apache-2.0
// Rows of the operators that make random numbers.
#include "parsers/tflite/operators/Rows.hpp"

namespace tenon::tflite
{

namespace
{

template <typename Descriptor>
void ReadSeeds(const OperatorView& op, Descriptor& descriptor)
{
    descriptor.m_Seed = op.Int64("seed", 0);
    descriptor.m_Seed2 = op.Int64("seed2", 0);
}

void AddNumbers(const OperatorView& op, NetworkBuilder& builder, RandomDistribution distribution)
{
    RandomDescriptor descriptor;
    descriptor.m_Distribution = distribution;
    ReadSeeds(op, descriptor);
    builder.Wire(op, builder.Network().AddRandomLayer(descriptor, op.LayerName().c_str()), {0});
}

void AddMultinomial(const OperatorView& op, NetworkBuilder& builder)
{
    MultinomialDescriptor descriptor;
    ReadSeeds(op, descriptor);
    builder.Wire(op, builder.Network().AddMultinomialLayer(descriptor, op.LayerName().c_str()), {0, 1});
}

void AddRandomStandardNormal(const OperatorView& op, NetworkBuilder& builder)
{
    AddNumbers(op, builder, RandomDistribution::StandardNormal);
}

void AddRandomUniform(const OperatorView& op, NetworkBuilder& builder)
{
    AddNumbers(op, builder, RandomDistribution::Uniform);
}

} // namespace

Span<const OperatorRow> GetRandomRows()
{
    static constexpr OperatorRow rows[] = {
        {"MULTINOMIAL", AddMultinomial, 2, 2, 1, 1},
        {"RANDOM_STANDARD_NORMAL", AddRandomStandardNormal, 1, 1, 1, 1},
        {"RANDOM_UNIFORM", AddRandomUniform, 1, 1, 1, 1},
    };
    return {rows, std::size(rows)};
}

} // namespace tenon::tflite
