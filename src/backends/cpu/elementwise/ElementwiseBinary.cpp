// SPDX-License-Identifier: Apache-2.0
// ElementwiseBinary and Prelu of CpuAcc: Float32, 32-bit integers and quantized tensors of 8 and 16 bits; BFloat16
// comes from LayersF16.cpp. All other layers go to the reference kernel.
#include "backends/common/FusedActivation.hpp"
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/elementwise/BinaryInt8.hpp"
#include "backends/cpu/elementwise/BinaryTableInt8.hpp"
#include "backends/cpu/elementwise/BinaryUnquantized.hpp"
#include "backends/cpu/elementwise/BroadcastRuns.hpp"
#include "backends/cpu/elementwise/ComparisonInt8.hpp"
#include "backends/cpu/elementwise/ElementwiseInt16.hpp"
#include "backends/reference/Kernels.hpp"

#include <tenon/descriptors/Elementwise.hpp>

#include <memory>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;

constexpr backends::TypeRow BinaryTypes[] = {
    backends::SameType({DataType::Float32, DataType::Signed32}, 2),
    backends::PerTensor(backends::SameType(backends::QuantizedTypes, 2)),
};
constexpr backends::TypeRow BinaryTableTypes[] = {
    backends::PerTensor(backends::SameType({DataType::QAsymmU8, DataType::QAsymmS8}, 2))};
constexpr backends::TypeRow PreluTypes[] = {
    backends::SameType(DataType::Float32, 2),
    backends::PerTensor(backends::SameType({DataType::QAsymmU8, DataType::QAsymmS8}, 2)),
};
constexpr backends::TypeRow ComparisonTypes[] = {
    backends::Types({DataType::Float32, DataType::Float32}, DataType::Boolean),
    backends::Types({DataType::Signed32, DataType::Signed32}, DataType::Boolean),
    backends::PerTensor(
        backends::Types({backends::QuantizedInt8Types, backends::QuantizedInt8Types}, DataType::Boolean)),
};

SupportResult CheckBinary(const LayerView& layer)
{
    const auto& descriptor = layer.GetDescriptor<ElementwiseBinaryDescriptor>();
    const BinaryOperation operation = descriptor.m_Operation;
    const TensorInfo& a = layer.GetInput(0);
    const DataType type = a.GetDataType();
    const bool has = type == DataType::Float32 || type == DataType::Signed32
                         ? FindBinaryLoop(operation, type, OperandForms::VectorVector, false) != nullptr
                     : type == DataType::QSymmS16
                         ? descriptor.m_Requantization == RequantizationMode::FixedPoint &&
                               HasBinaryInt16(operation, a, layer.GetInput(1), layer.GetOutput(0))
                         : HasBinaryInt8(descriptor, a, layer.GetInput(1), layer.GetOutput(0));
    return has ? SupportResult::Yes()
               : SupportResult::No(SupportCode::UnsupportedParameters, "there is no fast loop of the operation");
}

/// The reference kernel of layers of RequantizationMode::FloatHalfEven.
const backends::Kernel& GetRealReference()
{
    return *ref::FindKernelAsFloat(LayerType::ElementwiseBinary);
}

SupportResult FuseBinary(const LayerView& layer, const ActivationDescriptor& activation)
{
    const auto& descriptor = layer.GetDescriptor<ElementwiseBinaryDescriptor>();
    const bool isReal =
        layer.GetOutput(0).IsQuantized() && descriptor.m_Requantization == RequantizationMode::FloatHalfEven;
    return (isReal ? GetRealReference() : ref::RefElementwiseBinaryKernel).m_Fuse(layer, activation);
}

