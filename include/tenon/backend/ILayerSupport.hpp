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

/// Asking changes nothing and never throws for a layer that is merely unsupported. Thread-safe.
class TENON_API ILayerSupport
{
public:
    virtual ~ILayerSupport();
    virtual SupportResult IsLayerSupported(const LayerView& layer) const = 0;
};

} // namespace tenon
