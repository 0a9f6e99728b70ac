// SPDX-License-Identifier: Apache-2.0
// ITfLiteParser: makes a network from a .tflite model.
#pragma once

#include <tenon/INetwork.hpp>
#include <tenon/Limits.hpp>
#include <tenon/Tensor.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tenon
{

class ICustomOperator;
class ITfLiteParser;
using ITfLiteParserPtr = std::unique_ptr<ITfLiteParser, void (*)(ITfLiteParser* parser)>;

/// A model file is hostile input: it is verified before it is read, and every index, shape, size and option after that.
/// Weights are used in place, in the mapped file, wherever their alignment allows; the network keeps the file mapped.
///
/// A file may hold several models: a .task bundle of MediaPipe or another zip archive whose files are stored, not
/// compressed, and a .litertlm file of LiteRT-LM. A model in it is used in place if it begins at a multiple of 8 bytes;
/// else it is copied (Tenon).
class TENON_API ITfLiteParser
{
public:
    struct TfLiteParserOptions
    {
        /// Kept for Arm NN; a network infers its own shapes.
        bool m_AllowExpandedDims = false;
        /// Put a StandIn layer in place of an operator that the parser does not know. Otherwise it becomes a Custom
        /// layer, which backends may take; in both cases Optimize() refuses a layer that no backend takes.
        bool m_StandInLayerForUnsupported = false;
        /// Leave the shapes of intermediate tensors to be inferred, in place of declaring those of the file.
        bool m_InferAndValidate = false;
        /// New shapes of graph inputs by tensor name; implies m_InferAndValidate (Tenon).
        std::map<std::string, TensorShape> m_InputShapes;
        /// Implementations of custom operators, taken by name for operators that Tenon itself does not know (Tenon).
        std::vector<std::shared_ptr<const ICustomOperator>> m_CustomOperators;
        /// The subgraph that becomes the network; others are called from it (Tenon).
        size_t m_Subgraph = 0;
        /// The model of a file that holds several, by name; empty: the only one. A model in a bundle within a bundle is
        /// "outer.task/inner.tflite". A model of a .litertlm file has its model_type as name, or the number of its
        /// section where it has none or shares it (Tenon).
        std::string m_Entry;
        /// A signature of the model by name, in place of m_Subgraph: inputs and outputs then have the names that the
        /// signature gives them; those of the tensors go on working. Empty: none (Tenon).
        std::string m_Signature;
        /// Bounds that the model is checked against before anything is allocated (Tenon).
        Limits m_Limits;
    };

    /// The metadata of an input or output; members that the model does not have are empty (Tenon).
    struct TensorMetadata
    {
        std::string m_Name;
        std::string m_Description;
        /// An input's NormalizationOptions: it takes (x - mean) / std of values x as in pictures, 0 to 255. One number
        /// for all channels, or one for each; as in the file, unchecked.
        std::vector<float> m_Mean;
        std::vector<float> m_Std;
        std::vector<std::string> m_AxisLabels;  ///< label i names index i of an axis, mostly the last: a class
        std::vector<std::string> m_ValueLabels; ///< label i names the value i of an element
    };

    /// The metadata of a model, by TFLite's schema of them ("TFLITE_METADATA") and with the label files in the zip
    /// archive behind the model (Tenon).
    struct ModelMetadata
    {
        std::string m_Name;
        std::string m_Description;
        std::string m_Version;
        std::string m_Author;
        std::string m_License;
        std::string m_MinParserVersion; ///< of the metadata's own format
        /// Names of the files that the model and its inputs and outputs name, as they lie in the archive behind it.
        std::vector<std::string> m_Files;
        /// One for each input and output of the network, in the order of GetSubgraphInputTensorNames() and
        /// GetSubgraphOutputTensorNames().
        std::vector<TensorMetadata> m_Inputs;
        std::vector<TensorMetadata> m_Outputs;
        /// Parts that are damaged or missing, in words, the first ones where there are many: the network is made
        /// without them.
        std::vector<std::string> m_Faults;
    };

    static ITfLiteParser* CreateRaw(const Optional<TfLiteParserOptions>& options = EmptyOptional());
    static ITfLiteParserPtr Create(const Optional<TfLiteParserOptions>& options = EmptyOptional());
    static void Destroy(ITfLiteParser* parser);
    virtual ~ITfLiteParser();

    /// Throws FileNotFoundException for a missing file, ParseException for a corrupt or contradictory model: the text
    /// names the subgraph, operator and tensor. Throws InvalidArgumentException for a signature, a subgraph or an input
    /// of m_InputShapes that the model does not have, and for an m_Entry that the file does not have or that it needs:
    /// the text names the entries. Throws UnimplementedException for an archive that is compressed, encrypted or of
    /// several parts, and for weights in another file.
    virtual INetworkPtr CreateNetworkFromBinaryFile(const char* graphFile) = 0;
    /// The bytes are copied.
    virtual INetworkPtr CreateNetworkFromBinary(const std::vector<uint8_t>& binaryContent) = 0;
    /// The bytes are used in place and must outlive the network and all that is made of it; 16-byte aligned for best
    /// results (Tenon).
    virtual INetworkPtr CreateNetworkFromMemory(const void* data, size_t bytes) = 0;

    /// The bindings of the model parsed last; `subgraphId` must be the subgraph that became the network. Both throw
    /// ParseException for an unknown name; the text lists the known names.
    /// An input's info is constant, so that a ConstTensor can be made from it. An output has the shape that the file
    /// declares. Sizes that the file leaves open (-1 in shape_signature) or does not tell follow from the inputs'
    /// shapes. Sizes that depend on values come from the file's field `shape`; they are unknown where that has none,
    /// and where m_InputShapes are given: IRuntime::GetOutputTensorInfo() then tells more.
    virtual BindingPointInfo GetNetworkInputBindingInfo(size_t subgraphId, const std::string& name) const = 0;
    virtual BindingPointInfo GetNetworkOutputBindingInfo(size_t subgraphId, const std::string& name) const = 0;
    /// Subgraphs of the model; those named "VALIDATION:..." do not count.
    virtual size_t GetSubgraphCount() const = 0;
    /// Names of the model's signatures (Tenon).
    virtual std::vector<std::string> GetSignatureNames() const = 0;
    /// The subgraph that became the network (Tenon).
    virtual size_t GetNetworkSubgraph() const = 0;
    /// Names in the order of the model's lists. A tensor listed twice is two inputs, of which the last one's value
    /// counts, or two outputs of the same values; so is one that is listed once and has two names in m_Signature.
    virtual std::vector<std::string> GetSubgraphInputTensorNames(size_t subgraphId) const = 0;
    virtual std::vector<std::string> GetSubgraphOutputTensorNames(size_t subgraphId) const = 0;
    /// Names for m_Entry of the models in the file that was opened last, also where none of them became a network; none
    /// for a file that is a model (Tenon).
    virtual std::vector<std::string> GetEntryNames() const = 0;
    /// The metadata of the model parsed last, empty where it has none (Tenon).
    virtual const ModelMetadata& GetMetadata() const = 0;
};

} // namespace tenon