Prepared MakeNumbers(const BroadcastRuns& runs, size_t elementBytes, BinaryLoop loop, FloatBounds bounds)
{
    Prepared prepared = {[runs, elementBytes, loop, bounds](const ExecuteArgs& run)
                         {
                             auto* out = run.GetOutput<std::byte>(0);
                             runs.Run(run, [=](const void* a, const void* b, size_t first, size_t count)
                                      { loop(a, b, out + first * elementBytes, count, bounds); });
                         },
                         runs.GetScratchBytes()};
    // An input that is one element is the same everywhere: the loop takes the first of the elements that it is given.
    prepared.m_ElementLoop = [loop, bounds](const void* const* inputs, void* out, size_t count)
    { loop(inputs[0], inputs[1], out, count, bounds); };
    return prepared;
}

/// T: the stored type. Binary: BinaryInt8, BinaryTableInt8 or BinaryInt16.
template <typename T, typename Binary>
Prepared MakeStored(const BroadcastRuns& runs, const Binary& binary, bool swaps)
{
    const auto loop =
        [binary = std::make_shared<const Binary>(binary), swaps](const void* a, const void* b, T* out, size_t count)
    { binary->Run(static_cast<const T*>(swaps ? b : a), static_cast<const T*>(swaps ? a : b), out, count); };
    Prepared prepared = {[runs, loop](const ExecuteArgs& run)
                         {
                             auto* out = run.GetOutput<T>(0);
                             runs.Run(run, [&loop, out](const void* a, const void* b, size_t first, size_t count)
                                      { loop(a, b, out + first, count); });
                         },
                         runs.GetScratchBytes()};
    // As in MakeNumbers.
    prepared.m_ElementLoop = [loop](const void* const* inputs, void* out, size_t count)
    { loop(inputs[0], inputs[1], static_cast<T*>(out), count); };
    return prepared;
}

