// SPDX-License-Identifier: Apache-2.0
// Activations that a kernel applies to its own output while that is in the cache. Kernels of built-in backends fuse the
// clamps: ReLu and BoundedReLu. Their rows name FuseClamp, their prepare functions read ReshapeArgs::m_FusedActivation.
#pragma once

#include "backends/common/Quantization.hpp"

#include <tenon/backend/ILayerSupport.hpp>

#include <algorithm>
#include <cstddef>

namespace tenon::backends
{

/// For Kernel::m_Fuse: a ReLu, or a BoundedReLu with numbers for bounds, behind an output of Float32, Float64, Float16,
/// BFloat16 or of a quantized type with one scale, in which the bounds leave something.
SupportResult FuseClamp(const LayerView& layer, const ActivationDescriptor& activation);

/// A clamp of float results; none at all where there is no activation. The expression is that of the Activation layer,
/// min(max(x, low), high), so that infinities, signed zeros and NaN come out alike: NaN stays NaN.
class FloatClamp
{
public:
    FloatClamp() = default;
    /// `activation`: one that FuseClamp accepted, or null.
    explicit FloatClamp(const ActivationDescriptor* activation);

    bool IsActive() const { return m_IsActive; }
    float GetLow() const { return m_Low; }
    float GetHigh() const { return m_High; }
    /// T: float or double.
    template <typename T>
    T operator()(T x) const
    {
        return std::min(std::max(x, T{m_Low}), T{m_High});
    }
    /// Clamps values in place, if there is an activation.
    template <typename T>
    void Run(T* values, size_t count) const
    {
        if (m_IsActive)
        {
            const T low = m_Low;
            const T high = m_High;
            for (size_t i = 0; i < count; ++i)
            {
                values[i] = std::min(std::max(values[i], low), high);
            }
        }
    }

private:
    bool m_IsActive = false;
    float m_Low = 0.0f;
    float m_High = 0.0f;
};

/// The stored values that the activation leaves of a quantized output; all of its type where `activation` is null.
QuantizedRange GetFusedRange(const TensorInfo& output, const ActivationDescriptor* activation);

} // namespace tenon::backends
