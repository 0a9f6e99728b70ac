// SPDX-License-Identifier: Apache-2.0
// A non-owning reference to a callable: two words, no allocation. For parameters only: it must not outlive the call
// that it is passed to. Used by ThreadPool::ParallelFor and wherever a hot call would pay for building a std::function.
#pragma once

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace tenon
{

template <typename Signature>
class FunctionRef;

template <typename Result, typename... Args>
class FunctionRef<Result(Args...)>
{
public:
    template <typename Callable,
              typename = std::enable_if_t<!std::is_same_v<std::remove_cvref_t<Callable>, FunctionRef> &&
                                          std::is_invocable_r_v<Result, Callable&, Args...>>>
    FunctionRef(Callable&& callable) noexcept // implicit: a lambda is passed as it stands
    {
        using Target = std::remove_reference_t<Callable>;
        if constexpr (std::is_function_v<Target>)
        {
            m_Target.function = reinterpret_cast<void (*)()>(&callable);
            m_Invoke = [](Pointer target, Args... args) -> Result
            { return std::invoke(*reinterpret_cast<Target*>(target.function), std::forward<Args>(args)...); };
        }
        else
        {
            m_Target.object = const_cast<void*>(static_cast<const void*>(std::addressof(callable)));
            m_Invoke = [](Pointer target, Args... args) -> Result
            { return std::invoke(*static_cast<Target*>(target.object), std::forward<Args>(args)...); };
        }
    }

    Result operator()(Args... args) const { return m_Invoke(m_Target, std::forward<Args>(args)...); }

private:
    // A function's address need not fit into an object pointer, hence two members.
    union Pointer
    {
        void* object;
        void (*function)();
    };

    Pointer m_Target;
    Result (*m_Invoke)(Pointer, Args...);
};

} // namespace tenon
