// SPDX-License-Identifier: Apache-2.0
// The demo: reads the bundled models, of two formats, and the sheet of handwritten digits beside them, names each
// digit, and says how many were right. Called by scripts/demo.sh; by hand: digits [FOLDER], by default samples/digits.
//
// Exit status 0 if each model names at least 97% of the digits, and the ONNX model the same ones as the .tflite model
// of its weights; else 1.
#include <tenon/Tenon.hpp>
#include <tenon/parsers/IOnnxParser.hpp>
#include <tenon/parsers/ITfLiteParser.hpp>

#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <string>
#include <vector>

namespace
{

constexpr size_t Side = 8; // pixels of a digit, each way
constexpr size_t Classes = 10;
constexpr double RequiredAccuracy = 0.97;

using Picture = std::array<uint8_t, Side * Side>;

/// One number a word of a text file.
std::vector<int> ReadNumbers(const std::string& path)
{
    std::ifstream file(path);
    std::vector<int> numbers;
    for (int number = 0; file >> number;)
    {
        numbers.push_back(number);
    }
    if (!file.eof())
    {
        throw tenon::FileNotFoundException("cannot read numbers from '" + path + "'");
    }
    return numbers;
}

/// The digits of a sheet, row by row from the top left.
std::vector<Picture> ReadSheet(const std::string& path)
{
    int width = 0;
    int height = 0;
    int channels = 0;
    const std::unique_ptr<stbi_uc, void (*)(void*)> pixels(stbi_load(path.c_str(), &width, &height, &channels, 1),
                                                           stbi_image_free);
    if (pixels == nullptr)
    {
        throw tenon::FileNotFoundException("cannot read the picture '" + path + "': " + stbi_failure_reason());
    }
    const size_t stride = static_cast<size_t>(width);
    const size_t columns = stride / Side;
    const size_t rows = static_cast<size_t>(height) / Side;
    std::vector<Picture> pictures(columns * rows);
    for (size_t i = 0; i < pictures.size(); ++i)
    {
        const stbi_uc* corner = pixels.get() + i / columns * Side * stride + i % columns * Side;
        for (size_t y = 0; y < Side; ++y)
        {
            std::copy_n(corner + y * stride, Side, pictures[i].begin() + static_cast<std::ptrdiff_t>(y * Side));
        }
    }
    return pictures;
}

/// What the network says of one picture.
struct Answer
{
    std::array<float, Classes> m_Probabilities{};
    std::array<int8_t, Classes> m_Quantized{}; ///< the output's bytes; of the int8 model only

    size_t Digit() const
    {
        const auto best = std::max_element(m_Probabilities.begin(), m_Probabilities.end());
        return static_cast<size_t>(best - m_Probabilities.begin());
    }
};

/// A digit model that is loaded and ready to run.
class Classifier
{
public:
    explicit Classifier(const std::string& modelPath) : m_Runtime(tenon::IRuntime::Create({}))
    {
        const bool isOnnx = modelPath.substr(modelPath.rfind('.') + 1) == "onnx";
        const tenon::INetworkPtr network = isOnnx ? ReadOnnx(modelPath) : ReadTfLite(modelPath);

        // The fast backend first; what it has no kernel for goes to the reference backend.
        tenon::IOptimizedNetworkPtr optimized =
            tenon::Optimize(*network, {tenon::Compute::CpuAcc, tenon::Compute::CpuRef}, m_Runtime->GetDeviceSpec());
        for (const tenon::LayerAssignment& layer : optimized->GetAssignment())
        {
            if (layer.m_Type != tenon::LayerType::Input && layer.m_Type != tenon::LayerType::Output &&
                layer.m_Type != tenon::LayerType::Constant)
            {
                ++m_LayersOf[layer.m_Backend.Get()];
            }
        }
        m_Runtime->LoadNetwork(m_Network, std::move(optimized));
    }

    bool IsQuantized() const { return m_Output.second.GetDataType() == tenon::DataType::QAsymmS8; }
    /// How many layers each backend runs.
    const std::map<std::string, int>& GetLayersOfBackends() const { return m_LayersOf; }

