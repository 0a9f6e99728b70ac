// SPDX-License-Identifier: Apache-2.0
// The makers of RandomNetwork for recurrent layers, loops, states, operators of an application's own, volumes and
// frequencies.
#include "optimizer/random/RandomNetwork.hpp"
#include "optimizer/random/RandomShapes.hpp"

#include <tenon/backend/ICustomOperator.hpp>
#include <tenon/backend/LstmSlots.hpp>

#include <algorithm>
#include <cstring>

namespace tenon::test
{

namespace
{

constexpr uint32_t TanhFunction = 4; // of LstmDescriptor::m_ActivationFunc
constexpr unsigned int Units = 3;

/// An operator that an application brings along: 1 - x.
class Complement final : public ICustomOperator
{
public:
    const char* GetName() const override { return "Complement"; }
    std::vector<TensorShape> InferOutputShapes(const CustomShapeArgs& args) const override
    {
        return {args.m_Inputs[0]->GetShape()};
    }
    SupportResult IsSupported(const LayerView&) const override { return SupportResult::Yes(); }
    std::unique_ptr<IWorkload> CreateWorkload(const LayerView&) const override { return std::make_unique<Workload>(); }

private:
    class Workload final : public IWorkload
    {
    public:
        std::unique_ptr<IShapedWorkload> Reshape(const ReshapeArgs& args) const override
        {
            return std::make_unique<Shaped>(args.GetOutput(0).GetNumElements());
        }
        const char* GetName() const override { return "Complement"; }
    };
    class Shaped final : public IShapedWorkload
    {
    public:
        explicit Shaped(size_t count) : m_Count(count) {}
        void Execute(const ExecuteArgs& args) const override
        {
            for (size_t i = 0; i < m_Count; ++i)
            {
                args.GetOutput<float>(0)[i] = 1.0f - args.GetInput<float>(0)[i];
            }
        }

