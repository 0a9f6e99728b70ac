// SPDX-License-Identifier: Apache-2.0
// IOnnxParser: makes a network from an ONNX model.
#pragma once

#include <tenon/INetwork.hpp>
#include <tenon/Limits.hpp>
#include <tenon/Span.hpp>
#include <tenon/Tensor.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tenon
{

class IOnnxParser;
using IOnnxParserPtr = std::unique_ptr<IOnnxParser, void (*)(IOnnxParser* parser)>;

/// A model file is hostile input: each message, name, index, shape, size and attribute is checked as it is read.
/// Weights are used in place, in the mapped file or in mapped files of external data, wherever their alignment allows;
/// the network keeps these files mapped.
///
/// Semantics are those of the ONNX specification, of each operator in the version that the model's opset_import asks
/// for. Shape arithmetic whose values follow from known sizes is computed while the model is read, and branches whose
/// conditions do are chosen then: sizes that the model or the options fix are therefore fixed for every run, and a run
/// with other sizes is refused. Sizes that stay open may differ from run to run.
class TENON_API IOnnxParser
{
public:
    struct OnnxParserOptions
    {
        /// Shapes of graph inputs by name, in place of those in the model. Unknown dimensions of them stay open. An
        /// input that has an initializer as its default, and is no input of the network otherwise, becomes one where
        /// it has a shape here.
        std::map<std::string, TensorShape> m_InputShapes;
        /// Sizes of the model's named dimensions (dim_param), for example {"batch", 4}. A dimension without a name
        /// goes by "<input>.<number of the dimension>", for example "images.0".
        std::map<std::string, unsigned int> m_Dimensions;
        /// The folder in which files of external data lie, for a model that comes from memory. A model that comes from
        /// a file has its own folder. Empty: none; external data must then be in m_ExternalData.
        std::string m_ExternalDataFolder;
        /// Bytes of external data by the location that the model names, in place of files. They are used in place and
        /// must outlive the network and each network that is made of it.
        std::map<std::string, Span<const uint8_t>> m_ExternalData;
        /// Bounds that the model is checked against before anything is allocated.
        Limits m_Limits;
    };

    /// The head of a model: its writer, and the versions of what it uses (Tenon).
    struct ModelHeader
    {
        int64_t m_IrVersion = 0; ///< of the file format
        std::string m_ProducerName;
        std::string m_ProducerVersion;
        std::string m_Domain;
        int64_t m_ModelVersion = 0;
        std::string m_DocString;
        std::map<std::string, int64_t> m_Opsets; ///< version of each imported operator set by domain: "ai.onnx"
    };

    static IOnnxParser* CreateRaw(const Optional<OnnxParserOptions>& options = EmptyOptional());
    static IOnnxParserPtr Create(const Optional<OnnxParserOptions>& options = EmptyOptional());
    static void Destroy(IOnnxParser* parser);
    virtual ~IOnnxParser();

    /// Throws FileNotFoundException for a missing file, ParseException for a corrupt or contradictory model (the text
    /// names the graph, node and tensor), UnimplementedException for a model with operators that no layer can compute
    /// (the text lists each with its domain, version and reason), and InvalidArgumentException for an input or a
    /// dimension in the options that the model does not have (the text names those that there are).
    virtual INetworkPtr CreateNetworkFromBinaryFile(const char* graphFile) = 0;
    /// The bytes are copied.
    virtual INetworkPtr CreateNetworkFromBinary(const std::vector<uint8_t>& binaryContent) = 0;
    /// The bytes are used in place and must outlive the network and all that is made of it; 16-byte aligned for best
    /// results.
    virtual INetworkPtr CreateNetworkFromMemory(const void* data, size_t bytes) = 0;

    /// The bindings of the model parsed last. Both throw ParseException for an unknown name; the text lists the known
    /// names.
    /// An input's info is constant, so that a ConstTensor can be made from it; its dimensions that are open are
    /// unknown. An output has the sizes that are known while the model is read; IRuntime::GetOutputTensorInfo() tells
    /// more.
    virtual BindingPointInfo GetNetworkInputBindingInfo(const std::string& name) const = 0;
    virtual BindingPointInfo GetNetworkOutputBindingInfo(const std::string& name) const = 0;
    /// Names in the model's order. Initializers are no inputs, also where the model lists them among the inputs, unless
    /// OnnxParserOptions::m_InputShapes has them.
    virtual std::vector<std::string> GetInputNames() const = 0;
    virtual std::vector<std::string> GetOutputNames() const = 0;
    /// A name for each dimension of an input, as OnnxParserOptions::m_Dimensions takes it; empty for a dimension whose
    /// size the model gives. Empty for an input of unknown rank. Throws ParseException for an unknown name.
    virtual std::vector<std::string> GetDimensionNames(const std::string& input) const = 0;
    /// The model's metadata_props: class names, strides, vocabularies and the like, as its exporter put them there.
    virtual std::map<std::string, std::string> GetMetadata() const = 0;
    /// The head of the model read last, also where it became no network because of its operators (Tenon).
    virtual const ModelHeader& GetHeader() const = 0;
};

} // namespace tenon
