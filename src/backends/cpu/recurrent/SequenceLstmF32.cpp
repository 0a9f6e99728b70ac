// SPDX-License-Identifier: Apache-2.0
// UnidirectionalSequenceLstm and Lstm of floats with constant weights, F32 or 8-bit (hybrid). Other layers run on the
// reference kernel.
#include "backends/cpu/recurrent/LstmSequenceF32.hpp"
#include "backends/reference/Kernels.hpp"

#include <algorithm>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;
using ref::LstmOutputs;
using ref::LstmParameters;

constexpr backends::TypeRow LstmTypes[] = {
    backends::Types({DataType::Float32, DataType::Float32, DataType::Float32}, DataType::Float32)};

constexpr LstmSlots Slots = GetLstmSlots();

template <typename D, bool IsHybrid>
SupportResult Check(const LayerView& layer)
{
    const DataType weights = layer.GetInput(Slots.m_InputWeights[LstmSlots::Output]).GetDataType();
    if ((weights != DataType::Float32) != IsHybrid)
    {
        return SupportResult::No(SupportCode::UnsupportedType,
                                 std::string("the weights have type ") + GetDataTypeName(weights));
    }
    return CheckLstmF32(layer, Slots, LstmParameters(layer.GetDescriptor<D>()));
}

class PackedLstm final : public backends::PackedWeights
{
public:
    PackedLstm(const LayerView& layer, const LstmParameters& parameters, backends::PackedStore& store)
        : m_Cell(layer, Slots, parameters, store)
    {
    }

    const PackedLstmF32& GetCell() const { return m_Cell; }
    bool RefersToConstants() const override { return m_Cell.RefersToConstants(); }

private:
    PackedLstmF32 m_Cell;
};

template <typename D>
std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    return std::make_unique<PackedLstm>(layer, LstmParameters(layer.GetDescriptor<D>()), store);
}

template <typename D>
Prepared Prepare(const ReshapeArgs& args, const LstmOutputs& outputs, const backends::PackedWeights* packed)
{
    const LstmParameters parameters(args.GetDescriptor<D>());
    const ref::LstmGeometry geometry(args, Slots, parameters, outputs, false);
    const PackedLstmF32& cell = static_cast<const PackedLstm&>(*packed).GetCell();
    if (!cell.IsExact())
    {
        return Prepared::Declined("its weights are not exact in sums of 32 bits");
    }
    if (args.GetInput(0).GetNumElements() == 0 || geometry.m_Inputs != cell.GetData().GetDepth())
    {
        return Prepared::Declined("the data are empty, or not of the depth of the weights");
    }
    backends::Scratch scratch;
    const LstmSequenceF32 sequence(geometry, cell, parameters, args.m_MaxThreads, scratch);
    return {[sequence](const ExecuteArgs& run) { sequence.Run(run); }, scratch.GetBytes()};
}

Prepared PrepareSequence(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    return Prepare<UnidirectionalSequenceLstmDescriptor>(args, ref::SequenceLstmOutputs, packed);
}

/// Prepares Lstm, one step. Output 0 is filled with zeros.
Prepared PrepareStep(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    Prepared cell = Prepare<LstmDescriptor>(args, ref::StepLstmOutputs, packed);
    if (cell.IsDeclined())
    {
        return cell;
    }
    cell.m_Run = [run = std::move(cell.m_Run), count = args.GetOutput(0).GetNumElements()](const ExecuteArgs& runArgs)
    {
        std::fill_n(runArgs.GetOutput<float>(0), count, 0.0f);
        run(runArgs);
    };
    return cell;
}

using SequenceDescriptor = UnidirectionalSequenceLstmDescriptor;

} // namespace

extern const backends::Kernel CpuUnidirectionalSequenceLstmF32Kernel = {.m_Name = "CpuUnidirectionalSequenceLstmF32",
                                                                        .m_Types = LstmTypes,
                                                                        .m_Prepare = PrepareSequence,
                                                                        .m_Check = Check<SequenceDescriptor, false>,
                                                                        .m_Pack = Pack<SequenceDescriptor>,
                                                                        .m_Reference =
                                                                            &ref::RefUnidirectionalSequenceLstmKernel};
extern const backends::Kernel CpuUnidirectionalSequenceLstmHybridKernel = {
    .m_Name = "CpuUnidirectionalSequenceLstmHybrid",
    .m_Types = LstmTypes,
    .m_Prepare = PrepareSequence,
    .m_Check = Check<SequenceDescriptor, true>,
    .m_Pack = Pack<SequenceDescriptor>,
    .m_Reference = &ref::RefUnidirectionalSequenceLstmKernel};
extern const backends::Kernel CpuLstmF32Kernel = {.m_Name = "CpuLstmF32",
                                                  .m_Types = LstmTypes,
                                                  .m_Prepare = PrepareStep,
                                                  .m_Check = Check<LstmDescriptor, false>,
                                                  .m_Pack = Pack<LstmDescriptor>,
                                                  .m_Reference = &ref::RefLstmKernel};
extern const backends::Kernel CpuLstmHybridKernel = {.m_Name = "CpuLstmHybrid",
                                                     .m_Types = LstmTypes,
                                                     .m_Prepare = PrepareStep,
                                                     .m_Check = Check<LstmDescriptor, true>,
                                                     .m_Pack = Pack<LstmDescriptor>,
                                                     .m_Reference = &ref::RefLstmKernel};

} // namespace tenon::cpu
