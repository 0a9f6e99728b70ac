// SPDX-License-Identifier: Apache-2.0
// See ModelFormat.hpp.
#include "formats/ModelFormat.hpp"

#include "formats/ArmnnStructure.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>

namespace tenon::formats
{
namespace
{

constexpr std::string_view NoMagic;

constexpr ModelFormat Formats[] = {
    {"TFLite", "a TensorFlow Lite model", Reader::TfLite, "tflite-binary,tflite", "TFL3", NoMagic, "", nullptr},
    {"ONNX", "an ONNX model", Reader::Onnx, "onnx-binary,onnx", "", NoMagic, ".onnx", nullptr},
    {"Tenon", "a network of Tenon", Reader::Tenon, "tenon", "TNON", NoMagic, "", nullptr},
    {"Git LFS", "a pointer of Git LFS to a file that was not fetched", Reader::None, "", "", "version https://git-lfs",
     "", "fetch it with 'git lfs pull'"},
    {"Arm NN", "a network of Arm NN", Reader::ArmNN, "armnn-binary,armnn", "ARMN", NoMagic, ".armnn", nullptr},
    {"Arm NN text", "a network of Arm NN as text", Reader::None, "armnn-text", "", NoMagic, "",
     "write it in binary form, or run the TensorFlow Lite model (.tflite) that it was made from"},
    {"ONNX text", "an ONNX model in the text form of protobuf", Reader::None, "onnx-text", "", NoMagic, ".onnxtxt",
     "write it in binary form with onnx.save_model"},
    {"ORT", "an ONNX model in the format of ONNX Runtime", Reader::None, "ort", "ORTM", NoMagic, ".ort",
     "run the ONNX model (.onnx) that it was made from"},
    {"TensorFlow", "a TensorFlow graph", Reader::None, "tensorflow-binary,tensorflow-text", "", NoMagic, ".pb,.pbtxt",
     "convert it to TensorFlow Lite with tf.lite.TFLiteConverter, or to ONNX with tf2onnx"},
    {"Keras", "a Keras model", Reader::None, "", "", "\x89HDF\r\n\x1A\n", ".keras,.h5,.hdf5",
     "convert it to TensorFlow Lite with tf.lite.TFLiteConverter.from_keras_model"},
    {"Caffe", "a Caffe model", Reader::None, "caffe-binary,caffe-text", "", NoMagic, ".caffemodel",
     "convert it to TensorFlow Lite or ONNX"},
    {"protobuf text", "a model in the text form of protobuf", Reader::None, "", "", NoMagic, ".prototxt,.textproto",
     "convert it to TensorFlow Lite or ONNX"},
    {"PyTorch", "a PyTorch model", Reader::None, "", "", NoMagic, ".pt,.pth,.pt2,.ckpt",
     "export it to ONNX with torch.onnx.export"},
    {"safetensors", "a file of weights (safetensors), without the model that they belong to", Reader::None, "", "",
     NoMagic, ".safetensors", "export the model to ONNX, for example with torch.onnx.export"},
    {"gzip", "a file that gzip packed", Reader::None, "", "", "\x1F\x8B", "", "unpack it"},
    {"GGUF", "a language model of llama.cpp", Reader::None, "", "", "GGUF", ".gguf",
     "export the model that it was made from to ONNX"},
    {"Paddle", "a Paddle model", Reader::None, "", "", NoMagic, ".pdmodel,.pdiparams",
     "convert it to ONNX with paddle2onnx"},
    {"Core ML", "a Core ML model", Reader::None, "", "", NoMagic, ".mlmodel",
     "run the model that it was made from, as TensorFlow Lite or ONNX"},
    {"OpenVINO", "a model of OpenVINO", Reader::None, "", "", NoMagic, ".xml",
     "run the model that it was made from, as TensorFlow Lite or ONNX"},
    {"TensorRT", "a model of TensorRT", Reader::None, "", "", NoMagic, ".engine,.plan,.trt",
     "run the ONNX model that it was made from"},
    {"pickle", "a pickled Python object", Reader::None, "", "", NoMagic, ".pkl,.pickle,.joblib",
     "export the model to ONNX, one of scikit-learn with skl2onnx"},
    {"TOSA", "a TOSA graph", Reader::None, "", "TOSA", NoMagic, ".tosa",
     "run the TensorFlow Lite model (.tflite) that it was made from"},
};

constexpr size_t IdentifierOffset = 4;
constexpr ModelFormat Zip = {"zip", "a zip archive", Reader::TfLite, "", "", NoMagic, "", nullptr};
constexpr ModelFormat LiteRtLm = {"LiteRT-LM", "a container of LiteRT-LM", Reader::TfLite, "", "", NoMagic, "",
                                  nullptr};

constexpr ModelFormat WebPage = {"web page",   "a web page (HTML)",
                                 Reader::None, "",
                                 "",           NoMagic,
                                 "",           "download the model's file itself in place of the page that shows it"};
constexpr ModelFormat Text = {"text",
                              "text",
                              Reader::None,
                              "",
                              "",
                              NoMagic,
                              "",
                              "write a model that is text or JSON in binary form with onnx.save_model; fetch a "
                              "file that has an error message in its place anew"};

template <typename Condition>
const ModelFormat* FindFormat(Condition condition)
{
    const auto* const found = std::find_if(std::begin(Formats), std::end(Formats), condition);
    return found != std::end(Formats) ? found : nullptr;
}

/// Whether `condition` holds of a word between commas.
template <typename Condition>
bool AnyWord(std::string_view words, Condition condition)
{
    while (!words.empty())
    {
        const size_t comma = std::min(words.find(','), words.size());
        if (condition(words.substr(0, comma)))
        {
            return true;
        }
        words.remove_prefix(std::min(comma + 1, words.size()));
    }
    return false;
}

bool EndsSo(std::string_view path, std::string_view ending)
{
    return path.size() >= ending.size() &&
           std::equal(ending.begin(), ending.end(), path.end() - static_cast<std::ptrdiff_t>(ending.size()),
                      [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
}

/// Eight bytes of a length, and the JSON of so many bytes.
bool IsSafetensors(std::string_view start)
{
    constexpr size_t lengthBytes = 8;
    return start.size() > lengthBytes && start.substr(lengthBytes).starts_with("{\"") && start[5] == 0 &&
           start[6] == 0 && start[7] == 0;
}

/// The first fields of a file in protobuf's wire format, as far as they are in memory.
class Fields
{
public:
    explicit Fields(std::string_view bytes) : m_Rest(bytes) {}

    std::optional<uint64_t> Varint()
    {
        constexpr unsigned int bitsOfByte = 7;
        constexpr unsigned int maxBits = 64;
        uint64_t value = 0;
        for (unsigned int bits = 0; bits < maxBits && !m_Rest.empty(); bits += bitsOfByte)
        {
            const auto byte = static_cast<unsigned char>(m_Rest.front());
            m_Rest.remove_prefix(1);
            value |= uint64_t{byte & 0x7FU} << bits;
            if ((byte & 0x80U) == 0)
            {
                return value;
            }
        }
        return std::nullopt;
    }

    /// At most `bytes`; fewer where the file's start ends before.
    std::string_view Take(uint64_t bytes)
    {
        const std::string_view taken = m_Rest.substr(0, static_cast<size_t>(std::min<uint64_t>(bytes, m_Rest.size())));
        m_Rest.remove_prefix(taken.size());
        return taken;
    }

private:
    std::string_view m_Rest;
};

bool IsText(std::string_view text)
{
    return std::none_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; });
}

/// The format of a file that is not in protobuf's wire format, as far as that can be told; else null.
const ModelFormat* FindTextFormat(std::string_view start)
{
    const auto isSpace = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
    const auto* const first = std::find_if_not(start.begin(), start.end(), isSpace);
    const bool isReadable = std::all_of(start.begin(), start.end(),
                                        [&](char c) { return isSpace(c) || static_cast<unsigned char>(c) >= ' '; });
    if (first == start.end() || !isReadable)
    {
        return nullptr;
    }
    const auto beginsWith = [&](std::string_view word)
    {
        return static_cast<size_t>(start.end() - first) >= word.size() &&
               std::equal(word.begin(), word.end(), first,
                          [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
    };
    return beginsWith("<!doctype html") || beginsWith("<html") ? &WebPage : &Text;
}

/// The fields of a ModelProto that are numbers, names and messages.
enum OnnxField : uint64_t
{
    IrVersion = 1,
    ProducerName = 2,
    ProducerVersion = 3,
    Domain = 4,
    ModelVersion = 5,
    DocString = 6,
    Graph = 7,
    OpsetImport = 8,
    MetadataProps = 14,
    TrainingInfo = 20,
    LocalFunctions = 25,
    DeviceConfiguration = 26
};

/// Whether the file begins with fields of an ONNX model. Two are enough, with the version of the format among them:
/// Core ML and TensorFlow have a version in the same place, but no text behind it.
bool IsOnnx(std::string_view start)
{
    constexpr uint64_t wireBits = 3;
    constexpr uint64_t varintWire = 0;
    constexpr uint64_t bytesWire = 2;
    constexpr uint64_t maxVersion = 32;
    bool hasVersion = false;
    size_t count = 0;
    Fields fields(start);
    while (const std::optional<uint64_t> tag = fields.Varint())
    {
        const uint64_t number = *tag >> wireBits;
        const uint64_t wire = *tag & ((1U << wireBits) - 1);
        const bool isNumber = number == IrVersion || number == ModelVersion;
        const bool isName = number == ProducerName || number == ProducerVersion || number == Domain;
        const bool isOther = number == DocString || number == Graph || number == OpsetImport ||
                             number == MetadataProps || number == TrainingInfo || number == LocalFunctions ||
                             number == DeviceConfiguration;
        if (!(isNumber ? wire == varintWire : (isName || isOther) && wire == bytesWire))
        {
            return false;
        }
        ++count;
        const std::optional<uint64_t> value = fields.Varint();
        if (!value)
        {
            break;
        }
        if (number == IrVersion)
        {
            hasVersion = true;
            if (*value == 0 || *value > maxVersion)
            {
                return false;
            }
        }
        if (!isNumber && !IsText(fields.Take(*value)) && isName)
        {
            return false;
        }
    }
    return hasVersion && count > 1;
}

const ModelFormat* FindByEnding(std::string_view path)
{
    return FindFormat(
        [&](const ModelFormat& format)
        { return AnyWord(format.m_Endings, [&](std::string_view ending) { return EndsSo(path, ending); }); });
}

} // namespace

Container FindContainer(std::string_view start)
{
    constexpr size_t maxPadding = 4; // MediaPipe's writer puts zeros in front of each file
    if (start.starts_with("LITERTLM"))
    {
        return Container::LiteRtLm;
    }
    const std::string_view unpadded = start.substr(std::min({start.find_first_not_of('\0'), maxPadding, start.size()}));
    return unpadded.starts_with("PK\x03\x04") || unpadded.starts_with("PK\x05\x06") ? Container::Zip : Container::None;
}

const ModelFormat* FindModelFormat(std::string_view name)
{
    return FindFormat([&](const ModelFormat& format)
                      { return AnyWord(format.m_Names, [&](std::string_view word) { return word == name; }); });
}

const ModelFormat* FindModelFormat(const std::string& path, std::string_view start, const WholeFile& whole)
{
    const std::string_view identifier =
        start.size() > IdentifierOffset ? start.substr(IdentifierOffset, 4) : std::string_view();
    const ModelFormat* const byContent = FindFormat(
        [&](const ModelFormat& format)
        {
            return (!identifier.empty() && identifier == format.m_Identifier) ||
                   (!format.m_Magic.empty() && start.starts_with(format.m_Magic));
        });
    if (byContent != nullptr)
    {
        return byContent;
    }
    if (IsSafetensors(start))
    {
        return FindModelFormat("model.safetensors", {});
    }
    const Container container = FindContainer(start);
    if (container == Container::LiteRtLm)
    {
        return &LiteRtLm;
    }
    const bool isZip = container == Container::Zip;
    if (!isZip && IsOnnx(start))
    {
        return FindModelFormat("onnx");
    }
    const ModelFormat* const byEnding = FindByEnding(path);
    const ModelFormat* const armnn = FindModelFormat("armnn");
    if (byEnding != armnn && whole && MayBeArmnn(start) && IsArmnn(whole()))
    {
        return armnn;
    }
    const bool isOther = byEnding == nullptr || byEnding->m_Reader != Reader::None;
    if (isZip && isOther)
    {
        return &Zip;
    }
    const ModelFormat* const text =
        byEnding != nullptr && byEnding->m_Reader == Reader::Onnx ? FindTextFormat(start) : nullptr;
    return text != nullptr ? text : byEnding;
}

const ModelFormat* FindUnwrittenFormat(std::string_view path)
{
    // The content must tell of a file to read.
    if (EndsSo(path, ".tflite"))
    {
        return FindModelFormat("tflite");
    }
    if (EndsSo(path, ".task"))
    {
        return &Zip;
    }
    if (EndsSo(path, ".litertlm"))
    {
        return &LiteRtLm;
    }
    const ModelFormat* const format = FindByEnding(path);
    return format != nullptr && format->m_Reader != Reader::None ? format : nullptr;
}

const char* DescribeFormatsThatAreRead()
{
    return "TensorFlow Lite (.tflite, identifier TFL3; .task and .litertlm with such models), ONNX (.onnx), networks "
           "of Arm NN (.armnn) and those "
           "written by Tenon (.tenon, identifier TNON)";
}

} // namespace tenon::formats
