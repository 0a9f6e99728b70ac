// SPDX-License-Identifier: Apache-2.0
// CpuAcc's ArgMinMax beside CpuRef's, along rows and columns. Sizes around those of vectors, and some that are
// split over threads.
#include "ops/ElementwiseOracle.hpp"
#include "ops/cpu/ChannelCases.hpp"
#include "ops/cpu/CompareWithReference.hpp"

#include <tenon/descriptors/Reduction.hpp>

#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace tenon::test::arg_min_max_parity_test
{

using namespace channel_types;

/// Few values, so that there are ties; depths around those of vectors, and rows up to the end of the tensor.
ISA_TEST(ArgMinMaxParity, AsReference)
{
    for (const TensorInfo& type : {Float, Unsigned, Signed})
    {
        for (const unsigned int depth : Channels)
        {
            for (const ArgMinMaxFunction function : {ArgMinMaxFunction::Max, ArgMinMaxFunction::Min})
            {
                for (const auto& [sizes, axis] :
                     {std::pair(std::vector{7U, 11U, depth}, -1), std::pair(std::vector{3U, depth, 37U}, 1),
                      std::pair(std::vector{depth, 600U}, 0)})
                {
                    ArgMinMaxDescriptor d;
                    d.m_Function = function;
                    d.m_Axis = axis;
                    d.m_Output_Type = depth % 2 == 0 ? DataType::Signed32 : DataType::Signed64;
                    const TensorInfo input = Shaped(type, ShapeOf(sizes));
                    std::vector<unsigned int> kept = sizes;
                    kept.erase(axis < 0 ? kept.end() - 1 : kept.begin() + axis);
                    ExpectAsReference(ReferenceCase(Name("argument", input), LayerType::ArgMinMax, d,
                                                    {Random(input, depth, -2, 2)},
                                                    Shaped(TensorInfo({1}, d.m_Output_Type), ShapeOf(kept))),
                                      "CpuArgMinMax");
                }
            }
        }
    }
}

/// Columns of bytes deeper than a byte counts: the extreme lies anywhere in them, once or twice.
ISA_TEST(ArgMinMaxParity, DeepColumnsOfBytes)
{
    constexpr unsigned int Depth = 1030;
    constexpr unsigned int Columns = 70;
    for (const TensorInfo& type : {Unsigned, Signed})
    {
        for (const ArgMinMaxFunction function : {ArgMinMaxFunction::Max, ArgMinMaxFunction::Min})
        {
            const TensorInfo input = Shaped(type, {Depth, Columns});
            std::vector<double> values = Grid(size_t{Depth} * Columns, 40, 1, 41);
            const double extreme = function == ArgMinMaxFunction::Max ? 90 : 30;
            for (size_t c = 0; c < Columns; ++c)
            {
                values[c * 14 * Columns + c] = extreme;
                values[(Depth - 1 - c / 3) * Columns + c] = c % 2 == 0 ? extreme : 60;
            }
            ArgMinMaxDescriptor d;
            d.m_Function = function;
            d.m_Axis = 0;
            d.m_Output_Type = DataType::Signed32;
            ExpectAsReference(ReferenceCase(Name("deep", input), LayerType::ArgMinMax, d, {Stored(input, values)},
                                            TensorInfo({Columns}, DataType::Signed32)),
                              "CpuArgMinMax");
        }
    }
}

ISA_TEST(ArgMinMaxParity, NaNOnlyCountsWhereThereIsNothingElse)
{
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    constexpr float infinity = std::numeric_limits<float>::infinity();
    for (const unsigned int depth : {3U, 16U, 40U})
    {
        for (const bool isLast : {true, false})
        {
            for (const ArgMinMaxFunction function : {ArgMinMaxFunction::Max, ArgMinMaxFunction::Min})
            {
                // NaN alone; before and behind the worst value; around others.
                std::vector<float> values(4 * depth, nan);
                const float worst = function == ArgMinMaxFunction::Max ? -infinity : infinity;
                const auto at = [&](unsigned int row, unsigned int i) -> float&
                { return values[isLast ? row * depth + i : i * 4 + row]; };
                at(1, 1) = worst;
                at(2, 0) = worst;
                at(3, 1) = 1.0f;
                at(3, 2) = 2.0f;
                ArgMinMaxDescriptor d;
                d.m_Function = function;
                d.m_Axis = isLast ? 1 : 0;
                const TensorInfo input(isLast ? TensorShape({4, depth}) : TensorShape({depth, 4}), DataType::Float32);
                ExpectAsReference(ReferenceCase("NaN", LayerType::ArgMinMax, d,
                                                {Stored(input, std::vector<double>(values.begin(), values.end()))},
                                                TensorInfo({4}, DataType::Signed32)),
                                  "CpuArgMinMax");
            }
        }
    }
}

} // namespace tenon::test::arg_min_max_parity_test
