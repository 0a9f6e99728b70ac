// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: the deserializer. It reads .armnn files and those of Tenon's serializer.
#pragma once

#include <tenon/serializer/IDeserializer.hpp>

#include <armnn/INetwork.hpp>
#include <armnn/Tensor.hpp>
#include <armnn/Types.hpp>

namespace armnnDeserializer
{

using tenon::IDeserializer;
using tenon::IDeserializerPtr;

/// A structure here, as in Arm NN, where the parsers' namespaces have a pair.
struct BindingPointInfo
{
    BindingPointInfo() = default;
    BindingPointInfo(const tenon::BindingPointInfo& binding) // NOLINT: implicit
        : m_BindingId(binding.first), m_TensorInfo(binding.second)
    {
    }

    armnn::LayerBindingId m_BindingId = 0;
    armnn::TensorInfo m_TensorInfo;
};

} // namespace armnnDeserializer
