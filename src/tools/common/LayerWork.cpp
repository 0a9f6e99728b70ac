// SPDX-License-Identifier: Apache-2.0
// See LayerWork.hpp.
#include "tools/common/LayerWork.hpp"

#include <tenon/Descriptors.hpp>
#include <tenon/Exceptions.hpp>
#include <tenon/TensorHandle.hpp>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <vector>

namespace tenon::tools
{
namespace
{

/// A number that stays unknown where one of its operands is, or where 64 bits do not hold it.
class Count
{
public:
    Count() = default;
    Count(uint64_t value) : m_Value(value) {}                // NOLINT: implicit, as a number is one
    Count(std::optional<uint64_t> value) : m_Value(value) {} // NOLINT: the same

    const std::optional<uint64_t>& Get() const { return m_Value; }

    friend Count operator+(const Count& a, const Count& b)
    {
        const bool isKnown = a.m_Value && b.m_Value && *a.m_Value <= Max - *b.m_Value;
        return isKnown ? Count(*a.m_Value + *b.m_Value) : Count();
    }
    friend Count operator*(const Count& a, const Count& b)
    {
        const bool isKnown = a.m_Value && b.m_Value && (*b.m_Value == 0 || *a.m_Value <= Max / *b.m_Value);
        return isKnown ? Count(*a.m_Value * *b.m_Value) : Count();
    }
    /// 0 by 0 is 0: tensors without elements need no work.
    friend Count operator/(const Count& a, const Count& b)
    {
        return a.m_Value && b.m_Value ? Count(*a.m_Value / std::max<uint64_t>(*b.m_Value, 1)) : Count();
    }

private:
    static constexpr uint64_t Max = std::numeric_limits<uint64_t>::max();

    std::optional<uint64_t> m_Value;
};

/// The flags that the operator table has, as far as they tell how much is computed.
enum OpFlag : unsigned int
{
    None = 0,
    InPlace = 0,
    Internal = 0,
    Effect = 0,
    Late = 0,
    Keep = 0,
    SameRank = 0,
    SameShape = 0,
    EndsSizes = 0,
    Random = 0,
    View = 1,
    Moves = 2,
    Elementwise = 4,
    Broadcast = 8
};

unsigned int FlagsOf(LayerType type)
{
    constexpr unsigned int flags[] = {
#define TENON_OP(name, descriptor, method, runner, minInputs, maxInputs, outputs, flags, ...) flags,
#include <tenon/ops.def>
    };
    return flags[static_cast<size_t>(type)];
}

/// A layer's tensors with the shapes that count, and the formulas of the operators. Each throws
/// InvalidArgumentException where shapes do not fit the operator.
class Operands
{
public:
    Operands(const IConnectableLayer& layer, const InfoOfSlot& infoOf)
        : m_Type(layer.GetType()), m_Parameters(layer.GetParameters())
    {
        for (unsigned int i = 0; i < layer.GetNumInputSlots(); ++i)
        {
            const IInputSlot& slot = layer.GetInputSlot(i);
            const IOutputSlot* const source = slot.GetConnection();
            if (source == nullptr)
            {
                m_Inputs.emplace_back();
                continue;
            }
            const bool isOverridden =
                slot.IsTensorInfoOverridden() && slot.GetTensorInfo().GetShape().AreAllDimensionsSpecified();
            m_Inputs.push_back({isOverridden ? slot.GetTensorInfo() : infoOf(*source), true,
                                source->GetOwningIConnectableLayer().GetType() == LayerType::Constant});
        }
        if (m_Type != LayerType::Constant)
        {
            for (const auto& constant : layer.GetConstantTensorsByRef())
            {
                m_Inputs.push_back({constant.get()->GetTensorInfo(), true, true});
            }
        }
        for (unsigned int i = 0; i < layer.GetNumOutputSlots(); ++i)
        {
            m_Outputs.push_back(infoOf(layer.GetOutputSlot(i)));
        }
    }

    LayerWork GetWork() const
    {
        LayerWork work;
        work.m_Macs = CountMacs().Get();
        work.m_Operations = CountOperations().Get();
        Count inputs = 0;
        Count constants = 0;
        for (size_t i = 0; i < m_Inputs.size(); ++i)
        {
            if (m_Inputs[i].m_IsConnected)
            {
                Count& bytes = m_Inputs[i].m_IsConstant ? constants : inputs;
                bytes = bytes + CountReadBytes(i);
            }
        }
        Count outputs = 0;
        for (const TensorInfo& output : m_Outputs)
        {
            outputs = outputs + BytesOf(output);
        }
        work.m_InputBytes = inputs.Get();
        work.m_OutputBytes = outputs.Get();
        work.m_ConstantBytes = constants.Get();
        return work;
    }

private:
    struct Operand
    {
        TensorInfo m_Info;
        bool m_IsConnected = false;
        bool m_IsConstant = false;
    };

