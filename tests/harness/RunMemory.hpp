// SPDX-License-Identifier: Apache-2.0
// RunMemory: results that a test's body has computed on one instruction set, for its runs on others. A body that runs
// once for each level (IsaTest.hpp) makes the same inputs each time, and has CpuRef compute the same results.
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

/// A key of contents: contents are taken for equal if and only if their keys are.
struct ContentKey
{
    uint64_t m_First = 0;
    uint64_t m_Second = 0;

    auto operator<=>(const ContentKey&) const = default;
};

/// Makes a key of the added contents, in this order, by XXH3 (xxHash) of 128 bits: two contents of a test do not have
/// the same key by chance.
class ContentHash
{
public:
    void AddBytes(const void* data, size_t bytes);
    void Add(const std::string& text) { AddBytes(text.data(), text.size()); }
    /// Adds type, shape, quantization and the flag IsConstant.
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
    /// The results of a workload.
    struct Run
    {
        std::vector<std::byte> m_Bytes; ///< bytes of all outputs
        std::string m_Kernel;
        bool m_IsSplit = false;     ///< it depends on the number of threads
        unsigned int m_Threads = 1; ///< number of threads that it had
        uint32_t m_Reads = 0;       ///< bits of the features that it asked for
        uint32_t m_FeatureBits = 0; ///< bits of the features in force when it ran
    };

    /// The instance that exists while a body runs on one level after the other; null at other times.
    static RunMemory* Get();

    RunMemory();
    ~RunMemory();
    RunMemory(const RunMemory&) = delete;
    RunMemory& operator=(const RunMemory&) = delete;

    /// An earlier run of this key that equals a run now: all features that it asked for are unchanged, and so is the
    /// number of threads if it depends on that. Null if there is none.
    std::shared_ptr<const Run> FindRun(const ContentKey& key, unsigned int threads) const;
    /// Keeps the run unless memory is used up, as for tensors.
    void AddRun(const ContentKey& key, const std::shared_ptr<const Run>& run);
    size_t CountRuns() const { return m_Order.size(); }
    /// Forgets the latest runs until `count` are left.
    void ForgetRuns(size_t count);

    /// Whether a result was judged as correct. The key covers the result and everything that it is judged by.
    bool WasJudged(const ContentKey& key) const { return m_Judged.count(key) != 0; }
    void AddJudged(const ContentKey& key) { m_Judged.insert(key); }

    /// Bytes of a random tensor, which depend on the key alone; null if unknown.
    const std::vector<std::byte>* FindTensor(const ContentKey& key) const;
    void AddTensor(const ContentKey& key, const std::vector<std::byte>& bytes);

private:
    bool HasRoom(size_t bytes);

    using Runs = std::multimap<ContentKey, std::shared_ptr<const Run>>;
    Runs m_Runs;
    std::vector<Runs::iterator> m_Order; ///< order in which they were added
    std::set<ContentKey> m_Judged;
    std::map<ContentKey, std::vector<std::byte>> m_Tensors;
    size_t m_Bytes = 0; ///< bytes of all runs and tensors
};

} // namespace tenon::test
