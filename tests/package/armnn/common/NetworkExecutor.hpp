// SPDX-License-Identifier: Apache-2.0
// Written as programs for Arm NN are: an executor that several applications share. It loads a .tflite model when it is
// made and keeps the tensors that it writes to; each run gives the values of all outputs.
#pragma once

#include "armnn/ArmNN.hpp"
#include "armnnTfLiteParser/ITfLiteParser.hpp"
#include "armnnUtils/DataLayoutIndexed.hpp"

#include <armnn/Logging.hpp>
#include <armnn/utility/Timer.hpp>
#include <cassert>
#include <cstddef>
#include <iostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace common
{

template <typename T>
using InferenceResults = std::vector<std::vector<T>>;

/// Width and height of a picture.
struct Size
{
    Size(uint32_t width, uint32_t height) : m_Width{width}, m_Height{height} {}

    uint32_t m_Width;
    uint32_t m_Height;
};

/// Prints how long a stage took, if it was asked to.
class StageTimer
{
public:
    explicit StageTimer(bool enabled) : m_Enabled(enabled), m_Start(armnn::GetTimeNow()) {}

    void Start() { m_Start = armnn::GetTimeNow(); }
    void StopAndPrint(const std::string& stage)
    {
        if (m_Enabled)
        {
            std::cout << "Profiling: " << stage << ": " << armnn::GetTimeDuration(m_Start).count() * 1000.0 << " us\n";
            ++m_NumPrinted;
        }
    }
    unsigned int GetNumPrinted() const { return m_NumPrinted; }

private:
    bool m_Enabled;
    std::chrono::high_resolution_clock::time_point m_Start;
    unsigned int m_NumPrinted = 0;
};

template <typename Tout>
class NetworkExecutor
{
public:
    NetworkExecutor() = delete;
    NetworkExecutor(const std::string& modelPath, const std::vector<armnn::BackendId>& preferredBackends,
                    bool isProfilingEnabled = false);

    /// Runs the network once on `dataBytes` bytes of input; false where that fails.
    bool Run(const void* inputData, std::size_t dataBytes, InferenceResults<Tout>& outResults);

    Size GetImageAspectRatio() const;
    armnn::DataType GetInputDataType() const { return m_InputBindingInfo.second.GetDataType(); }
    std::size_t GetInputBytes() const { return m_InputBindingInfo.second.GetNumBytes(); }
    float GetQuantizationScale() const { return m_InputBindingInfo.second.GetQuantizationScale(); }
    int GetQuantizationOffset() const { return m_InputBindingInfo.second.GetQuantizationOffset(); }
    float GetOutputQuantizationScale(unsigned int index) const
    {
        return m_OutputBindingInfo.at(index).second.GetQuantizationScale();
    }
    int GetOutputQuantizationOffset(unsigned int index) const
    {
        return m_OutputBindingInfo.at(index).second.GetQuantizationOffset();
    }
    unsigned int GetNumStagesPrinted() const { return m_Timer.GetNumPrinted(); }

private:
    void PrepareTensors(const void* inputData, std::size_t dataBytes);

    template <typename Enumeration>
    typename std::underlying_type<Enumeration>::type LogAsInt(Enumeration value)
    {
        return static_cast<typename std::underlying_type<Enumeration>::type>(value);
    }

    StageTimer m_Timer;
    armnn::IRuntimePtr m_Runtime;
    armnn::NetworkId m_NetId{};
    InferenceResults<Tout> m_OutputBuffer;
    armnn::InputTensors m_InputTensors;
    armnn::OutputTensors m_OutputTensors;
    std::vector<std::string> m_OutputLayerNames;
    armnnTfLiteParser::BindingPointInfo m_InputBindingInfo;
    std::vector<armnnTfLiteParser::BindingPointInfo> m_OutputBindingInfo;
};

template <typename Tout>
NetworkExecutor<Tout>::NetworkExecutor(const std::string& modelPath,
                                       const std::vector<armnn::BackendId>& preferredBackends, bool isProfilingEnabled)
    : m_Timer(isProfilingEnabled), m_Runtime(armnn::IRuntime::Create(armnn::IRuntime::CreationOptions()))
{
    m_Timer.Start();
    armnnTfLiteParser::ITfLiteParserPtr parser = armnnTfLiteParser::ITfLiteParser::Create();
    armnn::INetworkPtr network = parser->CreateNetworkFromBinaryFile(modelPath.c_str());

    std::vector<std::string> inputNames = parser->GetSubgraphInputTensorNames(0);
    m_InputBindingInfo = parser->GetNetworkInputBindingInfo(0, inputNames.at(0));
    m_OutputLayerNames = parser->GetSubgraphOutputTensorNames(0);
    for (const std::string& name : m_OutputLayerNames)
    {
        m_OutputBindingInfo.push_back(parser->GetNetworkOutputBindingInfo(0, name));
    }

    std::vector<std::string> errorMessages;
    armnn::IOptimizedNetworkPtr optimized =
        Optimize(*network, preferredBackends, m_Runtime->GetDeviceSpec(), armnn::OptimizerOptions(),
                 armnn::Optional<std::vector<std::string>&>(errorMessages));
    if (!optimized)
    {
        const std::string errorMessage{"NetworkExecutor: failed to optimize the network"};
        ARMNN_LOG(error) << errorMessage;
        throw armnn::Exception(errorMessage);
    }

    std::string errorMessage;
    if (armnn::Status::Success != m_Runtime->LoadNetwork(m_NetId, std::move(optimized), errorMessage))
    {
        ARMNN_LOG(error) << errorMessage;
        throw armnn::Exception(errorMessage);
    }

    // Sizes of outputs never change: the tensors are made once.
    for (const armnnTfLiteParser::BindingPointInfo& binding : m_OutputBindingInfo)
    {
        const armnn::TensorShape& shape = binding.second.GetShape();
        m_OutputBuffer.emplace_back(shape.GetNumElements(), Tout());
    }
    m_OutputTensors.reserve(m_OutputBuffer.size());
    for (std::size_t i = 0; i < m_OutputBuffer.size(); ++i)
    {
        m_OutputTensors.emplace_back(std::make_pair(
            m_OutputBindingInfo[i].first, armnn::Tensor(m_OutputBindingInfo[i].second, m_OutputBuffer[i].data())));
    }
    m_Timer.StopAndPrint("NetworkExecutor");
}

template <typename Tout>
void NetworkExecutor<Tout>::PrepareTensors(const void* inputData, std::size_t dataBytes)
{
    if (m_InputBindingInfo.second.GetNumBytes() > dataBytes)
    {
        throw armnn::InvalidArgumentException("too few bytes for the input", CHECK_LOCATION());
    }
    m_InputTensors.clear();
    m_InputTensors = {{m_InputBindingInfo.first, armnn::ConstTensor(m_InputBindingInfo.second, inputData)}};
}

template <typename Tout>
bool NetworkExecutor<Tout>::Run(const void* inputData, std::size_t dataBytes, InferenceResults<Tout>& outResults)
{
    m_Timer.Start();
    ARMNN_LOG(debug) << "Preparing tensors...";
    this->PrepareTensors(inputData, dataBytes);
    ARMNN_LOG(trace) << "Running inference...";

    const armnn::Status status = m_Runtime->EnqueueWorkload(m_NetId, m_InputTensors, m_OutputTensors);
    ARMNN_LOG(trace) << "Inference finished with code {" << LogAsInt(status) << "}";
    if (status == armnn::Status::Failure)
    {
        ARMNN_LOG(error) << "Failed to perform inference.";
    }
    outResults = m_OutputBuffer;
    m_Timer.StopAndPrint("Total inference");
    return armnn::Status::Success == status;
}

template <typename Tout>
Size NetworkExecutor<Tout>::GetImageAspectRatio() const
{
    const auto shape = m_InputBindingInfo.second.GetShape();
    assert(shape.GetNumDimensions() == 4);
    const armnnUtils::DataLayoutIndexed nhwc(armnn::DataLayout::NHWC);
    return Size(shape[nhwc.GetWidthIndex()], shape[nhwc.GetHeightIndex()]);
}

} // namespace common