    Answer Classify(const Picture& picture) const
    {
        Answer answer;
        if (IsQuantized())
        {
            std::array<int8_t, Side * Side> pixels{};
            std::transform(picture.begin(), picture.end(), pixels.begin(),
                           [](uint8_t p) { return static_cast<int8_t>(p - 128); });
            Run(pixels.data(), answer.m_Quantized.data());
            const float scale = m_Output.second.GetQuantizationScale();
            const int zeroPoint = m_Output.second.GetQuantizationOffset();
            std::transform(answer.m_Quantized.begin(), answer.m_Quantized.end(), answer.m_Probabilities.begin(),
                           [&](int8_t q) { return scale * static_cast<float>(q - zeroPoint); });
        }
        else
        {
            std::array<float, Side * Side> pixels{};
            std::transform(picture.begin(), picture.end(), pixels.begin(),
                           [](uint8_t p) { return static_cast<float>(p) / 255.0f; });
            Run(pixels.data(), answer.m_Probabilities.data());
        }
        return answer;
    }

private:
    tenon::INetworkPtr ReadTfLite(const std::string& path)
    {
        const tenon::ITfLiteParserPtr parser = tenon::ITfLiteParser::Create();
        tenon::INetworkPtr network = parser->CreateNetworkFromBinaryFile(path.c_str());
        m_Input = parser->GetNetworkInputBindingInfo(0, parser->GetSubgraphInputTensorNames(0).at(0));
        m_Output = parser->GetNetworkOutputBindingInfo(0, parser->GetSubgraphOutputTensorNames(0).at(0));
        return network;
    }

    tenon::INetworkPtr ReadOnnx(const std::string& path)
    {
        tenon::IOnnxParser::OnnxParserOptions options;
        options.m_Dimensions["batch"] = 1; // the file leaves it open
        const tenon::IOnnxParserPtr parser = tenon::IOnnxParser::Create(options);
        tenon::INetworkPtr network = parser->CreateNetworkFromBinaryFile(path.c_str());
        m_Input = parser->GetNetworkInputBindingInfo(parser->GetInputNames().at(0));
        m_Output = parser->GetNetworkOutputBindingInfo(parser->GetOutputNames().at(0));
        return network;
    }

    void Run(const void* input, void* output) const
    {
        m_Runtime->EnqueueWorkload(m_Network, {{m_Input.first, tenon::ConstTensor(m_Input.second, input)}},
                                   {{m_Output.first, tenon::Tensor(m_Output.second, output)}});
    }