    private:
        size_t m_Count;
    };
};

template <typename T>
void Append(std::vector<std::byte>& bytes, T value)
{
    const size_t end = bytes.size();
    bytes.resize(end + sizeof(T));
    std::memcpy(bytes.data() + end, &value, sizeof(T));
}

} // namespace

std::vector<std::byte> RandomNetwork::RandomStored(const TensorInfo& info, int least, int most)
{
    std::vector<std::byte> bytes;
    for (unsigned int i = 0; i < info.GetNumElements(); ++i)
    {
        const int value = least + static_cast<int>(Roll(static_cast<unsigned int>(most - least + 1)));
        switch (info.GetDataType())
        {
        case DataType::Float32: Append(bytes, static_cast<float>(value) / 64.0f); break;
        case DataType::Signed32: Append(bytes, static_cast<int32_t>(value)); break;
        case DataType::QSymmS16: Append(bytes, static_cast<int16_t>(value)); break;
        default: Append(bytes, static_cast<uint8_t>(value)); break;
        }
    }
    return bytes;
}

RandomNetwork::Tensor RandomNetwork::Stored(const TensorInfo& info, int least, int most)
{
    TensorInfo constant = info;
    constant.SetConstant(true);
    return AddBytes(constant, RandomStored(info, least, most).data());
}

const ConstTensor* RandomNetwork::Parameter(const TensorInfo& info, int least, int most)
{
    TensorInfo constant = info;
    constant.SetConstant(true);
    m_KeptBytes.push_back(RandomStored(info, least, most));
    return &m_Parameters.emplace_back(constant, m_KeptBytes.back().data());
}

/// Weights and biases without those of the input gate, peepholes and projections.
LstmInputParams RandomNetwork::LstmParameters(unsigned int inputs, TensorInfo weights, const TensorInfo& bias)
{
    LstmInputParams params;
    weights.SetShape({Units, inputs});
    params.m_InputToForgetWeights = Parameter(weights, -30, 30);
    params.m_InputToCellWeights = Parameter(weights, -30, 30);
    params.m_InputToOutputWeights = Parameter(weights, -30, 30);
    weights.SetShape({Units, Units});
    params.m_RecurrentToForgetWeights = Parameter(weights, -30, 30);
    params.m_RecurrentToCellWeights = Parameter(weights, -30, 30);
    params.m_RecurrentToOutputWeights = Parameter(weights, -30, 30);
    params.m_ForgetGateBias = Parameter(bias, -30, 30);
    params.m_CellBias = Parameter(bias, -30, 30);
    params.m_OutputGateBias = Parameter(bias, -30, 30);
    return params;
}

// Recurrent layers

TENON_RANDOM_KIND(LstmStep)
{
    const Tensor* x = FindFloat(false, 2);
    if (x == nullptr || x->m_Bound > 20.0f)
    {
        return false;
    }
    const Tensor input = *x;
    const unsigned int batch = input.m_Shape[0];
    LstmDescriptor descriptor;
    descriptor.m_ActivationFunc = TanhFunction;
    const TensorShape state({batch, Units});
    FinishAs(m_Network->AddLstmLayer(descriptor,
                                     LstmParameters(input.m_Shape[1], TensorInfo({1}, DataType::Float32),
                                                    TensorInfo({Units}, DataType::Float32)),
                                     m_Name.c_str()),
             {input, InitialState(state), InitialState(state)},
             {{TensorShape({batch, 3 * Units}), DataType::Float32, false, 0.0f},
              {state},
              {state, DataType::Float32, false, 2.0f},
              {state}});
    return true;
}

TENON_RANDOM_KIND(LstmSequence)
{
    const Tensor* x = FindFloat(false, 3);
    if (x == nullptr || x->m_Bound > 20.0f)
    {
        return false;
    }
    const Tensor input = *x;
    UnidirectionalSequenceLstmDescriptor descriptor;
    descriptor.m_ActivationFunc = TanhFunction;
    descriptor.m_TimeMajor = Flip();
    const TensorShape state({input.m_Shape[descriptor.m_TimeMajor ? 1 : 0], Units});
    const float bound = 1.0f + static_cast<float>(input.m_Shape[descriptor.m_TimeMajor ? 0 : 1]);
    FinishAs(m_Network->AddUnidirectionalSequenceLstmLayer(descriptor,
                                                           LstmParameters(input.m_Shape[2],
                                                                          TensorInfo({1}, DataType::Float32),
                                                                          TensorInfo({Units}, DataType::Float32)),
                                                           m_Name.c_str()),
             {input, InitialState(state), InitialState(state)},
             {{state}, {state, DataType::Float32, false, bound}, {Resized(input.m_Shape, 2, Units)}});
    return true;
}

TENON_RANDOM_KIND(LstmBothWays)
{
    const Tensor* x = FindFloat(false, 3);
    if (x == nullptr || x->m_Bound > 20.0f)
    {
        return false;
    }
    const Tensor input = *x;
    BidirectionalSequenceLstmDescriptor descriptor;
    descriptor.m_ActivationFunc = TanhFunction;
    descriptor.m_MergeOutputs = Flip();
    const TensorShape state({input.m_Shape[1], Units});
    std::vector<Tensor> inputs(48);
    inputs[0] = input;
    for (const bool isBackward : {false, true})
    {
        const LstmSlots slots = GetBidirectionalLstmSlots(isBackward);
        inputs[slots.m_OutputState] = InitialState(state);
        inputs[slots.m_CellState] = InitialState(state);
        for (size_t gate = 0; gate < LstmSlots::NumGates; ++gate)
        {
            inputs[slots.m_InputWeights[gate]] = Constant(TensorShape({Units, input.m_Shape[2]}), 0.5f, false);
            inputs[slots.m_RecurrentWeights[gate]] = Constant(TensorShape({Units, Units}), 0.5f, false);
            inputs[slots.m_Bias[gate]] = Constant(TensorShape({Units}), 0.5f, false);
        }
    }
    const Made cell = {state, DataType::Float32, false, 1.0f + static_cast<float>(input.m_Shape[0])};
    std::vector<Made> outputs = {
        {state}, cell, {state}, cell, {Resized(input.m_Shape, 2, descriptor.m_MergeOutputs ? 2 * Units : Units)}};
    if (!descriptor.m_MergeOutputs)
    {
        outputs.push_back({Resized(input.m_Shape, 2, Units)});
    }
    FinishAs(m_Network->AddBidirectionalSequenceLstmLayer(descriptor, m_Name.c_str()), inputs, outputs);
    return true;
}

TENON_RANDOM_KIND(LstmOneMatrix)
{
    const Tensor* x = FindFloat(false, 2);
    if (x == nullptr || x->m_Bound > 20.0f)
    {
        return false;
    }
    const Tensor input = *x;
    const unsigned int batch = input.m_Shape[0];
    const unsigned int columns = input.m_Shape[1] + Units;
    const TensorShape state({batch, Units});
    FinishAs(m_Network->AddBasicLstmLayer(m_Name.c_str()),
             {input, InitialState(state), Constant(TensorShape({4 * Units, columns}), 0.5f, false),
              Constant(TensorShape({4 * Units}), 0.5f, false), InitialState(state)},
             {{state},
              {state, DataType::Float32, false, 2.0f},
              {TensorShape({batch, columns}), DataType::Float32, false, std::max(input.m_Bound, 1.0f)},
              {TensorShape({batch, 4 * Units}), DataType::Float32, false,
               input.m_Bound * static_cast<float>(columns) + 1.0f}});
    return true;
}

TENON_RANDOM_KIND(LstmOfBytes)
{
    const Tensor* x = FindFloat(true, 2);
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    const unsigned int columns = input.m_Shape[1];
    Finish(m_Network->AddQuantizeLayer(m_Name.c_str()), {input}, DataType::QAsymmU8, true, 1.0f, 1.0f / 128.0f, 128);
    const Tensor data = m_Tensors.back();
    const TensorShape state({input.m_Shape[0], Units});
    TensorInfo weights({Units, columns}, DataType::QAsymmU8, 0.01f, 120);
    const auto next = [&] { return Parameter(weights, 60, 200); };
    QuantizedLstmInputParams params;
    params.m_InputToInputWeights = next();
    params.m_InputToForgetWeights = next();
    params.m_InputToCellWeights = next();
    params.m_InputToOutputWeights = next();
    weights.SetShape({Units, Units});
    params.m_RecurrentToInputWeights = next();
    params.m_RecurrentToForgetWeights = next();
    params.m_RecurrentToCellWeights = next();
    params.m_RecurrentToOutputWeights = next();
    const TensorInfo bias({Units}, DataType::Signed32);
    params.m_InputGateBias = Parameter(bias, -500, 500);
    params.m_ForgetGateBias = Parameter(bias, -500, 500);
    params.m_CellBias = Parameter(bias, -500, 500);
    params.m_OutputGateBias = Parameter(bias, -500, 500);
    constexpr float CellScale = 1.0f / 2048.0f;
    FinishAs(m_Network->AddQuantizedLstmLayer(params, m_Name.c_str()),
             {data, Stored(TensorInfo(state, DataType::QSymmS16, CellScale, 0), -2000, 2000),
              Stored(TensorInfo(state, DataType::QAsymmU8, 1.0f / 128.0f, 128), 0, 255)},
             {{state, DataType::QSymmS16, true, 16.0f, CellScale},
              {state, DataType::QAsymmU8, true, 1.0f, 1.0f / 128.0f, 128}});
    return true;
}

TENON_RANDOM_KIND(LstmOfInt8)
{
    const Tensor* x = FindFloat(true, 2);
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    Finish(m_Network->AddQuantizeLayer(m_Name.c_str()), {input}, DataType::QAsymmS8, true, 1.3f, 0.01f, 4);
    const Tensor data = m_Tensors.back();
    const TensorShape state({input.m_Shape[0], Units});
    QLstmDescriptor descriptor;
    descriptor.m_InputIntermediateScale = descriptor.m_ForgetIntermediateScale = descriptor.m_CellIntermediateScale =
        descriptor.m_OutputIntermediateScale = 1.0f / 4096.0f;
    constexpr float OutputScale = 0.01f;
    constexpr int32_t OutputZero = -5;
    constexpr float CellScale = 1.0f / 2048.0f;
    descriptor.m_HiddenStateScale = OutputScale;
    descriptor.m_HiddenStateZeroPoint = OutputZero;
    const Made output = {state, DataType::QAsymmS8, true, 1.3f, OutputScale, OutputZero};
    FinishAs(m_Network->AddQLstmLayer(descriptor,
                                      LstmParameters(input.m_Shape[1], TensorInfo({1}, DataType::QSymmS8, 0.005f, 0),
                                                     TensorInfo({Units}, DataType::Signed32)),
                                      m_Name.c_str()),
             {data, Stored(TensorInfo(state, DataType::QAsymmS8, OutputScale, OutputZero), -100, 100),
              Stored(TensorInfo(state, DataType::QSymmS16, CellScale, 0), -2000, 2000)},
             {output, {state, DataType::QSymmS16, true, 16.0f, CellScale}, output});
    return true;
}

TENON_RANDOM_KIND(RecurrentStep)
{
    const Tensor* x = FindFloat(false, Flip() ? 2 : 3);
    if (x == nullptr || x->m_Bound > 20.0f)
    {
        return false;
    }
    const Tensor input = *x;
    const unsigned int rank = input.m_Shape.GetNumDimensions();
    const TensorShape state({input.m_Shape[0], Units});
    FinishAs(m_Network->AddRnnLayer(RnnDescriptor(), m_Name.c_str()),
             {input, Constant(TensorShape({Units, LastOf(input.m_Shape)}), 0.5f, false),
              Constant(TensorShape({Units, Units}), 0.5f, false), Constant(TensorShape({Units}), 0.5f, false),
              InitialState(state)},
             {{state}, {Resized(input.m_Shape, rank - 1, Units)}});
    return true;
}

TENON_RANDOM_KIND(RecurrentBothWays)
{
    const Tensor* x = FindFloat(false, 3);
    if (x == nullptr || x->m_Bound > 20.0f)
    {
        return false;
    }
    std::vector<Tensor> inputs = {*x};
    const TensorShape data = x->m_Shape;
    const TensorShape state({data[0], Units});
    for (int direction = 0; direction < 2; ++direction)
    {
        inputs.push_back(Constant(TensorShape({Units, data[2]}), 0.5f, false));
        inputs.push_back(Constant(TensorShape({Units, Units}), 0.5f, false));
        inputs.push_back(Constant(TensorShape({Units}), 0.5f, false));
        inputs.push_back(InitialState(state));
    }
    const Made output = {Resized(data, 2, Units)};
    FinishAs(m_Network->AddBidirectionalSequenceRnnLayer(BidirectionalSequenceRnnDescriptor(), m_Name.c_str()), inputs,
             {{state}, {state}, output, output});
    return true;
}

TENON_RANDOM_KIND(RecurrentSequence)
{
    const Tensor* x = FindFloat(false, 3);
    if (x == nullptr || x->m_Bound > 20.0f)
    {
        return false;
    }
    const TensorShape data = x->m_Shape;
    RecurrentSequenceDescriptor descriptor;
    descriptor.m_Cell = static_cast<RecurrentCell>(Roll(3));
    descriptor.m_Direction = static_cast<SequenceDirection>(Roll(3));
    descriptor.m_LinearBeforeReset = descriptor.m_Cell == RecurrentCell::Gru && Flip();
    descriptor.m_BatchMajor = Flip();
    const unsigned int directions = descriptor.GetNumDirections();
    const unsigned int sums = Units * (descriptor.m_Cell == RecurrentCell::Lstm  ? 4
                                       : descriptor.m_Cell == RecurrentCell::Gru ? 3
                                                                                 : 1);
    const unsigned int steps = data[descriptor.m_BatchMajor ? 1 : 0];
    const unsigned int batch = data[descriptor.m_BatchMajor ? 0 : 1];
    const TensorShape state =
        descriptor.m_BatchMajor ? TensorShape({batch, directions, Units}) : TensorShape({directions, batch, Units});
    std::vector<Tensor> inputs(6);
    inputs[0] = *x;
    inputs[1] = Constant(TensorShape({directions, sums, data[2]}), 0.5f, false);
    inputs[2] = Constant(TensorShape({directions, sums, Units}), 0.5f, false);
    inputs[3] = Flip() ? Constant(TensorShape({directions, 2 * sums}), 0.5f, false) : Tensor();
    inputs[5] = InitialState(state);
    std::vector<Made> outputs = {{descriptor.m_BatchMajor ? TensorShape({batch, steps, directions, Units})
                                                          : TensorShape({steps, directions, batch, Units})},
                                 {state}};
    if (descriptor.m_Cell == RecurrentCell::Lstm)
    {
        outputs.push_back({state, DataType::Float32, false, 1.0f + static_cast<float>(steps)});
    }
    FinishAs(m_Network->AddRecurrentSequenceLayer(descriptor, m_Name.c_str()), inputs, outputs);
    return true;
}

TENON_RANDOM_KIND(TimeFilter)
{
    const Tensor* x = FindFloat(false, 2);
    if (x == nullptr || x->m_Bound > 20.0f)
    {
        return false;
    }
    const Tensor input = *x;
    const unsigned int batch = input.m_Shape[0];
    constexpr unsigned int Filters = 4;
    constexpr unsigned int Memory = 2;
    SvdfDescriptor descriptor;
    descriptor.m_Rank = 2;
    const TensorShape state({batch, Filters * Memory});
    const float bound = input.m_Bound * static_cast<float>(input.m_Shape[1]) + 1.0f;
    FinishAs(m_Network->AddSvdfLayer(descriptor, m_Name.c_str()),
             {input, Constant(TensorShape({Filters, input.m_Shape[1]}), 0.5f, false),
              Constant(TensorShape({Filters, Memory}), 0.5f, false), Constant(TensorShape({Filters / 2}), 0.5f, false),
              InitialState(state)},
             {{state, DataType::Float32, false, bound},
              {TensorShape({batch, Filters / 2}), DataType::Float32, false, bound * 4.0f}});
    return true;
}

// Loops, states and what an application brings along

TENON_RANDOM_KIND(Loop)
{
    const Tensor* x = FindFloat(true);
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    static const int32_t turns = 3;
    static const int32_t one = 1;
    static const float half = 0.5f;
    const TensorInfo counter({1}, DataType::Signed32, 0.0f, 0, true);
    const TensorInfo factor({1}, DataType::Float32, 0.0f, 0, true);
    const auto start = [&](INetwork& network, IConnectableLayer*& count, IConnectableLayer*& value)
    {
        count = network.AddInputLayer(0);
        count->GetOutputSlot(0).SetTensorInfo(TensorInfo({1}, DataType::Signed32));
        value = network.AddInputLayer(1);
        value->GetOutputSlot(0).SetTensorInfo(TensorInfo(input.m_Shape, DataType::Float32));
    };
    const auto join = [](INetwork& network, IConnectableLayer* layer, IConnectableLayer* left, IConnectableLayer* right,
                         LayerBindingId id)
    {
        left->GetOutputSlot(0).Connect(layer->GetInputSlot(0));
        right->GetOutputSlot(0).Connect(layer->GetInputSlot(1));
        layer->GetOutputSlot(0).Connect(network.AddOutputLayer(id)->GetInputSlot(0));
    };
    IConnectableLayer* count = nullptr;
    IConnectableLayer* value = nullptr;
    INetworkPtr condition = INetwork::Create();
    start(*condition, count, value);
    join(*condition, condition->AddComparisonLayer(ComparisonDescriptor(ComparisonOperation::Less)), count,
         condition->AddConstantLayer(ConstTensor(counter, &turns)), 0);
    INetworkPtr body = INetwork::Create();
    start(*body, count, value);
    join(*body, body->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Add)), count,
         body->AddConstantLayer(ConstTensor(counter, &one)), 0);
    IConnectableLayer* turned = body->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Neg));
    value->GetOutputSlot(0).Connect(turned->GetInputSlot(0));
    join(*body, body->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Mul)), turned,
         body->AddConstantLayer(ConstTensor(factor, &half)), 1);
    FinishAs(
        m_Network->AddWhileLayer(*condition, *body, m_Name.c_str()), {Ints({0}, TensorShape({1})), input},
        {{TensorShape({1}), DataType::Signed32, true, 3.0f}, {input.m_Shape, DataType::Float32, false, input.m_Bound}});
    return true;
}