    template <typename Descriptor>
    const Descriptor& Parameters() const
    {
        return static_cast<const Descriptor&>(m_Parameters);
    }

    static bool IsKnown(const TensorInfo& info) { return info.GetShape().AreAllDimensionsSpecified(); }
    static Count ElementsOf(const TensorInfo& info)
    {
        return IsKnown(info) ? Count(info.GetShape().GetNumElements64()) : Count();
    }
    static Count BytesOf(const TensorInfo& info) { return IsKnown(info) ? Count(info.GetNumBytes()) : Count(); }
    /// The size of a dimension, which counts from the end if it is negative.
    static Count SizeOf(const TensorInfo& info, int dimension)
    {
        const TensorShape& shape = info.GetShape();
        if (!IsKnown(info))
        {
            return {};
        }
        return uint64_t{shape[static_cast<unsigned int>(
            dimension < 0 ? static_cast<int>(shape.GetNumDimensions()) + dimension : dimension)]};
    }

    bool IsConnected(size_t i) const { return i < m_Inputs.size() && m_Inputs[i].m_IsConnected; }
    const TensorInfo& Input(size_t i) const
    {
        if (!IsConnected(i))
        {
            throw InvalidArgumentException("an input is not connected");
        }
        return m_Inputs[i].m_Info;
    }
    const TensorInfo& Output(size_t i) const
    {
        if (i >= m_Outputs.size())
        {
            throw InvalidArgumentException("the layer has no such output");
        }
        return m_Outputs[i];
    }

    /// Slices and lookups read as many elements as they give.
    Count CountReadBytes(size_t i) const
    {
        const TensorInfo& info = m_Inputs[i].m_Info;
        const bool readsPart = m_Type == LayerType::EmbeddingLookup
                                   ? i == 1
                                   : i == 0 && (m_Type == LayerType::Gather || m_Type == LayerType::GatherElements ||
                                                m_Type == LayerType::GatherNd || m_Type == LayerType::StablehloGather ||
                                                m_Type == LayerType::Slice || m_Type == LayerType::StridedSlice);
        const Count whole = BytesOf(info);
        if (!readsPart)
        {
            return whole;
        }
        constexpr unsigned int bitsOfByte = 8;
        const Count given = ElementsOf(Output(0)) * GetDataTypeBits(info.GetDataType()) / bitsOfByte;
        return whole.Get() && given.Get() ? Count(std::min(*whole.Get(), *given.Get())) : Count();
    }

    /// For each element of the data's last dimension away, a product with each of the weights.
    Count CountRecurrentMacs(const std::vector<size_t>& weights) const
    {
        Count all = 0;
        for (const size_t i : weights)
        {
            all = all + ElementsOf(m_Inputs[i].m_Info);
        }
        return CountRows() * all;
    }

    /// An addition and a function for each sum of products.
    Count CountRecurrentOperations(const std::vector<size_t>& weights) const
    {
        Count sums = 0;
        for (const size_t i : weights)
        {
            sums = sums + ElementsOf(m_Inputs[i].m_Info) / SizeOf(m_Inputs[i].m_Info, -1);
        }
        return CountRows() * sums * 2;
    }

    /// Vectors of data: batches times steps.
    Count CountRows() const { return ElementsOf(Input(0)) / SizeOf(Input(0), -1); }

