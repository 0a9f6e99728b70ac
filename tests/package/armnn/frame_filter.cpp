// SPDX-License-Identifier: Apache-2.0
// Written as a program for Arm NN is: an inference element of a media pipeline, as filters of GStreamer are. It is made
// once, tells the types and sizes that it takes and gives, and is then handed mapped frames by several threads.
// Messages of the library go to the pipeline's log. What is wrong with a model or a frame ends in an error code, not in
// a crash.
//
// usage: program MODEL.tflite FRAMES.pgm EXPECTED.txt
// EXPECTED.txt has the int8 scores of each frame. Fails where the network gives others.
#include "common/Pictures.hpp"

#include <algorithm>
#include <armnn/ArmNN.hpp>
#include <armnn/utility/IgnoreUnused.hpp>
#include <armnnTfLiteParser/ITfLiteParser.hpp>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace pipeline
{

enum class ElementType
{
    Int8,
    UInt8,
    Int32,
    Float32,
    End
};

/// Type and sizes of one tensor, the innermost size first, as the pipeline counts.
struct TensorCaps
{
    std::string m_Name;
    ElementType m_Type = ElementType::End;
    std::vector<uint32_t> m_Dimensions;
};

/// Memory of the pipeline.
struct MappedFrame
{
    void* m_Data;
    size_t m_Size;
};

/// Takes the messages of the library into the pipeline's log.
class PipelineLog : public armnn::LogSink
{
public:
    void Consume(const std::string& message) override
    {
        std::lock_guard<std::mutex> lock(m_Mutex);
        m_Lines.push_back(message);
    }
    bool Has(const std::string& text) const
    {
        std::lock_guard<std::mutex> lock(m_Mutex);
        return std::any_of(m_Lines.begin(), m_Lines.end(),
                           [&](const std::string& line) { return line.find(text) != std::string::npos; });
    }

private:
    mutable std::mutex m_Mutex;
    std::vector<std::string> m_Lines;
};

ElementType ToElementType(armnn::DataType type)
{
    switch (type)
    {
    case armnn::DataType::Float32: return ElementType::Float32;
    case armnn::DataType::QAsymmU8: return ElementType::UInt8;
    case armnn::DataType::QAsymmS8:
    case armnn::DataType::QSymmS8: return ElementType::Int8;
    case armnn::DataType::Signed32: return ElementType::Int32;
    default:
        ARMNN_LOG(warning) << "type " << armnn::GetDataTypeName(type) << " is not supported";
        return ElementType::End;
    }
}

class InferenceElement
{
public:
    InferenceElement(const std::string& modelPath, const std::vector<armnn::BackendId>& backends)
        : m_ModelPath(modelPath), m_Backends(backends), m_Runtime(nullptr, &armnn::IRuntime::Destroy)
    {
    }
    ~InferenceElement()
    {
        if (m_Runtime && m_IsLoaded)
        {
            m_Runtime->UnloadNetwork(m_NetworkIdentifier);
        }
    }
    InferenceElement(const InferenceElement&) = delete;
    InferenceElement& operator=(const InferenceElement&) = delete;

    /// 0, or a number of errno.h.
    int Start();
    /// Runs one frame. Frames come from several threads; one runs at a time.
    int Invoke(const MappedFrame& in, const MappedFrame& out);
    /// The same with memory that is imported for this run alone, in place of being copied.
    int InvokeImported(const MappedFrame& in, const MappedFrame& out);

    const TensorCaps& GetInputCaps() const { return m_InputCaps; }
    const TensorCaps& GetOutputCaps() const { return m_OutputCaps; }

private:
    int CheckFrames(const MappedFrame& in, const MappedFrame& out) const;
    static TensorCaps MakeCaps(const std::string& name, const armnn::TensorInfo& info);

    std::string m_ModelPath;
    std::vector<armnn::BackendId> m_Backends;
    armnn::IRuntimePtr m_Runtime;
    armnn::NetworkId m_NetworkIdentifier = 0;
    bool m_IsLoaded = false;
    armnn::BindingPointInfo m_InputBinding;
    armnn::BindingPointInfo m_OutputBinding;
    TensorCaps m_InputCaps;
    TensorCaps m_OutputCaps;
    std::mutex m_Mutex;
};

TensorCaps InferenceElement::MakeCaps(const std::string& name, const armnn::TensorInfo& info)
{
    TensorCaps caps;
    caps.m_Name = name;
    caps.m_Type = ToElementType(info.GetDataType());
    const armnn::TensorShape& shape = info.GetShape();
    for (unsigned int i = shape.GetNumDimensions(); i-- > 0;)
    {
        caps.m_Dimensions.push_back(shape[i]);
    }
    return caps;
}

int InferenceElement::Start()
{
    try
    {
        armnn::IRuntime::CreationOptions options;
        options.m_EnableGpuProfiling = false;
        m_Runtime = armnn::IRuntime::Create(options);

        armnnTfLiteParser::ITfLiteParserPtr parser = armnnTfLiteParser::ITfLiteParser::Create();
        if (!parser)
        {
            return ENOMEM;
        }
        armnn::INetworkPtr network = parser->CreateNetworkFromBinaryFile(m_ModelPath.c_str());
        if (!network)
        {
            return EINVAL;
        }
        const std::string input = parser->GetSubgraphInputTensorNames(0).at(0);
        const std::string output = parser->GetSubgraphOutputTensorNames(0).at(0);
        m_InputBinding = parser->GetNetworkInputBindingInfo(0, input);
        m_OutputBinding = parser->GetNetworkOutputBindingInfo(0, output);
        m_InputCaps = MakeCaps(input, m_InputBinding.second);
        m_OutputCaps = MakeCaps(output, m_OutputBinding.second);

        armnn::OptimizerOptionsOpaque optimizerOptions;
        optimizerOptions.SetImportEnabled(true);
        optimizerOptions.SetExportEnabled(true);
        std::vector<std::string> messages;
        armnn::IOptimizedNetworkPtr optNet =
            armnn::Optimize(*network, m_Backends, m_Runtime->GetDeviceSpec(), optimizerOptions,
                            armnn::Optional<std::vector<std::string>&>(messages));
        for (const std::string& message : messages)
        {
            ARMNN_LOG(warning) << message;
        }
        if (!optNet)
        {
            return EINVAL;
        }
        std::string errorMessage;
        const armnn::INetworkProperties properties(false, armnn::MemorySource::Malloc, armnn::MemorySource::Malloc);
        const armnn::Status status =
            m_Runtime->LoadNetwork(m_NetworkIdentifier, std::move(optNet), errorMessage, properties);
        if (status == armnn::Status::Failure)
        {
            ARMNN_LOG(error) << "LoadNetwork: " << errorMessage;
            return EINVAL;
        }
        m_IsLoaded = true;
        ARMNN_LOG(info) << m_ModelPath << " is loaded";
        return 0;
    }
    catch (const armnn::FileNotFoundException& exception)
    {
        ARMNN_LOG(error) << "no model: " << exception.what();
        return ENOENT;
    }
    catch (const armnn::ParseException& exception)
    {
        ARMNN_LOG(error) << "not a model: " << exception.what();
        return EBADMSG;
    }
    catch (const armnn::Exception& exception)
    {
        ARMNN_LOG(error) << "not started: " << exception.what();
        return EINVAL;
    }
}

int InferenceElement::CheckFrames(const MappedFrame& in, const MappedFrame& out) const
{
    if (!m_IsLoaded)
    {
        return EPERM;
    }
    return in.m_Data == nullptr || out.m_Data == nullptr || in.m_Size != m_InputBinding.second.GetNumBytes() ||
                   out.m_Size != m_OutputBinding.second.GetNumBytes()
               ? EINVAL
               : 0;
}

int InferenceElement::Invoke(const MappedFrame& in, const MappedFrame& out)
{
    const int error = CheckFrames(in, out);
    if (error != 0)
    {
        return error;
    }
    std::lock_guard<std::mutex> lock(m_Mutex);
    armnn::InputTensors inputTensors;
    inputTensors.push_back({m_InputBinding.first, armnn::ConstTensor(m_InputBinding.second, in.m_Data)});
    armnn::OutputTensors outputTensors;
    outputTensors.push_back({m_OutputBinding.first, armnn::Tensor(m_OutputBinding.second, out.m_Data)});
    try
    {
        return m_Runtime->EnqueueWorkload(m_NetworkIdentifier, inputTensors, outputTensors) == armnn::Status::Success
                   ? 0
                   : EIO;
    }
    catch (const armnn::Exception& exception)
    {
        ARMNN_LOG(error) << "EnqueueWorkload: " << exception.what();
        return EIO;
    }
}

int InferenceElement::InvokeImported(const MappedFrame& in, const MappedFrame& out)
{
    const int error = CheckFrames(in, out);
    if (error != 0)
    {
        return error;
    }
    std::lock_guard<std::mutex> lock(m_Mutex);
    try
    {
        const std::vector<armnn::ImportedInputId> inputs = m_Runtime->ImportInputs(
            m_NetworkIdentifier, {{m_InputBinding.first, armnn::ConstTensor(m_InputBinding.second, in.m_Data)}},
            armnn::MemorySource::Malloc);
        const std::vector<armnn::ImportedOutputId> outputs = m_Runtime->ImportOutputs(
            m_NetworkIdentifier, {{m_OutputBinding.first, armnn::Tensor(m_OutputBinding.second, out.m_Data)}},
            armnn::MemorySource::Malloc);
        const armnn::Status status = m_Runtime->EnqueueWorkload(m_NetworkIdentifier, {}, {}, inputs, outputs);
        m_Runtime->ClearImportedInputs(m_NetworkIdentifier, inputs);
        m_Runtime->ClearImportedOutputs(m_NetworkIdentifier, outputs);
        return status == armnn::Status::Success ? 0 : EIO;
    }
    catch (const armnn::MemoryImportException& exception)
    {
        ARMNN_LOG(error) << "memory is not imported: " << exception.what();
        return EFAULT;
    }
}

} // namespace pipeline