TENON_RANDOM_KIND(State)
{
    const Tensor* x = FindFloat();
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    const StateDescriptor name(m_Name);
    const float bound = input.m_Bound * static_cast<float>(MaxRuns + 1);
    std::vector<Tensor> start;
    if (Flip()) // else zeros
    {
        start.push_back(input);
    }
    FinishAs(m_Network->AddReadStateLayer(name, (m_Name + "/read").c_str()), start,
             {{input.m_Shape, DataType::Float32, false, bound}});
    const Tensor old = m_Tensors.back();
    FinishAs(m_Network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Add), m_Name.c_str()),
             {old, input}, {{input.m_Shape, DataType::Float32, false, bound}});
    const Tensor sum = m_Tensors.back();
    FinishAs(m_Network->AddWriteStateLayer(name, (m_Name + "/write").c_str()), {sum}, {});
    return true;
}

TENON_RANDOM_KIND(OwnOperator)
{
    const Tensor* x = FindFloat();
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    CustomDescriptor descriptor;
    descriptor.m_Name = "Complement";
    descriptor.m_NumInputs = descriptor.m_NumOutputs = 1;
    descriptor.m_Operator = std::make_shared<Complement>();
    FinishAs(m_Network->AddCustomLayer(descriptor, m_Name.c_str()), {input},
             {{input.m_Shape, DataType::Float32, false, input.m_Bound + 1.0f}});
    return true;
}

