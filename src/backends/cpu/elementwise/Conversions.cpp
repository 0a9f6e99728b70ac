// SPDX-License-Identifier: Apache-2.0
// Quantize, Dequantize, Cast and the optimizer's conversions of float16, for tensors with one scale or none. All other
// layers of these types go to the reference kernels.
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/elementwise/ConversionLoops.hpp"
#include "backends/cpu/elementwise/LookupTableInt8.hpp"
#include "backends/cpu/elementwise/Map.hpp"
#include "backends/reference/Kernels.hpp"

#include <tenon/descriptors/Elementwise.hpp>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;
using backends::Scales;
using backends::Types;

constexpr backends::TypeRow QuantizeTypes[] = {
    backends::WithScales(Types({DataType::Float32}, backends::QuantizedTypes), {Scales::Any}, Scales::PerTensor),
    backends::PerTensor(Types({backends::QuantizedTypes}, backends::QuantizedTypes)),
};
constexpr backends::TypeRow DequantizeTypes[] = {
    Types({backends::F16Types}, DataType::Float32),
    backends::WithScales(Types({backends::QuantizedTypes}, DataType::Float32), {Scales::PerTensor}, Scales::Any),
};
constexpr backends::TypeRow CastTypes[] = {Types({backends::AnyType}, backends::AnyType)};
constexpr backends::TypeRow WideningTypes[] = {Types({DataType::Float16}, DataType::Float32)};
constexpr backends::TypeRow NarrowingTypes[] = {Types({DataType::Float32}, DataType::Float16)};

Prepared MakeConversion(const ReshapeArgs& args, ConversionLoop loop, const TensorInfo& quantized)
{
    const QuantizeParameters numbers{quantized.GetQuantizationScale(), quantized.GetQuantizationOffset()};
    return MakeMap<std::byte, std::byte>(args, [loop, numbers](const std::byte* in, std::byte* out, size_t count)
                                         { loop(in, out, count, numbers); });
}

/// Requantization with a 16-bit type on at least one side.
Prepared MakeRequantize(const ReshapeArgs& args)
{
    const TensorInfo& input = args.GetInput(0);
    const TensorInfo& output = args.GetOutput(0);
    const RequantizeParameters numbers = {
        input.GetQuantizationOffset(), output.GetQuantizationOffset(),
        backends::QuantizeMultiplier(double{input.GetQuantizationScale()} / double{output.GetQuantizationScale()})};
    return MakeMap<std::byte, std::byte>(
        args, [numbers, loop = FindRequantize(input.GetDataType(), output.GetDataType())](
                  const std::byte* in, std::byte* out, size_t count) { loop(in, out, count, numbers); });
}

Prepared PrepareQuantize(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorInfo& input = args.GetInput(0);
    const TensorInfo& output = args.GetOutput(0);
    const RequantizationMode mode = args.GetDescriptor<QuantizeDescriptor>().m_Requantization;
    if (input.GetDataType() == DataType::Float32)
    {
        return MakeConversion(args, FindQuantize(output.GetDataType(), mode), output);
    }
    const auto isByte = [](const TensorInfo& info) { return backends::QuantizedInt8Types.Has(info.GetDataType()); };
    if (isByte(input) && isByte(output))
    {
        return MakeUnaryInt8(args, ref::RefQuantizeKernel);
    }
    return mode == RequantizationMode::FixedPoint ? MakeRequantize(args) : Prepared::Declined("16 bits, half to even");
}

ConversionLoop FindForDequantize(DataType from)
{
    return backends::F16Types.Has(from) ? FindCast(from, DataType::Float32) : FindDequantize(from);
}

SupportResult NoLoop()
{
    return SupportResult::No(SupportCode::UnsupportedType, "there is no fast loop for the types");
}

SupportResult CheckDequantize(const LayerView& layer)
{
    return FindForDequantize(layer.GetInput(0).GetDataType()) != nullptr ? SupportResult::Yes() : NoLoop();
}

Prepared PrepareDequantize(const ReshapeArgs& args, const backends::PackedWeights*)
{
    return MakeConversion(args, FindForDequantize(args.GetInput(0).GetDataType()), args.GetInput(0));
}

/// Some processors with vectors have no conversion of float16.
SupportResult CheckHalf()
{
    return FindCast(DataType::Float16, DataType::Float32) != nullptr ? SupportResult::Yes() : NoLoop();
}

SupportResult CheckCast(const LayerView& layer)
{
    return FindCast(layer.GetInput(0).GetDataType(), layer.GetOutput(0).GetDataType()) != nullptr ? SupportResult::Yes()
                                                                                                  : NoLoop();
}

Prepared PrepareCast(const ReshapeArgs& args, const backends::PackedWeights*)
{
    return MakeConversion(args, FindCast(args.GetInput(0).GetDataType(), args.GetOutput(0).GetDataType()),
                          args.GetInput(0));
}

} // namespace

extern const backends::Kernel CpuQuantizeKernel = {
    .m_Name = "CpuQuantize", .m_Types = QuantizeTypes, .m_Prepare = PrepareQuantize, .m_RoundsHalfToEven = true};
extern const backends::Kernel CpuDequantizeKernel = {"CpuDequantize", DequantizeTypes, PrepareDequantize,
                                                     CheckDequantize};
extern const backends::Kernel CpuCastKernel = {"CpuCast", CastTypes, PrepareCast, CheckCast};
extern const backends::Kernel CpuConvertFp16ToFp32Kernel = {
    "CpuConvertFp16ToFp32", WideningTypes, PrepareCast, nullptr, nullptr, nullptr, CheckHalf};
extern const backends::Kernel CpuConvertFp32ToFp16Kernel = {
    "CpuConvertFp32ToFp16", NarrowingTypes, PrepareCast, nullptr, nullptr, nullptr, CheckHalf};

} // namespace tenon::cpu