Prepared PrepareBinary(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<ElementwiseBinaryDescriptor>();
    const BinaryOperation operation = descriptor.m_Operation;
    const TensorInfo& a = args.GetInput(0);
    const TensorInfo& b = args.GetInput(1);
    const TensorInfo& output = args.GetOutput(0);
    const DataType type = a.GetDataType();
    const bool isNumber = type == DataType::Float32 || type == DataType::BFloat16 || type == DataType::Signed32;
    const BroadcastRuns runs(a.GetShape(), b.GetShape(), output.GetShape(), GetDataTypeSize(type));
    if (runs.GetCount() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    const ActivationDescriptor* activation = args.m_FusedActivation;
    if (isNumber)
    {
        const backends::FloatClamp clamp(activation);
        return MakeNumbers(runs, GetDataTypeSize(type),
                           FindBinaryLoop(operation, type, runs.GetOperandForms(), clamp.IsActive()),
                           {clamp.GetLow(), clamp.GetHigh()});
    }
    const bool swaps = runs.GetOperandForms() == OperandForms::ScalarVector;
    const bool isScalarB = runs.GetOperandForms() != OperandForms::VectorVector;
    const backends::QuantizedRange range = backends::GetFusedRange(output, activation);
    if (type == DataType::QSymmS16)
    {
        return MakeStored<int16_t>(runs, MakeBinaryInt16(operation, a, b, output, range, isScalarB, swaps), swaps);
    }
    return MakeStored<uint8_t>(runs, MakeBinaryInt8(descriptor, a, b, output, range, isScalarB, swaps, runs.GetCount()),
                               swaps);
}

/// Takes the operations that have no loop of bytes.
SupportResult CheckBinaryTable(const LayerView& layer)
{
    return layer.GetDescriptor<ElementwiseBinaryDescriptor>().m_Requantization == RequantizationMode::FloatHalfEven
               ? GetRealReference().m_Check(layer)
               : SupportResult::No(SupportCode::UnsupportedParameters,
                                   "it is not in RequantizationMode::FloatHalfEven");
}

Prepared PrepareBinaryTable(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const BroadcastRuns runs(args.GetInput(0).GetShape(), args.GetInput(1).GetShape(), args.GetOutput(0).GetShape(), 1);
    if (runs.GetCount() < BinaryTableInt8::WorthwhileCount)
    {
        return Prepared::Declined("a table of all pairs of bytes takes longer");
    }
    const bool swaps = runs.GetOperandForms() == OperandForms::ScalarVector;
    const bool isScalarB = runs.GetOperandForms() != OperandForms::VectorVector;
    return MakeStored<uint8_t>(runs, BinaryTableInt8(args, GetRealReference(), isScalarB, swaps), swaps);
}

Prepared PreparePrelu(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorInfo& x = args.GetInput(0);
    const TensorInfo& alpha = args.GetInput(1);
    const bool isFloat = x.GetDataType() == DataType::Float32;
    const BroadcastRuns runs(x.GetShape(), alpha.GetShape(), args.GetOutput(0).GetShape(), isFloat ? sizeof(float) : 1);
    if (runs.GetCount() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    if (!isFloat && runs.GetOperandForms() == OperandForms::ScalarVector)
    {
        return Prepared::Declined("the data are bytes that are broadcast");
    }
    if (isFloat)
    {
        return MakeNumbers(runs, sizeof(float), FindPrelu(runs.GetOperandForms()), {});
    }
    return MakeStored<uint8_t>(runs,
                               MakePreluInt8(x, alpha, args.GetOutput(0),
                                             runs.GetOperandForms() == OperandForms::VectorScalar, runs.GetCount()),
                               false);
}

Prepared PrepareComparison(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorInfo& a = args.GetInput(0);
    const bool isInt8 = backends::QuantizedInt8Types.Has(a.GetDataType());
    const BroadcastRuns runs(a.GetShape(), args.GetInput(1).GetShape(), args.GetOutput(0).GetShape(),
                             isInt8 ? 1 : sizeof(float));
    if (runs.GetCount() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    const ComparisonOperation operation = args.GetDescriptor<ComparisonDescriptor>().m_Operation;
    if (isInt8)
    {
        return {[runs, comparison = ComparisonInt8(operation, a, args.GetInput(1), runs.GetOperandForms())](
                    const ExecuteArgs& run)
                {
                    auto* out = run.GetOutput<uint8_t>(0);
                    runs.Run(run, [&comparison, out](const void* x, const void* y, size_t first, size_t count)
                             { comparison.Run(x, y, out + first, count); });
                },
                runs.GetScratchBytes()};
    }
    const BinaryLoop loop = FindComparison(operation, a.GetDataType(), runs.GetOperandForms());
    return {[runs, loop](const ExecuteArgs& run)
            {
                auto* out = run.GetOutput<uint8_t>(0);
                runs.Run(run, [loop, out](const void* x, const void* y, size_t first, size_t count)
                         { loop(x, y, out + first, count, {}); });
            },
            runs.GetScratchBytes()};
}

} // namespace

extern const backends::Kernel CpuElementwiseBinaryKernel = {.m_Name = "CpuElementwiseBinary",
                                                            .m_Types = BinaryTypes,
                                                            .m_Prepare = PrepareBinary,
                                                            .m_Check = CheckBinary,
                                                            .m_Fuse = FuseBinary,
                                                            .m_RoundsHalfToEven = true,
                                                            .m_Reference = &ref::RefElementwiseBinaryKernel};
extern const backends::Kernel CpuElementwiseBinaryTableKernel = {.m_Name = "CpuElementwiseBinaryTable",
                                                                 .m_Types = BinaryTableTypes,
                                                                 .m_Prepare = PrepareBinaryTable,
                                                                 .m_Check = CheckBinaryTable,
                                                                 .m_Fuse = FuseBinary,
                                                                 .m_RoundsHalfToEven = true};
extern const backends::Kernel CpuPreluKernel = {
    .m_Name = "CpuPrelu", .m_Types = PreluTypes, .m_Prepare = PreparePrelu, .m_Reference = &ref::RefPreluKernel};
extern const backends::Kernel CpuComparisonKernel = {.m_Name = "CpuComparison",
                                                     .m_Types = ComparisonTypes,
                                                     .m_Prepare = PrepareComparison,
                                                     .m_Reference = &ref::RefComparisonKernel};

} // namespace tenon::cpu