// Volumes

TENON_RANDOM_KIND(Volume)
{
    const Tensor* x = FindFloat(false, 4);
    if (x == nullptr || x->m_Bound > 20.0f)
    {
        return false;
    }
    const Tensor input = *x;
    const TensorShape& s = input.m_Shape;
    const Tensor volume = Reshaped(input, TensorShape({1, s[0], s[1], s[2], s[3]}));
    Convolution3dDescriptor descriptor;
    descriptor.m_DataLayout = Flip() ? DataLayout::NDHWC : DataLayout::NCDHW;
    descriptor.m_PaddingScheme = Flip() ? PaddingScheme::Same : PaddingScheme::Explicit;
    const unsigned int channels = descriptor.m_DataLayout == DataLayout::NDHWC ? s[3] : s[0];
    const unsigned int kernel = descriptor.m_PaddingScheme == PaddingScheme::Same ? 2 : 1;
    Finish(m_Network->AddConvolution3dLayer(descriptor, m_Name.c_str()),
           {volume, Constant(TensorShape({1, kernel, kernel, channels, 2}), 0.5f, false)}, DataType::Float32, false,
           input.m_Bound * 2.0f * static_cast<float>(channels));
    return true;
}

TENON_RANDOM_KIND(VolumeTransposed)
{
    const Tensor* x = FindFloat(false, 4);
    if (x == nullptr || x->m_Bound > 20.0f)
    {
        return false;
    }
    const Tensor input = *x;
    const TensorShape& s = input.m_Shape;
    const Tensor volume = Reshaped(input, TensorShape({1, s[0], s[1], s[2], s[3]}));
    TransposeConvolution3dDescriptor descriptor;
    descriptor.m_StrideX = 2;
    Finish(m_Network->AddTransposeConvolution3dLayer(descriptor, m_Name.c_str()),
           {volume, Constant(TensorShape({1, 2, 2, 2, s[3]}), 0.5f, false)}, DataType::Float32, false,
           input.m_Bound * 2.0f * static_cast<float>(s[3]));
    return true;
}

