// SPDX-License-Identifier: Apache-2.0
// A model file as a network with its inputs and outputs, whatever its format; ModelFormat.cpp has the formats. Run.cpp
// calls it.
#pragma once

#include "cli/File.hpp"

#include <tenon/INetwork.hpp>
#include <tenon/Limits.hpp>
#include <tenon/Tensor.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::cli
{

/// An input or output of the network.
struct Binding
{
    std::string m_Name;
    LayerBindingId m_Id = 0;
    TensorInfo m_Info;
};

struct Model
{
    /// One of the two is set: a network to be optimized, or the optimized network of a file.
    INetworkPtr m_Network{nullptr, &INetwork::Destroy};
    IOptimizedNetworkPtr m_Optimized{nullptr, &IOptimizedNetwork::Destroy};
    /// Inputs and outputs in the model's order.
    std::vector<Binding> m_Inputs;
    std::vector<Binding> m_Outputs;
};

/// The part of a model file that becomes the network.
struct ModelChoice
{
    size_t m_Subgraph = 0;
    std::string m_Signature; ///< the signature to take in place of m_Subgraph, if not empty
    /// New shapes of inputs by name. A .tenon file keeps its own, because a run takes other shapes, too.
    std::map<std::string, TensorShape> m_InputShapes;
    std::string m_SubgraphOption; ///< the name under which m_Subgraph is given, for messages
};

/// A format of model files: the two that are read, and others that users have, for which a message says what to do.
struct ModelFormat
{
    const char* m_Description; ///< "a TensorFlow Lite model"
    const char* m_Names;       ///< for --model-format, with commas; may be empty
    const char* m_Identifier;  ///< the four bytes at offset 4 of a FlatBuffers file; empty for other files
    const char* m_Endings;     ///< of file names, in lower case, with commas; empty for a format that is read
    const char* m_Advice;      ///< how to get a model that is read; null for a format that is read
};

/// How many bytes of a file FindModelFormat() looks at.
constexpr size_t ModelStartBytes = 8;

/// The format with this name for --model-format; null where there is none.
const ModelFormat* FindModelFormat(std::string_view name);

/// The format of a file that begins with `start`: its content decides, and the ending of `path` where the content is
/// of no known format. Null where neither is known; a format that is read always follows from the content.
const ModelFormat* FindModelFormat(const std::string& path, std::string_view start);

/// Opens a model file. Its content decides about its format, with a warning where `format`, a name for --model-format
/// or empty, is another one. Throws InputError, which names the model, also for a format that is not read.
InputSource OpenModel(const std::string& path, const std::string& format, const Limits& limits);

/// Parses a file that OpenModel() opened. A .tflite model is used in place: `file` must outlive the networks that are
/// made of it. Throws UsageError for a choice that the format does not have, and the exceptions of the parser. An
/// optimized network is for the backends of `deviceSpec`.
Model LoadModel(const InputSource& file, const ModelChoice& choice, const Limits& limits,
                const IDeviceSpec& deviceSpec);

/// The bindings of these names, in the order of `names`; all of them in their own order if `names` is empty.
/// Throws UsageError for an unknown name, with the names that there are. `kind` is "input" or "output".
std::vector<Binding> SelectBindings(const std::vector<Binding>& bindings, const std::vector<std::string>& names,
                                    const char* kind);

/// The named inputs, then those that are not named.
std::vector<Binding> OrderInputs(const std::vector<Binding>& inputs, const std::vector<std::string>& names);

} // namespace tenon::cli
