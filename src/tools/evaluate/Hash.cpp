// SPDX-License-Identifier: Apache-2.0
// See Hash.hpp.
#include "tools/evaluate/Hash.hpp"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <xxhash.h>

namespace tenon::tools::evaluate
{
namespace
{

class Hasher
{
public:
    Hasher() : m_State(XXH3_createState())
    {
        if (m_State == nullptr)
        {
            throw std::bad_alloc();
        }
        XXH3_128bits_reset(m_State.get());
    }

    void Add(const void* data, size_t bytes) { XXH3_128bits_update(m_State.get(), data, bytes); }

    std::string Finish() const
    {
        const XXH128_hash_t hash = XXH3_128bits_digest(m_State.get());
        return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
    }

private:
    struct Free
    {
        void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
    };
    std::unique_ptr<XXH3_state_t, Free> m_State;
};

} // namespace

std::string HashParts(const std::vector<std::string_view>& parts)
{
    Hasher hasher;
    for (const std::string_view part : parts)
    {
        const uint64_t size = part.size();
        hasher.Add(&size, sizeof(size));
        hasher.Add(part.data(), part.size());
    }
    return hasher.Finish();
}

std::string HashFile(const InputSource& source)
{
    constexpr uint64_t maxPart = uint64_t{1} << 20;
    Hasher hasher;
    InputFile file = source.Open();
    std::string part;
    while (file.Remaining() > 0)
    {
        part.resize(static_cast<size_t>(std::min(file.Remaining(), maxPart)));
        file.Read(part.data(), part.size());
        hasher.Add(part.data(), part.size());
    }
    return hasher.Finish();
}

} // namespace tenon::tools::evaluate
