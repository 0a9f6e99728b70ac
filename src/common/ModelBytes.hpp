// SPDX-License-Identifier: Apache-2.0
// What all readers of model files share: the bytes and who keeps them alive, a bound on what may be read out of them,
// and the words that say where something was refused. Used by the parsers and the deserializer.
#pragma once

#include <tenon/Exceptions.hpp>
#include <tenon/Limits.hpp>
#include <tenon/Span.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace tenon
{

/// The bytes in memory that is aligned to CopyAlignment.
std::shared_ptr<const void> AlignedCopy(Span<const uint8_t> bytes);
constexpr size_t CopyAlignment = 64;

struct ModelBytes
{
    /// Mapped. Throws FileNotFoundException, or ParseException for what is no regular file or above
    /// Limits::m_MaxFileBytes.
    static ModelBytes FromFile(const std::string& path, const Limits& limits);
    /// A copy: see AlignedCopy.
    static ModelBytes FromCopy(Span<const uint8_t> bytes, const Limits& limits);
    /// Used in place, without an owner; copied where they are not aligned to `alignment`.
    static ModelBytes FromMemory(Span<const uint8_t> bytes, size_t alignment, const Limits& limits);

    std::shared_ptr<const void> m_Owner;
    Span<const uint8_t> m_Bytes;
};

/// Counts what is read out of a model. A well-formed file mentions each of its bytes about once; one that refers to the
/// same long list a thousand times would cost memory and time out of proportion, and is refused.
class ReadBudget
{
public:
    explicit ReadBudget(size_t fileBytes);
    /// Throws ParseException.
    void Charge(size_t bytes);
    /// What was counted so far.
    uint64_t Charged() const { return m_Charged; }

private:
    uint64_t m_Max;
    uint64_t m_Charged = 0;
};

/// Calls `function`; what it throws gets `context()` in front. What the public classes refuse is the model's fault.
template <typename Context, typename Function>
void WithModelContext(Context context, Function function)
{
    try
    {
        function();
    }
    catch (UnimplementedException& error) // before its base, which is the model's fault
    {
        error.AddContext(context());
        throw;
    }
    catch (const InvalidArgumentException& error)
    {
        throw ParseException(fmt::format("{}: {}", context(), error.what()));
    }
    catch (Exception& error)
    {
        error.AddContext(context());
        throw;
    }
}

} // namespace tenon
