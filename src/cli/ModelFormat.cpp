// SPDX-License-Identifier: Apache-2.0
// Formats of model files: see Model.hpp.
#include "cli/Model.hpp"
#include "cli/Strings.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

namespace tenon::cli
{
namespace
{

constexpr ModelFormat Formats[] = {
    {"a TensorFlow Lite model", "tflite-binary,tflite", "TFL3", "", nullptr},
    {"a network of Tenon", "tenon", "TNON", "", nullptr},
    {"a network in Arm NN's own format", "armnn-binary,armnn-text", "ARMN", ".armnn",
     "run the TensorFlow Lite model (.tflite) that it was made from"},
    {"an ONNX model", "onnx-binary,onnx-text", "", ".onnx", "convert it to TensorFlow Lite, for example with onnx2tf"},
    {"a TensorFlow graph", "tensorflow-binary,tensorflow-text", "", ".pb,.pbtxt",
     "convert it to TensorFlow Lite with tf.lite.TFLiteConverter"},
    {"a Keras model", "", "", ".keras,.h5,.hdf5",
     "convert it to TensorFlow Lite with tf.lite.TFLiteConverter.from_keras_model"},
    {"a Caffe model", "caffe-binary,caffe-text", "", ".caffemodel", "convert it to TensorFlow Lite"},
    {"a model in the text form of protobuf", "", "", ".prototxt", "convert it to TensorFlow Lite"},
    {"a PyTorch model", "", "", ".pt,.pth,.pt2", "convert it to TensorFlow Lite, for example with litert-torch"},
    {"a TOSA graph", "", "TOSA", ".tosa", "run the TensorFlow Lite model (.tflite) that it was made from"},
};

constexpr size_t IdentifierOffset = 4;
constexpr std::string_view Hdf5Signature = "\x89HDF\r\n\x1A\n";

template <typename Condition>
const ModelFormat* FindFormat(Condition condition)
{
    const auto* const found = std::find_if(std::begin(Formats), std::end(Formats), condition);
    return found != std::end(Formats) ? found : nullptr;
}

/// Protobuf has no identifier: a small IR version (field 1) and, mostly next, the producer (2), the graph (7) or the
/// set of operators (8).
bool IsOnnx(std::string_view start)
{
    constexpr char maxVersion = 32;
    return start.size() >= 3 && start[0] == 0x08 && start[1] > 0 && start[1] <= maxVersion &&
           (start[2] == 0x12 || start[2] == 0x3A || start[2] == 0x42);
}

} // namespace

const ModelFormat* FindModelFormat(std::string_view name)
{
    return FindFormat(
        [&](const ModelFormat& format)
        {
            const std::vector<std::string> names = Split(format.m_Names, ',');
            return std::find(names.begin(), names.end(), name) != names.end();
        });
}

const ModelFormat* FindModelFormat(const std::string& path, std::string_view start)
{
    const std::string_view identifier =
        start.size() > IdentifierOffset ? start.substr(IdentifierOffset, 4) : std::string_view();
    const ModelFormat* found =
        FindFormat([&](const ModelFormat& format) { return !identifier.empty() && format.m_Identifier == identifier; });
    if (found == nullptr && IsOnnx(start))
    {
        found = FindModelFormat("onnx-binary");
    }
    const std::string name = start.starts_with(Hdf5Signature) ? "model.h5" : path;
    const auto endsSo = [&](const ModelFormat& format)
    {
        const std::vector<std::string> endings = Split(format.m_Endings, ',');
        return std::any_of(endings.begin(), endings.end(),
                           [&](const std::string& ending) { return EndsWithNoCase(name, ending); });
    };
    return found != nullptr ? found : FindFormat(endsSo);
}

} // namespace tenon::cli
