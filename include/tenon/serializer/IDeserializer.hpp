// SPDX-License-Identifier: Apache-2.0
// IDeserializer: makes networks from .tenon files and from those of Arm NN (.armnn). docs/serialization.md describes
// the format of the former, docs/armnn.md describes the conversion of the latter's layers.
#pragma once

#include <tenon/INetwork.hpp>
#include <tenon/Limits.hpp>
#include <tenon/Tensor.hpp>

#include <cstdint>
#include <istream>
#include <memory>
#include <string>
#include <vector>

namespace tenon
{

class ICustomOperator;
class IDeserializer;
using IDeserializerPtr = std::unique_ptr<IDeserializer, void (*)(IDeserializer* deserializer)>;

/// A file is hostile input: it is verified before it is read, and every index, shape, size and name after that.
/// Constants of a mapped file are used in place; the network keeps the file mapped. The content tells a .armnn file,
/// whose network is never an optimized one. One thread at a time.
///
/// All methods that read throw ParseException for a file that is corrupt, contradicts itself, exceeds a limit, or is of
/// a newer version than this library knows; the text names the layer. UnimplementedException: a Custom layer needs an
/// operator of the application that the options do not have; a .armnn file has kinds of layers that releases of Arm NN
/// after 23.08 brought, and the text lists all of them.
class TENON_API IDeserializer
{
public:
    struct DeserializerOptions
    {
        /// Implementations of custom operators: Custom layers that had one when they were written get it back by its
        /// name.
        std::vector<std::shared_ptr<const ICustomOperator>> m_CustomOperators;
        /// Bounds that the file is checked against before anything is allocated.
        Limits m_Limits;
    };

    static IDeserializer* CreateRaw(const Optional<DeserializerOptions>& options = EmptyOptional());
    static IDeserializerPtr Create(const Optional<DeserializerOptions>& options = EmptyOptional());
    static void Destroy(IDeserializer* deserializer);
    virtual ~IDeserializer();

    /// Reads a network that was saved before optimization. The bytes are copied.
    virtual INetworkPtr CreateNetworkFromBinary(const std::vector<uint8_t>& binaryContent) = 0;
    /// Reads the stream to its end.
    virtual INetworkPtr CreateNetworkFromBinary(std::istream& binaryContent) = 0;
    /// Maps the file. Throws FileNotFoundException for a missing one (Tenon).
    virtual INetworkPtr CreateNetworkFromBinaryFile(const char* graphFile) = 0;

    /// Reads an optimized network, for the backends of a runtime (Tenon). The optimizer does not run. The properties
    /// that the runtime relies on are checked again, since the file may be no work of the optimizer, or come from
    /// another machine. Throws
    ///   BackendUnavailableException   a layer was given to a backend that is not there
    ///   UnimplementedException        a backend that is there refuses a layer that was given to it
    ///   LayerValidationException,
    ///   GraphValidationException      Optimize() would refuse the network, or give another shape
    virtual IOptimizedNetworkPtr CreateOptimizedNetworkFromBinary(const std::vector<uint8_t>& binaryContent,
                                                                  const IDeviceSpec& deviceSpec) = 0;
    virtual IOptimizedNetworkPtr CreateOptimizedNetworkFromBinary(std::istream& binaryContent,
                                                                  const IDeviceSpec& deviceSpec) = 0;
    virtual IOptimizedNetworkPtr CreateOptimizedNetworkFromBinaryFile(const char* graphFile,
                                                                      const IDeviceSpec& deviceSpec) = 0;

    /// Whether a file, or the bytes of one, hold an optimized network (Tenon).
    virtual bool IsOptimizedFile(const char* graphFile) const = 0;
    virtual bool IsOptimizedBinary(const std::vector<uint8_t>& binaryContent) const = 0;

    /// The bindings of the network that was read last, by name. `layerId` is Arm NN's parameter and makes no
    /// difference. An input's info is constant, so that a ConstTensor can be made from it. Sizes of outputs that the
    /// file leaves open follow from the inputs' shapes; they are unknown where they depend on values. Both throw
    /// ParseException for an unknown name; the text lists the known names.
    virtual BindingPointInfo GetNetworkInputBindingInfo(unsigned int layerId, const std::string& layerName) const = 0;
    virtual BindingPointInfo GetNetworkOutputBindingInfo(unsigned int layerId, const std::string& layerName) const = 0;
    /// The names of the Input and Output layers in the order in which they were added, after optimization too, or in
    /// which a .armnn file lists them; one without a name is called "input_<binding id>" or "output_<binding id>", and
    /// a name that is there already gets a number behind it (Tenon).
    virtual std::vector<std::string> GetNetworkInputNames() const = 0;
    virtual std::vector<std::string> GetNetworkOutputNames() const = 0;
};

} // namespace tenon
