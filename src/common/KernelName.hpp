// SPDX-License-Identifier: Apache-2.0
// The name under which profiles show a step: that of the kernel that runs it.
#pragma once

#include <tenon/backend/IWorkload.hpp>

#include <cstddef>
#include <typeinfo>

namespace tenon
{

/// A shaped workload that says which kernel runs it: shapes may rule out the one that its workload was made for. It is
/// an interface of its own, since IShapedWorkload is one that backends of others implement.
class INamesKernel
{
public:
    virtual ~INamesKernel() = default;
    virtual const char* GetKernelName() const = 0;
};

/// The name of what runs `shaped`, which `workload` was reshaped to; valid as long as both.
inline const char* GetKernelName(const IWorkload& workload, const IShapedWorkload& shaped)
{
    const auto* named = dynamic_cast<const INamesKernel*>(&shaped);
    return named != nullptr ? named->GetKernelName() : workload.GetName();
}

/// The same for many workloads. Most are of the class of the one before: where its objects have the interface is found
/// once.
class KernelNames
{
public:
    const char* Get(const IWorkload& workload, const IShapedWorkload& shaped)
    {
        const auto* const object = static_cast<const std::byte*>(dynamic_cast<const void*>(&shaped));
        const std::type_info& type = typeid(shaped);
        if (m_Type != &type)
        {
            const auto* const named = dynamic_cast<const INamesKernel*>(&shaped);
            m_Type = &type;
            m_IsNamed = named != nullptr;
            m_Place = m_IsNamed ? reinterpret_cast<const std::byte*>(named) - object : 0;
        }
        return m_IsNamed ? reinterpret_cast<const INamesKernel*>(object + m_Place)->GetKernelName()
                         : workload.GetName();
    }

private:
    const std::type_info* m_Type = nullptr;
    bool m_IsNamed = false;
    std::ptrdiff_t m_Place = 0; ///< of the interface in an object of that class
};

} // namespace tenon
