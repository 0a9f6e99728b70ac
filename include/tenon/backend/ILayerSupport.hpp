// SPDX-License-Identifier: Apache-2.0
// ILayerSupport: a backend's answer to whether it runs a layer.
#pragma once

#include <tenon/SupportCode.hpp>
#include <tenon/backend/LayerView.hpp>

#include <string>

namespace tenon
{

struct SupportResult
{
    SupportCode m_Code = SupportCode::Supported;
    std::string m_Reason; ///< empty when supported

    bool IsSupported() const { return m_Code == SupportCode::Supported; }
    explicit operator bool() const { return IsSupported(); }

    static SupportResult Yes() { return {}; }
    static SupportResult No(SupportCode code, std::string reason) { return {code, std::move(reason)}; }
};

namespace backend
{

/// Asking changes nothing and never throws for a layer that is merely unsupported. Thread-safe.
class TENON_API ILayerSupport
{
public:
    virtual ~ILayerSupport();
    virtual SupportResult IsLayerSupported(const LayerView& layer) const = 0;
    /// Whether the backend runs `layer`, which it supports, together with `activation` on its output 0, so that the
    /// result is that of the two layers one after the other: for quantized outputs, bit for bit. Output 0 has the info
    /// that the activation's output would have. A layer is only then given to the backend with
    /// LayerView::m_FusedActivation set; backends that do not know of it keep this refusal.
    virtual SupportResult IsActivationFusable(const LayerView& layer, const ActivationDescriptor& activation) const;
    /// Whether the backend runs `layer`, whose weights (input 1) are constants of Float16 while the data is Float32,
    /// with the result that these weights as Float32 would have. Models are stored so, with a conversion that the
    /// optimizer removes where a backend says yes here. Others get Float32 weights; backends that do not know of this
    /// keep the refusal.
    virtual SupportResult AreHalfWeightsSupported(const LayerView& layer) const;
};

} // namespace backend

#ifndef TENON_BACKEND_NO_SHORT_NAMES
#define TENON_BACKEND_SHORT_NAMES
using backend::ILayerSupport;
#endif

} // namespace tenon
