// SPDX-License-Identifier: Apache-2.0
// FloatWeights: the constant weights of a float product as the model stores them: Float32, Float16 or BFloat16.
// Packing reads them in slices, so that there is never a Float32 copy of all of them beside what is packed.
#pragma once

#include <tenon/backend/LayerView.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::cpu
{

class FloatWeights
{
public:
    explicit FloatWeights(const float* floats) : m_Floats(floats) {}
    /// Of a constant input of one of these types.
    FloatWeights(const LayerView& layer, size_t input);

    bool AreHalves() const { return m_Halves != nullptr; }
    DataType GetType() const { return m_Type; }
    /// Of their type.
    const void* GetData() const { return m_Halves != nullptr ? static_cast<const void*>(m_Halves) : m_Floats; }
    /// Precondition: they are no halves.
    const float* GetFloats() const { return m_Floats; }
    /// Writes `count` of them, from `first` on, as floats.
    void Copy(size_t first, size_t count, float* to) const;
    /// `count` of them, from `first` on, as floats: in `memory` if they are halves.
    const float* Get(size_t first, size_t count, std::vector<float>& memory) const;
    const float* GetAll(size_t count, std::vector<float>& memory) const { return Get(0, count, memory); }

private:
    DataType m_Type = DataType::Float32;
    const float* m_Floats = nullptr;
    const uint16_t* m_Halves = nullptr;
};

} // namespace tenon::cpu
