// SPDX-License-Identifier: Apache-2.0
// For backends written for Arm NN: an ILayerSupport that supports no layer, to derive from.
#pragma once

#include <tenon/Export.hpp>

#include <armnn/backends/ILayerSupport.hpp>
#include <string>
#include <vector>

namespace tenon
{

/// Its methods say no, with the reason that the backend does not have the layer. A derived class overrides
/// IsLayerSupported, and calls that of this class for the types that it does not know.
class TENON_API LayerSupportBase : public ILayerSupport
{
public:
    LayerSupportBase();
    LayerSupportBase(const LayerSupportBase&) = default;
    LayerSupportBase& operator=(const LayerSupportBase&) = default;
    ~LayerSupportBase() override;

    /// Says yes to MemCopy and MemImport. Throws InvalidArgumentException for a StandIn with another number of infos
    /// than its descriptor has slots.
    bool IsLayerSupported(const LayerType& type, const std::vector<TensorInfo>& infos, const BaseDescriptor& descriptor,
                          const Optional<LstmInputParamsInfo>& lstmParamsInfo = EmptyOptional(),
                          const Optional<QuantizedLstmInputParamsInfo>& quantizedLstmParamsInfo = EmptyOptional(),
                          Optional<std::string&> reasonIfUnsupported = EmptyOptional()) const override;

    bool IsDetectionPostProcessSupported(const TensorInfo& boxEncodings, const TensorInfo& scores,
                                         const TensorInfo& anchors, const TensorInfo& detectionBoxes,
                                         const TensorInfo& detectionClasses, const TensorInfo& detectionScores,
                                         const TensorInfo& numDetections,
                                         const DetectionPostProcessDescriptor& descriptor,
                                         Optional<std::string&> reasonIfUnsupported = EmptyOptional()) const;
    /// Says yes.
    bool IsMemCopySupported(const TensorInfo& input, const TensorInfo& output,
                            Optional<std::string&> reasonIfUnsupported = EmptyOptional()) const;
    /// Says yes.
    bool IsMemImportSupported(const TensorInfo& input, const TensorInfo& output,
                              Optional<std::string&> reasonIfUnsupported = EmptyOptional()) const;
    bool IsMergeSupported(const TensorInfo& input0, const TensorInfo& input1, const TensorInfo& output,
                          Optional<std::string&> reasonIfUnsupported = EmptyOptional()) const;
    bool IsQuantizedLstmSupported(const TensorInfo& input, const TensorInfo& previousCellStateIn,
                                  const TensorInfo& previousOutputIn, const TensorInfo& cellStateOut,
                                  const TensorInfo& output, const QuantizedLstmInputParamsInfo& paramsInfo,
                                  Optional<std::string&> reasonIfUnsupported = EmptyOptional()) const;
    bool IsShapeSupported(const TensorInfo& input, const TensorInfo& output,
                          Optional<std::string&> reasonIfUnsupported = EmptyOptional()) const;
    bool IsStandInSupported(const std::vector<const TensorInfo*>& inputs, const std::vector<const TensorInfo*>& outputs,
                            const StandInDescriptor& descriptor,
                            Optional<std::string&> reasonIfUnsupported = EmptyOptional()) const;
};

} // namespace tenon