    /// The inputs of a recurrent layer that are matrices of weights; none for other layers.
    std::vector<size_t> FindRecurrentWeights() const
    {
        const auto ofRank = [&](unsigned int rank, auto isWeight)
        {
            std::vector<size_t> found;
            for (size_t i = 0; i < m_Inputs.size(); ++i)
            {
                const bool isOther = IsConnected(i) && IsKnown(m_Inputs[i].m_Info) &&
                                     m_Inputs[i].m_Info.GetNumDimensions() != rank; // biases, peepholes
                if (isWeight(i) && IsConnected(i) && !isOther)
                {
                    found.push_back(i);
                }
            }
            return found;
        };
        const auto isOf = [](std::initializer_list<size_t> places)
        {
            return [places = std::vector<size_t>(places)](size_t i)
            { return std::find(places.begin(), places.end(), i) != places.end(); };
        };
        switch (m_Type)
        {
        case LayerType::Lstm:
        case LayerType::QLstm:
        case LayerType::QuantizedLstm:
        case LayerType::UnidirectionalSequenceLstm:
            return ofRank(2, [](size_t i) { return i >= 3; }); // behind data and states
        case LayerType::BidirectionalSequenceLstm:
            return ofRank(2, [](size_t i) { return (i >= 1 && i < 35) || i >= 40; }); // states and data are between
        case LayerType::BasicLstm: return ofRank(2, isOf({2}));
        case LayerType::Rnn:
        case LayerType::Svdf: return ofRank(2, isOf({1, 2}));
        case LayerType::BidirectionalSequenceRnn: return ofRank(2, isOf({1, 2, 5, 6, 10, 11}));
        case LayerType::RecurrentSequence: return ofRank(3, isOf({1, 2}));
        default: return {};
        }
    }

    /// Whether its shapes do not tell: what runs is another program's or another network's.
    bool IsOpaque() const
    {
        switch (m_Type)
        {
        case LayerType::Custom:
        case LayerType::Fused:
        case LayerType::If:
        case LayerType::PreCompiled:
        case LayerType::StandIn:
        case LayerType::While: return true;
        default: return false;
        }
    }

    Count CountMacs() const
    {
        switch (m_Type)
        {
        case LayerType::Convolution2d: return ElementsOf(Output(0)) * (ElementsOf(Input(1)) / SizeOf(Input(1), 0));
        case LayerType::Convolution3d:
        case LayerType::DepthwiseConvolution2d:
            return ElementsOf(Output(0)) * (ElementsOf(Input(1)) / SizeOf(Input(1), -1));
        case LayerType::TransposeConvolution2d:
        {
            const bool isNchw = Parameters<TransposeConvolution2dDescriptor>().m_DataLayout == DataLayout::NCHW;
            return ElementsOf(Input(0)) * (ElementsOf(Input(1)) / SizeOf(Input(1), isNchw ? 1 : -1));
        }
        case LayerType::TransposeConvolution3d:
            return ElementsOf(Input(0)) * (ElementsOf(Input(1)) / SizeOf(Input(1), -1));
        case LayerType::FullyConnected:
        {
            const Count units =
                SizeOf(Input(1), Parameters<FullyConnectedDescriptor>().m_TransposeWeightMatrix ? 0 : 1);
            return ElementsOf(Output(0)) * (ElementsOf(Input(1)) / units);
        }
        case LayerType::BatchMatMul: return CountMatMulMacs();
        case LayerType::Attention: return (ElementsOf(Input(0)) + ElementsOf(Output(0))) * CountKeys();
        default: break;
        }
        const std::vector<size_t> weights = FindRecurrentWeights();
        return IsOpaque() ? Count() : (weights.empty() ? Count(0) : CountRecurrentMacs(weights));
    }

    Count CountMatMulMacs() const
    {
        const auto& parameters = Parameters<BatchMatMulDescriptor>();
        if (!IsKnown(Input(0)))
        {
            return {};
        }
        const TensorShape& x = Input(0).GetShape();
        const auto [rows, columns] = BatchMatMulDescriptor::GetAxesToMul(parameters.m_DataLayoutX, x);
        return ElementsOf(Output(0)) * uint64_t{x[parameters.m_TransposeX || parameters.m_AdjointX ? rows : columns]};
    }

    /// The keys that a query of an Attention layer is multiplied with, hidden ones included.
    Count CountKeys() const
    {
        const TensorInfo& keys = Input(1);
        const bool isBeforeHeads =
            Parameters<AttentionDescriptor>().m_RowsBeforeHeads && IsKnown(keys) && keys.GetNumDimensions() > 2;
        return SizeOf(keys, isBeforeHeads ? -3 : -2);
    }

    /// Elements of a window of pooling.
    Count CountWindow() const
    {
        switch (m_Type)
        {
        case LayerType::Pooling2d:
        {
            const auto& pooling = Parameters<Pooling2dDescriptor>();
            return Count(pooling.m_PoolWidth) * pooling.m_PoolHeight;
        }
        case LayerType::Pooling3d:
        {
            const auto& pooling = Parameters<Pooling3dDescriptor>();
            return Count(pooling.m_PoolWidth) * pooling.m_PoolHeight * pooling.m_PoolDepth;
        }
        case LayerType::MaxPool2dWithIndices:
        {
            const auto& pooling = Parameters<MaxPool2dWithIndicesDescriptor>();
            return Count(pooling.m_PoolWidth) * pooling.m_PoolHeight;
        }
        default:
        {
            Count window = 1;
            for (const uint32_t size : Parameters<PoolingNdDescriptor>().m_PoolSizes)
            {
                window = window * size;
            }
            return window;
        }
        }
    }

