// SPDX-License-Identifier: Apache-2.0
// FloatWeights: the constant weights of a float layer as the model stores them: Float32, Float16 or BFloat16. Packing
// reads them in slices, so that no Float32 copy of all weights exists.
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
    /// `input`: a constant input of one of these types.
    FloatWeights(const LayerView& layer, size_t input);

    bool Is16Bit() const { return m_Words != nullptr; }
    DataType GetType() const { return m_Type; }
    /// The weights in their own type.
    const void* GetData() const { return m_Words != nullptr ? static_cast<const void*>(m_Words) : m_Floats; }
    /// Precondition: the type is Float32.
    const float* GetFloats() const { return m_Floats; }
    /// Writes `count` weights from `first` on, as floats.
    void Copy(size_t first, size_t count, float* to) const;
    /// `count` weights from `first` on, as floats; those of 16 bits are widened into `memory`.
    const float* Get(size_t first, size_t count, std::vector<float>& memory) const;
    const float* GetAll(size_t count, std::vector<float>& memory) const { return Get(0, count, memory); }

private:
    DataType m_Type = DataType::Float32;
    const float* m_Floats = nullptr;
    const uint16_t* m_Words = nullptr;
};

} // namespace tenon::cpu
