// SPDX-License-Identifier: Apache-2.0
// See FusableNetwork.hpp. Here: sizes, inputs and outputs, and what all makers of layers share.
#include "random/FusableNetwork.hpp"

#include <algorithm>
#include <numeric>

namespace tenon::test
{

namespace
{

/// Elements and products of a network, so that thousands of them take a minute.
constexpr size_t MaxWork = 500000;

} // namespace

const std::vector<FusableNetwork::Motif>& FusableNetwork::Table()
{
    static const std::vector<Motif> table = {
        {"FloatChain", &FusableNetwork::FloatChain, 12},
        {"F16Chain", &FusableNetwork::F16Chain, 2},
        {"QuantizedChain", &FusableNetwork::QuantizedChain, 5},
        {"IntegerChain", &FusableNetwork::IntegerChain, 1},
        {"RmsNormalization", &FusableNetwork::RmsNormalization, 3},
        {"LayerNormalizationLongForm", &FusableNetwork::LayerNormalizationLongForm, 2},
        {"LayerNormalizationLayer", &FusableNetwork::LayerNormalizationLayer, 1},
        {"SoftmaxLayer", &FusableNetwork::SoftmaxLayer, 1},
        {"Attention", &FusableNetwork::Attention, 3},
        {"TiledLayers", &FusableNetwork::TiledLayers, 1},
        {"Residual", &FusableNetwork::Residual, 2},
        {"ConvolutionBlock", &FusableNetwork::ConvolutionBlock, 2},
        {"JoinedConvolutions", &FusableNetwork::JoinedConvolutions, 2},
        {"SplitAndJoin", &FusableNetwork::SplitAndJoin, 2},
        {"Rows", &FusableNetwork::Rows, 2},
        {"Moves", &FusableNetwork::Moves, 2},
    };
    return table;
}

std::vector<std::string> FusableNetwork::AllMotifs()
{
    std::vector<std::string> names;
    for (const Motif& motif : Table())
    {
        names.emplace_back(motif.m_Name);
    }
    return names;
}

FusableNetwork::FusableNetwork(uint32_t seed) : m_Random(seed)
{
    ChooseSizes();
    AddInputs();
    const std::vector<Motif>& table = Table();
    const unsigned int sum = std::accumulate(table.begin(), table.end(), 0U,
                                             [](unsigned int weights, const Motif& m) { return weights + m.m_Weight; });
    const unsigned int wanted = 1 + Roll(8);
    for (unsigned int tries = 0; m_Made.size() < wanted && tries < 40 && m_Work < MaxWork; ++tries)
    {
        unsigned int left = Roll(sum);
        const auto motif = std::find_if(table.begin(), table.end(),
                                        [&](const Motif& m)
                                        {
                                            const bool isIt = left < m.m_Weight;
                                            left -= isIt ? 0 : m.m_Weight;
                                            return isIt;
                                        });
        if ((this->*motif->m_Make)())
        {
            m_Made.emplace_back(motif->m_Name);
        }
    }
    AddOutputs();
}

/// From a few elements to more than each limit from which on layers are done together.
void FusableNetwork::ChooseSizes()
{
    const unsigned int profile = Roll(100);
    m_IsLarge = profile < 2;
    m_IsBatchUnknown = OneIn(8);
    const unsigned int target = m_IsLarge      ? 140000
                                : profile < 20 ? 16 + Roll(800)
                                : profile < 80 ? 1100 + Roll(5000)
                                               : 6000 + Roll(20000);
    const unsigned int rank = 1 + Roll(3); // without the batch
    unsigned int rest = 1;
    for (unsigned int i = 0; i < rank; ++i)
    {
        const unsigned int size = i + 1 == rank ? OneOf({1U, 3U, 8U, 16U, 17U, 32U, 60U, 64U, 128U, 130U})
                                                : OneOf({1U, 2U, 3U, 4U, 6U, 8U, 12U, 33U});
        m_BaseSizes.push_back(rest * size > target ? 1 : size);
        rest *= m_BaseSizes.back();
    }
    m_Batch[0] = std::max(1U, target / rest);
    if (OneIn(3) && rank > 1) // a small batch and a large size inside
    {
        std::swap(m_Batch[0], m_BaseSizes[0]);
    }
    m_Batch[1] = OneIn(2) ? m_Batch[0] / 3 + 1 : m_Batch[0] + 1 + Roll(std::max(1U, m_Batch[0]));
    if (m_IsLarge && m_Batch[1] > m_Batch[0])
    {
        m_Batch[1] = m_Batch[0] / 2 + 1;
    }
    if (m_Batch[1] == m_Batch[0])
    {
        ++m_Batch[1];
    }
}

void FusableNetwork::AddInputs()
{
    m_Case.m_Runs.resize(NumRuns);
    RunShapes base;
    for (size_t run = 0; run < NumRuns; ++run)
    {
        std::vector<unsigned int> sizes{m_Batch[run]};
        sizes.insert(sizes.end(), m_BaseSizes.begin(), m_BaseSizes.end());
        base[run] = TensorShape(static_cast<unsigned int>(sizes.size()), sizes.data());
    }
    for (unsigned int i = 0, count = 1 + Roll(2); i < count; ++i)
    {
        FloatInput(base, OneOf({1.0, 4.0}));
    }
    if (OneIn(3)) // to be broadcast
    {
        RunShapes shapes = base;
        for (unsigned int axis = 0; axis < base[0].GetNumDimensions(); ++axis)
        {
            if (OneIn(2))
            {
                shapes[0].SetDimensionSize(axis, 1);
                shapes[1].SetDimensionSize(axis, 1);
            }
        }
        FloatInput(shapes, 2.0);
    }
    if (OneIn(3))
    {
        const DataType type = OneOf({DataType::QAsymmS8, DataType::QAsymmU8, DataType::QSymmS16});
        TensorInfo info = RandomQuantization(type);
        const double max = type == DataType::QSymmS16 ? 32767.0 : 255.0;
        AddInput(base, info, type == DataType::QSymmS16 ? ValueRange{-32768.0, 32767.0} : ValueRange{-128.0, 255.0},
                 max * static_cast<double>(info.GetQuantizationScale()));
    }
}

std::string FusableNetwork::NextName(const std::string& what)
{
    return what + std::to_string(m_NumNames++);
}

FusableNetwork::Tensor FusableNetwork::AddInput(const RunShapes& shapes, const TensorInfo& type,
                                                const ValueRange& range, double bound)
{
    const LayerBindingId id = m_NumInputs++;
    IConnectableLayer* const layer = m_Case.m_Network->AddInputLayer(id, NextName("input").c_str());
    m_Case.m_Inputs[id] = range;
    for (size_t run = 0; run < NumRuns; ++run)
    {
        m_Case.m_Runs[run][id] = shapes[run];
    }
    return AddMade(layer->GetOutputSlot(0), shapes, type, true, bound);
}

FusableNetwork::Tensor FusableNetwork::FloatInput(const RunShapes& shapes, double bound)
{
    return AddInput(shapes, Float(), {-bound, bound}, bound);
}

/// It is not among the tensors that motifs begin with.
FusableNetwork::Tensor FusableNetwork::Constant(const TensorShape& shape, DataType type, const ValueRange& range)
{
    IConnectableLayer* const layer = AddConstant(m_Case, TensorInfo(shape, type), range, NextName("constant"));
    return {&layer->GetOutputSlot(0), {shape, shape}, type, true, std::max(std::abs(range.m_Min), range.m_Max)};
}

FusableNetwork::Tensor FusableNetwork::QuantizedConstant(const TensorShape& shape, const TensorInfo& type)
{
    TensorInfo info = type;
    info.SetShape(shape);
    IConnectableLayer* const layer = AddConstant(m_Case, info, {-128.0, 127.0}, NextName("constant"));
    return {&layer->GetOutputSlot(0),
            {shape, shape},
            info.GetDataType(),
            true,
            256.0 * static_cast<double>(info.GetQuantizationScale())};
}

FusableNetwork::Tensor FusableNetwork::Ints(const std::vector<int32_t>& values, const TensorShape& shape)
{
    IConnectableLayer* const layer =
        AddConstant(m_Case, TensorInfo(shape, DataType::Signed32), values, NextName("ints"));
    return {&layer->GetOutputSlot(0), {shape, shape}, DataType::Signed32, true, 0.0};
}

TensorInfo FusableNetwork::TypeOf(const Tensor& tensor)
{
    return tensor.m_Slot->GetTensorInfo();
}

FusableNetwork::Tensor FusableNetwork::AddMade(IOutputSlot& slot, const RunShapes& shapes, TensorInfo type,
                                               bool isExact, double bound)
{
    TensorShape declared = shapes[0];
    for (unsigned int i = 0; i < declared.GetNumDimensions() && m_IsBatchUnknown; ++i)
    {
        if (shapes[0][i] != shapes[1][i])
        {
            declared.SetDimensionUnknown(i);
        }
    }
    type.SetShape(declared);
    type.SetConstant(false);
    slot.SetTensorInfo(type);
    m_Work += shapes[0].GetNumElements();
    m_Tensors.push_back({&slot, shapes, type.GetDataType(), isExact, bound});
    return m_Tensors.back();
}

FusableNetwork::Tensor FusableNetwork::FinishAs(IConnectableLayer* layer, const std::vector<Tensor>& inputs,
                                                const RunShapes& shapes, const TensorInfo& type, bool isExact,
                                                double bound)
{
    for (unsigned int i = 0; i < inputs.size(); ++i)
    {
        inputs[i].m_Slot->Connect(layer->GetInputSlot(i));
    }
    return AddMade(layer->GetOutputSlot(0), shapes, type, isExact, bound);
}

FusableNetwork::Tensor FusableNetwork::Finish(IConnectableLayer* layer, const std::vector<Tensor>& inputs,
                                              const TensorInfo& type, bool isExact, double bound)
{
    for (unsigned int i = 0; i < inputs.size(); ++i)
    {
        inputs[i].m_Slot->Connect(layer->GetInputSlot(i));
    }
    std::array<std::vector<TensorShape>, NumRuns> outputs;
    for (size_t run = 0; run < NumRuns; ++run)
    {
        std::vector<TensorShape> shapes;
        for (const Tensor& input : inputs)
        {
            shapes.push_back(input.m_Shapes[run]);
        }
        outputs[run] = layer->InferOutputShapes(shapes);
    }
    const size_t first = m_Tensors.size();
    for (unsigned int i = 0; i < layer->GetNumOutputSlots(); ++i)
    {
        AddMade(layer->GetOutputSlot(i), {outputs[0][i], outputs[1][i]}, type, isExact, bound);
    }
    return m_Tensors[first];
}

FusableNetwork::Tensor FusableNetwork::Move(IConnectableLayer* layer, const std::vector<Tensor>& inputs)
{
    const bool isExact =
        std::all_of(inputs.begin(), inputs.end(), [](const Tensor& tensor) { return tensor.m_IsExact; });
    double bound = 0.0;
    for (const Tensor& input : inputs)
    {
        bound = std::max(bound, input.m_Bound);
    }
    return Finish(layer, inputs, TypeOf(inputs[0]), isExact, bound);
}

/// Rather a late one.
const FusableNetwork::Tensor* FusableNetwork::Find(const std::function<bool(const Tensor&)>& fits)
{
    std::vector<const Tensor*> found;
    for (const Tensor& tensor : m_Tensors)
    {
        if (fits(tensor))
        {
            found.push_back(&tensor);
        }
    }
    const auto count = static_cast<unsigned int>(found.size());
    return found.empty() ? nullptr : found[std::max(Roll(count), Roll(count))];
}

const FusableNetwork::Tensor* FusableNetwork::FindFloat(size_t maxElements)
{
    return Find(
        [&](const Tensor& tensor)
        {
            return tensor.m_Type == DataType::Float32 && tensor.Elements() <= maxElements && tensor.m_Bound < 1e4 &&
                   tensor.Rank() != 0;
        });
}

/// What nobody reads, and now and then what others read, too.
void FusableNetwork::AddOutputs()
{
    LayerBindingId id = 0;
    const unsigned int often = OneOf({4U, 12U, 1000U});
    for (const Tensor& tensor : m_Tensors)
    {
        const bool isInput = tensor.m_Slot->GetOwningIConnectableLayer().GetType() == LayerType::Input;
        if (tensor.m_Slot->GetNumConnections() == 0 ? !isInput : OneIn(often))
        {
            IConnectableLayer* const output =
                m_Case.m_Network->AddOutputLayer(id, ("output" + std::to_string(id)).c_str());
            tensor.m_Slot->Connect(output->GetInputSlot(0));
            ++id;
        }
    }
}

} // namespace tenon::test
