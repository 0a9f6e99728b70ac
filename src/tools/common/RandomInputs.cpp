// SPDX-License-Identifier: Apache-2.0
// See RandomInputs.hpp.
#include "tools/common/RandomInputs.hpp"

#include "tools/common/Elements.hpp"
#include "tools/common/FileInput.hpp"
#include "tools/common/OnnxModel.hpp"
#include "tools/common/TensorMemory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace tenon::tools
{
namespace
{

/// splitmix64: the same values on every machine, which the distributions of <random> do not promise.
class RandomBits
{
public:
    explicit RandomBits(uint64_t seed) : m_State(seed) {}

    uint64_t Next()
    {
        m_State += 0x9E3779B97F4A7C15U;
        uint64_t bits = m_State;
        bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9U;
        bits = (bits ^ bits >> 27) * 0x94D049BB133111EBU;
        return bits ^ bits >> 31;
    }

    /// In [0, 1), a multiple of 2^-24, so that it is the same in every float type that can hold it.
    double NextUnit() { return std::ldexp(static_cast<double>(Next() >> 40), -24); }

    /// Gaussian in [0, 1), around a half with a third as standard deviation. Sums of 12 uniform numbers have a variance
    /// of 1 and, unlike logarithms, the same bits on every machine.
    double NextGaussianUnit()
    {
        constexpr int numTerms = 12;
        for (;;)
        {
            double sum = 0.0;
            for (int i = 0; i < numTerms; ++i)
            {
                sum += NextUnit();
            }
            const double unit = std::ldexp(std::floor(std::ldexp(0.5 + (sum - 0.5 * numTerms) / 3.0, 24)), -24);
            if (unit >= 0.0 && unit < 1.0)
            {
                return unit;
            }
        }
    }

private:
    uint64_t m_State;
};

/// Whether random bits are good values of the type: quantized ones stand for a real number whatever they are.
bool IsAnyBitPatternGood(const TensorInfo& info)
{
    return info.IsQuantized() || info.GetDataType() == DataType::QSymmS4;
}

/// Without memory.
InputData PlanRandomInput(const TensorInfo& info, const Limits& limits)
{
    InputData data{info, {}, "seeded random values"};
    TensorShape& shape = data.m_Info.GetShape();
    if (shape.GetDimensionality() == Dimensionality::NotSpecified)
    {
        RequireKnownShape(info); // throws
    }
    for (unsigned int d = 0; d < shape.GetNumDimensions(); ++d)
    {
        if (!shape.GetDimensionSpecificity(d))
        {
            shape.SetDimensionSize(d, 1);
            data.m_Description = "seeded random values, open dimensions taken as 1";
        }
    }
    CheckTensorBytes(data.m_Info, limits);
    return data;
}

void FillWithRandomBits(Buffer& data, RandomBits& random)
{
    for (size_t i = 0; i < data.Size(); ++i)
    {
        data.Data()[i] = static_cast<std::byte>(random.Next() >> 56);
    }
}

/// The range of the values of a quantized type, [first, second).
std::pair<double, double> RangeOf(DataType type)
{
    const bool isUnsigned = type == DataType::QAsymmU8;
    const int bits = type == DataType::QSymmS4 ? 4 : static_cast<int>(8 * GetDataTypeSize(type));
    const double width = std::ldexp(1.0, bits);
    return isUnsigned ? std::pair(0.0, width) : std::pair(-0.5 * width, 0.5 * width);
}

void FillWithRandom(InputData& data, size_t index, Distribution distribution, uint64_t set)
{
    RandomBits random(index + 1 + (set << 32));
    const bool isQuantized = IsAnyBitPatternGood(data.m_Info);
    const bool isGaussian = distribution == Distribution::Gaussian;
    if (isQuantized && !isGaussian)
    {
        FillWithRandomBits(data.m_Data, random);
        return;
    }
    const DataType type = data.m_Info.GetDataType();
    const bool isWhole = !isQuantized && (IsIntegerType(type) || type == DataType::Boolean);
    const auto [low, high] = isQuantized ? RangeOf(type) : std::pair(-1.0, 1.0);
    std::fill_n(data.m_Data.Data(), data.m_Data.Size(), std::byte{0}); // elements of 4 bits share bytes
    const uint64_t count = data.m_Info.GetShape().GetNumElements64();
    for (size_t i = 0; i < count; ++i)
    {
        const double unit = isGaussian && !isWhole ? random.NextGaussianUnit() : random.NextUnit();
        const double value = isWhole ? std::floor(2.0 * unit) : low + (high - low) * unit;
        SetElement(type, data.m_Data.Data(), i, isQuantized ? std::floor(value) : value);
    }
}

} // namespace

std::vector<InputData> PlanRandomInputs(const std::vector<Binding>& bindings, const std::vector<WantedInput>& wanted,
                                        const Limits& limits)
{
    std::vector<InputData> inputs;
    for (size_t i = 0; i < bindings.size(); ++i)
    {
        if (wanted[i].m_ShapeFrom.empty())
        {
            AskForDimensions(bindings[i]);
        }
        const TensorInfo& info = wanted[i].m_Info;
        inputs.push_back(At(PlaceOf(bindings[i]), info, [&] { return PlanRandomInput(info, limits); }));
    }
    CheckTotalBytes(fmt::format("the {} inputs", inputs.size()), CountBytes(inputs), limits);
    return inputs;
}

void FillRandomInputs(const std::vector<Binding>& bindings, std::vector<InputData>& inputs, Distribution distribution,
                      uint64_t set)
{
    // All memory first: filling takes long where there is much of it.
    for (size_t i = 0; i < inputs.size(); ++i)
    {
        At(PlaceOf(bindings[i]), inputs[i].m_Info, [&] { inputs[i].m_Data = Buffer(inputs[i].m_Info.GetNumBytes()); });
    }
    for (size_t i = 0; i < inputs.size(); ++i)
    {
        FillWithRandom(inputs[i], i, distribution, set);
    }
}

} // namespace tenon::tools
