// SPDX-License-Identifier: Apache-2.0
// bench_subgraphs: what is done to several layers at once, in one run beside the same network without it: activations
// fused into the layers before them, tensors that are parts of others left in place, layers in tiles, sums in the
// layers before them, attentions in one workload, elementwise layers in chains, borders in the layers behind them,
// strides in the layers before them, and attentions that the optimizer makes one layer. The tables of docs/subgraphs.md
// are its. One thread, eleven ways in turn, A B C D E F G H I J K A B C ...; ratios above 1 are what the network would
// take longer. The last way is without both kinds of attentions and without tiles.
//
// usage: bench_subgraphs [MODEL.tflite ...]
#include "AlignedBytes.hpp"
#include "BranchNetworks.hpp"
#include "ChainNetworks.hpp"
#include "WithoutSubgraphs.hpp"

#include <tenon/Tenon.hpp>
#include <tenon/parsers/ITfLiteParser.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace tenon::bench
{

namespace
{

double Median(std::vector<double> values)
{
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
}

std::string NameOf(const std::string& path)
{
    const std::string file = path.substr(path.find_last_of('/') + 1);
    return file.substr(0, file.find_last_of('.'));
}

/// Of inputs and outputs, by binding, for all ways to run a network: memory of their own would lie differently to
/// caches, which makes a tenth of the time of a small network.
struct Memory
{
    std::map<LayerBindingId, AlignedBytes> m_Inputs;
    std::map<LayerBindingId, AlignedBytes> m_Outputs;
};

/// A network as one backend runs it, on random values.
class Loaded
{
public:
    /// One thing at most is left out: the backend's, a fusion of the runtime or a pass of the optimizer.
    Loaded(IRuntime& runtime, const INetwork& network, const BackendId& backend, Memory& memory,
           const std::vector<std::string>& withoutFusions = {}, const char* withoutPass = nullptr)
        : m_Runtime(runtime)
    {
        OptimizerOptionsOpaque options;
        options.SetShapeInferenceMethod(ShapeInferenceMethod::InferAndValidate);
        INetworkProperties properties;
        properties.m_NumberOfThreads = 1;
        properties.m_DisabledFusions = withoutFusions;
        std::string error;
        const std::vector<BackendId> backends = {backend, "CpuRef"};
        auto optimized = withoutPass == nullptr
                             ? Optimize(network, backends, runtime.GetDeviceSpec(), options)
                             : OptimizeWithout(withoutPass, network, backends, runtime.GetDeviceSpec(), options);
        FindBindings bindings;
        optimized->ExecuteStrategy(bindings);
        if (m_Runtime.LoadNetwork(m_Id, std::move(optimized), error, properties) != Status::Success)
        {
            throw RuntimeException(error);
        }
        std::mt19937 random(1);
        std::uniform_real_distribution<float> values(-1.0f, 1.0f);
        for (const LayerBindingId id : bindings.m_Inputs)
        {
            TensorInfo info = m_Runtime.GetInputTensorInfo(m_Id, id);
            info.SetConstant();
            void* const bytes = memory.m_Inputs.try_emplace(id, info.GetNumBytes()).first->second.data();
            if (info.GetDataType() == DataType::Float32) // others stay 0, which is an index of anything
            {
                std::generate_n(static_cast<float*>(bytes), info.GetNumElements(), [&] { return values(random); });
            }
            m_Inputs.emplace_back(id, ConstTensor(info, bytes));
        }
        for (const LayerBindingId id : bindings.m_Outputs)
        {
            const TensorInfo info = m_Runtime.GetOutputTensorInfo(m_Id, id);
            AlignedBytes& bytes = memory.m_Outputs.try_emplace(id, info.GetNumBytes()).first->second;
            m_Outputs.emplace_back(id, Tensor(info, bytes.data()));
        }
    }

    double Seconds(unsigned int runs)
    {
        const auto start = std::chrono::steady_clock::now();
        for (unsigned int i = 0; i < runs; ++i)
        {
            m_Runtime.EnqueueWorkload(m_Id, m_Inputs, m_Outputs);
        }
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / runs;
    }

private:
    struct FindBindings : IStrategy
    {
        void ExecuteStrategy(const IConnectableLayer* layer, const BaseDescriptor&, const std::vector<ConstTensor>&,
                             const char*, const LayerBindingId id) override
        {
            if (layer->GetType() == LayerType::Input)
            {
                m_Inputs.push_back(id);
            }
            else if (layer->GetType() == LayerType::Output)
            {
                m_Outputs.push_back(id);
            }
        }
        std::vector<LayerBindingId> m_Inputs;
        std::vector<LayerBindingId> m_Outputs;
    };

    IRuntime& m_Runtime;
    NetworkId m_Id = 0;
    InputTensors m_Inputs;
    OutputTensors m_Outputs;
};

void Compare(const std::string& name, const INetwork& network)
{
    IRuntime::CreationOptions creation;
    creation.m_Backends = {MakeWithoutFusing()};
    const IRuntimePtr runtime = IRuntime::Create(creation);
    Memory memory;
    std::vector<std::unique_ptr<Loaded>> ways;
    for (const auto* backend : {"CpuAcc", "WithoutFusing"})
    {
        ways.push_back(std::make_unique<Loaded>(*runtime, network, backend, memory));
    }
    for (const auto* fusion : {"ConcatInPlace", "CrossLayerTiling", "Attention", "ResidualAdd", "ElementwiseChain"})
    {
        ways.push_back(std::make_unique<Loaded>(*runtime, network, "CpuAcc", memory, std::vector<std::string>{fusion}));
    }
    for (const auto* pass : {"FoldPad", "MoveStrides", "FoldAttention"})
    {
        ways.push_back(std::make_unique<Loaded>(*runtime, network, "CpuAcc", memory, std::vector<std::string>{}, pass));
    }
    ways.push_back(std::make_unique<Loaded>(*runtime, network, "CpuAcc", memory,
                                            std::vector<std::string>{"Attention", "CrossLayerTiling"},
                                            "FoldAttention"));
    for (const auto& way : ways)
    {
        way->Seconds(1);
    }
    constexpr double RoundSeconds = 0.1; // several runs: the first one finds what the others left in the cache
    constexpr int Rounds = 11;
    const auto runs = static_cast<unsigned int>(std::clamp(RoundSeconds / ways[0]->Seconds(1), 1.0, 10000.0));
    std::vector<double> times;
    std::vector<std::vector<double>> ratios(ways.size() - 1);
    for (int turn = 0; turn < Rounds; ++turn)
    {
        times.push_back(ways[0]->Seconds(runs));
        for (size_t i = 1; i < ways.size(); ++i)
        {
            ratios[i - 1].push_back(ways[i]->Seconds(runs) / times.back());
        }
    }
    std::string row = fmt::format("| {} | {:.1f} |", name, Median(times) * 1e6);
    for (std::vector<double>& ratio : ratios)
    {
        row += fmt::format(" {:.3f} |", Median(ratio));
    }
    std::cout << row << std::endl;
}

void Connect(IConnectableLayer* from, IConnectableLayer* to, unsigned int input = 0)
{
    from->GetOutputSlot(0).Connect(to->GetInputSlot(input));
}

IConnectableLayer* AddNegation(INetwork& network, IConnectableLayer* from)
{
    IConnectableLayer* layer = network.AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Neg));
    Connect(from, layer);
    return layer;
}

