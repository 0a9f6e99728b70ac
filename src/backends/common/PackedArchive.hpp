// SPDX-License-Identifier: Apache-2.0
// PackedArchive: the packed weights of a network in a file, so that the next load of it packs nothing. One archive
// writes a file, another one reads it; the kernel table's workload factory asks it for the memory of packed weights.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/common/PackedStore.hpp"

#include <memory>
#include <string>

namespace tenon::backends
{

/// The conditions under which weights were packed. A file is good for equal ones only.
struct PackedFor
{
    std::string m_Version;      ///< of Tenon, and of the packing code
    std::string m_Instructions; ///< of the processor, as far as they are used
    std::string m_Options;      ///< of the backend, as far as packing depends on them
};

class PackedArchive
{
public:
    virtual ~PackedArchive() = default;
    /// The store that `kernel` packs the layer with. Both must outlive it. Several threads may ask at once; a store
    /// that keeps packed blocks makes the others wait for as long as it lives.
    virtual std::unique_ptr<PackedStore> OpenStore(const Kernel& kernel, const LayerView& layer) = 0;
    /// All layers of the network have been packed.
    virtual void Finish() = 0;
};

/// Packs, and writes a file in Finish: a new file in the same folder first, which then replaces the one at the path, so
/// that nobody sees half a file, and mappings of an older one stay. Finish throws RuntimeException for a path that
/// cannot be written.
std::shared_ptr<PackedArchive> MakePackedWriter(const std::string& path, PackedFor packedFor);

/// Maps such a file, and never packs: a layer that the file has nothing for ends the load. Throws
/// FileNotFoundException, RuntimeException for a file that cannot be read, ParseException for one that is damaged or no
/// such file, InvalidArgumentException for one that was saved by or for something else. Whatever is in the file, blocks
/// have the size that the kernel asks for and the bytes that were written.
std::shared_ptr<PackedArchive> OpenPackedFile(const std::string& path, const PackedFor& packedFor);

} // namespace tenon::backends
