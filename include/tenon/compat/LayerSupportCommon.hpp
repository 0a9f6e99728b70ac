// SPDX-License-Identifier: Apache-2.0
// For backends written for Arm NN that use this internal header of it: answers of an ILayerSupport by the type of data.
#pragma once

#include <armnn/DescriptorsFwd.hpp>
#include <armnn/Optional.hpp>
#include <armnn/Tensor.hpp>
#include <armnn/Types.hpp>
#include <armnn/utility/IgnoreUnused.hpp>
#include <string>
#include <utility>

namespace tenon
{

/// Sets the object that is referred to, if there is one.
template <typename T, typename V>
void SetValueChecked(Optional<T&> optionalRef, V&& val)
{
    if (optionalRef)
    {
        optionalRef.value() = val;
    }
}

/// The answer of the function that is given for the type; false for other types.
template <typename Float16Func, typename Float32Func, typename Uint8Func, typename Int32Func, typename BooleanFunc,
          typename... Params>
bool IsSupportedForDataTypeGeneric(Optional<std::string&> reasonIfUnsupported, DataType dataType,
                                   Float16Func float16FuncPtr, Float32Func float32FuncPtr, Uint8Func uint8FuncPtr,
                                   Int32Func int32FuncPtr, BooleanFunc booleanFuncPtr, Params&&... params)
{
    switch (dataType)
    {
    case DataType::Float16: return float16FuncPtr(reasonIfUnsupported, std::forward<Params>(params)...);
    case DataType::Float32: return float32FuncPtr(reasonIfUnsupported, std::forward<Params>(params)...);
    case DataType::QAsymmU8: return uint8FuncPtr(reasonIfUnsupported, std::forward<Params>(params)...);
    case DataType::Signed32: return int32FuncPtr(reasonIfUnsupported, std::forward<Params>(params)...);
    case DataType::Boolean: return booleanFuncPtr(reasonIfUnsupported, std::forward<Params>(params)...);
    default: return false;
    }
}

/// Functions for IsSupportedForDataTypeGeneric: yes, no, and no with the type as the reason.
template <typename... Params>
bool TrueFunc(Optional<std::string&> reasonIfUnsupported, Params&&... params)
{
    IgnoreUnused(reasonIfUnsupported, params...);
    return true;
}

template <typename... Params>
bool FalseFunc(Optional<std::string&> reasonIfUnsupported, Params&&... params)
{
    IgnoreUnused(reasonIfUnsupported, params...);
    return false;
}

// clang-format off
#define TENON_FALSE_FUNC(name, reason)                                                                                 \
    template <typename... Params>                                                                                      \
    bool name(Optional<std::string&> reasonIfUnsupported, Params&&... params)                                          \
    {                                                                                                                  \
        IgnoreUnused(params...);                                                                                       \
        SetValueChecked(reasonIfUnsupported, reason);                                                                  \
        return false;                                                                                                  \
    }
// clang-format on

TENON_FALSE_FUNC(FalseFuncF16, "the layer does not run on data of type Float16")
TENON_FALSE_FUNC(FalseFuncF32, "the layer does not run on data of type Float32")
TENON_FALSE_FUNC(FalseFuncU8, "the layer does not run on data of 8 bits")
TENON_FALSE_FUNC(FalseFuncI32, "the layer does not run on data of type Signed32")
TENON_FALSE_FUNC(FalseInputFuncF32, "the layer takes no input of type Float32")
TENON_FALSE_FUNC(FalseInputFuncF16, "the layer takes no input of type Float16")
TENON_FALSE_FUNC(FalseOutputFuncF32, "the layer gives no output of type Float32")
TENON_FALSE_FUNC(FalseOutputFuncF16, "the layer gives no output of type Float16")

#undef TENON_FALSE_FUNC

} // namespace tenon