TENON_RANDOM_KIND(VolumePool)
{
    const Tensor* x = FindFloat(false, 4);
    if (x == nullptr || x->m_Shape[1] < 2 || x->m_Shape[2] < 2)
    {
        return false;
    }
    const Tensor input = *x;
    const TensorShape& s = input.m_Shape;
    const Tensor volume = Reshaped(input, TensorShape({1, s[0], s[1], s[2], s[3]}));
    Pooling3dDescriptor descriptor;
    descriptor.m_DataLayout = Flip() ? DataLayout::NDHWC : DataLayout::NCDHW;
    descriptor.m_PoolType = Flip() ? PoolingAlgorithm::Max : PoolingAlgorithm::Average;
    descriptor.m_PoolDepth = descriptor.m_PoolWidth = descriptor.m_PoolHeight = 2;
    descriptor.m_StrideX = descriptor.m_StrideY = descriptor.m_StrideZ = 1;
    descriptor.m_PaddingScheme = PaddingScheme::Same;
    Finish(m_Network->AddPooling3dLayer(descriptor, m_Name.c_str()), {volume}, DataType::Float32,
           input.m_IsExact && descriptor.m_PoolType == PoolingAlgorithm::Max, input.m_Bound);
    return true;
}

// Frequencies

TENON_RANDOM_KIND(Spectrogram)
{
    const Tensor* x = FindFloat(true);
    if (x == nullptr || x->m_Shape.GetNumElements() < 8)
    {
        return false;
    }
    const Tensor input = *x;
    const unsigned int samples = input.m_Shape.GetNumElements();
    const Tensor audio = Reshaped(input, TensorShape({samples, 1}));
    AudioSpectrogramDescriptor descriptor;
    descriptor.m_WindowSize = 8;
    descriptor.m_Stride = 4;
    Finish(m_Network->AddAudioSpectrogramLayer(descriptor, m_Name.c_str()), {audio}, DataType::Float32, false,
           input.m_Bound * 8.0f);
    const Tensor spectrogram = m_Tensors.back();
    MfccDescriptor mfcc;
    mfcc.m_SampleRate = 16000;
    mfcc.m_FilterbankChannelCount = 4;
    mfcc.m_DctCoefficientCount = 3;
    Finish(m_Network->AddMfccLayer(mfcc, m_Name.c_str()), {spectrogram}, DataType::Float32, false, 200.0f);
    return true;
}

