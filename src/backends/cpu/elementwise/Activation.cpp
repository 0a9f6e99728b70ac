// SPDX-License-Identifier: Apache-2.0
// Activation, ElementwiseUnary and Floor of CpuAcc: floats and 16-bit quantized tensors by vector loops, 8-bit ones by
// lookup tables. All other layers of these types go to the reference kernels.
#include "backends/common/KernelTable.hpp"
#include "backends/common/QuantizationCheck.hpp"
#include "backends/cpu/elementwise/ElementwiseInt16.hpp"
#include "backends/cpu/elementwise/LookupTableInt8.hpp"
#include "backends/cpu/elementwise/Map.hpp"
#include "backends/cpu/elementwise/UnaryFloat.hpp"
#include "backends/reference/Kernels.hpp"

#include <tenon/descriptors/Elementwise.hpp>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;

constexpr backends::TypeRow UnaryTypes[] = {backends::SameType(DataType::Float32),
                                            backends::PerTensor(backends::SameType(backends::QuantizedTypes))};
constexpr backends::TypeRow FloorTypes[] = {backends::SameType(DataType::Float32)};

Prepared MakeFloat(const ReshapeArgs& args, FloatFunction function, float a, float b)
{
    return MakeMap<float, float>(args, [loop = FindUnaryLoopF32(function), a,
                                        b](const float* in, float* out, size_t count) { loop(in, out, count, a, b); });
}

/// The reference kernel of quantized tensors.
const backends::Kernel& GetReference(const ActivationDescriptor& descriptor)
{
    return descriptor.m_Requantization == RequantizationMode::FloatHalfEven
               ? *ref::FindKernelAsFloat(LayerType::Activation)
               : ref::RefActivationKernel;
}

SupportResult CheckActivation(const LayerView& layer)
{
    const auto& descriptor = layer.GetDescriptor<ActivationDescriptor>();
    const TensorInfo& input = layer.GetInput(0);
    if (input.IsQuantized() && descriptor.m_Requantization == RequantizationMode::FloatHalfEven)
    {
        return input.GetDataType() == DataType::QSymmS16
                   ? SupportResult::No(SupportCode::UnsupportedType,
                                       "16-bit tensors are not requantized by RequantizationMode::FloatHalfEven")
                   : GetReference(descriptor).m_Check(layer);
    }
    // Other 16-bit tensors have no zero points; the reference kernel takes them for some functions.
    return backends::FirstRefusal({backends::CheckZeroPointInt16(input, "input 0"),
                                   backends::CheckZeroPointInt16(layer.GetOutput(0), "output 0")});
}

Prepared PrepareActivation(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const DataType type = args.GetInput(0).GetDataType();
    const auto& descriptor = args.GetDescriptor<ActivationDescriptor>();
    if (type == DataType::Float32)
    {
        return MakeFloat(args, ToFunction(descriptor), descriptor.m_A, descriptor.m_B);
    }
    return type == DataType::QSymmS16 ? MakeActivationInt16(args) : MakeUnaryInt8(args, GetReference(descriptor));
}

SupportResult CheckUnary(const LayerView& layer)
{
    const UnaryOperation operation = layer.GetDescriptor<ElementwiseUnaryDescriptor>().m_Operation;
    const bool isFloat = layer.GetInput(0).GetDataType() == DataType::Float32;
    if (isFloat && !ToFunction(operation))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "there is no fast loop of the operation");
    }
    if (!isFloat && (operation == UnaryOperation::Sqrt || operation == UnaryOperation::Rsqrt))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "values below 0 must be refused as they come");
    }
    return SupportResult::Yes();
}

Prepared PrepareUnary(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const DataType type = args.GetInput(0).GetDataType();
    if (type == DataType::Float32)
    {
        return MakeFloat(args, *ToFunction(args.GetDescriptor<ElementwiseUnaryDescriptor>().m_Operation), 0.0f, 0.0f);
    }
    return type == DataType::QSymmS16 ? MakeUnaryInt16(args) : MakeUnaryInt8(args, ref::RefElementwiseUnaryKernel);
}

Prepared PrepareFloor(const ReshapeArgs& args, const backends::PackedWeights*)
{
    return MakeFloat(args, FloatFunction::Floor, 0.0f, 0.0f);
}

} // namespace

extern const backends::Kernel CpuActivationKernel = {.m_Name = "CpuActivation",
                                                     .m_Types = UnaryTypes,
                                                     .m_Prepare = PrepareActivation,
                                                     .m_Check = CheckActivation,
                                                     .m_RoundsHalfToEven = true,
                                                     .m_Reference = &ref::RefActivationKernel};
extern const backends::Kernel CpuElementwiseUnaryKernel = {.m_Name = "CpuElementwiseUnary",
                                                           .m_Types = UnaryTypes,
                                                           .m_Prepare = PrepareUnary,
                                                           .m_Check = CheckUnary,
                                                           .m_Reference = &ref::RefElementwiseUnaryKernel};
extern const backends::Kernel CpuFloorKernel = {"CpuFloor", FloorTypes, PrepareFloor};

} // namespace tenon::cpu
