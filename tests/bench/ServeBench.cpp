// SPDX-License-Identifier: Apache-2.0
// bench_serve: one model on Tenon in a process of its own, which runs it when it is told to. performance.py talks to it
// and to workers of other engines (perf/peer_worker.py) that answer the same commands, so that they run in turn.
//
// usage: bench_serve MODEL.tflite|MODEL.onnx [--compute CpuAcc,CpuRef] [--threads N] [--bf16] [--fast-math]
//        [--inputs A.bin,B.bin] [--shape NAME=1,3,96,96 ...] [--open] [--save-cached-network FILE]
//        [--cached-network FILE]
// --shape gives an input the shape that its file has: when the model is parsed, or, with --open, when it is run; sizes
// that the model leaves open then are open while it is optimized and loaded.
// Reads commands from standard input and answers each with one line of JSON; an error ends it with status 1.
//   describe          name, type and shape of each input, null for an open size
//   load              parse, optimize and load: milliseconds of each, and of all as "init"
//   run COUNT MAX_MS [REST_MS]
//                     runs it COUNT times, or less often once MAX_MS have passed: milliseconds of each run, without
//                     those in which memory for outputs is allocated: it is the application's, as that of inputs is.
//                     Before each run the process rests for REST_MS, which MAX_MS count, too
//   rate CALLERS MS   runs it for MS milliseconds in so many threads of the application at once, each with outputs of
//                     its own: "calls_per_second", of all together
//   trace COUNT FILE  runs it COUNT times with profiling on, and writes IProfiler::WriteChromeTrace to the file
//   memory            growth of the peak resident set since just before "load", in KiB, and of anonymous memory, which
//                     no file backs
#include "AlignedBytes.hpp"
#include "ServeArguments.hpp"
#include "ServeModel.hpp"