    Count CountOperations() const
    {
        switch (m_Type)
        {
        case LayerType::Convolution2d:
        case LayerType::Convolution3d:
        case LayerType::DepthwiseConvolution2d:
        case LayerType::TransposeConvolution2d:
        case LayerType::TransposeConvolution3d:
        case LayerType::FullyConnected: // the bias
            return IsConnected(2) ? ElementsOf(Output(0)) : Count(0);
        case LayerType::BatchMatMul: return 0;
        case LayerType::Attention: // a softmax over the keys
            return ElementsOf(Input(0)) / SizeOf(Input(0), -1) * CountKeys() * OperationsOfSoftmax;
        case LayerType::AddN: return ElementsOf(Output(0)) * (std::max<size_t>(m_Inputs.size(), 1) - 1);
        case LayerType::Bucketize:
        case LayerType::ComplexPart:
        case LayerType::Select:
        case LayerType::Table: return ElementsOf(Output(0));
        case LayerType::BatchNormalization: // a factor and a summand
            return ElementsOf(Output(0)) * 2;
        case LayerType::MaxPool2dWithIndices:
        case LayerType::Pooling2d:
        case LayerType::Pooling3d:
        case LayerType::PoolingNd: return ElementsOf(Output(0)) * CountWindow();
        case LayerType::ArgMinMax:
        case LayerType::CumSum:
        case LayerType::Mean:
        case LayerType::Reduce: return ElementsOf(Input(0));
        case LayerType::Softmax:
        case LayerType::LogSoftmax: return ElementsOf(Output(0)) * OperationsOfSoftmax;
        case LayerType::InstanceNormalization:
        case LayerType::LayerNormalization: // sums for mean and variance, difference, square, three factors and
                                            // summands
            return ElementsOf(Output(0)) * 7;
        case LayerType::L2Normalization: // square, sum, factor
            return ElementsOf(Output(0)) * 3;
        case LayerType::Resize: // three interpolations between two pixels
            return ElementsOf(Output(0)) *
                   (Parameters<ResizeDescriptor>().m_Method == ResizeMethod::Bilinear ? 7U : 0U);
        case LayerType::BroadcastArgs:
        case LayerType::Constant:
        case LayerType::Fill:
        case LayerType::Input:
        case LayerType::MemCopy:
        case LayerType::MemImport:
        case LayerType::Output:
        case LayerType::Range:
        case LayerType::Rank:
        case LayerType::ReadState:
        case LayerType::Shape:
        case LayerType::WriteState:
        case LayerType::ZerosLike: return 0;
        default: break;
        }
        const unsigned int flags = FlagsOf(m_Type);
        if ((flags & (View | Moves)) != 0)
        {
            return 0;
        }
        if ((flags & (Elementwise | Broadcast)) != 0)
        {
            return ElementsOf(Output(0));
        }
        const std::vector<size_t> weights = FindRecurrentWeights();
        return weights.empty() ? Count() : CountRecurrentOperations(weights);
    }

    /// Maximum, difference, exponential, sum and quotient.
    static constexpr uint64_t OperationsOfSoftmax = 5;

    LayerType m_Type;
    const BaseDescriptor& m_Parameters;
    std::vector<Operand> m_Inputs; ///< those of slots, then the constants that the layer has apart from these
    std::vector<TensorInfo> m_Outputs;
};

} // namespace

std::optional<uint64_t> LayerWork::CountOperations() const
{
    return (Count(m_Macs) * 2 + m_Operations).Get();
}

std::optional<uint64_t> LayerWork::CountBytes() const
{
    return (Count(m_InputBytes) + m_OutputBytes + m_ConstantBytes).Get();
}

LayerWork ComputeWork(const IConnectableLayer& layer, const InfoOfSlot& infoOf)
{
    try
    {
        return Operands(layer, infoOf).GetWork();
    }
    catch (const InvalidArgumentException&) // shapes that Optimize() refuses
    {
        return {};
    }
}

LayerWork ComputeWork(const IConnectableLayer& layer)
{
    return ComputeWork(layer, [](const IOutputSlot& slot) { return slot.GetTensorInfo(); });
}

} // namespace tenon::tools
