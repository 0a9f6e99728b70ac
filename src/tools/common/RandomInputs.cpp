// SPDX-License-Identifier: Apache-2.0
// See RandomInputs.hpp.
#include "tools/common/RandomInputs.hpp"

#include "tools/common/Elements.hpp"
#include "tools/common/FileInput.hpp"
#include "tools/common/OnnxModel.hpp"
#include "tools/common/TensorMemory.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstdint>

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

void FillWithRandom(InputData& data, size_t index)
{
    RandomBits random(index + 1);
    if (IsAnyBitPatternGood(data.m_Info))
    {
        for (size_t i = 0; i < data.m_Data.Size(); ++i)
        {
            data.m_Data.Data()[i] = static_cast<std::byte>(random.Next() >> 56);
        }
        return;
    }
    const DataType type = data.m_Info.GetDataType();
    const bool isWhole = IsIntegerType(type) || type == DataType::Boolean;
    const uint64_t count = data.m_Info.GetShape().GetNumElements64();
    for (size_t i = 0; i < count; ++i)
    {
        const double unit = random.NextUnit();
        SetElement(type, data.m_Data.Data(), i, isWhole ? std::floor(2.0 * unit) : 2.0 * unit - 1.0);
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

void FillRandomInputs(const std::vector<Binding>& bindings, std::vector<InputData>& inputs)
{
    // All memory first: filling takes long where there is much of it.
    for (size_t i = 0; i < inputs.size(); ++i)
    {
        At(PlaceOf(bindings[i]), inputs[i].m_Info, [&] { inputs[i].m_Data = Buffer(inputs[i].m_Info.GetNumBytes()); });
    }
    for (size_t i = 0; i < inputs.size(); ++i)
    {
        FillWithRandom(inputs[i], i);
    }
}

} // namespace tenon::tools
