// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: casts to derived classes, which assertions check.
#pragma once

#include <armnn/Exceptions.hpp>
#include <armnn/Namespace.hpp>
#include <armnn/utility/Assert.hpp>
#include <memory>
#include <type_traits>
#include <typeinfo>

// ARMNN_POLYMORPHIC_CAST_TESTABLE: a wrong cast throws std::bad_cast, with NDEBUG too.
#if defined(ARMNN_POLYMORPHIC_CAST_TESTABLE)
#define ARMNN_POLYMORPHIC_CAST_CHECK_METHOD(cond) ::tenon::ConditionalThrow<std::bad_cast>(cond)
#else
#define ARMNN_POLYMORPHIC_CAST_CHECK_METHOD(cond) ARMNN_ASSERT(cond)
#endif
#if defined(ARMNN_POLYMORPHIC_CAST_TESTABLE) || !defined(NDEBUG)
#define ARMNN_POLYMORPHIC_CAST_CHECK(cond) ARMNN_POLYMORPHIC_CAST_CHECK_METHOD(cond)
#else
#define ARMNN_POLYMORPHIC_CAST_CHECK(cond)
#endif

namespace tenon
{

namespace utility
{

/// static_cast and dynamic_cast of pointers, shared or not, to pointers to T1.
template <typename T1, typename T2>
std::shared_ptr<T1> StaticPointerCast(const std::shared_ptr<T2>& sp)
{
    return std::static_pointer_cast<T1>(sp);
}
template <typename T1, typename T2>
T1* StaticPointerCast(T2* ptr)
{
    return static_cast<T1*>(ptr);
}
template <typename T1, typename T2>
std::shared_ptr<T1> DynamicPointerCast(const std::shared_ptr<T2>& sp)
{
    return std::dynamic_pointer_cast<T1>(sp);
}
template <typename T1, typename T2>
T1* DynamicPointerCast(T2* ptr)
{
    return dynamic_cast<T1*>(ptr);
}

} // namespace utility

/// Child* child = PolymorphicDowncast<Child*>(base);
template <typename DestType, typename SourceType>
DestType PolymorphicDowncast(SourceType* value)
{
    static_assert(std::is_pointer<DestType>::value, "PolymorphicDowncast gives a pointer");
    ARMNN_POLYMORPHIC_CAST_CHECK(dynamic_cast<DestType>(value) == value);
    return static_cast<DestType>(value);
}

/// auto child = PolymorphicPointerDowncast<Child>(base); of a pointer or a std::shared_ptr.
template <typename DestType, typename SourceType>
auto PolymorphicPointerDowncast(const SourceType& value)
{
    ARMNN_POLYMORPHIC_CAST_CHECK(utility::DynamicPointerCast<DestType>(value) == value);
    return utility::StaticPointerCast<DestType>(value);
}

} // namespace tenon