namespace
{

constexpr size_t Classes = 10;

/// Says what is wrong, and counts.
class Checks
{
public:
    void Require(bool condition, const std::string& text)
    {
        if (!condition)
        {
            std::cerr << "wrong: " << text << '\n';
            ++m_NumWrong;
        }
    }
    unsigned int GetNumWrong() const { return m_NumWrong; }

private:
    unsigned int m_NumWrong = 0;
};

/// Frames of several threads, each with its own buffers, through one element.
unsigned int CountWrongFrames(pipeline::InferenceElement& element, const std::vector<common::Picture>& frames,
                              const std::vector<int>& expected)
{
    std::atomic<unsigned int> wrong{0};
    std::atomic<size_t> next{0};
    const auto work = [&](bool imported)
    {
        for (size_t i = next++; i < 4 * frames.size(); i = next++)
        {
            const size_t number = i % frames.size();
            std::vector<int8_t> input(frames[number].size());
            std::transform(frames[number].begin(), frames[number].end(), input.begin(),
                           [](uint8_t pixel) { return static_cast<int8_t>(pixel - 128); });
            std::vector<int8_t> output(Classes, 0);
            const pipeline::MappedFrame in{input.data(), input.size()};
            const pipeline::MappedFrame out{output.data(), output.size()};
            const int error = imported ? element.InvokeImported(in, out) : element.Invoke(in, out);
            if (error != 0 || !std::equal(output.begin(), output.end(),
                                          expected.begin() + static_cast<std::ptrdiff_t>(number * Classes)))
            {
                ++wrong;
            }
        }
    };
    std::vector<std::thread> threads;
    for (unsigned int i = 0; i < 4; ++i)
    {
        threads.emplace_back(work, i % 2 == 1);
    }
    for (std::thread& thread : threads)
    {
        thread.join();
    }
    return wrong;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc != 4)
    {
        std::cerr << "usage: " << argv[0] << " MODEL.tflite FRAMES.pgm EXPECTED.txt\n";
        return 1;
    }
    // The messages of each severity that is on go to the pipeline's log, and nowhere else.
    const auto log = std::make_shared<pipeline::PipelineLog>();
    armnn::ConfigureLogging(true, false, armnn::LogSeverity::Info);
    armnn::SimpleLogger<armnn::LogSeverity::Info>::Get().RemoveAllSinks();
    armnn::SimpleLogger<armnn::LogSeverity::Info>::Get().AddSink(log);
    armnn::SimpleLogger<armnn::LogSeverity::Warning>::Get().RemoveAllSinks();
    armnn::SimpleLogger<armnn::LogSeverity::Warning>::Get().AddSink(log);
    armnn::SimpleLogger<armnn::LogSeverity::Error>::Get().RemoveAllSinks();
    armnn::SimpleLogger<armnn::LogSeverity::Error>::Get().AddSink(log);