IConnectableLayer* AddRows(INetwork& network, LayerBindingId id, unsigned int rows, unsigned int columns)
{
    IConnectableLayer* layer = network.AddInputLayer(id);
    layer->GetOutputSlot(0).SetTensorInfo(TensorInfo({rows, columns}, DataType::Float32));
    return layer;
}

/// As the heads of detectors are joined, of large images and of small ones.
INetworkPtr MakeHeads(unsigned int columns)
{
    INetworkPtr network = INetwork::Create();
    const std::vector<unsigned int> rows = {1444, 600, 150, 54, 24, 6};
    ConcatDescriptor descriptor(static_cast<uint32_t>(rows.size()), 2);
    descriptor.SetConcatAxis(0);
    IConnectableLayer* joined = network->AddConcatLayer(descriptor);
    for (unsigned int i = 0; i < rows.size(); ++i)
    {
        Connect(AddNegation(*network, AddRows(*network, static_cast<LayerBindingId>(i), rows[i], columns)), joined, i);
    }
    Connect(joined, network->AddOutputLayer(0));
    return network;
}

/// As queries, keys and values are cut out of one product.
INetworkPtr MakeAttention(unsigned int rows, unsigned int columns)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* all = AddNegation(*network, AddRows(*network, 0, 3 * rows, columns));
    for (unsigned int i = 0; i < 3; ++i)
    {
        IConnectableLayer* part = network->AddSliceLayer(SliceDescriptor({i * rows, 0}, {rows, columns}));
        Connect(all, part);
        ReduceDescriptor sum;
        sum.m_vAxis = {0};
        IConnectableLayer* reduced = network->AddReduceLayer(sum);
        Connect(part, reduced);
        Connect(reduced, network->AddOutputLayer(static_cast<LayerBindingId>(i)));
    }
    return network;
}

