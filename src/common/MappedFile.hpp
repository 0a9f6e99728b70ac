// SPDX-License-Identifier: Apache-2.0
// A file as read-only memory. The parsers read models through it, and constant tensors point into it, so it is held by
// a shared owner for as long as any of them lives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace tenon
{

class MappedFile
{
    struct Key // lets make_shared in, and nobody else
    {
    };

public:
    // Throws FileNotFoundException if there is no such file, InvalidArgumentException if it is not a regular file (a
    // directory, pipe, device: refused without opening it) or is larger than maxBytes, RuntimeException if it cannot be
    // read or mapped. An empty file gives an empty span.
    //
    // A process that maps a file depends on it: where another program cuts the file short while it is mapped, the next
    // touch of the missing part ends the process. Replace model files by renaming a new one over the old, not by
    // writing into them.
    static std::shared_ptr<const MappedFile> Open(const std::string& path, std::uint64_t maxBytes);

    MappedFile(Key, std::string path, const std::byte* data, std::size_t size);
    ~MappedFile();
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    // Where this range lies in mapped files, lets go of the memory of the pages that are wholly in it; they come back
    // from the file when they are touched again. For constants that have been copied into another order. Does nothing
    // for other memory. Thread-safe.
    static void Release(const void* data, std::size_t bytes) noexcept;

    // Starts at a page boundary.
    std::span<const std::byte> Bytes() const noexcept { return {m_Data, m_Size}; }
    const std::string& Path() const noexcept { return m_Path; }

private:
    const std::string m_Path;
    const std::byte* const m_Data;
    const std::size_t m_Size;
};

} // namespace tenon