#include <tenon/Tenon.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <future>
#include <iostream>
#include <iterator>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace tenon::bench
{

namespace
{

using Clock = std::chrono::steady_clock;

double Milliseconds(Clock::time_point from, Clock::time_point to)
{
    return std::chrono::duration<double, std::milli>(to - from).count();
}

AlignedBytes ReadInput(const std::string& path, size_t bytes)
{
    std::ifstream file(path, std::ios::binary);
    AlignedBytes content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (!file || content.size() != bytes)
    {
        throw std::runtime_error(path + ": cannot be read, or has not the " + std::to_string(bytes) +
                                 " bytes of the input");
    }
    return content;
}

/// A line of /proc/self/status, in KiB; 0 where there is none.
long ReadStatus(const std::string& name)
{
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
    {
        if (line.rfind(name + ":", 0) == 0)
        {
            return std::stol(line.substr(name.size() + 1));
        }
    }
    return 0;
}

/// A caller of a loaded network, with outputs of its own.
class Caller
{
public:
    Caller(IRuntime& runtime, NetworkId network, const InputTensors& inputs)
        : m_Runtime(runtime), m_Network(network), m_Inputs(inputs)
    {
    }

    /// Milliseconds of one run, without those in which memory for outputs is allocated.
    double Run()
    {
        m_Allocating = {};
        const auto start = Clock::now();
        m_Runtime.EnqueueWorkload(m_Network, m_Inputs,
                                  [this](LayerBindingId output, const TensorInfo& info)
                                  { return GetOutput(output, info.GetNumBytes()); });
        return Milliseconds(start, Clock::now() - m_Allocating);
    }

private:
    /// The memory of an output, whose pages are there before the network writes it.
    char* GetOutput(LayerBindingId output, size_t bytes)
    {
        AlignedBytes& memory = m_Outputs[output];
        if (memory.size() != bytes)
        {
            const auto start = Clock::now();
            memory.resize(bytes);
            m_Allocating += Clock::now() - start;
        }
        return memory.data();
    }

    IRuntime& m_Runtime;
    NetworkId m_Network;
    const InputTensors& m_Inputs;
    std::map<LayerBindingId, AlignedBytes> m_Outputs; ///< at the start of a line, as the other engines have theirs
    Clock::duration m_Allocating{};                   ///< what the latest run waited for memory of outputs
};

/// The model, from its file to its outputs.
class Session
{
public:
    explicit Session(Arguments arguments)
        : m_Arguments(std::move(arguments)), m_Runtime(IRuntime::Create({})),
          m_Model(m_Arguments.m_Model, m_Arguments.m_Open ? Shapes() : m_Arguments.m_Shapes)
    {
    }

    std::string Describe()
    {
        m_Model.Parse();
        std::string text;
        for (const auto& [name, id, info] : m_Model.Inputs())
        {
            text += (text.empty() ? "" : ", ") + std::string(R"({"name": )") + Quote(name) + R"(, "type": ")" +
                    GetDataTypeName(info.GetDataType()) + R"(", "shape": )" + DescribeShape(info.GetShape()) + "}";
        }
        return "{\"inputs\": [" + text + "]}";
    }

    std::string Load()
    {
        // From here on the peak counts from what is resident now.
        std::ofstream("/proc/self/clear_refs") << '5';
        m_ResidentBefore = ReadStatus("VmRSS");
        m_AnonymousBefore = ReadStatus("RssAnon");
        const auto start = Clock::now();
        const INetworkPtr network = m_Model.Parse();
        const auto parsed = Clock::now();
        IOptimizedNetworkPtr optimized =
            Optimize(*network, Backends(), m_Runtime->GetDeviceSpec(), MakeOptimizerOptions());
        const auto optimizedAt = Clock::now();
        INetworkProperties properties;
        properties.m_NumberOfThreads = m_Arguments.m_Threads;
        std::string error;
        if (m_Runtime->LoadNetwork(m_Network, std::move(optimized), error, properties) != Status::Success)
        {
            throw std::runtime_error(error);
        }
        const auto loaded = Clock::now();
        BindInputs();
        std::ostringstream answer;
        answer << "{\"init\": " << Milliseconds(start, loaded) << ", \"parse\": " << Milliseconds(start, parsed)
               << ", \"optimize\": " << Milliseconds(parsed, optimizedAt)
               << ", \"load\": " << Milliseconds(optimizedAt, loaded) << "}";
        return answer.str();
    }

    std::string Run(unsigned int count, double maxMilliseconds, double restMilliseconds = 0.0)
    {
        Caller& caller = GetCaller(0);
        std::ostringstream answer;
        const auto begin = Clock::now();
        for (unsigned int i = 0; i < count; ++i)
        {
            if (restMilliseconds > 0.0)
            {
                std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(restMilliseconds));
            }
            answer << (i == 0 ? "" : ", ") << caller.Run();
            if (Milliseconds(begin, Clock::now()) > maxMilliseconds)
            {
                break;
            }
        }
        return "{\"ms\": [" + answer.str() + "]}";
    }

    std::string Rate(unsigned int count, double milliseconds)
    {
        constexpr unsigned int MaxCallers = 1024;
        if (count == 0 || count > MaxCallers)
        {
            throw std::invalid_argument("rate: there are from 1 to " + std::to_string(MaxCallers) + " callers, not " +
                                        std::to_string(count));
        }
        const auto repeat = [milliseconds](Caller& caller)
        {
            caller.Run(); // memory is allocated in it
            const auto begin = Clock::now();
            double passed = 0.0;
            unsigned int done = 0;
            for (; passed < milliseconds; passed = Milliseconds(begin, Clock::now()), ++done)
            {
                caller.Run();
            }
            return done == 0 ? 0.0 : 1e3 * done / passed;
        };
        GetCaller(count - 1);
        std::vector<std::future<double>> rates;
        rates.reserve(count);
        for (unsigned int i = 0; i < count; ++i)
        {
            rates.push_back(std::async(std::launch::async, repeat, std::ref(GetCaller(i))));
        }
        double sum = 0.0;
        for (std::future<double>& rate : rates)
        {
            sum += rate.get();
        }
        return "{\"calls_per_second\": " + std::to_string(sum) + "}";
    }

    std::string Trace(unsigned int count, const std::string& path)
    {
        const std::shared_ptr<IProfiler> profiler = m_Runtime->GetProfiler(m_Network);
        if (profiler == nullptr)
        {
            throw std::runtime_error("trace before load");
        }
        profiler->EnableProfiling(true);
        Run(count, std::numeric_limits<double>::infinity());
        profiler->EnableProfiling(false);
        std::ofstream file(path);
        profiler->WriteChromeTrace(file);
        if (!file.flush())
        {
            throw std::runtime_error(path + ": cannot be written");
        }
        return "{\"trace\": " + Quote(path) + "}";
    }

    std::string Memory() const
    {
        return "{\"peak_growth_kib\": " + std::to_string(ReadStatus("VmHWM") - m_ResidentBefore) +
               ", \"anonymous_growth_kib\": " + std::to_string(ReadStatus("RssAnon") - m_AnonymousBefore) + "}";
    }

