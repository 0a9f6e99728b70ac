// SPDX-License-Identifier: Apache-2.0
// BasicLstm and QuantizedLstm of uint8 data with constant weights, bit for bit as the reference kernel: one product a
// layer, sums = [data | output state] * weights for all gates.
#include "backends/common/Scratch.hpp"
#include "backends/cpu/recurrent/BasicLstmCheck.hpp"
#include "backends/cpu/recurrent/GateGemmInt8.hpp"
#include "backends/cpu/recurrent/LstmLoopsInt8.hpp"
#include "backends/cpu/weights/WeightsCheck.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/BasicLstm.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;
using backends::Scratch;
using ref::NumBasicLstmGates;
using QuantizedSlots = ref::QuantizedLstmSlots;

constexpr DataType Uint8 = DataType::QAsymmU8;
constexpr backends::TypeRow BasicTypes[] = {backends::Types({Uint8, Uint8, Uint8, DataType::Signed32}, Uint8)};
constexpr backends::TypeRow QuantizedTypes[] = {
    backends::Types({Uint8, DataType::QSymmS16, Uint8, Uint8}, DataType::QSymmS16)};

class PackedGates final : public backends::PackedWeights
{
public:
    /// `weights`: the values of `info`, [gates * units, inputs + units]. A product of few rows may read them in place
    /// later, if they stay in memory (`stay`).
    PackedGates(const LayerView& layer, const TensorInfo& info, const uint8_t* weights, bool stay,
                const std::vector<int32_t>& bias, backends::PackedStore& store)
        : m_Sums(Pack(layer, info, weights, stay, store), ref::LstmZeroPointInt8, bias)
    {
    }

    bool RefersToConstants() const override { return m_Sums.m_Weights.RefersToConstants(); }
    const PackedGatesInt8& Get() const { return m_Sums; }

private:
    static PackedWeightsInt8 Pack(const LayerView& layer, const TensorInfo& info, const uint8_t* weights, bool stay,
                                  backends::PackedStore& store)
    {
        const std::vector<const TensorInfo*> inputs = {layer.m_Inputs[0], &info, nullptr};
        const std::vector<const void*> constants = {nullptr, weights, nullptr};
        LayerView view = layer;
        view.m_Inputs = inputs;
        view.m_ConstantData = constants;
        GemmShapeInt8 product = {info.GetShape()[0], info.GetShape()[1], GetMaxRows(layer, 0), RoundingInt8::None};
        product.m_HasZeroPoint = true;
        product.m_MayStayUnpacked = stay;
        return PackedWeightsInt8(view, product, store);
    }

    PackedGatesInt8 m_Sums;
};

std::unique_ptr<backends::PackedWeights> PackBasic(const LayerView& layer, backends::PackedStore& store)
{
    return std::make_unique<PackedGates>(layer, layer.GetInput(2), static_cast<const uint8_t*>(layer.m_ConstantData[2]),
                                         true, JoinConstants<int32_t>(layer, {3}), store);
}

/// The shape of QuantizedLstm's weights, joined as those of BasicLstm.
TensorShape GetJoinedShape(const LayerView& layer)
{
    const TensorShape& data = layer.GetInput(QuantizedSlots::Weights).GetShape();
    return {static_cast<unsigned int>(NumBasicLstmGates) * data[0], data[1] + data[0]};
}

SupportResult CheckQuantized(const LayerView& layer)
{
    const TensorShape& data = layer.GetInput(QuantizedSlots::Weights).GetShape();
    bool fit = IsKnownMatrix(data) && data[1] <= std::numeric_limits<unsigned int>::max() - data[0];
    for (size_t i = 0; i < NumBasicLstmGates && fit; ++i)
    {
        fit = IsConstantOf(layer, QuantizedSlots::Weights + i, data) &&
              IsConstantOf(layer, QuantizedSlots::Recurrent + i, TensorShape({data[0], data[0]})) &&
              IsConstantOf(layer, QuantizedSlots::Bias + i, TensorShape({data[0]}));
    }
    if (!fit)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "its weights are not constant");
    }
    const TensorShape joined = GetJoinedShape(layer);
    return CheckPackedSize(PackedWeightsInt8::GetPackedBytes(joined[0], joined[1]), joined.GetNumElements64());
}