    Checks checks;
    try
    {
        const std::vector<common::Picture> frames = common::ReadPictures(argv[2]);
        const std::vector<int> expected = common::ReadNumbers<int>(argv[3]);
        const std::vector<armnn::BackendId> backends = {armnn::Compute::CpuAcc, armnn::Compute::CpuRef};

        // A pipeline that cannot start says why.
        pipeline::InferenceElement missing(std::string(argv[1]) + ".missing", backends);
        checks.Require(missing.Start() == ENOENT, "a model that is not there is ENOENT");
        checks.Require(log->Has("Error: no model: ") && log->Has(".missing"), "its name is in the log");
        pipeline::InferenceElement corrupt(argv[2], backends);
        checks.Require(corrupt.Start() == EBADMSG, "a file that is no model is EBADMSG");
        checks.Require(log->Has("Error: not a model: "), "that is in the log");
        pipeline::InferenceElement unknown(argv[1], {"NoSuchBackend"});
        checks.Require(unknown.Start() == EINVAL, "a backend that is not there is EINVAL");
        checks.Require(log->Has("NoSuchBackend"), "its name is in the log");
        char byte = 0;
        checks.Require(unknown.Invoke({&byte, 1}, {&byte, 1}) == EPERM,
                       "an element that did not start takes no frames");

        pipeline::InferenceElement element(argv[1], backends);
        checks.Require(element.Start() == 0, "the element starts");
        checks.Require(log->Has("Info: ") && log->Has("is loaded"), "that is in the log");
        const pipeline::TensorCaps& caps = element.GetInputCaps();
        checks.Require(caps.m_Type == pipeline::ElementType::Int8 &&
                           caps.m_Dimensions == std::vector<uint32_t>({1, 8, 8, 1}),
                       "input caps are int8 1:8:8:1");
        checks.Require(element.GetOutputCaps().m_Type == pipeline::ElementType::Int8 &&
                           element.GetOutputCaps().m_Dimensions == std::vector<uint32_t>({10, 1}),
                       "output caps are int8 10:1");
        checks.Require(element.Invoke({&byte, 1}, {&byte, 1}) == EINVAL, "a frame of another size is EINVAL");
        checks.Require(element.Invoke({nullptr, 64}, {nullptr, Classes}) == EINVAL, "a frame without memory is EINVAL");
        checks.Require(CountWrongFrames(element, frames, expected) == 0, "scores of frames from four threads");
    }
    catch (const std::exception& exception)
    {
        std::cerr << exception.what() << '\n';
        return 1;
    }
    if (checks.GetNumWrong() == 0)
    {
        std::cout << "frames: ok\n";
    }
    return checks.GetNumWrong() == 0 ? 0 : 1;
}
