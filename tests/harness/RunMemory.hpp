// SPDX-License-Identifier: Apache-2.0
// RunMemory: what a test's body has computed on one instruction set, for its runs on others. A body that runs once for
// each level (IsaTest.hpp) makes the same inputs each time, and has CpuRef compute the same results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

namespace tenon
{
class TensorInfo;
} // namespace tenon

namespace tenon::test
{

/// Stands for contents, which differ where their keys do and are taken for the same where these are.
struct ContentKey
{
    uint64_t m_First = 0;
    uint64_t m_Second = 0;

    auto operator<=>(const ContentKey&) const = default;
};

/// Makes a key of what is added, in this order, by XXH3 (xxHash) of 128 bits: no two contents of a test have the same
/// one by chance.
class ContentHash
{
public:
    void AddBytes(const void* data, size_t bytes);
    void Add(const std::string& text) { AddBytes(text.data(), text.size()); }
    /// Types and shapes, quantization and whether it is constant.
    void Add(const TensorInfo& info);
    template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T> || std::is_enum_v<T>>>
    void Add(T value)
    {
        AddBytes(&value, sizeof(value));
    }

    ContentKey GetKey() const { return m_Key; }

private:
    ContentKey m_Key;
};

class RunMemory
{
public:
    /// What a workload gave.
    struct Run
    {
        std::vector<std::byte> m_Bytes; ///< of all outputs
        std::string m_Kernel;
        bool m_IsSplit = false;     ///< it depends on the number of threads
        unsigned int m_Threads = 1; ///< that it had
        uint32_t m_Reads = 0;       ///< bits of the features that it asked for
        uint32_t m_FeatureBits = 0; ///< bits of the features in force when it ran
    };

    /// The one that there is while a body runs on one level after the other; null at other times.
    static RunMemory* Get();

    RunMemory();
    ~RunMemory();
    RunMemory(const RunMemory&) = delete;
    RunMemory& operator=(const RunMemory&) = delete;

    /// A run of this key that does what one would now: all features that it asked for are as they were then, and so is
    /// the number of threads if it asked for that. Null if there is none.
    std::shared_ptr<const Run> FindRun(const ContentKey& key, unsigned int threads) const;
    /// Keeps it unless there is too much already, as for tensors.
    void AddRun(const ContentKey& key, const std::shared_ptr<const Run>& run);
    size_t CountRuns() const { return m_Order.size(); }
    /// Forgets the last runs until `count` are left.
    void ForgetRuns(size_t count);

    /// Whether a result was found right: the key is of it, and of all that it is judged by.
    bool WasJudged(const ContentKey& key) const { return m_Judged.count(key) != 0; }
    void AddJudged(const ContentKey& key) { m_Judged.insert(key); }

    /// Bytes of a random tensor, which depend on nothing but the key; null if none are known.
    const std::vector<std::byte>* FindTensor(const ContentKey& key) const;
    void AddTensor(const ContentKey& key, const std::vector<std::byte>& bytes);

private:
    bool HasRoom(size_t bytes);

    using Runs = std::multimap<ContentKey, std::shared_ptr<const Run>>;
    Runs m_Runs;
    std::vector<Runs::iterator> m_Order; ///< in which they were added
    std::set<ContentKey> m_Judged;
    std::map<ContentKey, std::vector<std::byte>> m_Tensors;
    size_t m_Bytes = 0; ///< of all
};

} // namespace tenon::test
