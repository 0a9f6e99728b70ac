// SPDX-License-Identifier: Apache-2.0
// BidirectionalSequenceLstm of floats with constant weights, F32 or 8-bit (hybrid): one cell a direction over the
// sequence. Other layers run on the reference kernel.
#include "backends/cpu/recurrent/LstmSequenceF32.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/BidirectionalLstm.hpp"

#include <memory>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;
using ref::BidirectionalLstmCell;

constexpr backends::TypeRow BidirectionalTypes[] = {backends::Types({DataType::Float32}, DataType::Float32)};

SupportResult Check(const LayerView& layer)
{
    SupportResult result = SupportResult::Yes();
    for (const bool isBackward : {false, true})
    {
        if (result)
        {
            const BidirectionalLstmCell cell(layer, isBackward);
            result = CheckLstmF32(layer, cell.m_Slots, cell.m_Parameters);
        }
    }
    return result;
}

class PackedCells final : public backends::PackedWeights
{
public:
    PackedCells(const LayerView& layer, backends::PackedStore& store)
        : m_Forward(Pack(layer, false, store)), m_Backward(Pack(layer, true, store))
    {
    }

    bool IsExact() const { return m_Forward.IsExact() && m_Backward.IsExact(); }
    bool RefersToConstants() const override { return m_Forward.RefersToConstants() || m_Backward.RefersToConstants(); }
    const PackedLstmF32& Get(bool isBackward) const { return isBackward ? m_Backward : m_Forward; }

private:
    static PackedLstmF32 Pack(const LayerView& layer, bool isBackward, backends::PackedStore& store)
    {
        const BidirectionalLstmCell cell(layer, isBackward);
        return {layer, cell.m_Slots, cell.m_Parameters, store};
    }

    PackedLstmF32 m_Forward;
    PackedLstmF32 m_Backward;
};

std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    return std::make_unique<PackedCells>(layer, store);
}

Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& cells = static_cast<const PackedCells&>(*packed);
    const auto make = [&](bool isBackward, backends::Scratch& scratch)
    {
        const BidirectionalLstmCell cell(args, isBackward);
        const ref::LstmGeometry geometry(args, cell.m_Slots, cell.m_Parameters, cell.GetOutputs(args), isBackward);
        const PackedLstmF32& weights = cells.Get(isBackward);
        const bool fits = args.GetInput(cell.m_Slots.m_Data).GetNumElements() != 0 &&
                          geometry.m_Inputs == weights.GetData().GetDepth();
        return cells.IsExact() && fits ? std::make_shared<const LstmSequenceF32>(geometry, weights, cell.m_Parameters,
                                                                                 args.m_MaxThreads, scratch)
                                       : nullptr;
    };
    backends::Scratch scratch;
    const auto forward = make(false, scratch);
    const auto backward = make(true, scratch);
    if (forward == nullptr || backward == nullptr)
    {
        return Prepared::Declined("the data are empty or not of the depth of the weights, or these are not exact");
    }
    return {[forward, backward](const ExecuteArgs& run)
            {
                forward->Run(run);
                backward->Run(run);
            },
            scratch.GetBytes()};
}

} // namespace

extern const backends::Kernel CpuBidirectionalSequenceLstmKernel = {.m_Name = "CpuBidirectionalSequenceLstm",
                                                                    .m_Types = BidirectionalTypes,
                                                                    .m_Prepare = Prepare,
                                                                    .m_Check = Check,
                                                                    .m_Pack = Pack,
                                                                    .m_Reference =
                                                                        &ref::RefBidirectionalSequenceLstmKernel};

} // namespace tenon::cpu
