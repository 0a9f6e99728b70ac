// SPDX-License-Identifier: Apache-2.0
// Network: the implementation of INetwork, a Graph and the methods that add to it.
#pragma once

#include "graph/Graph.hpp"

#include <tenon/INetwork.hpp>

namespace tenon
{

class Network final : public INetwork
{
public:
    explicit Network(const NetworkOptions& options) : m_Options(options) {}

    const Graph& GetGraph() const { return m_Graph; }
    /// For the deserializer, which fills it.
    Graph& EditGraph() { return m_Graph; }
    const NetworkOptions& GetOptions() const { return m_Options; }

    Status PrintGraph() override;
    Status SerializeToDot(std::ostream& stream) const override;
    void SerializeToJson(std::ostream& stream) const override;
    void ExecuteStrategy(IStrategy& strategy) const override;

    IConnectableLayer* AddInputLayer(LayerBindingId id, const char* name) override;
    IConnectableLayer* AddOutputLayer(LayerBindingId id, const char* name) override;
    IConnectableLayer* AddConstantLayer(const ConstTensor& input, const char* name) override;
    IConnectableLayer* AddConstantLayer(const ConstTensor& input, std::shared_ptr<const void> owner,
                                        const char* name) override;
    IConnectableLayer* AddActivationLayer(const ActivationDescriptor& d, const char* name) override
    {
        return Add(LayerType::Activation, d, name);
    }
    IConnectableLayer* AddAddNLayer(const AddNDescriptor& d, const char* name) override
    {
        return Add(LayerType::AddN, d, name);
    }
    IConnectableLayer* AddArgMinMaxLayer(const ArgMinMaxDescriptor& d, const char* name) override
    {
        return Add(LayerType::ArgMinMax, d, name);
    }
    IConnectableLayer* AddAudioSpectrogramLayer(const AudioSpectrogramDescriptor& d, const char* name) override
    {
        return Add(LayerType::AudioSpectrogram, d, name);
    }
    IConnectableLayer* AddBatchMatMulLayer(const BatchMatMulDescriptor& d, const char* name) override
    {
        return Add(LayerType::BatchMatMul, d, name);
    }
    IConnectableLayer* AddBatchToSpaceNdLayer(const BatchToSpaceNdDescriptor& d, const char* name) override
    {
        return Add(LayerType::BatchToSpaceNd, d, name);
    }
    IConnectableLayer* AddBitcastLayer(const char* name) override { return Add(LayerType::Bitcast, name); }
    IConnectableLayer* AddBroadcastArgsLayer(const char* name) override { return Add(LayerType::BroadcastArgs, name); }
    IConnectableLayer* AddBroadcastToLayer(const BroadcastToDescriptor& d, const char* name) override
    {
        return Add(LayerType::BroadcastTo, d, name);
    }
    IConnectableLayer* AddBucketizeLayer(const BucketizeDescriptor& d, const char* name) override
    {
        return Add(LayerType::Bucketize, d, name);
    }
    IConnectableLayer* AddCastLayer(const char* name) override { return Add(LayerType::Cast, name); }
    IConnectableLayer* AddChannelShuffleLayer(const ChannelShuffleDescriptor& d, const char* name) override
    {
        return Add(LayerType::ChannelShuffle, d, name);
    }
    IConnectableLayer* AddComparisonLayer(const ComparisonDescriptor& d, const char* name) override
    {
        return Add(LayerType::Comparison, d, name);
    }
    IConnectableLayer* AddComplexPartLayer(const ComplexPartDescriptor& d, const char* name) override
    {
        return Add(LayerType::ComplexPart, d, name);
    }
    IConnectableLayer* AddConcatLayer(const ConcatDescriptor& d, const char* name) override
    {
        return Add(LayerType::Concat, d, name);
    }
    IConnectableLayer* AddConvolution2dLayer(const Convolution2dDescriptor& d, const char* name) override
    {
        return Add(LayerType::Convolution2d, d, name);
    }
    IConnectableLayer* AddConvolution3dLayer(const Convolution3dDescriptor& d, const char* name) override
    {
        return Add(LayerType::Convolution3d, d, name);
    }
    IConnectableLayer* AddCumSumLayer(const CumSumDescriptor& d, const char* name) override
    {
        return Add(LayerType::CumSum, d, name);
    }
    IConnectableLayer* AddCustomLayer(const CustomDescriptor& d, const char* name) override
    {
        return Add(LayerType::Custom, d, name);
    }
    IConnectableLayer* AddDepthToSpaceLayer(const DepthToSpaceDescriptor& d, const char* name) override
    {
        return Add(LayerType::DepthToSpace, d, name);
    }
    IConnectableLayer* AddDepthwiseConvolution2dLayer(const DepthwiseConvolution2dDescriptor& d,
                                                      const char* name) override
    {
        return Add(LayerType::DepthwiseConvolution2d, d, name);
    }
    IConnectableLayer* AddDequantizeLayer(const char* name) override { return Add(LayerType::Dequantize, name); }
    IConnectableLayer* AddDilateLayer(const DilateDescriptor& d, const char* name) override
    {
        return Add(LayerType::Dilate, d, name);
    }
    IConnectableLayer* AddDynamicUpdateSliceLayer(const char* name) override
    {
        return Add(LayerType::DynamicUpdateSlice, name);
    }
    IConnectableLayer* AddElementwiseBinaryLayer(const ElementwiseBinaryDescriptor& d, const char* name) override
    {
        return Add(LayerType::ElementwiseBinary, d, name);
    }
    IConnectableLayer* AddElementwiseUnaryLayer(const ElementwiseUnaryDescriptor& d, const char* name) override
    {
        return Add(LayerType::ElementwiseUnary, d, name);
    }
    IConnectableLayer* AddEmbeddingLookupLayer(const char* name) override
    {
        return Add(LayerType::EmbeddingLookup, name);
    }
    IConnectableLayer* AddEmbeddingLookupSparseLayer(const EmbeddingLookupSparseDescriptor& d,
                                                     const char* name) override
    {
        return Add(LayerType::EmbeddingLookupSparse, d, name);
    }
    IConnectableLayer* AddExpandDimsLayer(const ExpandDimsDescriptor& d, const char* name) override
    {
        return Add(LayerType::ExpandDims, d, name);
    }
    IConnectableLayer* AddFakeQuantizationLayer(const FakeQuantizationDescriptor& d, const char* name) override
    {
        return Add(LayerType::FakeQuantization, d, name);
    }
    IConnectableLayer* AddFillLayer(const FillDescriptor& d, const char* name) override
    {
        return Add(LayerType::Fill, d, name);
    }
    IConnectableLayer* AddFloorLayer(const char* name) override { return Add(LayerType::Floor, name); }
    IConnectableLayer* AddFullyConnectedLayer(const FullyConnectedDescriptor& d, const char* name) override
    {
        return Add(LayerType::FullyConnected, d, name);
    }
    IConnectableLayer* AddFusedLayer(const FusedDescriptor& d, const char* name) override
    {
        return Add(LayerType::Fused, d, name);
    }
    IConnectableLayer* AddGatherLayer(const GatherDescriptor& d, const char* name) override
    {
        return Add(LayerType::Gather, d, name);
    }
    IConnectableLayer* AddGatherNdLayer(const char* name) override { return Add(LayerType::GatherNd, name); }
    IConnectableLayer* AddHashtableLookupLayer(const char* name) override
    {
        return Add(LayerType::HashtableLookup, name);
    }
    IConnectableLayer* AddInstanceNormalizationLayer(const InstanceNormalizationDescriptor& d,
                                                     const char* name) override
    {
        return Add(LayerType::InstanceNormalization, d, name);
    }
    IConnectableLayer* AddL2NormalizationLayer(const L2NormalizationDescriptor& d, const char* name) override
    {
        return Add(LayerType::L2Normalization, d, name);
    }
    IConnectableLayer* AddLayerNormalizationLayer(const LayerNormalizationDescriptor& d, const char* name) override
    {
        return Add(LayerType::LayerNormalization, d, name);
    }
    IConnectableLayer* AddLogSoftmaxLayer(const LogSoftmaxDescriptor& d, const char* name) override
    {
        return Add(LayerType::LogSoftmax, d, name);
    }
    IConnectableLayer* AddMatrixDiagLayer(const char* name) override { return Add(LayerType::MatrixDiag, name); }
    IConnectableLayer* AddMatrixSetDiagLayer(const char* name) override { return Add(LayerType::MatrixSetDiag, name); }
    IConnectableLayer* AddLogicalBinaryLayer(const LogicalBinaryDescriptor& d, const char* name) override
    {
        return Add(LayerType::LogicalBinary, d, name);
    }
    IConnectableLayer* AddMeanLayer(const MeanDescriptor& d, const char* name) override
    {
        return Add(LayerType::Mean, d, name);
    }
    IConnectableLayer* AddMergeLayer(const char* name) override { return Add(LayerType::Merge, name); }
    IConnectableLayer* AddMfccLayer(const MfccDescriptor& d, const char* name) override
    {
        return Add(LayerType::Mfcc, d, name);
    }
    IConnectableLayer* AddMultinomialLayer(const MultinomialDescriptor& d, const char* name) override
    {
        return Add(LayerType::Multinomial, d, name);
    }
    IConnectableLayer* AddNonMaxSuppressionLayer(const NonMaxSuppressionDescriptor& d, const char* name) override
    {
        return Add(LayerType::NonMaxSuppression, d, name);
    }
    IConnectableLayer* AddNormalizationLayer(const NormalizationDescriptor& d, const char* name) override
    {
        return Add(LayerType::Normalization, d, name);
    }
    IConnectableLayer* AddOneHotLayer(const OneHotDescriptor& d, const char* name) override
    {
        return Add(LayerType::OneHot, d, name);
    }
    IConnectableLayer* AddPadLayer(const PadDescriptor& d, const char* name) override
    {
        return Add(LayerType::Pad, d, name);
    }
    IConnectableLayer* AddPermuteLayer(const PermuteDescriptor& d, const char* name) override
    {
        return Add(LayerType::Permute, d, name);
    }
    IConnectableLayer* AddPooling2dLayer(const Pooling2dDescriptor& d, const char* name) override
    {
        return Add(LayerType::Pooling2d, d, name);
    }
    IConnectableLayer* AddPooling3dLayer(const Pooling3dDescriptor& d, const char* name) override
    {
        return Add(LayerType::Pooling3d, d, name);
    }
    IConnectableLayer* AddPreluLayer(const char* name) override { return Add(LayerType::Prelu, name); }
    IConnectableLayer* AddQuantizeLayer(const char* name) override { return Add(LayerType::Quantize, name); }
    IConnectableLayer* AddRandomLayer(const RandomDescriptor& d, const char* name) override
    {
        return Add(LayerType::Random, d, name);
    }
    IConnectableLayer* AddRangeLayer(const char* name) override { return Add(LayerType::Range, name); }
    IConnectableLayer* AddRankLayer(const char* name) override { return Add(LayerType::Rank, name); }
    IConnectableLayer* AddRealFft2dLayer(const RealFft2dDescriptor& d, const char* name) override
    {
        return Add(LayerType::RealFft2d, d, name);
    }
    IConnectableLayer* AddReduceLayer(const ReduceDescriptor& d, const char* name) override
    {
        return Add(LayerType::Reduce, d, name);
    }
    IConnectableLayer* AddReduceWindowLayer(const ReduceWindowDescriptor& d, const char* name) override
    {
        return Add(LayerType::ReduceWindow, d, name);
    }
    IConnectableLayer* AddReshapeLayer(const ReshapeDescriptor& d, const char* name) override
    {
        return Add(LayerType::Reshape, d, name);
    }
    IConnectableLayer* AddResizeLayer(const ResizeDescriptor& d, const char* name) override
    {
        return Add(LayerType::Resize, d, name);
    }
    IConnectableLayer* AddReverseSequenceLayer(const ReverseSequenceDescriptor& d, const char* name) override
    {
        return Add(LayerType::ReverseSequence, d, name);
    }
    IConnectableLayer* AddReverseV2Layer(const char* name) override { return Add(LayerType::ReverseV2, name); }
    IConnectableLayer* AddRngBitGeneratorLayer(const RngBitGeneratorDescriptor& d, const char* name) override
    {
        return Add(LayerType::RngBitGenerator, d, name);
    }
    IConnectableLayer* AddRollLayer(const char* name) override { return Add(LayerType::Roll, name); }
    IConnectableLayer* AddScatterNdLayer(const ScatterNdDescriptor& d, const char* name) override
    {
        return Add(LayerType::ScatterNd, d, name);
    }
    IConnectableLayer* AddSegmentSumLayer(const char* name) override { return Add(LayerType::SegmentSum, name); }
    IConnectableLayer* AddSelectLayer(const SelectDescriptor& d, const char* name) override
    {
        return Add(LayerType::Select, d, name);
    }
    IConnectableLayer* AddShapeLayer(const char* name) override { return Add(LayerType::Shape, name); }
    IConnectableLayer* AddSliceLayer(const SliceDescriptor& d, const char* name) override
    {
        return Add(LayerType::Slice, d, name);
    }
    IConnectableLayer* AddSoftmaxLayer(const SoftmaxDescriptor& d, const char* name) override
    {
        return Add(LayerType::Softmax, d, name);
    }
    IConnectableLayer* AddSpaceToBatchNdLayer(const SpaceToBatchNdDescriptor& d, const char* name) override
    {
        return Add(LayerType::SpaceToBatchNd, d, name);
    }
    IConnectableLayer* AddSpaceToDepthLayer(const SpaceToDepthDescriptor& d, const char* name) override
    {
        return Add(LayerType::SpaceToDepth, d, name);
    }
    IConnectableLayer* AddSparseToDenseLayer(const char* name) override { return Add(LayerType::SparseToDense, name); }
    IConnectableLayer* AddSplitterLayer(const SplitterDescriptor& d, const char* name) override
    {
        return Add(LayerType::Splitter, d, name);
    }
    IConnectableLayer* AddSqueezeLayer(const SqueezeDescriptor& d, const char* name) override
    {
        return Add(LayerType::Squeeze, d, name);
    }
    IConnectableLayer* AddReadStateLayer(const StateDescriptor& d, const char* name) override
    {
        return Add(LayerType::ReadState, d, name);
    }
    IConnectableLayer* AddWriteStateLayer(const StateDescriptor& d, const char* name) override
    {
        return Add(LayerType::WriteState, d, name);
    }
    IConnectableLayer* AddIfLayer(const INetwork& thenNetwork, const INetwork& elseNetwork, const char* name) override;
    IConnectableLayer* AddWhileLayer(const INetwork& condition, const INetwork& body, const char* name) override;
    IConnectableLayer* AddStablehloGatherLayer(const StablehloGatherDescriptor& d, const char* name) override
    {
        return Add(LayerType::StablehloGather, d, name);
    }
    IConnectableLayer* AddStablehloPadLayer(const StablehloPadDescriptor& d, const char* name) override
    {
        return Add(LayerType::StablehloPad, d, name);
    }
    IConnectableLayer* AddStablehloScatterLayer(const StablehloScatterDescriptor& d, const char* name) override
    {
        return Add(LayerType::StablehloScatter, d, name);
    }
    IConnectableLayer* AddStackLayer(const StackDescriptor& d, const char* name) override
    {
        return Add(LayerType::Stack, d, name);
    }
    IConnectableLayer* AddStandInLayer(const StandInDescriptor& d, const char* name) override
    {
        return Add(LayerType::StandIn, d, name);
    }
    IConnectableLayer* AddStridedSliceLayer(const StridedSliceDescriptor& d, const char* name) override
    {
        return Add(LayerType::StridedSlice, d, name);
    }
    IConnectableLayer* AddSwitchLayer(const char* name) override { return Add(LayerType::Switch, name); }
    IConnectableLayer* AddTableLayer(const char* name) override { return Add(LayerType::Table, name); }
    IConnectableLayer* AddTileLayer(const TileDescriptor& d, const char* name) override
    {
        return Add(LayerType::Tile, d, name);
    }
    IConnectableLayer* AddTopKLayer(const char* name) override { return Add(LayerType::TopK, name); }
    IConnectableLayer* AddTransposeLayer(const TransposeDescriptor& d, const char* name) override
    {
        return Add(LayerType::Transpose, d, name);
    }
    IConnectableLayer* AddZerosLikeLayer(const char* name) override { return Add(LayerType::ZerosLike, name); }
    IConnectableLayer* AddUniqueLayer(const UniqueDescriptor& d, const char* name) override
    {
        return Add(LayerType::Unique, d, name);
    }
    IConnectableLayer* AddUnsortedSegmentLayer(const UnsortedSegmentDescriptor& d, const char* name) override
    {
        return Add(LayerType::UnsortedSegment, d, name);
    }
    IConnectableLayer* AddWhereLayer(const char* name) override { return Add(LayerType::Where, name); }
    IConnectableLayer* AddBatchNormalizationLayer(const BatchNormalizationDescriptor& desc, const ConstTensor& mean,
                                                  const ConstTensor& variance, const ConstTensor& beta,
                                                  const ConstTensor& gamma, const char* name) override;
    IConnectableLayer* AddDetectionPostProcessLayer(const DetectionPostProcessDescriptor& d, const char* name) override
    {
        return Add(LayerType::DetectionPostProcess, d, name);
    }
    IConnectableLayer* AddDetectionPostProcessLayer(const DetectionPostProcessDescriptor& descriptor,
                                                    const ConstTensor& anchors, const char* name) override;
    IConnectableLayer* AddTransposeConvolution2dLayer(const TransposeConvolution2dDescriptor& d,
                                                      const char* name) override
    {
        return Add(LayerType::TransposeConvolution2d, d, name);
    }
    IConnectableLayer* AddTransposeConvolution2dLayer(const TransposeConvolution2dDescriptor& descriptor,
                                                      const ConstTensor& weights, const Optional<ConstTensor>& biases,
                                                      const char* name) override;
    IConnectableLayer* AddTransposeConvolution3dLayer(const TransposeConvolution3dDescriptor& d,
                                                      const char* name) override
    {
        return Add(LayerType::TransposeConvolution3d, d, name);
    }
    IConnectableLayer* AddLstmLayer(const LstmDescriptor& descriptor, const LstmInputParams& params,
                                    const char* name) override;
    IConnectableLayer* AddQLstmLayer(const QLstmDescriptor& descriptor, const LstmInputParams& params,
                                     const char* name) override;
    IConnectableLayer* AddQuantizedLstmLayer(const QuantizedLstmInputParams& params, const char* name) override;
    IConnectableLayer* AddUnidirectionalSequenceLstmLayer(const UnidirectionalSequenceLstmDescriptor& descriptor,
                                                          const LstmInputParams& params, const char* name) override;
    IConnectableLayer* AddUnidirectionalSequenceLstmLayer(const UnidirectionalSequenceLstmDescriptor& d,
                                                          const char* name) override
    {
        return Add(LayerType::UnidirectionalSequenceLstm, d, name);
    }
    IConnectableLayer* AddBidirectionalSequenceLstmLayer(const BidirectionalSequenceLstmDescriptor& d,
                                                         const char* name) override
    {
        return Add(LayerType::BidirectionalSequenceLstm, d, name);
    }
    IConnectableLayer* AddBasicLstmLayer(const char* name) override { return Add(LayerType::BasicLstm, name); }
    IConnectableLayer* AddRnnLayer(const RnnDescriptor& d, const char* name) override
    {
        return Add(LayerType::Rnn, d, name);
    }
    IConnectableLayer* AddBidirectionalSequenceRnnLayer(const BidirectionalSequenceRnnDescriptor& d,
                                                        const char* name) override
    {
        return Add(LayerType::BidirectionalSequenceRnn, d, name);
    }
    IConnectableLayer* AddSvdfLayer(const SvdfDescriptor& d, const char* name) override
    {
        return Add(LayerType::Svdf, d, name);
    }
    IConnectableLayer* AddPrecompiledLayer(const PreCompiledDescriptor& preCompiledDescriptor,
                                           CompiledBlobPtr compiledBlobPtr, const Optional<BackendId>& backend,
                                           const char* name) override;

private:
    template <typename D>
    IConnectableLayer* Add(LayerType type, const D& descriptor, const char* name)
    {
        return &m_Graph.AddLayer(type, std::make_unique<D>(descriptor), name != nullptr ? name : "");
    }
    IConnectableLayer* Add(LayerType type, const char* name)
    {
        return &m_Graph.AddLayer(type, nullptr, name != nullptr ? name : "");
    }
    IConnectableLayer* AddBound(LayerType type, LayerBindingId id, const char* name);
    IConnectableLayer* AddNested(LayerType type, std::unique_ptr<BaseDescriptor> descriptor, const Graph& first,
                                 const Graph& second, const char* name);
    /// Wires a Constant layer to each input from `first` on for which there is a tensor.
    IConnectableLayer* WireConstants(IConnectableLayer* layer, unsigned int first,
                                     const std::vector<const ConstTensor*>& tensors);

    NetworkOptions m_Options;
    Graph m_Graph;
};

} // namespace tenon