std::unique_ptr<backends::PackedWeights> PackQuantized(const LayerView& layer, backends::PackedStore& store)
{
    TensorInfo info = layer.GetInput(QuantizedSlots::Weights);
    const size_t inputs = info.GetShape()[1];
    const size_t units = info.GetShape()[0];
    info.SetShape(GetJoinedShape(layer));
    std::vector<uint8_t> weights(info.GetNumElements());
    std::vector<int32_t> bias(info.GetShape()[0]);
    for (size_t i = 0; i < NumBasicLstmGates; ++i)
    {
        const size_t first = QuantizedSlots::Gates[i] * units;
        const auto get = [&](size_t slots) { return static_cast<const uint8_t*>(layer.m_ConstantData[slots + i]); };
        for (size_t unit = 0; unit < units; ++unit)
        {
            uint8_t* const row = weights.data() + (first + unit) * (inputs + units);
            std::copy_n(get(QuantizedSlots::Weights) + unit * inputs, inputs, row);
            std::copy_n(get(QuantizedSlots::Recurrent) + unit * units, units, row + inputs);
        }
        std::copy_n(static_cast<const int32_t*>(layer.m_ConstantData[QuantizedSlots::Bias + i]), units,
                    bias.data() + first);
    }
    return std::make_unique<PackedGates>(layer, info, weights.data(), false, bias, store);
}

/// Slots of inputs and outputs, which differ between BasicLstm and QuantizedLstm.
struct StepSlots
{
    size_t m_OutputState;
    size_t m_CellState;
    size_t m_Output;
    size_t m_NextCellState;
    bool m_ShowsSums; ///< output 2 is [data | output state], output 3 the sums of the gates
};

constexpr StepSlots BasicStepSlots = {1, 4, 0, 1, true};
constexpr StepSlots QuantizedStepSlots = {2, 1, 1, 0, false};

/// A layer of known shapes.
class Step
{
public:
    Step(const ref::BasicLstmSizes& sizes, const StepSlots& stepSlots, const PackedGatesInt8& packed, float biasScale,
         unsigned int maxThreads)
        : m_Sizes(sizes), m_StepSlots(stepSlots), m_Product(packed, sizes.m_Batches, maxThreads),
          m_ToSum(ref::GetLstmSumMultiplier(biasScale)), m_NumSums(sizes.m_Batches * packed.m_Weights.GetColumns())
    {
        constexpr size_t Extra = LstmLoopsInt8::ExtraUnits;
        Scratch scratch;
        m_Joined = scratch.Add<uint8_t>(stepSlots.m_ShowsSums ? 0 : sizes.m_Batches, sizes.GetColumns());
        m_Products = scratch.Add<int32_t>(m_NumSums + Extra);
        m_Sums = scratch.Add<int16_t>(m_NumSums + Extra);
        m_Cell = scratch.Add<int16_t>(sizes.m_Units + Extra);
        m_Output = scratch.Add<uint8_t>(sizes.m_Units + Extra);
        m_ProductScratch = scratch.Add<std::byte>(m_Product.GetScratchBytes());
        m_ScratchBytes = scratch.GetBytes();
    }

    size_t GetScratchBytes() const { return m_ScratchBytes; }

