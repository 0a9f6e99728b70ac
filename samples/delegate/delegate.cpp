// SPDX-License-Identifier: Apache-2.0
// Tenon's delegate in a C++ program that has a TensorFlow Lite interpreter. A program that is built without TensorFlow
// Lite makes the delegate and deletes it.
//
// usage: delegate [MODEL.tflite [INPUT]]
//   INPUT   a file with the bytes of the model's first input; zeros without it
#include <tenon/Exceptions.hpp>
#include <tenon/delegate/Delegate.hpp>

#ifdef SAMPLE_HAS_TENSORFLOW_LITE
#include <tensorflow/lite/interpreter.h>
#include <tensorflow/lite/interpreter_builder.h>
#include <tensorflow/lite/kernels/register.h>
#include <tensorflow/lite/model_builder.h>
#endif

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace
{

/// The fast backend, and the reference backend for what the fast one does not support. The log tells which nodes the
/// delegate takes.
tenon::TfLiteDelegatePtr MakeDelegate()
{
    tenon::TfLiteDelegateOptions options;
    options.m_Backends = {"CpuAcc", "CpuRef"};
    options.m_LoggingSeverity = tenon::LogSeverity::Info;
    return tenon::MakeTfLiteDelegate(options);
}

#ifdef SAMPLE_HAS_TENSORFLOW_LITE

void Check(TfLiteStatus status, const char* what)
{
    if (status != kTfLiteOk)
    {
        throw std::runtime_error(std::string(what) + " failed; TensorFlow Lite wrote the reason");
    }
}

void Fill(TfLiteTensor& tensor, const char* path)
{
    std::fill_n(tensor.data.raw, tensor.bytes, '\0');
    if (path == nullptr)
    {
        return;
    }
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (bytes.size() != tensor.bytes)
    {
        throw std::runtime_error("the model's first input has " + std::to_string(tensor.bytes) + " bytes, and '" +
                                 path + "' " + std::to_string(bytes.size()));
    }
    std::copy(bytes.begin(), bytes.end(), tensor.data.raw);
}

template <typename T>
void PrintLargest(const TfLiteTensor& tensor)
{
    const T* const begin = reinterpret_cast<const T*>(tensor.data.raw);
    const T* const largest = std::max_element(begin, begin + tensor.bytes / sizeof(T));
    std::cout << "the largest element is number " << largest - begin << ": " << +*largest << '\n';
}

void Run(const char* modelPath, const char* inputPath)
{
    const auto model = tflite::FlatBufferModel::BuildFromFile(modelPath);
    if (model == nullptr)
    {
        throw std::runtime_error(std::string("'") + modelPath + "' cannot be read");
    }
    const tflite::ops::builtin::BuiltinOpResolver resolver;
    std::unique_ptr<tflite::Interpreter> interpreter;
    Check(tflite::InterpreterBuilder(*model, resolver)(&interpreter), "making the interpreter");

    // The interpreter owns the delegate from here on. A delegate that several interpreters share is passed as
    // delegate.get(), and has to outlive them.
    Check(interpreter->ModifyGraphWithDelegate(MakeDelegate()), "applying the delegate");
    Check(interpreter->AllocateTensors(), "allocating tensors");

    Fill(*interpreter->input_tensor(0), inputPath);
    constexpr int Runs = 100;
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < Runs; ++i)
    {
        Check(interpreter->Invoke(), "running the model");
    }
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    std::cout << time.count() / Runs << " us a run\n";
    const TfLiteTensor& output = *interpreter->output_tensor(0);
    switch (output.type)
    {
    case kTfLiteFloat32: PrintLargest<float>(output); break;
    case kTfLiteInt8: PrintLargest<int8_t>(output); break;
    case kTfLiteUInt8: PrintLargest<uint8_t>(output); break;
    default: std::cout << "the first output has " << output.bytes << " bytes\n";
    }
}

#else

void Run(const char*, const char*)
{
    throw std::runtime_error("this program was built without TensorFlow Lite, which runs models: see README.md");
}

#endif

} // namespace

int main(int argc, char** argv)
{
    try
    {
        if (argc > 1)
        {
            Run(argv[1], argc > 2 ? argv[2] : nullptr);
            return 0;
        }
        const tenon::TfLiteDelegatePtr delegate = MakeDelegate();
        std::cout << "made a delegate\n";
        return 0;
    }
    catch (const std::exception& error) // also Tenon's
    {
        std::cerr << "delegate: " << error.what() << '\n';
        return 1;
    }
}
