// SPDX-License-Identifier: Apache-2.0
// Dequantize: conversion of stored to real numbers, per tensor, per channel or per block; and of half-precision numbers
// to float, for which TFLite uses the same operator.
#include "backends/common/KernelTable.hpp"
#include "backends/reference/ChannelQuantization.hpp"
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/TensorQuantization.hpp"
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/F16AsF32.hpp"
#include "common/FourBits.hpp"

#include <cstddef>

namespace tenon::ref
{

namespace
{

using backends::F16Types;
using backends::Prepared;
using backends::QuantizedTypes;
using backends::Scales;
using backends::Types;
using backends::WithScales;

constexpr backends::TypeRow DequantizeTypes[] = {
    Types({F16Types}, DataType::Float32),
    WithScales(Types({QuantizedTypes | DataType::QSymmS4}, {DataType::Float16, DataType::Float32}), {Scales::Blocks},
               Scales::Any),
};

template <typename In, typename Out>
void DequantizeAll(const ChannelQuantization& quantization, const In* in, Out* out)
{
    quantization.ForEachRun(
        [&](size_t first, size_t count, float scale, int32_t zeroPoint)
        {
            for (size_t i = first; i < first + count; ++i)
            {
                out[i] = static_cast<Out>(ToReal(in[i], {scale, zeroPoint}));
            }
        });
}

template <typename Out>
Prepared MakeDequantize(const ReshapeArgs& args)
{
    const TensorInfo& input = args.GetInput(0);
    const ChannelQuantization quantization(input);
    if (input.GetDataType() == DataType::QSymmS4)
    {
        const size_t count = input.GetNumElements();
        return {[quantization, count](const ExecuteArgs& run)
                {
                    UnpackFourBits(run.GetInput<std::byte>(0), count, true, static_cast<std::byte*>(run.m_Scratch));
                    DequantizeAll(quantization, static_cast<const int8_t*>(run.m_Scratch), run.GetOutput<Out>(0));
                },
                count};
    }
    return DispatchType<int8_t, uint8_t, int16_t>(input.GetDataType(),
                                                  [&](auto tag) -> Prepared
                                                  {
                                                      using In = typename decltype(tag)::Type;
                                                      return [quantization](const ExecuteArgs& run) {
                                                          DequantizeAll(quantization, run.GetInput<In>(0),
                                                                        run.GetOutput<Out>(0));
                                                      };
                                                  });
}

Prepared PrepareDequantize(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorInfo& input = args.GetInput(0);
    if (F16Types.Has(input.GetDataType()))
    {
        return [type = input.GetDataType(), count = input.GetNumElements()](const ExecuteArgs& run)
        { PlainF16Loops.m_Widen(*run.m_Parallel, run.m_Inputs[0], type, count, run.GetOutput<float>(0)); };
    }
    return DispatchType<float, Half>(args.GetOutput(0).GetDataType(),
                                     [&](auto tag) { return MakeDequantize<typename decltype(tag)::Type>(args); });
}

} // namespace

extern const backends::Kernel RefDequantizeKernel = {"RefDequantize", DequantizeTypes, PrepareDequantize};

} // namespace tenon::ref