    void operator()(const ExecuteArgs& args) const
    {
        const size_t units = m_Sizes.m_Units;
        auto* const joined =
            m_StepSlots.m_ShowsSums ? args.GetOutput<uint8_t>(2) : Scratch::At<uint8_t>(args.m_Scratch, m_Joined);
        auto* const products = Scratch::At<int32_t>(args.m_Scratch, m_Products);
        auto* const sums = Scratch::At<int16_t>(args.m_Scratch, m_Sums);
        auto* const cell = Scratch::At<int16_t>(args.m_Scratch, m_Cell);
        auto* const output = Scratch::At<uint8_t>(args.m_Scratch, m_Output);
        ref::JoinLstmRows(args.GetInput<uint8_t>(0), args.GetInput<uint8_t>(m_StepSlots.m_OutputState), m_Sizes,
                          joined);
        m_Product.Run(args, joined, products, Scratch::At<std::byte>(args.m_Scratch, m_ProductScratch));
        m_ToInt16(m_ToSum, products, m_NumSums, sums);
        if (m_StepSlots.m_ShowsSums)
        {
            std::copy_n(sums, m_NumSums, args.GetOutput<int16_t>(3));
        }
        for (size_t batch = 0; batch < m_Sizes.m_Batches; ++batch)
        {
            // Copied to scratch memory, as the loop reads and writes whole vectors.
            std::copy_n(args.GetInput<int16_t>(m_StepSlots.m_CellState) + batch * units, units, cell);
            m_Loop(sums + batch * NumBasicLstmGates * units, units, cell, output);
            std::copy_n(cell, units, args.GetOutput<int16_t>(m_StepSlots.m_NextCellState) + batch * units);
            std::copy_n(output, units, args.GetOutput<uint8_t>(m_StepSlots.m_Output) + batch * units);
        }
    }

private:
    ref::BasicLstmSizes m_Sizes;
    StepSlots m_StepSlots;
    GateGemmInt8 m_Product;
    backends::QuantizedMultiplier m_ToSum;
    size_t m_NumSums;
    decltype(LstmLoopsInt8::m_ToInt16) m_ToInt16 = GetLstmLoopsInt8().m_ToInt16;
    BasicLstmCellInt8 m_Loop = GetBasicLstmCellInt8();
    size_t m_Joined = 0; ///< offset in scratch memory of [data | output state], unless it is an output
    size_t m_Products = 0;
    size_t m_Sums = 0;
    size_t m_Cell = 0; ///< offset of the cell state of one batch
    size_t m_Output = 0;
    size_t m_ProductScratch = 0;
    size_t m_ScratchBytes = 0;
};

Prepared Prepare(const ReshapeArgs& args, const StepSlots& stepSlots, const PackedGatesInt8& packed, float biasScale)
{
    const ref::BasicLstmSizes sizes(args.GetInput(0).GetShape(), args.GetInput(stepSlots.m_OutputState).GetShape());
    if (!packed.m_Weights.IsExact())
    {
        return Prepared::Declined("its weights are not exact in sums of 32 bits");
    }
    if (sizes.m_Batches == 0 || sizes.GetColumns() != packed.m_Weights.GetDepth())
    {
        return Prepared::Declined("the data are empty, or not of the depth of the weights");
    }
    Step step(sizes, stepSlots, packed, biasScale, args.m_MaxThreads);
    const size_t bytes = step.GetScratchBytes();
    return {std::move(step), bytes};
}

Prepared PrepareBasic(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    return Prepare(args, BasicStepSlots, static_cast<const PackedGates&>(*packed).Get(),
                   args.GetInput(3).GetQuantizationScale());
}

Prepared PrepareQuantized(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    return Prepare(args, QuantizedStepSlots, static_cast<const PackedGates&>(*packed).Get(),
                   args.GetInput(0).GetQuantizationScale() *
                       args.GetInput(QuantizedSlots::Weights).GetQuantizationScale());
}

} // namespace

extern const backends::Kernel CpuBasicLstmInt8Kernel = {.m_Name = "CpuBasicLstmInt8",
                                                        .m_Types = BasicTypes,
                                                        .m_Prepare = PrepareBasic,
                                                        .m_Check = CheckBasicLstm,
                                                        .m_Pack = PackBasic,
                                                        .m_Reference = &ref::RefBasicLstmKernel};
extern const backends::Kernel CpuQuantizedLstmInt8Kernel = {.m_Name = "CpuQuantizedLstmInt8",
                                                            .m_Types = QuantizedTypes,
                                                            .m_Prepare = PrepareQuantized,
                                                            .m_Check = CheckQuantized,
                                                            .m_Pack = PackQuantized,
                                                            .m_Reference = &ref::RefQuantizedLstmKernel};

} // namespace tenon::cpu
