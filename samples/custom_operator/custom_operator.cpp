// SPDX-License-Identifier: Apache-2.0
// A model with an operator that Tenon does not know, run by a kernel of the application's own.
//
// Usage: custom_operator [FOLDER]    FOLDER holds softsign.tflite; samples/custom_operator if left out.
#include <tenon/Tenon.hpp>
#include <tenon/backend/ICustomOperator.hpp>
#include <tenon/parsers/ITfLiteParser.hpp>

#include <cmath>
#include <cstring>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

using namespace tenon;

namespace
{

// 3. The kernel for known shapes. It runs once per inference, on any number of threads at once: all that changes is in
// the arguments.
class ShapedSoftsign final : public IShapedWorkload
{
public:
    ShapedSoftsign(size_t count, float gain) : m_Count(count), m_Gain(gain) {}

    void Execute(const ExecuteArgs& args) const override
    {
        const auto* in = args.GetInput<float>(0);
        auto* out = args.GetOutput<float>(0);
        const auto body = [&](size_t begin, size_t end)
        {
            for (size_t i = begin; i < end; ++i)
            {
                out[i] = m_Gain * in[i] / (1.0f + std::fabs(in[i]));
            }
        };
        constexpr size_t Grain = 4096;                        // elements that are worth a thread
        args.m_Parallel->Run(m_Count, Grain, std::ref(body)); // a copy of it would be allocated, in each run
    }

private:
    size_t m_Count;
    float m_Gain;
};

// 2. The kernel of one layer: it reads the options once. Reshape is called for each new set of input shapes.
class Softsign final : public IWorkload
{
public:
    explicit Softsign(const CustomDescriptor& descriptor)
    {
        std::memcpy(&m_Gain, descriptor.m_Options.data(), sizeof(m_Gain));
    }

    std::unique_ptr<IShapedWorkload> Reshape(const ReshapeArgs& args) const override
    {
        return std::make_unique<ShapedSoftsign>(args.GetInput(0).GetNumElements(), m_Gain);
    }
    const char* GetName() const override { return "Softsign"; }

private:
    float m_Gain = 0.0f;
};

// 1. The operator: what it is called in models, which shapes it gives, which types and options it takes.
class SoftsignOperator final : public ICustomOperator
{
public:
    const char* GetName() const override { return "Softsign"; }

    std::vector<TensorShape> InferOutputShapes(const CustomShapeArgs& args) const override
    {
        return {args.m_Inputs[0]->GetShape()};
    }

    // A model file may hold anything: what the kernel cannot run is refused here, with a reason.
    SupportResult IsSupported(const LayerView& layer) const override
    {
        if (layer.GetNumInputs() != 1 || layer.GetNumOutputs() != 1 || !layer.HasInput(0))
        {
            return SupportResult::No(SupportCode::UnsupportedParameters, "Softsign has one input and one output");
        }
        if (layer.GetInput(0).GetDataType() != DataType::Float32 ||
            layer.GetOutput(0).GetDataType() != DataType::Float32)
        {
            return SupportResult::No(SupportCode::UnsupportedType, "Softsign is for Float32");
        }
        if (layer.GetDescriptor<CustomDescriptor>().m_Options.size() != sizeof(float))
        {
            return SupportResult::No(SupportCode::UnsupportedParameters, "Softsign's options are one float, the gain");
        }
        return SupportResult::Yes();
    }

    std::unique_ptr<IWorkload> CreateWorkload(const LayerView& layer) const override
    {
        return std::make_unique<Softsign>(layer.GetDescriptor<CustomDescriptor>());
    }
};

} // namespace

int main(int argc, char** argv)
{
    try
    {
        // 4. The parser takes it for the operators of its name.
        ITfLiteParser::TfLiteParserOptions options;
        options.m_CustomOperators.push_back(std::make_shared<SoftsignOperator>());
        const ITfLiteParserPtr parser = ITfLiteParser::Create(options);
        const std::string file = std::string(argc > 1 ? argv[1] : "samples/custom_operator") + "/softsign.tflite";
        const INetworkPtr network = parser->CreateNetworkFromBinaryFile(file.c_str());

        // 5. From here on it is a layer like any other; CpuRef runs it.
        const IRuntimePtr runtime = IRuntime::Create(IRuntime::CreationOptions());
        NetworkId id = 0;
        runtime->LoadNetwork(id, Optimize(*network, {Compute::CpuAcc, Compute::CpuRef}, runtime->GetDeviceSpec()));
        const auto [inputId, inputInfo] = parser->GetNetworkInputBindingInfo(0, "in");
        const auto [outputId, outputInfo] = parser->GetNetworkOutputBindingInfo(0, "out");
        const std::vector<float> in{-4.0f, -1.0f, 0.0f, 1.0f, 4.0f};
        const std::vector<float> expected{-2.0f, -1.25f, 0.0f, 1.25f, 2.0f};
        std::vector<float> out(outputInfo.GetNumElements());
        runtime->EnqueueWorkload(id, {{inputId, ConstTensor(inputInfo, in)}},
                                 {{outputId, Tensor(outputInfo, out.data())}});
        for (size_t i = 0; i < out.size(); ++i)
        {
            std::cout << "softsign(" << in[i] << ") = " << out[i] << '\n';
        }
        return out == expected ? 0 : 1;
    }
    catch (const Exception& error)
    {
        std::cerr << "error: " << error.what() << '\n';
        return 1;
    }
}
