// SPDX-License-Identifier: Apache-2.0
// The source positions of the rows and columns of resized images, in the same arithmetic as TFLite's reference kernels:
// float for floats and uint8, 10-bit fixed point for int8 and int16. Used by Resize, here and in CpuAcc.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace tenon::ref
{

/// One spatial axis.
struct ResizeAxis
{
    int64_t m_Input = 0;
    int64_t m_Output = 0;
    bool m_AlignCorners = false;
    bool m_HalfPixelCenters = false;

    /// Input elements from one output element to the next.
    float GetScale() const
    {
        return m_AlignCorners && m_Output > 1 ? static_cast<float>(m_Input - 1) / static_cast<float>(m_Output - 1)
                                              : static_cast<float>(m_Input) / static_cast<float>(m_Output);
    }
    size_t Clamp(int64_t index) const { return static_cast<size_t>(std::clamp<int64_t>(index, 0, m_Input - 1)); }
};

/// The input element of an output element.
class Nearest
{
public:
    using Place = size_t;

    explicit Nearest(const ResizeAxis& axis) : m_Axis(axis), m_Scale(axis.GetScale()) {}

    Place operator()(size_t i) const
    {
        const float position = (static_cast<float>(i) + (m_Axis.m_HalfPixelCenters ? 0.5f : 0.0f)) * m_Scale;
        return m_Axis.Clamp(static_cast<int64_t>(m_Axis.m_AlignCorners ? std::round(position) : std::floor(position)));
    }

private:
    ResizeAxis m_Axis;
    float m_Scale;
};

/// An output element as a weighted sum of two input elements: W is float, or an integer in units of 1/1024.
template <typename W>
struct Blend
{
    size_t m_Lower = 0;
    size_t m_Upper = 0;
    W m_LowerWeight = 0;
    W m_UpperWeight = 0;
};

/// The result of four elements: two rows, lower and upper, of two columns each. The order of products and sums is
/// TFLite's, because it shows in the last bit.
template <typename W>
W BlendFour(const W (&lower)[2], const W (&upper)[2], const Blend<W>& y, const Blend<W>& x)
{
    return lower[0] * y.m_LowerWeight * x.m_LowerWeight + upper[0] * y.m_UpperWeight * x.m_LowerWeight +
           lower[1] * y.m_LowerWeight * x.m_UpperWeight + upper[1] * y.m_UpperWeight * x.m_UpperWeight;
}

/// The Blend of an output element, for integers.
template <typename W>
class Blending
{
public:
    using Place = Blend<W>;

    explicit Blending(const ResizeAxis& axis) : m_Axis(axis)
    {
        const bool corners = axis.m_AlignCorners && axis.m_Output > 1;
        const int64_t from = corners ? axis.m_Input - 1 : axis.m_Input;
        const int64_t to = corners ? axis.m_Output - 1 : axis.m_Output;
        m_Scale = (One * from + to / 2) / to;
    }

    Place operator()(size_t i) const
    {
        const auto index = static_cast<int64_t>(i);
        const int64_t position = m_Axis.m_HalfPixelCenters ? index * m_Scale + m_Scale / 2 - One / 2 : index * m_Scale;
        Place blend;
        blend.m_Lower = m_Axis.Clamp(position / One);
        blend.m_Upper = m_Axis.Clamp((position + One - 1) / One);
        // At the edges both input elements are the same, which then has the whole weight, however far outside the
        // position is.
        const int64_t beyond =
            blend.m_Lower == blend.m_Upper ? 0 : position - One * static_cast<int64_t>(blend.m_Lower);
        blend.m_UpperWeight = static_cast<W>(beyond);
        blend.m_LowerWeight = static_cast<W>(One - beyond);
        return blend;
    }

private:
    static constexpr int64_t One = 1 << 10;
    ResizeAxis m_Axis;
    int64_t m_Scale = 0;
};

template <>
class Blending<float>
{
public:
    using Place = Blend<float>;

    explicit Blending(const ResizeAxis& axis) : m_Axis(axis), m_Scale(axis.GetScale()) {}

    Place operator()(size_t i) const
    {
        const auto index = static_cast<float>(i);
        const float position = m_Axis.m_HalfPixelCenters ? (index + 0.5f) * m_Scale - 0.5f : index * m_Scale;
        Place blend;
        blend.m_Lower = m_Axis.Clamp(static_cast<int64_t>(std::floor(position)));
        blend.m_Upper = m_Axis.Clamp(static_cast<int64_t>(std::ceil(position)));
        blend.m_UpperWeight = position - static_cast<float>(blend.m_Lower);
        blend.m_LowerWeight = 1.0f - blend.m_UpperWeight;
        return blend;
    }

private:
    ResizeAxis m_Axis;
    float m_Scale;
};

} // namespace tenon::ref
