// SPDX-License-Identifier: Apache-2.0
// ISerializer: writes networks as .tenon files, before or after optimization. docs/serialization.md describes the
// format.
#pragma once

#include <tenon/INetwork.hpp>

#include <memory>
#include <ostream>

namespace tenon
{

class ISerializer;
using ISerializerPtr = std::unique_ptr<ISerializer, void (*)(ISerializer* serializer)>;

/// One thread at a time.
class TENON_API ISerializer
{
public:
    static ISerializer* CreateRaw();
    static ISerializerPtr Create();
    static void Destroy(ISerializer* serializer);
    virtual ~ISerializer();

    /// Makes a file of the network in memory, constants included: the network need not live on. Throws
    ///   GraphValidationException,
    ///   LayerValidationException   the network is malformed: Optimize() would refuse it too
    ///   UnimplementedException     a layer holds something that no file can: a blob that a backend compiled, before
    ///                              optimization or where the backend cannot save it
    ///   InvalidArgumentException   a field has no value of its enumeration
    virtual void Serialize(const INetwork& inNetwork) = 0;
    /// The same for an optimized network that is not loaded yet. Such a file is loaded without another optimization, on
    /// machines that have the same backends (Tenon). Blobs are written by the backend that compiled them, if it can
    /// (IBackend::SaveCompiledBlob).
    virtual void Serialize(const IOptimizedNetwork& network) = 0;

    /// Writes the file that Serialize() made last. Returns whether the stream took all of it. Throws
    /// InvalidArgumentException when nothing was serialized.
    virtual bool SaveSerializedToStream(std::ostream& stream) = 0;
};

} // namespace tenon