private:
    /// The caller with this number; makes those up to it.
    Caller& GetCaller(unsigned int number)
    {
        if (m_Network < 0)
        {
            throw std::runtime_error("run before load");
        }
        while (m_Callers.size() <= number)
        {
            m_Callers.emplace_back(*m_Runtime, m_Network, m_Inputs);
        }
        return *std::next(m_Callers.begin(), number);
    }

    std::vector<BackendId> Backends() const
    {
        const std::vector<std::string> names = Split(m_Arguments.m_Compute);
        return {names.begin(), names.end()};
    }

    OptimizerOptionsOpaque MakeOptimizerOptions() const
    {
        OptimizerOptionsOpaque options;
        options.SetReduceFp32ToBf16(m_Arguments.m_Bf16);
        if (m_Arguments.m_FastMath)
        {
            options.AddModelOption(BackendOptions("CpuAcc", {{"FastMathEnabled", true}}));
        }
        if (!m_Arguments.m_PackedFile.empty())
        {
            options.AddModelOption(BackendOptions("CpuAcc", {{"SaveCachedNetwork", m_Arguments.m_SavePacked},
                                                             {"CachedNetworkFilePath", m_Arguments.m_PackedFile}}));
        }
        return options;
    }

    /// The files of --inputs, or zeros where none are given.
    void BindInputs()
    {
        const std::vector<ServeInput>& inputs = m_Model.Inputs();
        if (!m_Arguments.m_Inputs.empty() && m_Arguments.m_Inputs.size() != inputs.size())
        {
            throw std::runtime_error("the model has " + std::to_string(inputs.size()) + " inputs, not " +
                                     std::to_string(m_Arguments.m_Inputs.size()));
        }
        m_Memory.reserve(inputs.size());
        for (size_t i = 0; i < inputs.size(); ++i)
        {
            TensorInfo info = inputs[i].m_Info;
            if (const auto shape = m_Arguments.m_Shapes.find(inputs[i].m_Name); shape != m_Arguments.m_Shapes.end())
            {
                info.SetShape(shape->second);
            }
            info.SetConstant();
            m_Memory.push_back(m_Arguments.m_Inputs.empty() ? AlignedBytes(info.GetNumBytes())
                                                            : ReadInput(m_Arguments.m_Inputs[i], info.GetNumBytes()));
            m_Inputs.emplace_back(inputs[i].m_Id, ConstTensor(info, m_Memory.back().data()));
        }
    }

    Arguments m_Arguments;
    IRuntimePtr m_Runtime;
    ServeModel m_Model;
    NetworkId m_Network = -1;
    std::vector<AlignedBytes> m_Memory;
    InputTensors m_Inputs;
    std::list<Caller> m_Callers;
    long m_ResidentBefore = 0;
    long m_AnonymousBefore = 0;
};

std::string Answer(Session& session, const std::string& line)
{
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "describe")
    {
        return session.Describe();
    }
    if (command == "load")
    {
        return session.Load();
    }
    if (command == "memory")
    {
        return session.Memory();
    }
    unsigned int count = 0;
    double maxMilliseconds = 0.0;
    if (command == "run" && words >> count >> maxMilliseconds)
    {
        double restMilliseconds = 0.0;
        words >> restMilliseconds;
        return session.Run(count, maxMilliseconds, restMilliseconds);
    }
    if (command == "rate" && words >> count >> maxMilliseconds)
    {
        return session.Rate(count, maxMilliseconds);
    }
    if (std::string path; command == "trace" && words >> count >> path)
    {
        return session.Trace(count, path);
    }
    throw std::invalid_argument("unknown command: " + line);
}

} // namespace

} // namespace tenon::bench

int main(int argc, char** argv)
{
    try
    {
        tenon::bench::Session session(tenon::bench::Read({argv + 1, argv + argc}));
        for (std::string line; std::getline(std::cin, line);)
        {
            std::cout << tenon::bench::Answer(session, line) << std::endl;
        }
        return 0;
    }
    catch (const std::exception& error)
    {
        std::cerr << error.what() << std::endl;
        return 1;
    }
}
