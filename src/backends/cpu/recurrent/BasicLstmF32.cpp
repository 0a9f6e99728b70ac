// SPDX-License-Identifier: Apache-2.0
// BasicLstm of floats with constant weights: one product a layer, sums = [data | output state] * weights. Other layers
// run on the reference kernel.
#include "backends/common/Scratch.hpp"
#include "backends/cpu/recurrent/BasicLstmCheck.hpp"
#include "backends/cpu/recurrent/GateGemmF32.hpp"
#include "backends/cpu/recurrent/LstmCellF32.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/BasicLstm.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;
using backends::Scratch;
using ref::NumBasicLstmGates;
using Gates = ref::BasicLstmGates;

constexpr backends::TypeRow FloatTypes[] = {backends::SameType(DataType::Float32, 4)};

class PackedGates final : public backends::PackedWeights
{
public:
    PackedGates(const LayerView& layer, backends::PackedStore& store)
        : m_Gates(layer, {2}, GetMaxRows(layer, 0), JoinConstants<float>(layer, {3}), store)
    {
    }

    bool RefersToConstants() const override { return m_Gates.RefersToConstants(); }
    const PackedGatesF32& Get() const { return m_Gates; }

private:
    PackedGatesF32 m_Gates;
};

std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    return std::make_unique<PackedGates>(layer, store);
}

/// The gate of BasicLstm for a gate of LstmCellF32.
constexpr Gates::Gate FindGate(LstmSlots::Gate gate)
{
    switch (gate)
    {
    case LstmSlots::Input: return Gates::Input;
    case LstmSlots::Forget: return Gates::Forget;
    case LstmSlots::Cell: return Gates::Update;
    default: return Gates::Output;
    }
}

/// A layer of known shapes.
class Step
{
public:
    Step(const ref::BasicLstmSizes& sizes, const PackedGatesF32& gates, unsigned int maxThreads)
        : m_Sizes(sizes), m_Product(gates, sizes.m_Batches, false, maxThreads), m_Cell(sizes.m_Units, true, 0.0f, {})
    {
        Scratch scratch;
        m_Gates = scratch.Add<float>(NumBasicLstmGates, sizes.m_Units);
        m_ProductScratch = scratch.Add<std::byte>(m_Product.GetScratchBytes());
        m_ScratchBytes = scratch.GetBytes();
    }

    size_t GetScratchBytes() const { return m_ScratchBytes; }

    void operator()(const ExecuteArgs& args) const
    {
        const size_t units = m_Sizes.m_Units;
        auto* const joined = args.GetOutput<float>(2);
        auto* const sums = args.GetOutput<float>(3);
        auto* const cells = args.GetOutput<float>(1);
        auto* const gates = Scratch::At<float>(args.m_Scratch, m_Gates);
        ref::JoinLstmRows(args.GetInput<float>(0), args.GetInput<float>(1), m_Sizes, joined);
        m_Product.Run(args, joined, sums, Scratch::At<std::byte>(args.m_Scratch, m_ProductScratch));
        std::copy_n(args.GetInput<float>(4), m_Sizes.m_Batches * units, cells);
        for (size_t batch = 0; batch < m_Sizes.m_Batches; ++batch)
        {
            const float* const ofBatch = sums + batch * NumBasicLstmGates * units;
            float* to = gates;
            for (const LstmSlots::Gate gate : LstmCellF32::Order)
            {
                to = std::copy_n(ofBatch + FindGate(gate) * units, units, to);
            }
            m_Cell.Run(gates, cells + batch * units, args.GetOutput<float>(0) + batch * units);
        }
    }

private:
    ref::BasicLstmSizes m_Sizes;
    GateGemmF32 m_Product;
    LstmCellF32 m_Cell;
    size_t m_Gates = 0; ///< offset in scratch memory: the sums of one batch, in the cell's order
    size_t m_ProductScratch = 0;
    size_t m_ScratchBytes = 0;
};

Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const PackedGatesF32& gates = static_cast<const PackedGates&>(*packed).Get();
    const ref::BasicLstmSizes sizes(args.GetInput(0).GetShape(), args.GetInput(1).GetShape());
    if (sizes.m_Batches == 0 || sizes.GetColumns() != gates.GetDepth())
    {
        return Prepared::Declined("the data are empty, or not of the depth of the weights");
    }
    Step step(sizes, gates, args.m_MaxThreads);
    const size_t bytes = step.GetScratchBytes();
    return {std::move(step), bytes};
}

} // namespace

extern const backends::Kernel CpuBasicLstmF32Kernel = {.m_Name = "CpuBasicLstmF32",
                                                       .m_Types = FloatTypes,
                                                       .m_Prepare = Prepare,
                                                       .m_Check = CheckBasicLstm,
                                                       .m_Pack = Pack,
                                                       .m_Reference = &ref::RefBasicLstmKernel};

} // namespace tenon::cpu
