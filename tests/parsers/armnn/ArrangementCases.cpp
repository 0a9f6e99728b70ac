// SPDX-License-Identifier: Apache-2.0
// Cases of the layers that give elements another place, and of those that tell about a network.
#include "CaseParts.hpp"

namespace tenon::test
{

void AddArrangement(Cases& cases)
{
    const TensorInfo x = Floats({2, 3, 4});
    const TensorInfo image = Floats({1, 4, 6, 2});
    const TensorInfo deep = Floats({1, 2, 3, 8});
    const TensorInfo many = Floats({6, 3, 3, 2});
    const TensorInfo padded = Floats({3, 3, 7});
    cases.push_back({"Reshape",
                     {x},
                     {Floats({4, 6})},
                     Only(
                         [](INetwork& n, const char* name) {
                             return n.AddReshapeLayer(ReshapeDescriptor(TensorShape({4, 0}, {true, false})), name);
                         })});
    cases.push_back({"Permute",
                     {x},
                     {Floats({4, 2, 3})},
                     Only(
                         [](INetwork& n, const char* name) {
                             return n.AddPermuteLayer(PermutationVector{1, 2, 0}, name);
                         })});
    cases.push_back({"Transpose",
                     {x},
                     {Floats({3, 4, 2})},
                     Only(
                         [](INetwork& n, const char* name) {
                             return n.AddTransposeLayer(PermutationVector{1, 2, 0}, name);
                         })});
    cases.push_back({"SpaceToDepth",
                     {image},
                     {deep},
                     Only(
                         [](INetwork& n, const char* name) {
                             return n.AddSpaceToDepthLayer({2, DataLayout::NHWC}, name);
                         })});
    cases.push_back({"DepthToSpace",
                     {deep},
                     {image},
                     Only(
                         [](INetwork& n, const char* name) {
                             return n.AddDepthToSpaceLayer({2, DataLayout::NHWC}, name);
                         })});
    cases.push_back({"SpaceToBatchNd",
                     {image},
                     {many},
                     Only(
                         [](INetwork& n, const char* name)
                         {
                             SpaceToBatchNdDescriptor descriptor({2, 3}, {{1, 1}, {2, 1}});
                             descriptor.m_DataLayout = DataLayout::NHWC;
                             return n.AddSpaceToBatchNdLayer(descriptor, name);
                         })});
    cases.push_back({"BatchToSpaceNd",
                     {many},
                     {image},
                     Only(
                         [](INetwork& n, const char* name)
                         {
                             BatchToSpaceNdDescriptor descriptor({2, 3}, {{1, 1}, {2, 1}});
                             descriptor.m_DataLayout = DataLayout::NHWC;
                             return n.AddBatchToSpaceNdLayer(descriptor, name);
                         })});
    cases.push_back({"ChannelShuffle",
                     {x},
                     {x},
                     Only(
                         [](INetwork& n, const char* name) {
                             return n.AddChannelShuffleLayer({2, 2}, name);
                         })});
    cases.push_back({"Pad",
                     {x},
                     {padded},
                     Only(
                         [](INetwork& n, const char* name) {
                             return n.AddPadLayer({{{0, 1}, {0, 0}, {2, 1}}, 0.5f}, name);
                         })});
    cases.push_back({"Pad_mirrored",
                     {x},
                     {padded},
                     Only(
                         [](INetwork& n, const char* name) {
                             return n.AddPadLayer({{{0, 1}, {0, 0}, {2, 1}}, 0.0f, PaddingMode::Reflect}, name);
                         })});
    cases.push_back({"Tile",
                     {x},
                     {Floats({2, 6, 4})},
                     Only(
                         [](INetwork& n, const char* name) {
                             return n.AddTileLayer(TileDescriptor({1, 2, 1}), name);
                         })});
    cases.push_back({"Fill",
                     {},
                     {Floats({2, 3})},
                     [](CaseMaker& make)
                     {
                         const Added shape = make.Constant(make.Const(Typed({2}, DataType::Signed32), {2, 3}), "shape");
                         const Added layer = make->AddFillLayer(FillDescriptor(0.75f), "layer");
                         CaseMaker::Feed(shape, layer, 0);
                         return layer;
                     }});
    cases.push_back({"ReverseV2",
                     {x},
                     {x},
                     [](CaseMaker& make)
                     {
                         const Added axes = make.Constant(make.Const(Typed({1}, DataType::Signed32), {1}), "axes");
                         const Added layer = make->AddReverseV2Layer("layer");
                         CaseMaker::Feed(axes, layer, 1);
                         return layer;
                     }});
}

void AddSlicing(Cases& cases)
{
    const TensorInfo x = Floats({2, 3, 4});
    const TensorInfo left = Floats({2, 3});
    const TensorInfo right = Floats({2, 1});
    for (const char* kind : {"Concat", "Merger"})
    {
        cases.push_back({kind,
                         {left, right},
                         {Floats({2, 4})},
                         Only(
                             [](INetwork& n, const char* name)
                             {
                                 OriginsDescriptor descriptor(2, 2);
                                 descriptor.SetConcatAxis(1);
                                 descriptor.SetViewOriginCoord(1, 1, 3);
                                 return n.AddConcatLayer(descriptor, name);
                             })});
    }
    for (const bool isOld : {false, true}) // old files name no axis
    {
        cases.push_back({isOld ? "Splitter_old" : "Splitter",
                         {Floats({2, 4})},
                         {left, right},
                         Only(
                             [isOld](INetwork& n, const char* name)
                             {
                                 ViewsDescriptor descriptor(2, 2);
                                 const uint32_t sizes[] = {3, 1};
                                 for (uint32_t view = 0; view < 2; ++view)
                                 {
                                     descriptor.SetViewOriginCoord(view, 1, view * 3);
                                     descriptor.SetViewSize(view, 0, 2);
                                     descriptor.SetViewSize(view, 1, sizes[view]);
                                 }
                                 if (!isOld)
                                 {
                                     descriptor.SetAxis(1);
                                 }
                                 return n.AddSplitterLayer(descriptor, name);
                             })});
    }
    cases.push_back({"Stack",
                     {left, left},
                     {Floats({2, 2, 3})},
                     Only(
                         [](INetwork& n, const char* name) {
                             return n.AddStackLayer(StackDescriptor(1, 2, {2, 3}), name);
                         })});
    cases.push_back({"Slice",
                     {x},
                     {Floats({1, 2, 4})},
                     Only(
                         [](INetwork& n, const char* name) {
                             return n.AddSliceLayer({{1, 1, 0}, {1, 2, 4}}, name);
                         })});
    cases.push_back({"StridedSlice",
                     {x},
                     {Floats({3, 2})},
                     Only(
                         [](INetwork& n, const char* name)
                         {
                             StridedSliceDescriptor descriptor({1, 2, 0}, {2, 0, 4}, {1, -1, 2});
                             descriptor.m_EndMask = 2;
                             descriptor.m_ShrinkAxisMask = 1;
                             descriptor.m_DataLayout = DataLayout::NHWC;
                             return n.AddStridedSliceLayer(descriptor, name);
                         })});
    for (const bool isOld : {false, true}) // old files know no axis but the first
    {
        cases.push_back(
            {isOld ? "Gather_old" : "Gather",
             {x},
             {isOld ? x : Floats({2, 2, 4})},
             [isOld](CaseMaker& make)
             {
                 const std::vector<double> places = isOld ? std::vector<double>{1, 0} : std::vector<double>{2, 0};
                 const Added indices = make.Constant(make.Const(Typed({2}, DataType::Signed32), places), "indices");
                 const Added layer = make->AddGatherLayer(GatherDescriptor(isOld ? 0 : 1), "layer");
                 CaseMaker::Feed(indices, layer, 1);
                 return layer;
             }});
    }
    cases.push_back({"GatherNd",
                     {x},
                     {Floats({2, 4})},
                     [](CaseMaker& make)
                     {
                         const Added indices =
                             make.Constant(make.Const(Typed({2, 2}, DataType::Signed32), {1, 2, 0, 1}), "indices");
                         const Added layer = make->AddGatherNdLayer("layer");
                         CaseMaker::Feed(indices, layer, 1);
                         return layer;
                     }});
}

void AddStructure(Cases& cases)
{
    const TensorInfo x = Floats({2, 3});
    cases.push_back({"Rank",
                     {x},
                     {Typed(TensorShape(Dimensionality::Scalar), DataType::Signed32)},
                     Only([](INetwork& n, const char* name) { return n.AddRankLayer(name); })});
    cases.push_back({"Shape",
                     {x},
                     {Typed({2}, DataType::Signed32)},
                     Only([](INetwork& n, const char* name) { return n.AddShapeLayer(name); })});
    cases.push_back({"Constant", {}, {TensorInfo({2, 3}, DataType::Float32, 0.0f, 0, true)}, [](CaseMaker& make) {
                         return make.Constant(make.Const(Floats({2, 3})), "layer");
                     }});
    TensorInfo wide = Typed({2, 3}, DataType::Signed64);
    wide.SetConstant();
    cases.push_back(
        {"Constant_64", {}, {wide}, [wide](CaseMaker& make) { return make.Constant(make.Const(wide), "layer"); }});
    cases.push_back(
        {"Merge", {x, x}, {x}, Only([](INetwork& n, const char* name) { return n.AddMergeLayer(name); }), false});
    cases.push_back({"Switch",
                     {x, Typed({1}, DataType::Boolean)},
                     {x, x},
                     Only([](INetwork& n, const char* name) { return n.AddSwitchLayer(name); }),
                     false});
    cases.push_back({"StandIn",
                     {x, x},
                     {x},
                     Only(
                         [](INetwork& n, const char* name) {
                             return n.AddStandInLayer({2, 1}, name);
                         }),
                     false});
}

} // namespace tenon::test
