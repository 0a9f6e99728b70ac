// SPDX-License-Identifier: Apache-2.0
// See F16AsF32.hpp.
#include "backends/reference/kernels/F16AsF32.hpp"

#include "backends/common/Scratch.hpp"
#include "backends/reference/ElementTypes.hpp"
#include "common/HalfFloat.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace tenon::ref
{

namespace
{

using backends::Scratch;

constexpr size_t MaxTensors = 8; // maximum number of inputs or outputs of a kernel that uses this
constexpr size_t Weights = 1;    // input

/// A tensor that is converted.
struct Converted
{
    size_t m_Index = 0; ///< index of the input or output
    DataType m_Type = DataType::Float16;
    size_t m_Count = 0;
    size_t m_Floats = 0; ///< offset in the scratch memory
};

template <typename From, typename To>
void ConvertEach(const void* from, size_t count, void* to)
{
    std::transform(static_cast<const From*>(from), static_cast<const From*>(from) + count, static_cast<To*>(to),
                   [](From value) { return static_cast<To>(value); });
}

void Widen(IParallelFor&, const void* halves, DataType type, size_t count, float* floats)
{
    type == DataType::Float16 ? HalvesToFloats(static_cast<const uint16_t*>(halves), count, floats)
                              : ConvertEach<BFloat16, float>(halves, count, floats);
}

void Narrow(IParallelFor&, const float* floats, DataType type, size_t count, void* halves)
{
    type == DataType::Float16 ? FloatsToHalves(floats, count, static_cast<uint16_t*>(halves))
                              : ConvertEach<float, BFloat16>(floats, count, halves);
}

struct ConvertingExecutor
{
    const F16Loops* m_Loops;
    backends::Executor m_Run;
    std::vector<Converted> m_Inputs;
    std::vector<Converted> m_Outputs;

    void operator()(const ExecuteArgs& args) const
    {
        std::array<const void*, MaxTensors> inputs{};
        std::array<void*, MaxTensors> outputs{};
        std::copy(args.m_Inputs.begin(), args.m_Inputs.end(), inputs.begin());
        std::copy(args.m_Outputs.begin(), args.m_Outputs.end(), outputs.begin());
        for (const Converted& input : m_Inputs)
        {
            float* floats = Scratch::At<float>(args.m_Scratch, input.m_Floats);
            m_Loops->m_Widen(*args.m_Parallel, inputs[input.m_Index], input.m_Type, input.m_Count, floats);
            inputs[input.m_Index] = floats;
        }
        for (const Converted& output : m_Outputs)
        {
            outputs[output.m_Index] = Scratch::At<float>(args.m_Scratch, output.m_Floats);
        }
        ExecuteArgs wide = args;
        wide.m_Inputs = {inputs.data(), args.m_Inputs.size()};
        wide.m_Outputs = {outputs.data(), args.m_Outputs.size()};
        m_Run(wide);
        for (const Converted& output : m_Outputs)
        {
            m_Loops->m_Narrow(*args.m_Parallel, static_cast<const float*>(outputs[output.m_Index]), output.m_Type,
                              output.m_Count, args.m_Outputs[output.m_Index]);
        }
    }
};

/// The tensors of `tensors` that were widened, with room for their floats.
std::vector<Converted> PlaceConverted(const WideInfos& wide, Span<const TensorInfo* const> tensors, Scratch& scratch)
{
    if (tensors.size() > MaxTensors)
    {
        throw UnimplementedException("no code for a half-precision layer of that many tensors");
    }
    std::vector<Converted> converted;
    for (const size_t i : wide.Widened())
    {
        const size_t count = tensors[i]->GetNumElements();
        converted.push_back({i, tensors[i]->GetDataType(), count, scratch.Add<float>(count)});
    }
    return converted;
}

} // namespace

WideInfos::WideInfos(Span<const TensorInfo* const> tensors) : m_Pointers(tensors.begin(), tensors.end())
{
    m_Infos.reserve(tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i)
    {
        if (tensors[i] != nullptr && backends::F16Types.Has(tensors[i]->GetDataType()))
        {
            m_Infos.push_back(*tensors[i]);
            m_Infos.back().SetDataType(DataType::Float32);
            m_Pointers[i] = &m_Infos.back();
            m_Widened.push_back(i);
        }
    }
}

std::vector<const void*> WithoutWidened(Span<const void* const> constants, const WideInfos& inputs)
{
    std::vector<const void*> left(constants.begin(), constants.end());
    for (const size_t i : inputs.Widened())
    {
        if (i < left.size())
        {
            left[i] = nullptr;
        }
    }
    return left;
}

extern const F16Loops PlainF16Loops = {Widen, Narrow};

backends::Prepared PrepareF16AsF32(const ReshapeArgs& args,
                                   backends::Prepared (*prepare)(const ReshapeArgs&, const backends::PackedWeights*),
                                   const backends::PackedWeights* packed, const F16Loops& loops)
{
    const auto isHalf = [&args](size_t input)
    { return args.HasInput(input) && backends::F16Types.Has(args.GetInput(input).GetDataType()); };
    if (!isHalf(0) && !isHalf(Weights))
    {
        return prepare(args, packed);
    }
    const WideInfos inputs(args.m_Inputs);
    const WideInfos outputs(args.m_Outputs);
    const std::vector<const void*> constants = WithoutWidened(args.m_ConstantData, inputs);
    ReshapeArgs wide = args;
    wide.m_Inputs = inputs.Get();
    wide.m_Outputs = outputs.Get();
    wide.m_ConstantData = constants;
    backends::Prepared inner = prepare(wide, nullptr);
    if (inner.IsDeclined())
    {
        return inner;
    }

    Scratch scratch;
    scratch.Add<std::byte>(inner.m_ScratchBytes);
    std::vector<Converted> convertedInputs = PlaceConverted(inputs, args.m_Inputs, scratch);
    std::vector<Converted> convertedOutputs = PlaceConverted(outputs, args.m_Outputs, scratch);
    backends::Prepared outer(
        ConvertingExecutor{&loops, std::move(inner.m_Run), std::move(convertedInputs), std::move(convertedOutputs)},
        scratch.GetBytes());
    outer.m_KernelName = inner.m_KernelName;
    outer.m_Declined = inner.m_Declined;
    return outer;
}

} // namespace tenon::ref
