// SPDX-License-Identifier: Apache-2.0
// See NetworkCase.hpp.
#include "harness/NetworkCase.hpp"

#include "common/HalfFloat.hpp"

#include <tenon/Exceptions.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace tenon::test
{

namespace
{

/// Numbers that look random, as good as a test needs them.
class Numbers
{
public:
    explicit Numbers(uint32_t seed) : m_State(seed * 2654435761U + 12345U) {}
    /// In [0, 1].
    double Next()
    {
        m_State = m_State * 1664525U + 1013904223U;
        return static_cast<double>(m_State >> 16) / 65535.0;
    }

private:
    uint32_t m_State;
};

template <typename T>
void FillAs(std::vector<std::byte>& bytes, size_t count, const ValueRange& range, Numbers numbers)
{
    for (size_t i = 0; i < count; ++i)
    {
        const double value = range.m_Min + (range.m_Max - range.m_Min) * numbers.Next();
        T stored;
        if constexpr (std::is_floating_point_v<T>)
        {
            stored = static_cast<T>(value);
        }
        else
        {
            constexpr double Min = static_cast<double>(std::numeric_limits<T>::min());
            constexpr double Max = std::min(static_cast<double>(std::numeric_limits<T>::max()), 2147483647.0);
            stored = static_cast<T>(std::clamp(std::nearbyint(value), Min, Max));
        }
        std::memcpy(bytes.data() + i * sizeof(T), &stored, sizeof(T));
    }
}

template <typename Convert>
void FillF16(std::vector<std::byte>& bytes, size_t count, const ValueRange& range, Numbers numbers, Convert convert)
{
    for (size_t i = 0; i < count; ++i)
    {
        const double value = range.m_Min + (range.m_Max - range.m_Min) * numbers.Next();
        const uint16_t stored = convert(static_cast<float>(value));
        std::memcpy(bytes.data() + i * sizeof stored, &stored, sizeof stored);
    }
}

/// Calls f(T()) with the type of the elements. Precondition: it is neither a 16-bit float, nor complex, nor of 4 bits.
template <typename F>
void WithElementType(DataType type, F f)
{
    switch (type)
    {
    case DataType::Float32: return f(float());
    case DataType::Float64: return f(double());
    case DataType::Boolean:
    case DataType::QAsymmU8:
    case DataType::Unsigned8: return f(uint8_t());
    case DataType::QAsymmS8:
    case DataType::QSymmS8:
    case DataType::Signed8: return f(int8_t());
    case DataType::QSymmS16:
    case DataType::Signed16: return f(int16_t());
    case DataType::Unsigned16: return f(uint16_t());
    case DataType::Signed32: return f(int32_t());
    case DataType::Unsigned32: return f(uint32_t());
    case DataType::Signed64: return f(int64_t());
    case DataType::Unsigned64: return f(uint64_t());
    default: throw InvalidArgumentException(std::string("test values are not made of type ") + GetDataTypeName(type));
    }
}

uint32_t SeedOf(const std::string& name)
{
    uint32_t hash = 2166136261U;
    for (const char c : name)
    {
        hash = (hash ^ static_cast<uint8_t>(c)) * 16777619U;
    }
    return hash;
}

} // namespace

std::vector<std::byte> MakeValues(const TensorInfo& info, const ValueRange& range, uint32_t seed)
{
    std::vector<std::byte> bytes(std::max<size_t>(info.GetNumBytes(), 1));
    const size_t count = info.GetNumElements();
    const Numbers numbers(seed);
    switch (info.GetDataType())
    {
    case DataType::Float16: FillF16(bytes, count, range, numbers, [](float x) { return FloatToHalf(x); }); break;
    case DataType::BFloat16: FillF16(bytes, count, range, numbers, [](float x) { return FloatToBFloat16(x); }); break;
    default:
        WithElementType(info.GetDataType(), [&](auto type) { FillAs<decltype(type)>(bytes, count, range, numbers); });
    }
    return bytes;
}

std::vector<double> ToDoubles(const TensorInfo& info, const void* values)
{
    std::vector<double> numbers(info.GetNumElements());
    const auto convert = [&](auto stored, auto widen)
    {
        for (size_t i = 0; i < numbers.size(); ++i)
        {
            std::memcpy(&stored, static_cast<const std::byte*>(values) + i * sizeof stored, sizeof stored);
            numbers[i] = widen(stored);
        }
    };
    switch (info.GetDataType())
    {
    case DataType::Float16: convert(uint16_t(), [](uint16_t x) { return double{HalfToFloat(x)}; }); break;
    case DataType::BFloat16: convert(uint16_t(), [](uint16_t x) { return double{BFloat16ToFloat(x)}; }); break;
    default:
        WithElementType(info.GetDataType(),
                        [&](auto type) { convert(type, [](auto x) { return static_cast<double>(x); }); });
    }
    return numbers;
}

std::vector<std::byte> MakeConstantValues(const TensorInfo& info, const ValueRange& range, const std::string& name)
{
    return MakeValues(info, range, SeedOf(name));
}

IConnectableLayer* AddConstant(NetworkCase& tested, const TensorInfo& info, const ValueRange& range,
                               const std::string& name)
{
    tested.m_Constants[name] = range;
    auto owner = std::make_shared<std::vector<std::byte>>(MakeConstantValues(info, range, name));
    TensorInfo constant = info;
    constant.SetConstant();
    return tested.m_Network->AddConstantLayer(ConstTensor(constant, owner->data()), owner, name.c_str());
}

CaseInputs::CaseInputs(const NetworkCase& tested, size_t run)
{
    for (const Layer* layer : tested.GetGraph().LayersOf(LayerType::Input))
    {
        const LayerBindingId id = layer->GetBindingId();
        TensorInfo info = layer->Output(0).GetTensorInfo();
        info.SetShape(tested.m_Runs.at(run).at(id));
        info.SetConstant();
        m_Values.push_back(MakeValues(info, tested.m_Inputs.at(id), 1000U + static_cast<uint32_t>(id)));
        m_Tensors.emplace_back(id, ConstTensor(info, m_Values.back().data()));
    }
}

NetworkCopy::NetworkCopy(const Graph& graph) : m_Copies(graph.Size())
{
    for (const Layer* layer : graph.TopologicalOrder())
    {
        Layer& copy = m_Network.EditGraph().AddCopy(*layer);
        m_Copies[layer->m_Index] = &copy;
        for (const InputSlot& input : layer->Inputs())
        {
            const OutputSlot* const from = input.GetConnectedOutputSlot();
            if (from == nullptr)
            {
                continue;
            }
            InputSlot& target = copy.Input(input.GetSlotIndex());
            m_Copies[from->GetOwningLayer().m_Index]->Output(from->CalculateIndexOnOwner()).Connect(target);
            if (input.IsTensorInfoOverridden())
            {
                target.SetTensorInfo(input.GetTensorInfo());
            }
        }
    }
}

TensorValues ComputeAllValues(const NetworkCase& tested, size_t run)
{
    NetworkCopy copy(tested.GetGraph());
    std::vector<TensorKey> keys;
    constexpr LayerBindingId First = 1 << 20; // above the outputs that are there
    for (Layer* layer : copy.m_Copies)
    {
        if (layer->GetType() == LayerType::Constant)
        {
            continue;
        }
        for (OutputSlot& output : layer->Outputs())
        {
            IConnectableLayer* const shown =
                copy.m_Network.AddOutputLayer(First + static_cast<LayerBindingId>(keys.size()), "shown");
            output.Connect(shown->GetInputSlot(0));
            keys.emplace_back(layer->GetGuid(), output.CalculateIndexOnOwner());
        }
    }
    const IRuntimePtr runtime = IRuntime::Create({});
    std::vector<Pass> necessary;
    std::copy_if(GetPasses().begin(), GetPasses().end(), std::back_inserter(necessary),
                 [](const Pass& pass) { return pass.m_Kind == Pass::Kind::Necessary; });
    NetworkId id = 0;
    runtime->LoadNetwork(
        id, OptimizeWithPasses(copy.m_Network, {"CpuRef"}, runtime->GetDeviceSpec(), {}, EmptyOptional(), necessary));
    const CaseInputs inputs(tested, run);
    Results results = RunNetwork(*runtime, id, inputs.Tensors());
    TensorValues values;
    for (size_t i = 0; i < keys.size(); ++i)
    {
        values[keys[i]] = std::move(results.at(First + static_cast<LayerBindingId>(i)));
    }
    return values;
}

} // namespace tenon::test
