// SPDX-License-Identifier: Apache-2.0
// CpuAcc's kernels that move elements beside CpuRef's, for elements of all sizes; some are split over threads.
#include "ops/cpu/CompareWithReference.hpp"

#include <tenon/descriptors/Arrangement.hpp>
#include <tenon/descriptors/Expansion.hpp>
#include <tenon/descriptors/Slicing.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace tenon::test::move_layers_test
{

namespace
{

/// Elements of 1, 2, 4 and 8 bytes.
const TensorInfo Types[] = {TensorInfo({1}, DataType::QAsymmU8, 0.5f, 3), TensorInfo({1}, DataType::Signed16),
                            TensorInfo({1}, DataType::Float32), TensorInfo({1}, DataType::Signed64)};

/// Whether a transpose moves nothing: dimensions of more than one element keep their order.
bool IsCopy(const TensorShape& shape, const std::array<unsigned int, 4>& order)
{
    unsigned int last = 0;
    for (const unsigned int dimension : order)
    {
        if (shape[dimension] != 1 && dimension < last)
        {
            return false;
        }
        last = shape[dimension] != 1 ? dimension : last;
    }
    return true;
}

std::string Name(const char* what, const TensorInfo& input)
{
    return std::string(what) + " of " + GetDataTypeName(input.GetDataType()) + " " + input.GetShape().ToString();
}

} // namespace

ISA_TEST(MoveLayers, TransposeAsReference)
{
    const TensorShape shapes[] = {{1, 9, 11, 3},   {1, 3, 19, 23},  {2, 64, 65, 1},   {3, 4, 70, 2},  {1, 128, 5, 66},
                                  {1, 33, 130, 4}, {2, 16, 17, 18}, {1, 1, 300, 200}, {5, 58, 2, 20}, {1, 70, 1, 1024}};
    for (const TensorInfo& type : Types)
    {
        for (const TensorShape& shape : shapes)
        {
            std::array<unsigned int, 4> order = {0, 1, 2, 3};
            while (std::next_permutation(order.begin(), order.end()))
            {
                TransposeDescriptor d;
                d.m_DimMappings = PermutationVector(order.data(), 4);
                const TensorInfo input = Shaped(type, shape);
                const TensorShape output = {shape[order[0]], shape[order[1]], shape[order[2]], shape[order[3]]};
                ExpectAsReference(ReferenceCase(Name("transpose", input), LayerType::Transpose, d, {Random(input, 1)},
                                                Shaped(type, output)),
                                  IsCopy(shape, order) ? "RefTranspose" : "CpuTranspose");
            }
        }
    }
}

ISA_TEST(MoveLayers, JoinsAndSplitsAsReference)
{
    for (const TensorInfo& type : Types)
    {
        for (const unsigned int axis : {0U, 1U, 2U, 3U})
        {
            for (const unsigned int size : {1U, 3U, 9U, 24U, 70U})
            {
                // Along the first axis all of a part is one run of bytes: smaller ones are as good.
                TensorShape first = axis == 0 ? TensorShape{2, 7, 6, 40} : TensorShape{2, 31, 30, 40};
                TensorShape second = first;
                TensorShape both = first;
                first.SetDimensionSize(axis, size);
                second.SetDimensionSize(axis, 2 * size + 1);
                both.SetDimensionSize(axis, 3 * size + 1);
                const TestTensor a = Random(Shaped(type, first), 1);
                const TestTensor b = Random(Shaped(type, second), 2);
                ConcatDescriptor concat(2, 4);
                concat.SetConcatAxis(axis);
                ExpectAsReference(
                    ReferenceCase(Name("concat", a.m_Info), LayerType::Concat, concat, {a, b}, Shaped(type, both)),
                    "CpuConcat");

                SplitterDescriptor split(2, 4);
                for (unsigned int i = 0; i < 4; ++i)
                {
                    split.SetViewOriginCoord(0, i, 0);
                    split.SetViewOriginCoord(1, i, i == axis ? size : 0);
                    split.SetViewSize(0, i, first[i]);
                    split.SetViewSize(1, i, second[i]);
                }
                OpCase op = ReferenceCase(Name("split", a.m_Info), LayerType::Splitter, split,
                                          {Random(Shaped(type, both), 3)}, a.m_Info);
                op.m_MoreOutputs = {b.m_Info};
                ExpectAsReference(op, "CpuSplitter");
            }
            StackDescriptor stack;
            stack.m_Axis = axis;
            stack.m_NumInputs = 2;
            stack.m_InputShape = {7, 9, 5};
            const TensorInfo input = Shaped(type, {7, 9, 5});
            std::vector<unsigned int> sizes = {7, 9, 5};
            sizes.insert(sizes.begin() + axis, 2);
            ExpectAsReference(ReferenceCase(Name("stack", input), LayerType::Stack, stack,
                                            {Random(input, 1), Random(input, 2)},
                                            Shaped(type, TensorShape(4, sizes.data()))),
                              "CpuStack");
        }
    }
}

ISA_TEST(MoveLayers, ShortRunsAsReference)
{
    const std::vector<std::vector<unsigned int>> lengths = {
        {1, 1},  {4, 2}, {3, 8, 5}, {16, 16},      {12, 12, 9, 1}, {24, 24},       {31, 2, 1},
        {1, 32}, {0, 7}, {33, 3},   {0, 20, 0, 6}, {2, 2, 2, 2},   {5, 5, 5, 5, 5}};
    for (const std::vector<unsigned int>& parts : lengths)
    {
        // A chunk or two, as many as vectors reach beyond, and more of them than a thread takes.
        for (const unsigned int chunks : {1U, 2U, 11U, 37U, 200U, 600U, 9000U})
        {
            const TensorInfo& type = Types[0];
            const auto count = static_cast<uint32_t>(parts.size());
            ConcatDescriptor concat(count, 2);
            concat.SetConcatAxis(1);
            SplitterDescriptor split(count, 2);
            std::vector<TestTensor> inputs;
            std::vector<TensorInfo> outputs;
            unsigned int whole = 0;
            for (uint32_t i = 0; i < count; ++i)
            {
                outputs.push_back(Shaped(type, {chunks, parts[i]}));
                inputs.push_back(Random(outputs.back(), i));
                split.SetViewOriginCoord(i, 1, whole);
                split.SetViewSize(i, 0, chunks);
                split.SetViewSize(i, 1, parts[i]);
                whole += parts[i];
            }
            const TensorInfo joined = Shaped(type, {chunks, whole});
            ExpectAsReference(ReferenceCase(Name("concat", joined), LayerType::Concat, concat, inputs, joined),
                              "CpuConcat");
            OpCase op =
                ReferenceCase(Name("split", joined), LayerType::Splitter, split, {Random(joined, 9)}, outputs.front());
            op.m_MoreOutputs = {outputs.begin() + 1, outputs.end()};
            ExpectAsReference(op, "CpuSplitter");
        }
    }
}

// Views are any boxes: some leave gaps, overlap, or come in another order.
ISA_TEST(MoveLayers, ViewsOfShortRunsAsReference)
{
    struct View
    {
        unsigned int m_Origin;
        unsigned int m_Size;
    };
    const std::vector<std::vector<View>> all = {{{0, 5}, {7, 5}}, {{0, 8}, {4, 8}},         {{6, 6}, {0, 6}},
                                                {{0, 6}, {6, 4}}, {{2, 3}, {5, 3}, {8, 4}}, {{0, 4}, {0, 4}, {8, 4}}};
    for (const std::vector<View>& views : all)
    {
        constexpr unsigned int Chunks = 3000;
        const TensorInfo& type = Types[0];
        SplitterDescriptor split(static_cast<uint32_t>(views.size()), 2);
        std::vector<TensorInfo> outputs;
        for (uint32_t i = 0; i < views.size(); ++i)
        {
            split.SetViewOriginCoord(i, 1, views[i].m_Origin);
            split.SetViewSize(i, 0, Chunks);
            split.SetViewSize(i, 1, views[i].m_Size);
            outputs.push_back(Shaped(type, {Chunks, views[i].m_Size}));
        }
        OpCase op = ReferenceCase("views from " + std::to_string(views[0].m_Origin), LayerType::Splitter, split,
                                  {Random(Shaped(type, {Chunks, 12}), 9)}, outputs.front());
        op.m_MoreOutputs = {outputs.begin() + 1, outputs.end()};
        ExpectAsReference(op, "CpuSplitter");
    }
}

ISA_TEST(MoveLayers, ConcatOfOtherQuantizationsAsReference)
{
    for (const DataType type : {DataType::QAsymmU8, DataType::QAsymmS8})
    {
        for (unsigned int axis = 0; axis < 4; ++axis)
        {
            for (const unsigned int size : {1u, 5u, 70u}) // with others, of one quantization, in between
            {
                TensorShape shape = {2, 3, 5, 33};
                shape.SetDimensionSize(axis, size);
                TensorShape joined = shape;
                joined.SetDimensionSize(axis, 4 * size);
                ConcatDescriptor concat(4, 4);
                concat.SetConcatAxis(axis);
                const TestTensor a = Random(TensorInfo(shape, type, 0.5f, 3), 1);
                const TestTensor b = Random(TensorInfo(shape, type, 0.25f, 100), 2);
                const TestTensor c = Random(TensorInfo(shape, type, 0.7f, 3), 3);
                ExpectAsReference(ReferenceCase(Name("concat", a.m_Info), LayerType::Concat, concat, {b, a, c, a},
                                                TensorInfo(joined, type, 0.5f, 3)),
                                  "CpuConcat");
                ExpectAsReference(ReferenceCase(Name("concat", a.m_Info), LayerType::Concat, concat, {b, c, b, c},
                                                TensorInfo(joined, type, 0.5f, 3)),
                                  "CpuConcat");
            }
        }
    }
}

ISA_TEST(MoveLayers, SlicesAsReference)
{
    for (const TensorInfo& type : Types)
    {
        const TensorInfo input = Shaped(type, {3, 40, 41, 29});
        const TestTensor data = Random(input, 1);
        for (const unsigned int channels : {1U, 2U, 3U, 5U, 11U, 29U})
        {
            SliceDescriptor slice({1, 2, 3, 29 - channels}, {2, 38, 37, channels});
            ExpectAsReference(ReferenceCase(Name("slice", input), LayerType::Slice, slice, {data},
                                            Shaped(type, {2, 38, 37, channels})),
                              "CpuSlice");
            StridedSliceDescriptor strided({0, 39, 1, 0}, {3, -1, 41, static_cast<int>(channels)}, {2, -3, 2, 1});
            ExpectAsReference(ReferenceCase(Name("strided slice", input), LayerType::StridedSlice, strided, {data},
                                            Shaped(type, {2, 14, 20, channels})),
                              "CpuStridedSlice");
        }
        StridedSliceDescriptor reversed({0, 0, 0, 28}, {3, 40, 41, -1}, {1, 1, 1, -1});
        ExpectAsReference(ReferenceCase(Name("reversed", input), LayerType::StridedSlice, reversed, {data}, input),
                          "CpuStridedSlice");
    }
}

ISA_TEST(MoveLayers, BlocksAndRepetitionsAsReference)
{
    for (const TensorInfo& type : Types)
    {
        for (const unsigned int channels : {1U, 3U, 4U, 7U, 20U})
        {
            for (const unsigned int block : {2U, 3U, 4U})
            {
                const TensorShape image = {2, 6 * block, 11 * block, channels};
                const TensorShape deep = {2, 6, 11, channels * block * block};
                SpaceToDepthDescriptor d;
                d.m_BlockSize = block;
                d.m_DataLayout = DataLayout::NHWC;
                d.m_ChannelMajor = channels == 3 || channels == 20;
                const TestTensor data = Random(Shaped(type, image), 1);
                ExpectAsReference(ReferenceCase(Name("space to depth", data.m_Info), LayerType::SpaceToDepth, d, {data},
                                                Shaped(type, deep)),
                                  "CpuSpaceToDepth");
                ExpectAsReference(ReferenceCase(Name("depth to space", data.m_Info), LayerType::DepthToSpace, d,
                                                {Random(Shaped(type, deep), 2)}, Shaped(type, image)),
                                  "CpuDepthToSpace");
            }
            const TestTensor data = Random(Shaped(type, {2, 9, 10, channels}), 3);
            TileDescriptor tile({3, 1, 2, 5});
            ExpectAsReference(ReferenceCase(Name("tile", data.m_Info), LayerType::Tile, tile, {data},
                                            Shaped(type, {6, 9, 20, 5 * channels})),
                              "CpuTile");
            for (const TensorShape& from : {TensorShape({1, 1, channels}), TensorShape({30, 40, 1}),
                                            TensorShape({30, 1, channels}), TensorShape({1, 1, 1})})
            {
                ExpectAsReference(ReferenceCase(Name("broadcast", Shaped(type, from)), LayerType::BroadcastTo,
                                                BroadcastToDescriptor(), {Random(Shaped(type, from), 4)},
                                                Shaped(type, {4, 30, 40, channels})),
                                  "CpuBroadcastTo");
            }
        }
    }
}

ISA_TEST(MoveLayers, BatchesOfBlocksAsReference)
{
    using Edges = std::vector<std::pair<unsigned int, unsigned int>>;
    struct Case
    {
        TensorShape m_Space;
        std::vector<unsigned int> m_Block;
        Edges m_Edges;
        bool m_IsFast = true;
    };
    const Case cases[] = {{{2, 30, 33, 5}, {3, 3}, {{0, 0}, {0, 0}}},
                          {{3, 64, 62, 1}, {2, 2}, {{0, 0}, {0, 0}}},
                          {{1, 33, 33, 40}, {2, 2}, {{2, 3}, {2, 3}}},
                          {{2, 1, 3, 7}, {4, 2}, {{5, 2}, {0, 1}}}, // places without an element
                          {{2, 11, 300}, {4}, {{1, 0}}},
                          {{2, 6, 4, 9, 3}, {3, 2, 2}, {{0, 0}, {1, 1}, {0, 1}}},
                          {{1, 90, 90, 2}, {9, 9}, {{0, 0}, {0, 0}}},
                          {{1, 89, 90, 2}, {9, 9}, {{1, 0}, {0, 0}}, false}}; // too many places, each with others
    for (const TensorInfo& type : Types)
    {
        for (const Case& c : cases)
        {
            TensorShape blocks = c.m_Space;
            for (unsigned int i = 0; i < c.m_Block.size(); ++i)
            {
                blocks.SetDimensionSize(0, blocks[0] * c.m_Block[i]);
                blocks.SetDimensionSize(i + 1,
                                        (c.m_Space[i + 1] + c.m_Edges[i].first + c.m_Edges[i].second) / c.m_Block[i]);
            }
            const TensorInfo space = Shaped(type, c.m_Space);
            SpaceToBatchNdDescriptor toBatch(c.m_Block, c.m_Edges);
            toBatch.m_DataLayout = DataLayout::NHWC;
            ExpectAsReference(ReferenceCase(Name("space to batch", space), LayerType::SpaceToBatchNd, toBatch,
                                            {Random(space, 1)}, Shaped(type, blocks)),
                              c.m_IsFast ? "CpuSpaceToBatchNd" : "RefSpaceToBatchNd");
            BatchToSpaceNdDescriptor toSpace(c.m_Block, c.m_Edges);
            toSpace.m_DataLayout = DataLayout::NHWC;
            ExpectAsReference(ReferenceCase(Name("batch to space", space), LayerType::BatchToSpaceNd, toSpace,
                                            {Random(Shaped(type, blocks), 2)}, space),
                              c.m_IsFast ? "CpuBatchToSpaceNd" : "RefBatchToSpaceNd");
        }
    }
}

ISA_TEST(MoveLayers, PadAsReference)
{
    const std::vector<std::pair<unsigned int, unsigned int>> borders[] = {
        {{0, 0}, {1, 2}, {3, 1}, {0, 0}}, {{0, 0}, {0, 0}, {0, 0}, {2, 3}}, {{1, 0}, {0, 4}, {0, 0}, {1, 0}},
        {{0, 0}, {0, 0}, {5, 0}, {0, 0}}, {{0, 0}, {0, 0}, {0, 0}, {0, 0}}, {{2, 1}, {1, 1}, {1, 1}, {1, 1}}};
    for (const TensorInfo& type : Types)
    {
        for (const TensorShape& shape : {TensorShape({2, 30, 31, 3}), TensorShape({1, 9, 10, 65}),
                                         TensorShape({3, 5, 1, 300}), TensorShape({2, 0, 4, 2})})
        {
            for (const auto& border : borders)
            {
                const TensorInfo input = Shaped(type, shape);
                TensorInfo output = input;
                for (unsigned int i = 0; i < 4; ++i)
                {
                    TensorShape sizes = output.GetShape();
                    sizes.SetDimensionSize(i, shape[i] + border[i].first + border[i].second);
                    output.SetShape(sizes);
                }
                for (const float value : {0.0f, 77.0f})
                {
                    ExpectAsReference(ReferenceCase(Name("pad", input), LayerType::Pad, PadDescriptor(border, value),
                                                    {Random(input, 1)}, output),
                                      output.GetNumElements() == 0 ? "RefPad" : "CpuPad");
                }
            }
        }
    }
}

} // namespace tenon::test::move_layers_test
