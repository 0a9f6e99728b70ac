// SPDX-License-Identifier: Apache-2.0
// See Tiling.hpp.
#include "runtime/fusions/Tiling.hpp"

#include "common/Cores.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace tenon::fusions
{

namespace
{

/// Whether tensors of the type are worth tiling: steps of quantized types move a quarter of the bytes, and gain less.
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

/// The number of leading dimensions of the output whose indices are the tiles; none if no such number gives `tiles`.
std::optional<unsigned int> FindLeading(const Step& step, const TensorShape& output, size_t tiles)
{
    const unsigned int max =
        CountTiledDimensions(step.m_Type, step.m_Layer->GetParameters(), output.GetNumDimensions());
    size_t count = 1;
    for (unsigned int i = 0; i < max; ++i)
    {
        count *= output[i];
        if (count == tiles)
        {
            return i + 1;
        }
    }
    return std::nullopt;
}

/// A tile of an input, which may be broadcast along the first `leading` dimensions of an output, and the shape of the
/// tile. None if the input does not fit.
std::optional<std::pair<TiledTensor, TensorShape>> CutInput(const TensorInfo& input, const TensorShape& output,
                                                            unsigned int leading, size_t tiles)
{
    const unsigned int rank = output.GetNumDimensions();
    const unsigned int inputRank = input.GetNumDimensions();
    if (inputRank > rank)
    {
        return std::nullopt;
    }
    const unsigned int missing = rank - inputRank;
    TensorShape shape = input.GetShape();
    std::vector<size_t> sizes(leading, 1); // sizes of the input along the leading dimensions
    for (unsigned int i = missing; i < leading; ++i)
    {
        sizes[i] = shape[i - missing];
        if (sizes[i] != 1 && sizes[i] != output[i])
        {
            return std::nullopt;
        }
        shape.SetDimensionSize(i - missing, 1);
    }
    TiledTensor tensor;
    tensor.m_Bytes = shape.GetNumElements() * (GetDataTypeBits(input.GetDataType()) / 8);
    if (CountElements(input.GetShape(), 0, std::max(leading, missing) - missing) != tiles)
    {
        for (size_t tile = 0; tile < tiles; ++tile)
        {
            size_t rest = tile;
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

/// One step in `tiles` tiles; none if it cannot be divided.
std::optional<TiledStep> CutStep(const PlanDraft& draft, uint32_t index, size_t tiles)
{
    const Step& step = draft.GetStep(index);
    const FusionHooks* const hooks = draft.HooksOf(index);
    if (hooks == nullptr || hooks->m_MaxTileThreads == 0 || step.m_Memory != HostMemory || step.m_NumOutputs != 1 ||
        !step.m_Overrides.empty())
    {
        return std::nullopt;
    }
    const TensorInfo& output = draft.OutputOf(index);
    if (!IsCut(output.GetDataType()) || output.GetNumBytes() == 0)
    {
        return std::nullopt;
    }
    TiledStep tiled;
    tiled.m_Output.m_Bytes = output.GetNumBytes() / tiles;
    if (GetSchema(step.m_Type).Has(OpFlags::View))
    {
        tiled.m_Inputs[0].m_Bytes = tiled.m_Output.m_Bytes;
        return draft.InfoOf(step.m_Inputs[0]).GetNumBytes() == output.GetNumBytes() ? std::move(tiled)
                                                                                    : std::optional<TiledStep>();
    }
    const auto infos = CutTensors(draft, index, tiles, tiled);
    if (!infos)
    {
        return std::nullopt;
    }
    tiled.m_Workload = infos->Reshape(step);
    tiled.SetScratchBytes(tiled.m_Workload->GetScratchBytes());
    return tiled;
}

/// Whether the step reads the tensors of the run [first, index) tile by tile, and not several tiles at once.
bool ReadsByTile(const PlanDraft& draft, uint32_t first, uint32_t index, const TiledStep& tiled)
{
    const Step& step = draft.GetStep(index);
    for (size_t i = 0; i < std::min(step.m_Inputs.size(), TiledStep::MaxInputs); ++i)
    {
        if (draft.IsMadeBy(first, index, step.m_Inputs[i]) && !tiled.m_Inputs[i].m_Offsets.empty())
        {
            return false;
        }
    }
    return true;
}

} // namespace

std::unique_ptr<IShapedWorkload> TileInfos::Reshape(const Step& step) const
{
    std::array<const TensorInfo*, TiledStep::MaxInputs> inputs{};
    for (size_t i = 0; i < inputs.size(); ++i)
    {
        inputs[i] = &m_Inputs[i];
    }
    const TensorInfo* const output = &m_Output;
    const size_t count = step.m_Inputs.size();
    return ReshapeStep(step, nullptr, {inputs.data(), count}, {&output, 1}, {m_Constants.data(), count}, 1);
}

bool IsTileable(const Step& step)
{
    return GetSchema(step.m_Type).m_Tiling != Tiling::None;
}

std::optional<TileInfos> CutTensors(const PlanDraft& draft, uint32_t index, size_t tiles, TiledStep& tiled)
{
    const Step& step = draft.GetStep(index);
    const TensorInfo& output = draft.OutputOf(index);
    const auto leading = FindLeading(step, output.GetShape(), tiles);
    if (!leading || step.m_Inputs.size() > TiledStep::MaxInputs)
    {
        return std::nullopt;
    }
    TileInfos infos;
    for (size_t i = 0; i < step.m_Inputs.size(); ++i)
    {
        const ValueId value = step.m_Inputs[i];
        if (value == NoValue || draft.InfoOf(value).GetDataType() != output.GetDataType())
        {
            return std::nullopt;
        }
        const TensorInfo& input = draft.InfoOf(value);
        auto cut = CutInput(input, output.GetShape(), *leading, tiles);
        const void* const constant = draft.GetValue(value).m_Constant;
        // A constant must be the same for all tiles: the workload may have packed it as a whole.
        const bool isSame = cut && cut->first.m_Bytes == input.GetNumBytes() && step.m_Type != LayerType::BatchMatMul;
        if (!cut || (constant != nullptr && !isSame))
        {
            return std::nullopt;
        }
        tiled.m_Inputs[i] = std::move(cut->first);
        infos.m_Inputs[i] = input;
        infos.m_Inputs[i].SetShape(cut->second);
        infos.m_Constants[i] = constant;
    }
    TensorShape tile = output.GetShape();
    for (unsigned int i = 0; i < *leading; ++i)
    {
        tile.SetDimensionSize(i, 1);
    }
    infos.m_Output = output;
    infos.m_Output.SetShape(tile);
    return infos;
}

std::unique_ptr<FusedRun> CutRun(const PlanDraft& draft, uint32_t first, size_t tiles, size_t maxSteps)
{
    auto run = std::make_unique<FusedRun>();
    run->m_First = first;
    run->m_Tiles = tiles;
    const auto end = static_cast<uint32_t>(std::min<size_t>(draft.NumSteps(), first + maxSteps));
    for (uint32_t s = first; s < end; ++s)
    {
        const Step& step = draft.GetStep(s);
        const bool reads = std::any_of(step.m_Inputs.begin(), step.m_Inputs.end(),
                                       [&](ValueId value) { return draft.IsMadeBy(first, s, value); });
        auto tiled = s == first || reads ? CutStep(draft, s, tiles) : std::nullopt;
        if (!tiled || !ReadsByTile(draft, first, s, *tiled))
        {
            break;
        }
        run->m_Steps.push_back(std::move(*tiled));
        run->m_AllowedThreads = std::min<size_t>(run->m_AllowedThreads, draft.HooksOf(s)->m_MaxTileThreads);
    }
    while (!run->m_Steps.empty() && run->m_Steps.back().m_Workload == nullptr)
    {
        run->m_Steps.pop_back(); // a view at the end is dropped
    }
    const size_t threads = std::min(draft.m_Options.m_MaxThreads, std::max(4U, CountCores()));
    run->m_MaxThreads = std::min({tiles, threads, run->m_AllowedThreads});
    return run;
}

} // namespace tenon::fusions
