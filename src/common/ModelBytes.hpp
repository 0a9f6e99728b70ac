// SPDX-License-Identifier: Apache-2.0
// The parts that all readers of model files share: the bytes and their owner, a bound on the amount that may be read
// out of them, and the context of error texts. The parsers and the deserializer use them.
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
    /// Maps the file. Throws FileNotFoundException, or ParseException for a path of no regular file or a file above
    /// Limits::m_MaxFileBytes.
    static ModelBytes FromFile(const std::string& path, const Limits& limits);
    /// Makes a copy: see AlignedCopy.
    static ModelBytes FromCopy(Span<const uint8_t> bytes, const Limits& limits);
    /// Uses the bytes in place, without an owner; copies them where they are not aligned to `alignment`.
    static ModelBytes FromMemory(Span<const uint8_t> bytes, size_t alignment, const Limits& limits);

    std::shared_ptr<const void> m_Owner;
    Span<const uint8_t> m_Bytes;
};

/// Counts the bytes that are read out of a model. A well-formed file mentions each of its bytes about once; one that
/// refers to the same long list a thousand times would cost memory and time out of proportion, and is refused.
class ReadBudget
{
public:
    explicit ReadBudget(size_t fileBytes);
    /// Throws ParseException.
    void Charge(size_t bytes);
    /// The bytes that were counted so far.
    uint64_t Charged() const { return m_Charged; }

private:
    uint64_t m_Max;
    uint64_t m_Charged = 0;
};

/// Calls `function`; the text of its exception gets `context()` in front. A refusal of the public classes becomes a
/// ParseException, as it is the model's fault.
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