    tenon::IRuntimePtr m_Runtime;
    tenon::NetworkId m_Network = 0;
    tenon::BindingPointInfo m_Input;
    tenon::BindingPointInfo m_Output;
    std::map<std::string, int> m_LayersOf;
};

/// Pictures side by side, each pixel two characters wide, with a line of text below each.
void PrintPictures(const Picture* pictures, const std::vector<std::string>& captions)
{
    constexpr char shades[] = " .:-=+*#%@";
    for (size_t y = 0; y < Side; ++y)
    {
        for (size_t i = 0; i < captions.size(); ++i)
        {
            std::cout << "  ";
            for (size_t x = 0; x < Side; ++x)
            {
                const size_t shade = pictures[i][y * Side + x] * size_t{9} / 255;
                std::cout << shades[shade] << shades[shade];
            }
        }
        std::cout << '\n';
    }
    for (const std::string& caption : captions)
    {
        std::cout << "  " << std::left << std::setw(static_cast<int>(2 * Side)) << caption;
    }
    std::cout << "\n\n";
}

void ShowSome(const Classifier& classifier, const std::vector<Picture>& pictures, const std::vector<int>& labels)
{
    constexpr size_t perRow = 4; // four pictures fill 72 columns
    constexpr size_t shown = 8;
    for (size_t first = 0; first + perRow <= std::min(shown, pictures.size()); first += perRow)
    {
        std::vector<std::string> captions;
        for (size_t i = first; i < first + perRow; ++i)
        {
            const Answer answer = classifier.Classify(pictures[i]);
            const size_t digit = answer.Digit();
            const bool right = static_cast<int>(digit) == labels[i];
            captions.push_back("a " + std::to_string(digit) + ": " +
                               std::to_string(std::lround(answer.m_Probabilities.at(digit) * 100.0f)) + "%" +
                               (right ? "" : " (is " + std::to_string(labels[i]) + ")"));
        }
        PrintPictures(&pictures[first], captions);
    }
}

std::vector<Answer> ClassifyAll(const Classifier& classifier, const std::vector<Picture>& pictures)
{
    std::vector<Answer> answers;
    answers.reserve(pictures.size());
    for (const Picture& picture : pictures)
    {
        answers.push_back(classifier.Classify(picture));
    }
    return answers;
}

/// Whether two models name the same digits, with a line about it.
bool Compare(const Classifier& a, const Classifier& b, const std::vector<Picture>& pictures)
{
    const std::vector<Answer> answers = ClassifyAll(a, pictures);
    const std::vector<Answer> others = ClassifyAll(b, pictures);
    size_t equal = 0;
    float difference = 0.0f;
    for (size_t i = 0; i < answers.size(); ++i)
    {
        equal += answers[i].Digit() == others[i].Digit() ? 1 : 0;
        for (size_t k = 0; k < Classes; ++k)
        {
            difference = std::max(difference, std::abs(answers[i].m_Probabilities[k] - others[i].m_Probabilities[k]));
        }
    }
    std::cout << "        " << equal << " of " << answers.size()
              << " digits as the float model names them; probabilities differ by at most " << std::defaultfloat
              << std::setprecision(2) << difference << '\n';
    return equal == answers.size();
}

/// How many of the first outputs are, byte for byte, those that TFLite's reference kernels gave.
size_t CountEqual(const std::vector<Answer>& answers, const std::vector<int>& expected)
{
    size_t equal = 0;
    for (size_t i = 0; i < expected.size() / Classes; ++i)
    {
        equal += std::equal(answers.at(i).m_Quantized.begin(), answers.at(i).m_Quantized.end(),
                            expected.begin() + static_cast<std::ptrdiff_t>(i * Classes))
                     ? 1
                     : 0;
    }
    return equal;
}

/// Classifies all pictures and prints a line about it. Returns whether enough were right.
bool Judge(const std::string& title, const Classifier& classifier, const std::vector<Picture>& pictures,
           const std::vector<int>& labels, const std::vector<int>& expected)
{
    const auto start = std::chrono::steady_clock::now();
    const std::vector<Answer> answers = ClassifyAll(classifier, pictures);
    const std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - start;

    size_t right = 0;
    for (size_t i = 0; i < answers.size(); ++i)
    {
        right += static_cast<int>(answers[i].Digit()) == labels[i] ? 1 : 0;
    }
    const double accuracy = static_cast<double>(right) / static_cast<double>(answers.size());
    std::cout << "  " << std::left << std::setw(6) << title << std::right << right << " of " << answers.size()
              << " right (" << std::fixed << std::setprecision(1) << accuracy * 100.0 << "%), "
              << elapsed.count() / static_cast<double>(answers.size()) << " us a picture; layers:";
    const char* separator = " ";
    for (const auto& [backend, layers] : classifier.GetLayersOfBackends())
    {
        std::cout << separator << layers << " on " << backend;
        separator = ", ";
    }
    std::cout << '\n';
    if (classifier.IsQuantized())
    {
        std::cout << "        " << CountEqual(answers, expected) << " of the first " << expected.size() / Classes
                  << " outputs equal those of TFLite's reference kernels byte for byte\n";
    }
    return accuracy >= RequiredAccuracy;
}

} // namespace

int main(int argc, char** argv)
{
    const std::string folder = argc > 1 ? argv[1] : "samples/digits";
    try
    {
        const std::vector<Picture> pictures = ReadSheet(folder + "/test_digits.png");
        const std::vector<int> labels = ReadNumbers(folder + "/test_labels.txt");
        if (pictures.empty() || labels.size() != pictures.size())
        {
            throw tenon::InvalidArgumentException("'" + folder + "' has " + std::to_string(pictures.size()) +
                                                  " digits on its sheet but " + std::to_string(labels.size()) +
                                                  " labels");
        }
        const Classifier int8(folder + "/digits_int8.tflite");
        const Classifier real(folder + "/digits_float.tflite");
        const Classifier onnx(folder + "/digits_float.onnx");

        std::cout << "Tenon " << tenon::GetVersion()
                  << " reads handwritten digits that its network never saw before\n\n";
        ShowSome(int8, pictures, labels);
        const bool int8Good = Judge("int8", int8, pictures, labels, ReadNumbers(folder + "/expected_int8.txt"));
        const bool realGood = Judge("float", real, pictures, labels, {});
        const bool onnxGood = Judge("ONNX", onnx, pictures, labels, {});
        const bool same = Compare(real, onnx, pictures);
        if (!int8Good || !realGood || !onnxGood)
        {
            std::cerr << "digits: fewer than " << std::fixed << RequiredAccuracy * 100.0
                      << "% of the digits are right\n";
            return 1;
        }
        if (!same)
        {
            std::cerr << "digits: the ONNX model names other digits than the float model of the same weights\n";
            return 1;
        }
        return 0;
    }
    catch (const std::exception& error)
    {
        std::cerr << "digits: " << error.what() << '\n';
        return 1;
    }
}
