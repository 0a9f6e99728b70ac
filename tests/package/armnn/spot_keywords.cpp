// SPDX-License-Identifier: Apache-2.0
// Written as a program for Arm NN is: a pipeline as for keyword spotting, on the executor that the applications share.
// It slides a window over frames of features, quantizes each window for an int8 model, and decodes the scores.
//
// usage: program MODEL.tflite FRAMES.pgm EXPECTED.txt LABELS.txt
// A picture of FRAMES.pgm is one window of features. EXPECTED.txt has the int8 scores of each. Fails where the network
// gives others.
#include "common/NetworkExecutor.hpp"
#include "common/Pictures.hpp"

#include <algorithm>
#include <armnn/TypesUtils.hpp>
#include <armnn/utility/NumericCast.hpp>
#include <cstdint>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

namespace kws
{

/// The stream of features: a window of `windowLength` values, then the next `stride` values further on.
template <typename T>
class SlidingWindow
{
public:
    SlidingWindow(const T* data, std::size_t size, std::size_t windowLength, std::size_t stride)
        : m_Start(data), m_Size(size), m_Length(windowLength), m_Stride(stride)
    {
    }

    bool HasNext() const { return m_Position + m_Length <= m_Size; }
    const T* Next()
    {
        const T* window = m_Start + m_Position;
        m_Position += m_Stride;
        return window;
    }

private:
    const T* m_Start;
    std::size_t m_Size;
    std::size_t m_Length;
    std::size_t m_Stride;
    std::size_t m_Position = 0;
};

class Preprocessor
{
public:
    explicit Preprocessor(float fullScale) : m_FullScale(fullScale) {}

    std::vector<int8_t> Invoke(const float* features, std::size_t size, int quantOffset, float quantScale) const
    {
        std::vector<int8_t> out;
        out.reserve(size);
        std::transform(features, features + size, std::back_inserter(out),
                       [this, quantOffset, quantScale](float f)
                       { return armnn::Quantize<int8_t>(f / m_FullScale, quantScale, quantOffset); });
        return out;
    }

private:
    float m_FullScale;
};

class Decoder
{
public:
    Decoder(int quantizationOffset, float quantizationScale)
        : m_QuantizationOffset(quantizationOffset), m_QuantizationScale(quantizationScale)
    {
    }

    /// The keyword with the highest probability, and that probability.
    std::pair<int, float> DecodeOutput(const std::vector<int8_t>& scores) const
    {
        std::vector<float> probabilities;
        for (int8_t score : scores)
        {
            probabilities.push_back(armnn::Dequantize(score, m_QuantizationScale, m_QuantizationOffset));
        }
        const auto best = std::max_element(probabilities.begin(), probabilities.end());
        return {armnn::numeric_cast<int>(std::distance(probabilities.begin(), best)), *best};
    }

private:
    int m_QuantizationOffset;
    float m_QuantizationScale;
};

class Pipeline
{
public:
    Pipeline(std::unique_ptr<common::NetworkExecutor<int8_t>> executor, std::unique_ptr<Decoder> decoder,
             std::unique_ptr<Preprocessor> preprocessor)
        : m_Executor(std::move(executor)), m_Decoder(std::move(decoder)), m_Preprocessor(std::move(preprocessor))
    {
    }

    std::vector<int8_t> PreProcessing(const float* features, std::size_t size) const
    {
        return m_Preprocessor->Invoke(features, size, m_Executor->GetQuantizationOffset(),
                                      m_Executor->GetQuantizationScale());
    }
    bool Inference(const std::vector<int8_t>& data, common::InferenceResults<int8_t>& results)
    {
        return m_Executor->Run(data.data(), data.size(), results);
    }
    void PostProcessing(const common::InferenceResults<int8_t>& results, std::map<int, std::string>& labels,
                        const std::function<void(int, std::string&, float)>& callback) const
    {
        const std::pair<int, float> decoded = m_Decoder->DecodeOutput(results.at(0));
        callback(decoded.first, labels[decoded.first], decoded.second);
    }
    std::size_t GetInputSamplesSize() const { return m_Executor->GetInputBytes(); }

private:
    std::unique_ptr<common::NetworkExecutor<int8_t>> m_Executor;
    std::unique_ptr<Decoder> m_Decoder;
    std::unique_ptr<Preprocessor> m_Preprocessor;
};

std::unique_ptr<Pipeline> CreatePipeline(const std::string& model, const std::vector<armnn::BackendId>& backends)
{
    auto executor = std::make_unique<common::NetworkExecutor<int8_t>>(model, backends, true);
    if (executor->GetInputDataType() != armnn::DataType::QAsymmS8)
    {
        std::ostringstream text;
        text << "the model takes " << armnn::GetDataTypeName(executor->GetInputDataType()) << " on " << backends;
        throw armnn::InvalidArgumentException(text.str());
    }
    auto decoder =
        std::make_unique<Decoder>(executor->GetOutputQuantizationOffset(0), executor->GetOutputQuantizationScale(0));
    auto preprocessor = std::make_unique<Preprocessor>(255.0f);
    return std::make_unique<Pipeline>(std::move(executor), std::move(decoder), std::move(preprocessor));
}

} // namespace kws

int main(int argc, char** argv)
{
    armnn::ConfigureLogging(true, false, armnn::LogSeverity::Trace);
    if (argc != 5)
    {
        ARMNN_LOG(fatal) << "usage: " << argv[0] << " MODEL.tflite FRAMES.pgm EXPECTED.txt LABELS.txt";
        return 1;
    }
    try
    {
        std::vector<float> stream;
        for (const common::Picture& picture : common::ReadPictures(argv[2]))
        {
            stream.insert(stream.end(), picture.begin(), picture.end());
        }
        const std::vector<int> expected = common::ReadNumbers<int>(argv[3]);
        std::map<int, std::string> labels;
        for (const std::string& label : common::ReadNumbers<std::string>(argv[4]))
        {
            labels.emplace(static_cast<int>(labels.size()), "keyword" + label);
        }

        std::vector<armnn::BackendId> preferredBackends = {armnn::Compute::CpuAcc, armnn::Compute::CpuRef};
        std::unique_ptr<kws::Pipeline> pipeline = kws::CreatePipeline(argv[1], preferredBackends);
        const std::size_t window = pipeline->GetInputSamplesSize();
        kws::SlidingWindow<float> sliding(stream.data(), stream.size(), window, window);
        std::size_t row = 0;
        unsigned int wrong = 0;
        while (sliding.HasNext())
        {
            common::InferenceResults<int8_t> results;
            if (!pipeline->Inference(pipeline->PreProcessing(sliding.Next(), window), results))
            {
                return 1;
            }
            wrong += std::equal(results.at(0).begin(), results.at(0).end(),
                                expected.begin() + static_cast<std::ptrdiff_t>(row * results[0].size()))
                         ? 0
                         : 1;
            pipeline->PostProcessing(results, labels,
                                     [&](int, std::string& label, float probability) {
                                         std::cout << "window " << row << ": " << label << " (" << probability * 100.0f
                                                   << "%)\n";
                                     });
            ++row;
        }
        std::cout << row << " windows, " << wrong << " wrong\n";
        return row == expected.size() / 10 && wrong == 0 ? 0 : 1;
    }
    catch (const armnn::Exception& error)
    {
        ARMNN_LOG(fatal) << "Arm NN: " << error.what();
        return 1;
    }
    catch (const std::exception& error)
    {
        ARMNN_LOG(fatal) << error.what();
        return 1;
    }
}
