// SPDX-License-Identifier: Apache-2.0
// What all descriptors share. A descriptor names its fields once, in Visit; equality, clone, dump and serialization
// derive from that. Included by Descriptors.hpp alone.
#pragma once

#include <memory>

namespace tenon
{

/// Parameters of a layer.
struct BaseDescriptor
{
    virtual ~BaseDescriptor() = default;
    virtual bool IsNull() const { return false; }
};

namespace detail
{

/// Base of each descriptor D, which has `template <class V> static void Visit(V&& v)` calling v("Name", &D::m_Name).
template <typename D>
struct Described : BaseDescriptor
{
    friend bool operator==(const D& a, const D& b)
    {
        bool equal = true;
        D::Visit([&](const char*, auto member) { equal = equal && a.*member == b.*member; });
        return equal;
    }
    friend bool operator!=(const D& a, const D& b) { return !(a == b); }
};

} // namespace detail

/// Parameters of a layer that has none.
struct NullDescriptor : detail::Described<NullDescriptor>
{
    bool IsNull() const override { return true; }
    template <typename V>
    static void Visit(V&&)
    {
    }
};

} // namespace tenon
