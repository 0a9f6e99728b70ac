// SPDX-License-Identifier: Apache-2.0
// For backends written for Arm NN: whether a backend runs a layer.
#pragma once

#include <armnn/Deprecated.hpp>
#include <armnn/Descriptors.hpp>
#include <armnn/LstmParams.hpp>
#include <armnn/Optional.hpp>
#include <armnn/QuantizedLstmParams.hpp>
#include <armnn/Tensor.hpp>
#include <armnn/Types.hpp>
#include <armnn/backends/OwnNames.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tenon
{

/// Thread-safe; asking changes nothing.
class ILayerSupport
{
protected:
    ILayerSupport() = default;
    virtual ~ILayerSupport() = default;

public:
    /// `infos` are those of the inputs and then the outputs. Layers with weights have input, output, weights, bias (a
    /// TensorInfo() where there is none); BatchNormalization has input, output, mean, variance, beta, gamma. The
    /// weights of Lstm, QLstm, UnidirectionalSequenceLstm and QuantizedLstm are in the two infos of parameters. False
    /// by default.
    virtual bool
    IsLayerSupported(const LayerType& type, const std::vector<TensorInfo>& infos, const BaseDescriptor& descriptor,
                     const Optional<LstmInputParamsInfo>& lstmParamsInfo = EmptyOptional(),
                     const Optional<QuantizedLstmInputParamsInfo>& quantizedLstmParamsInfo = EmptyOptional(),
                     Optional<std::string&> reasonIfUnsupported = EmptyOptional()) const
    {
        static_cast<void>(type);
        static_cast<void>(infos);
        static_cast<void>(descriptor);
        static_cast<void>(lstmParamsInfo);
        static_cast<void>(quantizedLstmParamsInfo);
        static_cast<void>(reasonIfUnsupported);
        return false;
    }
};

using ILayerSupportSharedPtr = std::shared_ptr<ILayerSupport>;

} // namespace tenon