/// Products, masks, softmax, products, for so many heads.
INetworkPtr MakeHeadsOfAttention(unsigned int heads, unsigned int length, unsigned int depth)
{
    INetworkPtr network = INetwork::Create();
    const auto addInput = [&](LayerBindingId id, const TensorShape& shape)
    {
        IConnectableLayer* layer = network->AddInputLayer(id);
        layer->GetOutputSlot(0).SetTensorInfo(TensorInfo(shape, DataType::Float32));
        return layer;
    };
    IConnectableLayer* scores = network->AddBatchMatMulLayer(BatchMatMulDescriptor());
    Connect(addInput(0, {heads, length, depth}), scores, 0);
    Connect(addInput(1, {heads, depth, length}), scores, 1);
    IConnectableLayer* masked = network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Add));
    Connect(scores, masked, 0);
    Connect(addInput(2, {1, 1, length}), masked, 1);
    IConnectableLayer* softmax = network->AddSoftmaxLayer(SoftmaxDescriptor());
    Connect(masked, softmax);
    IConnectableLayer* product = network->AddBatchMatMulLayer(BatchMatMulDescriptor());
    Connect(softmax, product, 0);
    Connect(addInput(3, {heads, length, depth}), product, 1);
    Connect(product, network->AddOutputLayer(0));
    return network;
}

/// The same of rows that have all heads side by side, as frameworks write it for a batch of one: queries, keys and
/// values are cut into heads, and the result is put together again.
INetworkPtr MakeLayersOfAttention(unsigned int heads, unsigned int length, unsigned int depth)
{
    INetworkPtr network = INetwork::Create();
    const auto after = [&](IConnectableLayer* layer, IConnectableLayer* input, IConnectableLayer* other = nullptr)
    {
        Connect(input, layer, 0);
        other != nullptr ? Connect(other, layer, 1) : void();
        return layer;
    };
    const auto addHeads = [&](LayerBindingId id, const PermutationVector& mappings)
    {
        IConnectableLayer* rows = network->AddInputLayer(id);
        rows->GetOutputSlot(0).SetTensorInfo(TensorInfo({1, length, heads * depth}, DataType::Float32));
        rows = after(network->AddReshapeLayer(ReshapeDescriptor({1, length, heads, depth})), rows);
        return after(network->AddTransposeLayer(TransposeDescriptor(mappings)), rows);
    };
    IConnectableLayer* last = after(network->AddBatchMatMulLayer(BatchMatMulDescriptor()), addHeads(0, {0, 2, 1, 3}),
                                    addHeads(1, {0, 2, 3, 1}));
    IConnectableLayer* scaled = network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Mul));
    const auto factor = std::make_shared<std::vector<float>>(1, 0.125f);
    Connect(network->AddConstantLayer(ConstTensor(TensorInfo({1}, DataType::Float32, 0.0f, 0, true), factor->data()),
                                      factor),
            scaled, 1);
    last = after(network->AddSoftmaxLayer(SoftmaxDescriptor()), after(scaled, last));
    last = after(network->AddBatchMatMulLayer(BatchMatMulDescriptor()), last, addHeads(2, {0, 2, 1, 3}));
    last = after(network->AddTransposeLayer(TransposeDescriptor({0, 2, 1, 3})), last);
    last = after(network->AddReshapeLayer(ReshapeDescriptor({1, length, heads * depth})), last);
    Connect(last, network->AddOutputLayer(0));
    return network;
}

void AddConstant(INetwork& network, IConnectableLayer* layer, unsigned int input, const TensorShape& shape)
{
    TensorInfo info(shape, DataType::Float32);
    info.SetConstant();
    const auto values = std::make_shared<std::vector<float>>(info.GetNumElements(), 0.01f);
    Connect(network.AddConstantLayer(ConstTensor(info, values->data()), values), layer, input);
}

