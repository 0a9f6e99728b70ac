// SPDX-License-Identifier: Apache-2.0
// Branches of layers that move elements or choose some.
#include "Graph.hpp"

#include <vector>

namespace layers
{

/// Layers that move elements.
void AddMoves(Graph& graph)
{
    INetwork& network = graph.GetNetwork();
    const std::vector<float> four = {1, 2, 3, 4};
    const std::vector<float> six = {1, 2, 3, 4, 5, 6};

    BatchToSpaceNdDescriptor batchToSpace({2, 2}, {{0, 0}, {0, 0}});
    batchToSpace.m_DataLayout = DataLayout::NHWC;
    graph.Expect(Graph::Connect(network.AddBatchToSpaceNdLayer(batchToSpace, "batch to space"),
                                {graph.Input({4, 1, 1, 1}, four)}),
                 {1, 2, 2, 1}, four);
    SpaceToBatchNdDescriptor spaceToBatch({2, 2}, {{0, 0}, {0, 0}});
    spaceToBatch.m_DataLayout = DataLayout::NHWC;
    graph.Expect(Graph::Connect(network.AddSpaceToBatchNdLayer(spaceToBatch, "space to batch"),
                                {graph.Input({1, 2, 2, 1}, four)}),
                 {4, 1, 1, 1}, four);
    graph.Expect(
        Graph::Connect(network.AddDepthToSpaceLayer(DepthToSpaceDescriptor(2, DataLayout::NHWC), "depth to space"),
                       {graph.Input({1, 1, 1, 4}, four)}),
        {1, 2, 2, 1}, four);
    graph.Expect(
        Graph::Connect(network.AddSpaceToDepthLayer(SpaceToDepthDescriptor(2, DataLayout::NHWC), "space to depth"),
                       {graph.Input({1, 2, 2, 1}, four)}),
        {1, 1, 1, 4}, four);
    graph.Expect(Graph::Connect(network.AddChannelShuffleLayer(ChannelShuffleDescriptor(2, 1), "channel shuffle"),
                                {graph.Input({1, 4}, four)}),
                 {1, 4}, {1, 3, 2, 4});

    const std::vector<TensorShape> shapes = {{1, 2}, {1, 1}};
    graph.Expect(Graph::Connect(network.AddConcatLayer(
                                    CreateDescriptorForConcatenation(shapes.begin(), shapes.end(), 1), "concat"),
                                {graph.Input({1, 2}, {1, 2}), graph.Input({1, 1}, {3})}),
                 {1, 3}, {1, 2, 3});
    ViewsDescriptor views(2, 2);
    for (unsigned int view = 0; view < 2; ++view)
    {
        views.SetViewOriginCoord(view, 0, 0);
        views.SetViewOriginCoord(view, 1, 2 * view);
        views.SetViewSize(view, 0, 1);
        views.SetViewSize(view, 1, 2);
    }
    IConnectableLayer* splitter =
        Graph::Connect(network.AddSplitterLayer(views, "splitter"), {graph.Input({1, 4}, four)});
    graph.Expect(splitter, 0, Floats({1, 2}), {1, 2});
    graph.Expect(splitter, 1, Floats({1, 2}), {3, 4});
    graph.Expect(Graph::Connect(network.AddStackLayer(StackDescriptor(0, 2, TensorShape({2})), "stack"),
                                {graph.Input({2}, {1, 2}), graph.Input({2}, {3, 4})}),
                 {2, 2}, four);

    FillDescriptor fill;
    fill.m_Value = 7.0f;
    graph.Expect(Graph::Connect(network.AddFillLayer(fill, "fill"), {graph.Constant(Ints({2}), {2, 2})}), {2, 2},
                 {7, 7, 7, 7});
    graph.Expect(Graph::Connect(network.AddGatherLayer(GatherDescriptor(), "gather"),
                                {graph.Input({3, 2}, six), graph.Constant(Ints({2}), {2, 0})}),
                 {2, 2}, {5, 6, 1, 2});
    graph.Expect(Graph::Connect(network.AddGatherNdLayer("gather nd"),
                                {graph.Input({2, 2}, four), graph.Constant(Ints({2, 2}), {0, 1, 1, 0})}),
                 {2}, {2, 3});
    graph.Expect(Graph::Connect(network.AddPadLayer(PadDescriptor({{0, 0}, {1, 1}}, 9.0f), "pad"),
                                {graph.Input({1, 2}, {1, 2})}),
                 {1, 4}, {9, 1, 2, 9});
    graph.Expect(
        Graph::Connect(network.AddPermuteLayer(PermuteDescriptor({1, 0}), "permute"), {graph.Input({2, 3}, six)}),
        {3, 2}, {1, 4, 2, 5, 3, 6});
    graph.Expect(
        Graph::Connect(network.AddTransposeLayer(TransposeDescriptor({1, 0}), "transpose"), {graph.Input({2, 3}, six)}),
        {3, 2}, {1, 4, 2, 5, 3, 6});
    graph.Expect(
        Graph::Connect(network.AddReshapeLayer(ReshapeDescriptor({3, 2}), "reshape"), {graph.Input({2, 3}, six)}),
        {3, 2}, six);
    ResizeDescriptor resize;
    resize.m_Method = ResizeMethod::NearestNeighbor;
    resize.m_TargetHeight = 2;
    resize.m_TargetWidth = 4;
    resize.m_DataLayout = DataLayout::NHWC;
    graph.Expect(Graph::Connect(network.AddResizeLayer(resize, "resize"), {graph.Input({1, 1, 2, 1}, {1, 2})}),
                 {1, 2, 4, 1}, {1, 1, 2, 2, 1, 1, 2, 2});
    graph.Expect(Graph::Connect(network.AddReverseV2Layer("reverse"),
                                {graph.Input({3}, {1, 2, 3}), graph.Constant(Ints({1}), {0})}),
                 {3}, {3, 2, 1});
    graph.Expect(Graph::Connect(network.AddSliceLayer(SliceDescriptor({1}, {2}), "slice"), {graph.Input({4}, four)}),
                 {2}, {2, 3});
    graph.Expect(Graph::Connect(network.AddStridedSliceLayer(StridedSliceDescriptor({0}, {4}, {2}), "strided slice"),
                                {graph.Input({4}, four)}),
                 {2}, {1, 3});
    graph.Expect(Graph::Connect(network.AddTileLayer(TileDescriptor({2}), "tile"), {graph.Input({2}, {1, 2})}), {4},
                 {1, 2, 1, 2});
    graph.Expect(graph.Constant({2}, {5, 6}), {2}, {5, 6});
    graph.Expect(Graph::Connect(network.AddRankLayer("rank"), {graph.Input({2, 3}, six)}), 0,
                 TensorInfo(TensorShape(Dimensionality::Scalar), DataType::Signed32), {2});
    graph.Expect(Graph::Connect(network.AddShapeLayer("shape"), {graph.Input({2, 3}, six)}), 0, Ints({2}), {2, 3});
}

/// One box, which is its anchor.
void AddDetection(Graph& graph)
{
    DetectionPostProcessDescriptor detection;
    detection.m_MaxDetections = 1;
    detection.m_MaxClassesPerDetection = 1;
    detection.m_DetectionsPerClass = 1;
    detection.m_NmsScoreThreshold = 0.1f;
    detection.m_NmsIouThreshold = 0.5f;
    detection.m_NumClasses = 1;
    detection.m_UseRegularNms = false;
    detection.m_ScaleX = 10.0f;
    detection.m_ScaleY = 10.0f;
    detection.m_ScaleW = 5.0f;
    detection.m_ScaleH = 5.0f;
    IConnectableLayer* layer =
        Graph::Connect(graph.GetNetwork().AddDetectionPostProcessLayer(
                           detection, graph.Tensor(Floats({1, 4}), {0.5f, 0.5f, 1.0f, 1.0f}), "detection"),
                       {graph.Input({1, 1, 4}, {0, 0, 0, 0}), graph.Input({1, 1, 2}, {0.1f, 0.9f})});
    graph.Expect(layer, 0, Floats({1, 1, 4}), {0, 0, 1, 1});
    graph.Expect(layer, 1, Floats({1, 1}), {0});
    graph.Expect(layer, 2, Floats({1, 1}), {0.9f});
    graph.Expect(layer, 3, Floats({1}), {1});
}

} // namespace layers
