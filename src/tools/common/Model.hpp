// SPDX-License-Identifier: Apache-2.0
// A model file of any format as a network with its inputs and outputs. Run.cpp calls it.
#pragma once

#include "formats/ModelFormat.hpp"
#include "tools/common/File.hpp"
#include "tools/common/Image.hpp"

#include <tenon/INetwork.hpp>
#include <tenon/Limits.hpp>
#include <tenon/Tensor.hpp>

#include <cstddef>
#include <exception>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tenon::tools
{

/// An input or output of the network.
struct Binding
{
    std::string m_Name;
    LayerBindingId m_Id = 0;
    TensorInfo m_Info;
    /// The name of each dimension for --dim, for an input of an ONNX model; empty if the model gives the size.
    std::vector<std::string> m_DimensionNames = {};
    /// The metadata of a .tflite model: numbers for pictures that are this input, and names of this output's classes.
    Normalisation m_Normalisation = {};
    std::vector<std::string> m_Labels = {};
    std::string m_Description = {}; ///< likewise
};

/// The texts of a model file about itself, such as author, producer and versions, by name.
using ModelTexts = std::vector<std::pair<std::string, std::string>>;

struct Model
{
    /// One of the three is set: a network to be optimized, the optimized network of a file, or the reason why an ONNX
    /// model with open dimensions of inputs cannot be read unless their sizes are given. In the last case the outputs
    /// are not known. With ModelChoice::m_KeepsRefused it may be any reason.
    INetworkPtr m_Network{nullptr, &INetwork::Destroy};
    IOptimizedNetworkPtr m_Optimized{nullptr, &IOptimizedNetwork::Destroy};
    std::exception_ptr m_WhyNot;
    /// Inputs and outputs in the model's order.
    std::vector<Binding> m_Inputs;
    std::vector<Binding> m_Outputs;
    std::vector<std::string> m_Remarks; ///< warnings about the file, for people
    ModelTexts m_Texts;
    std::vector<std::string> m_Signatures; ///< names
    size_t m_NumSubgraphs = 1;
};

/// The part of a model file that becomes the network.
struct ModelChoice
{
    std::string m_Entry; ///< the model of a file that holds several; empty for the only one
    size_t m_Subgraph = 0;
    std::string m_Signature; ///< the signature to take in place of m_Subgraph, if not empty
    /// New shapes of inputs by name. A .tenon or .armnn file keeps its own, because a run takes other shapes, too.
    std::map<std::string, TensorShape> m_InputShapes;
    std::string m_SubgraphOption; ///< the name under which m_Subgraph is given, for messages
    /// Sizes of dimensions by name, for an ONNX model.
    std::map<std::string, unsigned int> m_Dimensions;
    /// An ONNX model with operators that cannot run is no exception, but has these as Model::m_WhyNot.
    bool m_KeepsRefused = false;
};

struct ModelFile
{
    InputSource m_Source;
    formats::Reader m_Reader;
};

/// The format by the file's content, else by its name; null if neither is known. Throws InputError.
const formats::ModelFormat* FindFormat(const InputSource& file);

/// Opens a model file. The content decides about the format, with a warning if `format` (a name for --model-format, or
/// empty) is another one. If the content has no identifier, `format` decides: ONNX has none, and files of Arm NN may
/// lack theirs. Throws InputError, which names the model, also for a format that is not supported.
ModelFile OpenModel(const std::string& path, const std::string& format, const Limits& limits);

/// Parses a file that OpenModel() opened. A .tflite or .onnx model is used in place: `file` must outlive the networks
/// that are made from it. Throws UsageError for a choice that the format does not have, UnchosenEntryError, and the
/// exceptions of the parser. An optimized network is for the backends of `deviceSpec`.
Model LoadModel(const ModelFile& file, const ModelChoice& choice, const Limits& limits, const IDeviceSpec& deviceSpec);

/// The bindings of these names, in the order of `names`; all of them in their own order if `names` is empty. Throws
/// UsageError for an unknown name, with the known names. `kind` is "input" or "output".
std::vector<Binding> SelectBindings(const std::vector<Binding>& bindings, const std::vector<std::string>& names,
                                    const char* kind);

/// The named inputs, then the other ones.
std::vector<Binding> OrderInputs(const std::vector<Binding>& inputs, const std::vector<std::string>& names);

} // namespace tenon::tools
