// SPDX-License-Identifier: Apache-2.0
// Finds the layers of a plan that are to run in strips. What that means for memory is in PlanStripMemory.cpp.
#include "common/Cores.hpp"
#include "common/PlannedThreads.hpp"
#include "common/RunsInStrips.hpp"
#include "runtime/PartInfos.hpp"

#include <algorithm>
#include <optional>

namespace tenon
{

namespace
{

/// What is between the layers is to stay in a cache: more than this in all is worth it, and a part of it may be so
/// much, as the third level gains too.
constexpr size_t LeastBytes = size_t{2} << 20;
constexpr size_t MostPartBytes = size_t{4} << 20;
/// Of a run: where one more would gain little, and finding it would take long in networks of many large layers.
constexpr size_t MostSteps = 32;
/// A part of which a call takes no time that matters.
constexpr size_t LeastPartBytes = size_t{32} << 10;

/// Of quantized types, each step's bytes are a quarter of these: less is gained.
bool IsCut(DataType type)
{
    return type == DataType::Float32 || type == DataType::Float16 || type == DataType::BFloat16;
}

size_t CountElements(const TensorShape& shape, unsigned int first, unsigned int last)
{
    size_t count = 1;
    for (unsigned int i = first; i < last; ++i)
    {
        count *= shape[i];
    }
    return count;
}

/// How many leading dimensions make up so many parts, of those that the layer works on one by one.
std::optional<unsigned int> FindLeading(const Step& step, const TensorShape& output, size_t parts)
{
    unsigned int most = output.GetNumDimensions();
    if (step.m_Type == LayerType::Softmax)
    {
        const int axis = static_cast<const SoftmaxDescriptor&>(step.m_Layer->GetParameters()).m_Axis;
        most = static_cast<unsigned int>(axis < 0 ? axis + static_cast<int>(most) : axis);
    }
    else if (step.m_Type == LayerType::BatchMatMul)
    {
        most = std::max(2U, most) - 2;
    }
    size_t count = 1;
    for (unsigned int i = 0; i < most; ++i)
    {
        count *= output[i];
        if (count == parts)
        {
            return i + 1;
        }
    }
    return std::nullopt;
}

bool IsSeparable(const Step& step)
{
    const OpSchema& schema = GetSchema(step.m_Type);
    const bool isPlainProduct =
        step.m_Type == LayerType::BatchMatMul &&
        static_cast<const BatchMatMulDescriptor&>(step.m_Layer->GetParameters()).m_DataLayoutX == DataLayout::NCHW &&
        static_cast<const BatchMatMulDescriptor&>(step.m_Layer->GetParameters()).m_DataLayoutY == DataLayout::NCHW;
    return schema.Has(OpFlags::Elementwise) || schema.Has(OpFlags::Broadcast) || step.m_Type == LayerType::Softmax ||
           isPlainProduct;
}

/// An input beside the first `leading` dimensions of an output, which it may be broadcast along: its part, and the
/// shape of that. None where it does not fit.
std::optional<std::pair<StripTensor, TensorShape>> CutInput(const TensorInfo& input, const TensorShape& output,
                                                            unsigned int leading, size_t parts)
{
    const unsigned int rank = output.GetNumDimensions();
    const unsigned int inputRank = input.GetNumDimensions();
    if (inputRank > rank)
    {
        return std::nullopt;
    }
    const unsigned int missing = rank - inputRank;
    TensorShape shape = input.GetShape();
    std::vector<size_t> sizes(leading, 1); // of the input, along the leading dimensions
    for (unsigned int i = missing; i < leading; ++i)
    {
        sizes[i] = shape[i - missing];
        if (sizes[i] != 1 && sizes[i] != output[i])
        {
            return std::nullopt;
        }
        shape.SetDimensionSize(i - missing, 1);
    }
    StripTensor tensor;
    tensor.m_Bytes = shape.GetNumElements() * (GetDataTypeBits(input.GetDataType()) / 8);
    if (CountElements(input.GetShape(), 0, std::max(leading, missing) - missing) != parts)
    {
        for (size_t part = 0; part < parts; ++part)
        {
            size_t rest = part;
            size_t index = 0;
            size_t stride = 1;
            for (unsigned int i = leading; i-- > 0;)
            {
                index += sizes[i] == 1 ? 0 : rest % output[i] * stride;
                rest /= output[i];
                stride *= sizes[i];
            }
            tensor.m_Offsets.push_back(index * tensor.m_Bytes);
        }
    }
    return std::make_pair(std::move(tensor), std::move(shape));
}

} // namespace

/// Whether one of the steps [first, end), which have one output each, makes the value.
bool Plan::IsMadeBy(const Program& program, uint32_t first, uint32_t end, ValueId value)
{
    return std::any_of(program.Steps().begin() + first, program.Steps().begin() + end,
                       [value](const Step& step) { return step.m_FirstOutput == value; });
}

/// What a step that computes has in one part; none where it cannot be cut. Fills in where the parts lie.
std::optional<Plan::PartInfos> Plan::CutInfos(const Program& program, uint32_t index, size_t parts,
                                              StripStep& strip) const
{
    const Step& step = program.Steps()[index];
    const TensorInfo& output = m_Infos[step.m_FirstOutput];
    const auto leading = FindLeading(step, output.GetShape(), parts);
    if (!IsSeparable(step) || !leading || step.m_Inputs.size() > StripStep::MostInputs)
    {
        return std::nullopt;
    }
    PartInfos infos;
    for (size_t i = 0; i < step.m_Inputs.size(); ++i)
    {
        const ValueId value = step.m_Inputs[i];
        if (value == NoValue || m_Infos[value].GetDataType() != output.GetDataType())
        {
            return std::nullopt;
        }
        auto cut = CutInput(m_Infos[value], output.GetShape(), *leading, parts);
        const void* const constant = program.Values()[value].m_Constant;
        // Of constants, which workloads may have packed, only those that are the same for all parts.
        const bool isSame =
            cut && cut->first.m_Bytes == m_Infos[value].GetNumBytes() && step.m_Type != LayerType::BatchMatMul;
        if (!cut || (constant != nullptr && !isSame))
        {
            return std::nullopt;
        }
        strip.m_Inputs[i] = std::move(cut->first);
        infos.m_Inputs[i] = m_Infos[value];
        infos.m_Inputs[i].SetShape(cut->second);
        infos.m_Constants[i] = constant;
    }
    TensorShape part = output.GetShape();
    for (unsigned int i = 0; i < *leading; ++i)
    {
        part.SetDimensionSize(i, 1);
    }
    infos.m_Output = output;
    infos.m_Output.SetShape(part);
    return infos;
}

/// One step in so many parts; none where it cannot be.
std::optional<StripStep> Plan::CutStep(const Program& program, uint32_t index, size_t parts) const
{
    const Step& step = program.Steps()[index];
    const PlannedStep& planned = m_Steps[index];
    if (planned.m_Workload == nullptr || step.m_Memory != HostMemory || step.m_NumOutputs != 1 ||
        !step.m_Overrides.empty() || GetMostStripThreads(*planned.m_Workload) == 0)
    {
        return std::nullopt;
    }
    const TensorInfo& output = m_Infos[step.m_FirstOutput];
    if (!IsCut(output.GetDataType()) || output.GetNumBytes() == 0)
    {
        return std::nullopt;
    }
    StripStep strip;
    strip.m_Output.m_Bytes = output.GetNumBytes() / parts;
    if (GetSchema(step.m_Type).Has(OpFlags::View))
    {
        strip.m_Inputs[0].m_Bytes = strip.m_Output.m_Bytes;
        return m_Infos[step.m_Inputs[0]].GetNumBytes() == output.GetNumBytes() ? std::move(strip)
                                                                               : std::optional<StripStep>();
    }
    const auto infos = CutInfos(program, index, parts, strip);
    if (!infos)
    {
        return std::nullopt;
    }
    strip.m_Workload = infos->Reshape(step);
    strip.SetScratchBytes(strip.m_Workload->GetScratchBytes());
    return strip;
}

/// The longest run of steps from `first` on in so many parts: each but the first one reads what is made in the run.
std::unique_ptr<Strips> Plan::CutRun(const Program& program, uint32_t first, size_t parts, size_t mostSteps) const
{
    auto strips = std::make_unique<Strips>();
    strips->m_First = first;
    strips->m_Parts = parts;
    const uint32_t end = static_cast<uint32_t>(std::min(m_Steps.size(), first + mostSteps));
    for (uint32_t s = first; s < end; ++s)
    {
        const Step& step = program.Steps()[s];
        const bool reads = std::any_of(step.m_Inputs.begin(), step.m_Inputs.end(),
                                       [&](ValueId value) { return IsMadeBy(program, first, s, value); });
        auto strip = s == first || reads ? CutStep(program, s, parts) : std::nullopt;
        if (!strip)
        {
            break;
        }
        // What is made in the run is read part by part, not by several of them.
        bool isByPart = true;
        for (size_t i = 0; i < std::min(step.m_Inputs.size(), StripStep::MostInputs); ++i)
        {
            isByPart =
                isByPart && (!IsMadeBy(program, first, s, step.m_Inputs[i]) || strip->m_Inputs[i].m_Offsets.empty());
        }
        if (!isByPart)
        {
            break;
        }
        strips->m_Steps.push_back(std::move(*strip));
        strips->m_ThreadLimit = std::min<size_t>(strips->m_ThreadLimit, GetMostStripThreads(*m_Steps[s].m_Workload));
    }
    while (!strips->m_Steps.empty() && strips->m_Steps.back().m_Workload == nullptr)
    {
        strips->m_Steps.pop_back(); // a view at the end
    }
    const size_t threads = std::min(PlannedThreads::Get(), std::max(4U, CountCores()));
    strips->m_MostThreads = std::min({parts, threads, strips->m_ThreadLimit});
    return strips;
}

/// Bytes that nobody reads after the run: of one part, or 0 where it is not worth it.
size_t Plan::CountInnerBytes(const Program& program, const Strips& strips) const
{
    size_t bytes = 0;
    size_t largest = 0;
    for (size_t i = 0; i < strips.m_Steps.size(); ++i)
    {
        const Step& step = program.Steps()[strips.m_First + i];
        const size_t part = strips.m_Steps[i].m_Output.m_Bytes;
        // Layers that work in place add nothing.
        if (strips.m_Steps[i].m_Workload != nullptr &&
            program.Values()[step.m_FirstOutput].m_LastUse <= strips.Last() &&
            (i == 0 || !GetSchema(step.m_Type).Has(OpFlags::InPlace)))
        {
            bytes += part;
            largest = std::max(largest, part);
        }
    }
    return bytes * strips.m_Parts >= LeastBytes && bytes <= MostPartBytes && largest >= LeastPartBytes ? bytes : 0;
}

/// The longest run from a step on that is worth it; null where there is none.
std::unique_ptr<Strips> Plan::FindRun(const Program& program, uint32_t first) const
{
    std::unique_ptr<Strips> best;
    const TensorInfo& info = m_Infos[program.Steps()[first].m_FirstOutput];
    const TensorShape& shape = info.GetShape();
    size_t parts = 1;
    for (unsigned int i = 0; i < shape.GetNumDimensions(); ++i)
    {
        parts *= shape[i];
        if (parts > 1 && shape[i] > 1 && info.GetNumBytes() / parts >= LeastPartBytes / 4)
        {
            auto strips = CutRun(program, first, parts, MostSteps);
            const bool isLonger = best == nullptr || strips->m_Steps.size() > best->m_Steps.size();
            if (strips->m_Steps.size() > 1 && CountInnerBytes(program, *strips) != 0 && isLonger)
            {
                best = std::move(strips);
            }
        }
    }
    return best;
}

void Plan::FindStrips(const Program& program)
{
    for (uint32_t s = 0; s < m_Steps.size();)
    {
        const Step& step = program.Steps()[s];
        std::unique_ptr<Strips> strips;
        if (m_Steps[s].m_Workload != nullptr && step.m_NumOutputs == 1)
        {
            const size_t bytes = m_Infos[step.m_FirstOutput].GetNumBytes();
            if (step.m_Type == LayerType::BatchMatMul && bytes >= Strips::LeastScoresBytes)
            {
                strips = MakeAttention(program, s);
            }
            if (strips == nullptr && IsSeparable(step) && bytes >= Strips::LeastTensorBytes)
            {
                strips = FindRun(program, s);
            }
            // Of both, what has more layers in it: a chain where they are as many, as its blocks are smaller.
            auto chain = MakeChain(program, s);
            if (chain != nullptr && (strips == nullptr || chain->Last() >= strips->Last()))
            {
                strips = std::move(chain);
            }
        }
        s = strips != nullptr ? strips->Last() + 1 : s + 1;
        if (strips != nullptr)
        {
            m_Strips.push_back(std::move(strips));
        }
    }
}

} // namespace tenon
