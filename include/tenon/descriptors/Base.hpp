// SPDX-License-Identifier: Apache-2.0
// The base of all descriptors. A descriptor names its fields once, in Visit; equality, clone, dump and serialization
// derive from that.
//
// m_ParametersAsInputs (Tenon), in the descriptors that have it: parameters arrive as tensors at run time. The layer
// then has the extra inputs that the comment of its descriptor names, and the fields they replace are ignored. These
// inputs are integer tensors, Signed32 or Signed64.
#pragma once

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