TENON_RANDOM_KIND(Fourier)
{
    const Tensor* x = FindFloat(true);
    if (x == nullptr || x->m_Shape.GetNumDimensions() < 2)
    {
        return false;
    }
    const Tensor input = *x;
    const unsigned int rank = input.m_Shape.GetNumDimensions();
    RealFft2dDescriptor descriptor;
    descriptor.m_Height = 2;
    descriptor.m_Width = 4;
    const TensorShape shape = Resized(Resized(input.m_Shape, rank - 2, 2), rank - 1, 3);
    FinishAs(m_Network->AddRealFft2dLayer(descriptor, m_Name.c_str()), {input},
             {{shape, DataType::Complex64, true, input.m_Bound * 8.0f}});
    const Tensor complex = m_Tensors.back();
    FinishAs(
        m_Network->AddComplexPartLayer(ComplexPartDescriptor(static_cast<ComplexComponent>(Roll(3))), m_Name.c_str()),
        {complex}, {{shape, DataType::Float32, false, input.m_Bound * 16.0f}});
    return true;
}

TENON_RANDOM_KIND(Frequencies)
{
    const Tensor* x =
        Find([](const Tensor& t) { return t.m_Type == DataType::Float32 && t.m_Shape.GetNumDimensions() < 5; });
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    const unsigned int rank = input.m_Shape.GetNumDimensions();
    std::vector<unsigned int> sizes = SizesOf(input.m_Shape);
    sizes.push_back(1);
    const Tensor real = Reshaped(input, ShapeOf(sizes));
    DftDescriptor descriptor;
    descriptor.m_Axis = static_cast<int32_t>(Roll(rank));
    descriptor.m_Length = 3;
    descriptor.m_Onesided = Flip();
    sizes[static_cast<size_t>(descriptor.m_Axis)] = descriptor.m_Onesided ? 2 : 3;
    sizes.back() = 2;
    FinishAs(m_Network->AddDftLayer(descriptor, m_Name.c_str()), {real},
             {{ShapeOf(sizes), DataType::Float32, false, input.m_Bound * 3.0f}});
    return true;
}

} // namespace tenon::test
