// SPDX-License-Identifier: Apache-2.0
// ElementwiseBinary of CpuAcc: floats, 32-bit integers and 8-bit quantized tensors; and Prelu of floats, which is of
// the same form. The rest is the reference kernel's.
#include "backends/common/FusedActivation.hpp"
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/elementwise/Broadcast.hpp"
#include "backends/cpu/elementwise/ByteBinary.hpp"
#include "backends/cpu/elementwise/NumberBinary.hpp"
#include "backends/reference/CpuRefBackend.hpp"

#include <tenon/Descriptors.hpp>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;

constexpr backends::TypeRow BinaryTypes[] = {
    backends::SameType({DataType::Float32, DataType::Signed32}, 2),
    backends::PerTensor(backends::SameType(backends::QuantizedByteTypes, 2)),
};
constexpr backends::TypeRow PreluTypes[] = {backends::SameType(DataType::Float32, 2)};

SupportResult CheckBinary(const LayerView& layer)
{
    const BinaryOperation operation = layer.GetDescriptor<ElementwiseBinaryDescriptor>().m_Operation;
    const DataType type = layer.GetInput(0).GetDataType();
    const bool has = type == DataType::Float32 || type == DataType::Signed32
                         ? FindNumberBinary(operation, type, Motion::Both, false) != nullptr
                         : HasByteBinary(operation, layer.GetInput(0), layer.GetInput(1), layer.GetOutput(0));
    return has ? SupportResult::Yes()
               : SupportResult::No(SupportCode::UnsupportedParameters, "there is no fast loop of the operation");
}

SupportResult FuseBinary(const LayerView& layer, const ActivationDescriptor& activation)
{
    return ref::FindKernel(LayerType::ElementwiseBinary)->m_Fuse(layer, activation);
}

/// Whether runs are too short to be worth a call each.
bool AreShort(const Runs& runs)
{
    constexpr size_t ShortRun = 8; // elements
    return runs.GetLength() < ShortRun && runs.GetLength() < runs.GetCount();
}

Prepared MakeNumbers(const Runs& runs, NumberBinaryLoop loop, FloatBounds bounds)
{
    return {[runs, loop, bounds](const ExecuteArgs& run)
            {
                auto* out = run.GetOutput<float>(0); // or integers: as large
                runs.Run(run, [loop, bounds, out](const void* a, const void* b, size_t first, size_t count)
                         { loop(a, b, out + first, count, bounds); });
            },
            runs.GetScratchBytes()};
}

Prepared MakeBytes(const Runs& runs, const ByteBinary& binary, bool swaps)
{
    return {[runs, binary, swaps](const ExecuteArgs& run)
            {
                auto* out = run.GetOutput<uint8_t>(0);
                runs.Run(run,
                         [&binary, out, swaps](const void* a, const void* b, size_t first, size_t count)
                         {
                             binary.Run(static_cast<const uint8_t*>(swaps ? b : a),
                                        static_cast<const uint8_t*>(swaps ? a : b), out + first, count);
                         });
            },
            runs.GetScratchBytes()};
}

Prepared PrepareBinary(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const BinaryOperation operation = args.GetDescriptor<ElementwiseBinaryDescriptor>().m_Operation;
    const TensorInfo& a = args.GetInput(0);
    const TensorInfo& b = args.GetInput(1);
    const TensorInfo& output = args.GetOutput(0);
    const DataType type = a.GetDataType();
    const bool isNumber = type == DataType::Float32 || type == DataType::Signed32;
    const Runs runs(a.GetShape(), b.GetShape(), output.GetShape(), isNumber ? sizeof(float) : 1);
    if (runs.GetCount() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    if (AreShort(runs))
    {
        return ref::FindKernel(LayerType::ElementwiseBinary)->m_Prepare(args, nullptr);
    }
    const ActivationDescriptor* activation = args.m_FusedActivation;
    if (isNumber)
    {
        const backends::FloatClamp clamp(activation);
        return MakeNumbers(runs, FindNumberBinary(operation, type, runs.GetMotion(), clamp.IsActive()),
                           {clamp.GetLow(), clamp.GetHigh()});
    }
    const bool swaps = runs.GetMotion() == Motion::FixedA;
    const bool isFixed = runs.GetMotion() != Motion::Both;
    const ByteBinary binary = MakeByteBinary(operation, a, b, output, backends::GetFusedRange(output, activation),
                                             isFixed, swaps, runs.GetCount());
    return MakeBytes(runs, binary, swaps);
}

Prepared PreparePrelu(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const Runs runs(args.GetInput(0).GetShape(), args.GetInput(1).GetShape(), args.GetOutput(0).GetShape(),
                    sizeof(float));
    if (runs.GetCount() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    if (AreShort(runs))
    {
        return ref::FindKernel(LayerType::Prelu)->m_Prepare(args, nullptr);
    }
    return MakeNumbers(runs, FindPrelu(runs.GetMotion()), {});
}

} // namespace

extern const backends::Kernel CpuElementwiseBinaryKernel = {
    "CpuElementwiseBinary", BinaryTypes, PrepareBinary, CheckBinary, nullptr, FuseBinary};
extern const backends::Kernel CpuPreluKernel = {"CpuPrelu", PreluTypes, PreparePrelu};

} // namespace tenon::cpu