/// Borders of zeros in front of convolutions of 3x3 with a stride of 2, as converters write those that are wider on one
/// side. Each halves the image.
INetworkPtr MakePadded(unsigned int size, unsigned int channels, unsigned int layers)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* last = network->AddInputLayer(0);
    last->GetOutputSlot(0).SetTensorInfo(TensorInfo({1, size, size, channels}, DataType::Float32));
    for (unsigned int i = 0; i < layers; ++i)
    {
        IConnectableLayer* pad = network->AddPadLayer(PadDescriptor({{0, 0}, {0, 1}, {0, 1}, {0, 0}}));
        Connect(last, pad);
        Convolution2dDescriptor descriptor;
        descriptor.m_StrideX = descriptor.m_StrideY = 2;
        descriptor.m_DataLayout = DataLayout::NHWC;
        descriptor.m_BiasEnabled = true;
        last = network->AddConvolution2dLayer(descriptor);
        Connect(pad, last);
        AddConstant(*network, last, 1, {channels, 3, 3, channels});
        AddConstant(*network, last, 2, {channels});
    }
    Connect(last, network->AddOutputLayer(0));
    return network;
}

} // namespace

} // namespace tenon::bench

int main(int argc, char** argv)
{
    using namespace tenon::bench;
    std::cout << "| network | us | activations not fused | no ConcatInPlace | no CrossLayerTiling | no Attention "
                 "| no ResidualAdd | no ElementwiseChain | no FoldPad | no MoveStrides | no FoldAttention "
                 "| nor the fusions of attentions |\n"
                 "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n";
    if (argc == 1)
    {
        Compare("six negations joined, [2278, 16]", *MakeHeads(16));
        Compare("six negations joined, [2278, 96]", *MakeHeads(96));
        Compare("three sums of parts, [3 x 128, 256]", *MakeAttention(128, 256));
        Compare("three sums of parts, [3 x 1024, 256]", *MakeAttention(1024, 256));
        Compare("SqueezeNet, two fires at 55x55", *MakeFires(55, 64, 16, 64));
        Compare("SqueezeNet, two fires at 27x27", *MakeFires(27, 128, 32, 128));
        Compare("SqueezeNet, two fires at 13x13", *MakeFires(13, 384, 64, 256));
        Compare("GoogLeNet, module at 28x28", *MakeInception(28));
        Compare("GoogLeNet, module at 14x14", *MakeInception(14));
        Compare("eight elementwise layers, [64, 256, 128]", *MakeElementwise(64, 256, 128));
        Compare("eight elementwise layers, [16, 256, 128]", *MakeElementwise(16, 256, 128));
        Compare("x * sigmoid(x), [112, 112, 32]", *MakeSwish(112, 32));
        Compare("x * sigmoid(x), [28, 28, 192]", *MakeSwish(28, 192));
        Compare("residual + scale * x, [56, 56, 64]", *MakeScaledResidual(56, 64));
        Compare("a * b + c, [56, 56, 64]", *MakeProductSum(tenon::DataType::Float32, 56, 64));
        Compare("a * b + c, int8, [56, 56, 64]", *MakeProductSum(tenon::DataType::QAsymmS8, 56, 64));
        Compare("attention, 40 heads of [335, 20]", *MakeHeadsOfAttention(40, 335, 20));
        Compare("attention, 12 heads of [384, 64]", *MakeHeadsOfAttention(12, 384, 64));
        Compare("attention, 8 heads of [512, 64]", *MakeHeadsOfAttention(8, 512, 64));
        Compare("layers of an attention, 3 heads of [197, 64]", *MakeLayersOfAttention(3, 197, 64));
        Compare("layers of an attention, 12 heads of [128, 64]", *MakeLayersOfAttention(12, 128, 64));
        Compare("layers of an attention, 12 heads of [512, 64]", *MakeLayersOfAttention(12, 512, 64));
        Compare("three pads and convolutions, [112, 112, 16]", *MakePadded(112, 16, 3));
        Compare("three pads and convolutions, [56, 56, 64]", *MakePadded(56, 64, 3));
    }
    for (int i = 1; i < argc; ++i)
    {
        try
        {
            Compare(NameOf(argv[i]), *tenon::ITfLiteParser::Create()->CreateNetworkFromBinaryFile(argv[i]));
        }
        catch (const tenon::Exception& error)
        {
            std::cerr << argv[i] << ": " << error.what() << "\n";
            return 1;
        }
    }
    return 0;
}
