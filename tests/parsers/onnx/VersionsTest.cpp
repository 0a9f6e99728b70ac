// SPDX-License-Identifier: Apache-2.0
// Small cases of ONNX operators at old and new versions: where something was an attribute and became an input, got a
// new attribute or changed its meaning. Each runs with inputs of fixed and of open sizes, and with all inputs stored in
// the model, whose results may be computed while it is read.
#include "OperatorCase.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tenon::test::onnx_versions_test
{

using namespace operator_case;
using testing::HasSubstr;

namespace
{

constexpr int64_t Last = INT64_MAX;

} // namespace

TEST(OnnxVersions, Reshape)
{
    const Operand x = F({2, 3}, {1, 2, 3, 4, 5, 6});
    Check({
        {"Reshape", 1, {x}, {Attribute("shape", Sizes{3, -1})}, {F({3, 2}, {1, 2, 3, 4, 5, 6})}},
        {"Reshape", 5, {x, Kept(I({2}, {3, 2}))}, {}, {F({3, 2}, {1, 2, 3, 4, 5, 6})}},
        {"Reshape", 5, {x, I({2}, {3, 2})}, {}, {F({3, 2}, {1, 2, 3, 4, 5, 6})}},
        {"Reshape", 13, {x, I({2}, {-1, 2})}, {}, {F({3, 2}, {1, 2, 3, 4, 5, 6})}},
        {"Reshape", 13, {x, Kept(I({3}, {0, 1, -1}))}, {}, {F({2, 1, 3}, {1, 2, 3, 4, 5, 6})}},
        {"Reshape", 13, {x, I({3}, {0, 1, -1})}, {}, {F({2, 1, 3}, {1, 2, 3, 4, 5, 6})}},
        {"Reshape", 14, {F({0, 3}, {}), Kept(I({2}, {3, 0}))}, {Attribute("allowzero", 1)}, {F({3, 0}, {})}},
        {"Reshape", 14, {F({0, 3}, {}), I({2}, {3, 0})}, {Attribute("allowzero", 1)}, {F({3, 0}, {})}},
        {"Reshape", 21, {F({1, 1}, {7}), Kept(I({0}, {}))}, {}, {F({}, {7})}},
        {"Flatten", 1, {F({2, 1, 3}, {1, 2, 3, 4, 5, 6})}, {}, {F({2, 3}, {1, 2, 3, 4, 5, 6})}},
        {"Flatten", 9, {x}, {Attribute("axis", 0)}, {F({1, 6}, {1, 2, 3, 4, 5, 6})}},
        {"Flatten", 11, {F({2, 1, 3}, {1, 2, 3, 4, 5, 6})}, {Attribute("axis", -2)}, {F({2, 3}, {1, 2, 3, 4, 5, 6})}},
        {"Flatten", 13, {x}, {Attribute("axis", 2)}, {F({6, 1}, {1, 2, 3, 4, 5, 6})}},
    });
}

// The run tells also how many sizes there are.
TEST(OnnxVersions, ReshapeToOpenRank)
{
    OnnxRun run(Model(Graph()
                          .Input("x", {"n", "m"})
                          .Input("shape", ElementType::Int64, Dims{"rank"})
                          .Add("Reshape", {"x", "shape"}, {"y"})
                          .Output("y")));
    const Data x = Fed({2, 3}, {1, 2, 3, 4, 5, 6});
    EXPECT_EQ(run.Run({x, I({3}, {0, 1, -1}).m_Data}).at(0).m_Info.GetShape(), TensorShape({2, 1, 3}));
    EXPECT_EQ(run.Run({x, I({1}, {6}).m_Data}).at(0).m_Info.GetShape(), TensorShape({6}));
}

TEST(OnnxVersions, SqueezeAndUnsqueeze)
{
    const Operand x = F({1, 2, 1}, {1, 2});
    Check({
        {"Squeeze", 1, {x}, {Attribute("axes", Sizes{0})}, {F({2, 1}, {1, 2})}},
        {"Squeeze", 1, {x}, {}, {F({2}, {1, 2})}, NeedsSizes},
        {"Squeeze", 11, {x}, {Attribute("axes", Sizes{-1, 0})}, {F({2}, {1, 2})}},
        {"Squeeze", 13, {x, Kept(I({1}, {-1}))}, {}, {F({1, 2}, {1, 2})}},
        {"Squeeze", 13, {x}, {}, {F({2}, {1, 2})}, NeedsSizes},
        {"Unsqueeze", 1, {F({2}, {1, 2})}, {Attribute("axes", Sizes{0, 2})}, {F({1, 2, 1}, {1, 2})}},
        {"Unsqueeze", 11, {F({2}, {1, 2})}, {Attribute("axes", Sizes{-1})}, {F({2, 1}, {1, 2})}},
        {"Unsqueeze", 13, {F({2}, {1, 2}), Kept(I({2}, {2, 0}))}, {}, {F({1, 2, 1}, {1, 2})}},
        {"Unsqueeze", 21, {F({2, 2}, {1, 2, 3, 4}), Kept(I({2}, {-1, 1}))}, {}, {F({2, 1, 2, 1}, {1, 2, 3, 4})}},
    });
}

TEST(OnnxVersions, Slice)
{
    const Operand x = F({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
    const Operand middle = F({2, 2}, {2, 3, 6, 7});
    Check({
        {"Slice",
         1,
         {x},
         {Attribute("starts", Sizes{0, 1}), Attribute("ends", Sizes{1, 1000})},
         {F({1, 3}, {2, 3, 4})}},
        {"Slice",
         1,
         {x},
         {Attribute("axes", Sizes{1}), Attribute("starts", Sizes{-3}), Attribute("ends", Sizes{-1})},
         {middle}},
        {"Slice", 10, {x, Kept(I({1}, {1})), Kept(I({1}, {3})), Kept(I({1}, {1}))}, {}, {middle}},
        {"Slice", 10, {x, I({1}, {1}), I({1}, {3}), Kept(I({1}, {1}))}, {}, {middle}},
        {"Slice", 11, {x, I({1}, {-3}), I({1}, {-1}), Kept(I({1}, {-1}))}, {}, {middle}},
        {"Slice",
         13,
         {x, Kept(I({1}, {0})), Kept(I({1}, {Last})), Kept(I({1}, {1})), Kept(I({1}, {3}))},
         {},
         {F({2, 2}, {1, 4, 5, 8})}},
        {"Slice",
         13,
         {x, Kept(I({1}, {Last})), Kept(I({1}, {INT64_MIN})), Kept(I({1}, {-1})), Kept(I({1}, {-2}))},
         {},
         {F({2, 2}, {4, 2, 8, 6})}},
        {"Slice",
         13,
         {x, Kept(I({1}, {0})), Kept(I({1}, {Last})), Kept(I({1}, {1})), Kept(I({1}, {Last}))},
         {},
         {F({2, 1}, {1, 5})}},
        {"Slice",
         13,
         {x, Kept(I({1}, {-1})), Kept(I({1}, {INT64_MIN})), Kept(I({1}, {1})), Kept(I({1}, {INT64_MIN}))},
         {},
         {F({2, 1}, {4, 8})}},
        {"Slice", 13, {x, Kept(I({1}, {3})), Kept(I({1}, {1})), Kept(I({1}, {1}))}, {}, {F({2, 0}, {})}},
        {"Slice", 13, {x, I({2}, {1, 3}), I({2}, {2, 0}), None(), I({2}, {1, -1})}, {}, {F({1, 3}, {8, 7, 6})}},
        {"Slice",
         13,
         {I({4}, {5, 6, 7, 8}), Kept(I({1}, {-1})), Kept(I({1}, {-Last})), None(), Kept(I({1}, {-3}))},
         {},
         {I({2}, {8, 5})}},
    });
}

TEST(OnnxVersions, TopK)
{
    const Operand x = F({1, 4}, {3, 1, 4, 2});
    Check({
        {"TopK", 1, {x}, {Attribute("k", 2)}, {F({1, 2}, {4, 3}), I({1, 2}, {2, 0})}},
        {"TopK", 10, {x, Kept(I({1}, {2}))}, {}, {F({1, 2}, {4, 3}), I({1, 2}, {2, 0})}},
        {"TopK", 10, {x, I({1}, {2})}, {Attribute("axis", 1)}, {F({1, 2}, {4, 3}), I({1, 2}, {2, 0})}},
        {"TopK", 11, {x, Kept(I({1}, {2}))}, {Attribute("largest", 0)}, {F({1, 2}, {1, 2}), I({1, 2}, {1, 3})}},
        {"TopK",
         11,
         {x, Kept(I({1}, {1}))},
         {Attribute("axis", 0)},
         {F({1, 4}, {3, 1, 4, 2}), I({1, 4}, {0, 0, 0, 0})}},
        {"ArgMax", 1, {F({1, 3}, {3, 1, 3})}, {Attribute("axis", 1)}, {I({1, 1}, {0})}},
        {"ArgMax",
         12,
         {F({1, 3}, {3, 1, 3})},
         {Attribute("axis", 1), Attribute("select_last_index", 1)},
         {I({1, 1}, {2})}},
        {"ArgMin", 11, {F({1, 3}, {3, 1, 1})}, {Attribute("axis", -1), Attribute("keepdims", 0)}, {I({1}, {1})}},
    });
}

TEST(OnnxVersions, Clip)
{
    const Operand x = F({3}, {-2, 0, 5});
    Check({
        {"Clip", 6, {x}, {Attribute("min", -1.0f), Attribute("max", 1.0f)}, {F({3}, {-1, 0, 1})}},
        {"Clip", 6, {x}, {Attribute("max", 1.0f)}, {F({3}, {-2, 0, 1})}},
        {"Clip", 6, {x}, {}, {x}},
        {"Clip", 11, {x, Kept(F({}, {-1})), Kept(F({}, {1}))}, {}, {F({3}, {-1, 0, 1})}},
        {"Clip", 11, {x, F({}, {-1}), F({}, {1})}, {}, {F({3}, {-1, 0, 1})}},
        {"Clip", 12, {x, None(), F({}, {1})}, {}, {F({3}, {-2, 0, 1})}},
        {"Clip", 13, {x, Kept(F({}, {0}))}, {}, {F({3}, {0, 0, 5})}},
        {"Clip", 13, {I({3}, {-2, 0, 5}), Kept(I({}, {-1})), Kept(I({}, {1}))}, {}, {I({3}, {-1, 0, 1})}},
        {"Clip", 13, {x, Kept(F({}, {3})), Kept(F({}, {1}))}, {}, {F({3}, {1, 1, 1})}},
        {"Clip", 13, {x, F({}, {3}), F({}, {1})}, {}, {F({3}, {1, 1, 1})}},
    });
}

TEST(OnnxVersions, Pad)
{
    const Operand x = F({1, 2}, {1, 2});
    const Operand list = F({3}, {1, 2, 3});
    Check({
        {"Pad",
         1,
         {x},
         {Attribute("paddings", Sizes{0, 1, 0, 1}), Attribute("value", 9.0f)},
         {F({1, 4}, {9, 1, 2, 9})}},
        {"Pad", 2, {x}, {Attribute("pads", Sizes{0, 1, 0, 1}), Attribute("value", 9.0f)}, {F({1, 4}, {9, 1, 2, 9})}},
        {"Pad", 2, {list}, {Attribute("pads", Sizes{2, 0}), Attribute("mode", "reflect")}, {F({5}, {3, 2, 1, 2, 3})}},
        {"Pad", 2, {list}, {Attribute("pads", Sizes{2, 1}), Attribute("mode", "edge")}, {F({6}, {1, 1, 1, 2, 3, 3})}},
        {"Pad", 11, {x, Kept(I({4}, {0, 1, 0, 1})), Kept(F({}, {9}))}, {}, {F({1, 4}, {9, 1, 2, 9})}},
        {"Pad", 11, {x, I({4}, {0, 1, 0, 1}), F({}, {9})}, {}, {F({1, 4}, {9, 1, 2, 9})}},
        {"Pad", 13, {F({4}, {1, 2, 3, 4}), Kept(I({2}, {-1, 1}))}, {}, {F({4}, {2, 3, 4, 0})}},
        {"Pad", 13, {I({2}, {1, 2}), Kept(I({2}, {1, 0})), Kept(I({}, {7}))}, {}, {I({3}, {7, 1, 2})}},
        {"Pad",
         18,
         {F({2, 2}, {1, 2, 3, 4}), Kept(I({2}, {1, 0})), None(), Kept(I({1}, {-1}))},
         {},
         {F({2, 3}, {0, 1, 2, 0, 3, 4})}},
        {"Pad",
         18,
         {F({2, 2}, {1, 2, 3, 4}), I({2}, {1, 0}), None(), Kept(I({1}, {1}))},
         {},
         {F({2, 3}, {0, 1, 2, 0, 3, 4})}},
        {"Pad", 19, {list, Kept(I({2}, {1, 1}))}, {Attribute("mode", "wrap")}, {F({5}, {3, 1, 2, 3, 1})}},
    });
}

TEST(OnnxVersions, Dropout)
{
    const Operand x = F({2}, {1, -2});
    const Operand mask = B({2}, {true, true});
    Check({
        {"Dropout", 6, {x}, {Attribute("is_test", 1), Attribute("ratio", 0.9f)}, {x}},
        {"Dropout", 7, {x}, {Attribute("ratio", 0.9f)}, {x}},
        {"Dropout", 10, {x}, {}, {x, mask}},
        {"Dropout", 12, {x, Kept(F({}, {0.9f}))}, {}, {x, mask}},
        {"Dropout", 13, {x, Kept(F({}, {0.9f})), Kept(B({}, {false}))}, {Attribute("seed", 5)}, {x, mask}},
    });
    EXPECT_THAT(ErrorOf<UnimplementedException>(Model(Graph()
                                                          .Input("x", {2})
                                                          .Store(Tensor<bool>("t", {}, {true}))
                                                          .Add("Dropout", {"x", "", "t"}, {"y"})
                                                          .Output("y"))),
                HasSubstr("dropout in training is not supported"));
}

TEST(OnnxVersions, Split)
{
    const Operand x = F({4}, {1, 2, 3, 4});
    const Operand seven = F({1, 7}, {1, 2, 3, 4, 5, 6, 7});
    Check({
        {"Split", 1, {x}, {Attribute("split", Sizes{1, 3})}, {F({1}, {1}), F({3}, {2, 3, 4})}},
        {"Split", 2, {x}, {}, {F({2}, {1, 2}), F({2}, {3, 4})}},
        {"Split", 2, {x}, {Attribute("split", Sizes{1, 0, 3})}, {F({1}, {1}), F({0}, {}), F({3}, {2, 3, 4})}},
        {"Split", 11, {F({1, 2}, {1, 2})}, {Attribute("axis", -1)}, {F({1, 1}, {1}), F({1, 1}, {2})}},
        {"Split", 13, {x, Kept(I({2}, {3, 1}))}, {}, {F({3}, {1, 2, 3}), F({1}, {4})}},
        {"Split", 13, {x, I({2}, {3, 1})}, {}, {F({3}, {1, 2, 3}), F({1}, {4})}},
        {"Split", 13, {x}, {}, {F({2}, {1, 2}), F({2}, {3, 4})}},
        {"Split", 13, {x}, {}, {x}},
    });
    // An uneven last part: the size must be known.
    Case uneven{"Split",
                18,
                {seven},
                {Attribute("axis", 1), Attribute("num_outputs", 3)},
                {F({1, 3}, {1, 2, 3}), F({1, 3}, {4, 5, 6}), F({1, 1}, {7})}};
    std::vector<Data> fed;
    for (const Given sizes : {Given::Fixed, Given::Stored})
    {
        fed.clear();
        const std::vector<Data> parts = RunModel(Build(uneven, sizes, fed), fed);
        for (size_t i = 0; i < 3; ++i)
        {
            ExpectEqual(parts.at(i), uneven.m_Outputs[i].m_Data);
        }
    }
}

TEST(OnnxVersions, Reductions)
{
    const Operand x = F({2, 3}, {1, 2, 3, 4, 5, 6});
    const Operand rows = F({2, 1}, {6, 15});
    Check({
        {"ReduceSum", 1, {x}, {Attribute("axes", Sizes{1})}, {rows}},
        {"ReduceSum", 11, {x}, {Attribute("axes", Sizes{-1}), Attribute("keepdims", 0)}, {F({2}, {6, 15})}},
        {"ReduceSum", 13, {x, Kept(I({1}, {-1}))}, {}, {rows}},
        {"ReduceSum", 13, {x, I({1}, {1})}, {}, {rows}},
        {"ReduceSum", 13, {x}, {}, {F({1, 1}, {21})}},
        {"ReduceSum", 13, {x, Kept(I({0}, {}))}, {Attribute("keepdims", 0)}, {F({}, {21})}},
        {"ReduceSum", 13, {x}, {Attribute("noop_with_empty_axes", 1)}, {x}},
        {"ReduceMean", 13, {x}, {Attribute("axes", Sizes{0})}, {F({1, 3}, {2.5f, 3.5f, 4.5f})}},
        {"ReduceMean", 18, {x, Kept(I({1}, {0}))}, {}, {F({1, 3}, {2.5f, 3.5f, 4.5f})}},
        {"ReduceMean", 18, {x, I({1}, {0})}, {Attribute("keepdims", 0)}, {F({3}, {2.5f, 3.5f, 4.5f})}},
        {"ReduceMax", 12, {I({3}, {1, 7, 3})}, {Attribute("axes", Sizes{0})}, {I({1}, {7})}},
        {"ReduceMax", 18, {x, Kept(I({2}, {0, 1}))}, {}, {F({1, 1}, {6})}},
        {"ReduceMax", 20, {B({2, 2}, {false, true, false, false}), Kept(I({1}, {1}))}, {}, {B({2, 1}, {true, false})}},
        {"ReduceMin", 20, {B({2, 2}, {false, true, true, true}), Kept(I({1}, {1}))}, {}, {B({2, 1}, {false, true})}},
        {"ReduceProd", 11, {x}, {Attribute("axes", Sizes{1})}, {F({2, 1}, {6, 120})}},
        {"ReduceProd", 18, {x, Kept(I({1}, {1}))}, {}, {F({2, 1}, {6, 120})}},
        {"ReduceL1", 11, {F({1, 2}, {-3, 4})}, {Attribute("axes", Sizes{1})}, {F({1, 1}, {7})}},
        {"ReduceL1", 18, {F({1, 2}, {-3, 4}), Kept(I({1}, {1}))}, {}, {F({1, 1}, {7})}},
        {"ReduceL2", 13, {F({1, 2}, {-3, 4})}, {Attribute("axes", Sizes{1})}, {F({1, 1}, {5})}},
        {"ReduceL2", 18, {F({1, 2}, {-3, 4}), Kept(I({1}, {1}))}, {}, {F({1, 1}, {5})}},
        {"ReduceSumSquare", 18, {F({1, 2}, {-3, 4}), Kept(I({1}, {1}))}, {}, {F({1, 1}, {25})}},
        {"ReduceLogSum", 18, {F({1, 2}, {1, 2}), Kept(I({1}, {1}))}, {}, {F({1, 1}, {std::log(3.0f)})}},
        {"ReduceLogSumExp", 18, {F({1, 2}, {1000, 1000}), Kept(I({1}, {1}))}, {}, {F({1, 1}, {1000 + std::log(2.0f)})}},
    });
}

TEST(OnnxVersions, FourierTransforms)
{
    const Operand x = F({1, 4, 1}, {1, 2, 3, 4});
    const Operand half = F({1, 3, 2}, {10, 0, -2, 2, -2, 0});
    Check({
        {"DFT", 17, {F({1, 2, 1}, {1, 2})}, {}, {F({1, 2, 2}, {3, 0, -1, 0})}},
        {"DFT", 17, {x}, {Attribute("axis", 1), Attribute("onesided", 1)}, {half}},
        {"DFT", 20, {x, None(), Kept(I({}, {1}))}, {Attribute("onesided", 1)}, {half}},
        {"DFT", 20, {x, None(), Kept(I({}, {-2}))}, {Attribute("onesided", 1)}, {half}},
        {"DFT", 20, {x, Kept(I({}, {2}))}, {}, {F({1, 2, 2}, {3, 0, -1, 0})}},
    });
}

TEST(OnnxVersions, DepthAndSpace)
{
    const Operand depth = F({1, 8, 1, 1}, {1, 2, 3, 4, 5, 6, 7, 8});
    const Operand space = F({1, 2, 2, 2}, {1, 3, 5, 7, 2, 4, 6, 8});
    const Operand ordered = F({1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
    const Wire two = Attribute("blocksize", 2);
    Check({
        {"DepthToSpace", 1, {depth}, {two}, {space}},
        {"DepthToSpace", 11, {depth}, {two, Attribute("mode", "DCR")}, {space}},
        {"DepthToSpace", 13, {depth}, {two, Attribute("mode", "CRD")}, {ordered}},
        {"SpaceToDepth", 1, {space}, {two}, {depth}},
        {"SpaceToDepth", 28, {ordered}, {two, Attribute("mode", "CRD")}, {depth}},
    });
}

TEST(OnnxVersions, Pools)
{
    const Operand x = F({1, 1, 1, 2}, {2, 4});
    const Operand three = F({1, 1, 1, 3}, {1, 2, 3});
    const Wire window = Attribute("kernel_shape", Sizes{1, 2});
    const Wire pads = Attribute("pads", Sizes{0, 1, 0, 1});
    const Operand square = F({1, 1, 2, 2}, {1, 4, 3, 2});
    const Wire all = Attribute("kernel_shape", Sizes{2, 2});
    Check({
        {"AveragePool", 1, {x}, {window, pads}, {F({1, 1, 1, 3}, {2, 3, 4})}},
        {"AveragePool", 7, {x}, {window, pads, Attribute("count_include_pad", 1)}, {F({1, 1, 1, 3}, {1, 3, 2})}},
        {"AveragePool",
         10,
         {three},
         {window, Attribute("strides", Sizes{1, 2}), Attribute("ceil_mode", 1)},
         {F({1, 1, 1, 2}, {1.5f, 3})}},
        {"AveragePool", 10, {three}, {window, Attribute("strides", Sizes{1, 2})}, {F({1, 1, 1, 1}, {1.5f})}},
        {"AveragePool", 19, {three}, {window, Attribute("dilations", Sizes{1, 2})}, {F({1, 1, 1, 1}, {2})}},
        {"AveragePool",
         11,
         {F({1, 1, 3}, {1, 2, 3})},
         {Attribute("kernel_shape", Sizes{2})},
         {F({1, 1, 2}, {1.5f, 2.5f})}},
        {"MaxPool", 1, {three}, {window}, {F({1, 1, 1, 2}, {2, 3})}},
        {"MaxPool", 8, {square}, {all}, {F({1, 1, 1, 1}, {4}), I({1, 1, 1, 1}, {1})}},
        {"MaxPool", 8, {square}, {all, Attribute("storage_order", 1)}, {F({1, 1, 1, 1}, {4}), I({1, 1, 1, 1}, {2})}},
        {"MaxPool",
         10,
         {three},
         {window, Attribute("strides", Sizes{1, 2}), Attribute("ceil_mode", 1)},
         {F({1, 1, 1, 2}, {2, 3})}},
        {"MaxPool", 10, {three}, {window, Attribute("dilations", Sizes{1, 2})}, {F({1, 1, 1, 1}, {3})}},
        {"LpPool", 1, {x}, {window, Attribute("p", 2.0f)}, {F({1, 1, 1, 1}, {std::sqrt(20.0f)})}},
        {"LpPool", 2, {x}, {window, Attribute("p", 1)}, {F({1, 1, 1, 1}, {6})}},
        {"GlobalLpPool", 2, {x}, {Attribute("p", 1)}, {F({1, 1, 1, 1}, {6})}},
    });
}

TEST(OnnxVersions, ShapesAndConstants)
{
    const Operand x = F({2, 3, 4}, std::vector<float>(24, 0.0f));
    Check({
        {"Shape", 1, {x}, {}, {I({3}, {2, 3, 4})}},
        {"Shape", 15, {x}, {Attribute("start", 1), Attribute("end", -1)}, {I({1}, {3})}},
        {"Shape", 15, {x}, {Attribute("start", -100), Attribute("end", 100)}, {I({3}, {2, 3, 4})}},
        {"Shape", 19, {x}, {Attribute("start", 2), Attribute("end", 1)}, {I({0}, {})}},
        {"Size", 13, {x}, {}, {I({}, {24})}},
        {"Constant", 1, {}, {TensorAttribute("value", Floats("", {2}, {1, 2}))}, {F({2}, {1, 2})}},
        {"Constant", 12, {}, {Attribute("value_int", 5)}, {I({}, {5})}},
        {"Constant", 12, {}, {Attribute("value_ints", Sizes{5, -6})}, {I({2}, {5, -6})}},
        {"Constant", 12, {}, {Attribute("value_float", 0.5f)}, {F({}, {0.5f})}},
        {"Constant", 13, {}, {Attribute("value_floats", std::vector<float>{1, 2})}, {F({2}, {1, 2})}},
        {"ConstantOfShape", 9, {I({2}, {1, 2})}, {}, {F({1, 2}, {0, 0})}},
        {"ConstantOfShape",
         9,
         {Kept(I({2}, {1, 2}))},
         {TensorAttribute("value", Ints("", {1}, {7}))},
         {I({1, 2}, {7, 7})}},
        {"ConstantOfShape", 9, {Kept(I({0}, {}))}, {TensorAttribute("value", Ints("", {1}, {7}))}, {I({}, {7})}},
        {"Range", 11, {I({}, {3}), I({}, {10}), I({}, {3})}, {}, {I({3}, {3, 6, 9})}},
        {"Range", 11, {F({}, {1}), F({}, {0}), F({}, {-0.25f})}, {}, {F({4}, {1, 0.75f, 0.5f, 0.25f})}},
        {"Range", 11, {I({}, {3}), I({}, {0}), I({}, {3})}, {}, {I({0}, {})}},
        {"Range", 11, {I({}, {0}), I({}, {3}), I({}, {-1})}, {}, {I({0}, {})}},
        {"Range", 11, {I({}, {3}), I({}, {0}), Kept(I({}, {1}))}, {}, {I({0}, {})}},
        {"Range", 11, {F({}, {3}), F({}, {5}), Kept(F({}, {-1}))}, {}, {F({0}, {})}},
        {"EyeLike", 9, {F({2, 3}, std::vector<float>(6, 9.0f))}, {Attribute("k", 1)}, {F({2, 3}, {0, 1, 0, 0, 0, 1})}},
    });
}

TEST(OnnxVersions, Recurrence)
{
    const Wire hidden = Attribute("hidden_size", 1);
    const Wire relu = Attribute("activations", Names{"Relu"});
    const Operand one = Kept(F({1, 1, 1}, {1}));
    const Operand zeros = Kept(F({1, 3, 1}, {0, 0, 0}));
    const Operand bias = Kept(F({1, 6}, {0, 0, 0, 0, 0, 1}));
    Check({
        {"RNN", 7, {F({2, 1, 1}, {1, 2}), one, one}, {hidden, relu}, {F({2, 1, 1, 1}, {1, 3}), F({1, 1, 1}, {3})}},
        {"RNN",
         14,
         {F({1, 2, 1}, {1, 2}), one, one},
         {hidden, relu, Attribute("layout", 1)},
         {F({1, 2, 1, 1}, {1, 3}), F({1, 1, 1}, {3})}},
        {"RNN",
         22,
         {F({2, 1, 1}, {1, 2}), one, one, None(), None(), Kept(F({1, 1, 1}, {10}))},
         {hidden, relu, Attribute("direction", "reverse")},
         {F({2, 1, 1, 1}, {13, 12}), F({1, 1, 1}, {13})}},
        {"GRU",
         3,
         {F({1, 1, 1}, {5}), zeros, zeros, bias},
         {hidden, Attribute("linear_before_reset", 1)},
         {None(), F({1, 1, 1}, {0.5f * std::tanh(0.5f)})}},
        {"GRU",
         14,
         {F({1, 1, 1}, {5}), zeros, zeros, bias},
         {hidden},
         {None(), F({1, 1, 1}, {0.5f * std::tanh(1.0f)})}},
        {"LSTM",
         7,
         {F({1, 1, 1}, {5}), Kept(F({1, 4, 1}, {0, 0, 0, 0})), Kept(F({1, 4, 1}, {0, 0, 0, 0})), None(), None(), None(),
          Kept(F({1, 1, 1}, {2}))},
         {hidden},
         {None(), F({1, 1, 1}, {0.5f * std::tanh(1.0f)}), F({1, 1, 1}, {1})}},
    });
}

TEST(OnnxVersions, Normalizations)
{
    const auto batch = [](int64_t version, const std::vector<Wire>& attributes)
    {
        std::vector<Wire> all = {Attribute("epsilon", 0.0f)};
        all.insert(all.end(), attributes.begin(), attributes.end());
        return Case{"BatchNormalization",
                    version,
                    {F({1, 2}, {2, 3}), F({2}, {1, 2}), F({2}, {0, 1}), F({2}, {1, 1}), F({2}, {1, 4})},
                    all,
                    {F({1, 2}, {1, 3})}};
    };
    const std::vector<float> four = {1, 3, 5, 7};
    const Wire exact = Attribute("epsilon", 0.0f);
    Check({
        batch(6, {Attribute("is_test", 1)}),
        batch(7, {Attribute("spatial", 1)}),
        batch(9, {}),
        batch(14, {Attribute("training_mode", 0)}),
        batch(15, {}),
        {"GroupNormalization",
         18,
         {F({1, 4, 1}, four), F({2}, {1, 10}), F({2}, {0, 0.5f})},
         {exact, Attribute("num_groups", 2)},
         {F({1, 4, 1}, {-1, 1, -9.5f, 10.5f})},
         NeedsSizes},
        {"GroupNormalization",
         21,
         {F({1, 4, 1}, four), F({4}, {1, 2, 3, 4}), F({4}, {0, 0, 0, 1})},
         {exact, Attribute("num_groups", 2)},
         {F({1, 4, 1}, {-1, 2, -3, 5})}},
        {"LayerNormalization",
         17,
         {F({1, 2}, {1, 3}), F({2}, {1, 2}), F({2}, {0, 1})},
         {exact},
         {F({1, 2}, {-1, 3}), F({1, 1}, {2}), F({1, 1}, {1})}},
        {"InstanceNormalization",
         6,
         {F({1, 1, 2}, {1, 3}), F({1}, {2}), F({1}, {1})},
         {exact},
         {F({1, 1, 2}, {-1, 3})}},
        {"LpNormalization", 1, {F({1, 2}, {3, 4})}, {}, {F({1, 2}, {0.6f, 0.8f})}},
    });
    for (const auto& [version, attribute, text] :
         {std::tuple{6, Attribute("is_test", 0), "normalization in training"},
          std::tuple{14, Attribute("training_mode", 1), "normalization in training"},
          std::tuple{7, Attribute("spatial", 0), "spatial = 0"}})
    {
        std::vector<Data> fed;
        EXPECT_THAT(ErrorOf<UnimplementedException>(Build(batch(version, {attribute}), Given::Fixed, fed)),
                    HasSubstr(text));
    }
}

TEST(OnnxVersions, Softmax)
{
    const Operand zeros = F({1, 2, 2}, {0, 0, 0, 0});
    const Operand x = F({1, 2, 2}, {1, 2, 3, 0});
    const float half = std::log(0.5f);
    const float quarter = std::log(0.25f);
    const auto all = [](float value) { return F({1, 2, 2}, {value, value, value, value}); };
    Check({
        {"Softmax", 1, {zeros}, {}, {all(0.25f)}, NeedsSizes},
        {"Softmax", 11, {zeros}, {Attribute("axis", -1)}, {all(0.5f)}},
        {"Softmax", 13, {zeros}, {}, {all(0.5f)}},
        {"Softmax", 13, {zeros}, {Attribute("axis", 0)}, {all(1.0f)}},
        {"LogSoftmax", 11, {zeros}, {}, {all(quarter)}, NeedsSizes},
        {"LogSoftmax", 13, {zeros}, {}, {all(half)}},
        {"Hardmax", 11, {x}, {}, {F({1, 2, 2}, {0, 0, 1, 0})}, NeedsSizes},
        {"Hardmax", 13, {x}, {}, {F({1, 2, 2}, {0, 1, 1, 0})}},
        {"Hardmax", 13, {F({1, 3}, {2, 2, 1})}, {}, {F({1, 3}, {1, 0, 0})}},
    });
}

TEST(OnnxVersions, Indices)
{
    const Operand x = F({3}, {10, 20, 30});
    Check({
        {"Gather", 1, {x, I({2}, {2, 0})}, {}, {F({2}, {30, 10})}},
        {"Gather", 11, {x, I({2}, {-1, 0})}, {}, {F({2}, {30, 10})}},
        {"Gather", 13, {F({1, 3}, {1, 2, 3}), I({}, {-2})}, {Attribute("axis", -1)}, {F({1}, {2})}},
        {"Gather", 13, {x, Of<int32_t>({1}, {-1})}, {}, {F({1}, {30})}},
        {"GatherElements",
         11,
         {F({2, 2}, {1, 2, 3, 4}), I({2, 1}, {1, -2})},
         {Attribute("axis", 1)},
         {F({2, 1}, {2, 3})}},
        {"GatherND", 11, {F({2, 2}, {0, 1, 2, 3}), I({2, 2}, {0, 0, 1, -1})}, {}, {F({2}, {0, 3})}},
        {"GatherND",
         12,
         {F({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7}), I({2, 1}, {1, 0})},
         {Attribute("batch_dims", 1)},
         {F({2, 2}, {2, 3, 4, 5})}},
        {"Scatter", 9, {x, I({2}, {2, 0}), F({2}, {1, 2})}, {}, {F({3}, {2, 20, 1})}},
        {"ScatterElements", 11, {x, I({2}, {-1, 0}), F({2}, {1, 2})}, {}, {F({3}, {2, 20, 1})}},
        {"ScatterElements",
         16,
         {x, I({2}, {0, 0}), F({2}, {1, 2})},
         {Attribute("reduction", "add")},
         {F({3}, {13, 20, 30})}},
        {"ScatterElements",
         18,
         {x, I({2}, {0, 0}), F({2}, {100, 2})},
         {Attribute("reduction", "max")},
         {F({3}, {100, 20, 30})}},
        {"ScatterND", 11, {x, I({1, 1}, {1}), F({1}, {5})}, {}, {F({3}, {10, 5, 30})}},
        {"ScatterND",
         16,
         {x, I({2, 1}, {1, -2}), F({2}, {5, 6})},
         {Attribute("reduction", "mul")},
         {F({3}, {10, 600, 30})}},
        // Boxes whose elements come in order, the last one of all elements; then tuples that are none.
        {"ScatterND", 11, {x, Kept(I({2, 1}, {-2, -1})), F({2}, {5, 6})}, {}, {F({3}, {10, 5, 6})}},
        {"ScatterND", 11, {x, Kept(I({3, 1}, {0, 1, 2})), F({3}, {5, 6, 7})}, {}, {F({3}, {5, 6, 7})}},
        {"ScatterND", 11, {x, Kept(I({2, 1}, {-1, 0})), F({2}, {5, 6})}, {}, {F({3}, {6, 20, 5})}},
        {"ScatterND", 11, {x, Kept(I({2, 1}, {1, 0})), F({2}, {5, 6})}, {}, {F({3}, {6, 5, 30})}},
        {"OneHot", 9, {I({2}, {0, 2}), Kept(I({}, {3})), F({2}, {5, 7})}, {}, {F({2, 3}, {7, 5, 5, 5, 5, 7})}},
        {"OneHot",
         11,
         {I({2}, {-1, 1}), Kept(I({1}, {3})), F({2}, {0, 1})},
         {Attribute("axis", 0)},
         {F({3, 2}, {0, 0, 0, 1, 1, 0})}},
        {"NonZero", 9, {F({2, 2}, {0, 1, 2, 0})}, {}, {I({2, 2}, {0, 1, 1, 0})}},
        {"Compress",
         11,
         {F({2, 2}, {1, 2, 3, 4}), B({2}, {false, true})},
         {Attribute("axis", -1)},
         {F({2, 1}, {2, 4})}},
        {"Unique",
         11,
         {F({4}, {3, 1, 3, 2})},
         {},
         {F({3}, {1, 2, 3}), I({3}, {1, 3, 0}), I({4}, {2, 0, 2, 1}), I({3}, {1, 1, 2})}},
        {"Unique", 11, {F({4}, {3, 1, 3, 2})}, {Attribute("sorted", 0)}, {F({3}, {3, 1, 2})}},
        {"Trilu", 14, {F({2, 2}, {1, 2, 3, 4}), Kept(I({}, {1}))}, {}, {F({2, 2}, {0, 2, 0, 0})}},
        {"CumSum",
         11,
         {F({3}, {1, 2, 3}), Kept(Of<int32_t>({}, {0}))},
         {Attribute("exclusive", 1), Attribute("reverse", 1)},
         {F({3}, {5, 3, 0})}},
        {"CumSum", 14, {F({3}, {1, 2, 3}), I({}, {-1})}, {}, {F({3}, {1, 3, 6})}},
    });
}

TEST(OnnxVersions, CumulativeProducts)
{
    const Wire exclusive = Attribute("exclusive", 1);
    const Wire reverse = Attribute("reverse", 1);
    const Operand x = F({2, 3}, {1, 2, 3, 4, 5, -6});
    const Operand columns = Kept(I({}, {1}));
    Check({
        {"CumProd", 26, {x, columns}, {}, {F({2, 3}, {1, 2, 6, 4, 20, -120})}},
        {"CumProd", 26, {x, columns}, {exclusive}, {F({2, 3}, {1, 1, 2, 1, 4, 20})}},
        {"CumProd", 26, {x, columns}, {reverse}, {F({2, 3}, {6, 6, 3, -120, -30, -6})}},
        {"CumProd", 26, {x, columns}, {exclusive, reverse}, {F({2, 3}, {6, 3, 1, -30, -6, 1})}},
        {"CumProd", 26, {x, Kept(Of<int32_t>({}, {0}))}, {}, {F({2, 3}, {1, 2, 3, 4, 10, -18})}},
        {"CumProd", 26, {x, I({}, {-1})}, {exclusive}, {F({2, 3}, {1, 1, 2, 1, 4, 20})}},
    });
    const auto n = [](const std::vector<int32_t>& values) { return Of<int32_t>({2, 3}, values); };
    const Operand y = n({1, 2, 3, 4, 5, -6});
    Check({
        {"CumProd", 26, {y, columns}, {}, {n({1, 2, 6, 4, 20, -120})}},
        {"CumProd", 26, {y, columns}, {exclusive}, {n({1, 1, 2, 1, 4, 20})}},
        {"CumProd", 26, {y, columns}, {reverse}, {n({6, 6, 3, -120, -30, -6})}},
        {"CumProd", 26, {y, columns}, {exclusive, reverse}, {n({6, 3, 1, -30, -6, 1})}},
        {"CumProd", 26, {y, Kept(I({}, {0}))}, {}, {n({1, 2, 3, 4, 10, -18})}},
        {"CumProd", 26, {y, I({}, {-2})}, {reverse}, {n({4, 10, -18, 4, 5, -6})}},
    });
}

TEST(OnnxVersions, Joins)
{
    const Operand a = F({1, 2}, {1, 2});
    const Operand b = F({1, 2}, {3, 4});
    Check({
        {"Concat", 1, {a, b}, {}, {F({1, 4}, {1, 2, 3, 4})}},
        {"Concat", 4, {a, b}, {Attribute("axis", 0)}, {F({2, 2}, {1, 2, 3, 4})}},
        {"Concat", 11, {a, b}, {Attribute("axis", -1)}, {F({1, 4}, {1, 2, 3, 4})}},
        {"Tile", 1, {a, Kept(F({}, {2})), Kept(F({}, {1}))}, {}, {F({1, 4}, {1, 2, 1, 2})}},
        {"Tile", 6, {a, Kept(I({2}, {2, 1}))}, {}, {F({2, 2}, {1, 2, 1, 2})}},
        {"Tile", 13, {a, I({2}, {1, 2})}, {}, {F({1, 4}, {1, 2, 1, 2})}},
        {"Expand", 8, {a, Kept(I({2}, {2, 1}))}, {}, {F({2, 2}, {1, 2, 1, 2})}},
        {"Expand", 13, {a, I({3}, {1, 2, 1})}, {}, {F({1, 2, 2}, {1, 2, 1, 2})}},
        {"Transpose", 1, {F({1, 2}, {1, 2})}, {}, {F({2, 1}, {1, 2})}},
        {"ReverseSequence", 10, {F({3, 1}, {1, 2, 3}), I({1}, {2})}, {}, {F({3, 1}, {2, 1, 3})}},
    });
    EXPECT_THAT(ErrorOf(Model(Graph().Input("x", {2}).Add("Concat", {"x", "x"}, {"y"}).Output("y"), 4)),
                HasSubstr("attribute 'axis' is missing"));
}

TEST(OnnxVersions, Arithmetic)
{
    const Operand x = F({2, 3}, {1, 2, 3, 4, 5, 6});
    const Wire broadcast = Attribute("broadcast", 1);
    Check({
        {"Add", 6, {x, F({2}, {10, 20})}, {broadcast, Attribute("axis", 0)}, {F({2, 3}, {11, 12, 13, 24, 25, 26})}},
        {"Add", 6, {x, F({3}, {10, 20, 30})}, {broadcast}, {F({2, 3}, {11, 22, 33, 14, 25, 36})}},
        {"Add", 1, {x, x}, {}, {F({2, 3}, {2, 4, 6, 8, 10, 12})}},
        {"Add", 7, {F({2, 1}, {1, 2}), F({2}, {10, 20})}, {}, {F({2, 2}, {11, 21, 12, 22})}},
        {"Mul", 13, {F({0, 2}, {}), F({1, 2}, {1, 2})}, {}, {F({0, 2}, {})}},
        {"Div", 14, {I({3}, {-7, 7, 8}), I({3}, {2, -2, 2})}, {}, {I({3}, {-3, -3, 4})}},
        {"Pow", 7, {F({2}, {2, 3}), F({}, {2})}, {}, {F({2}, {4, 9})}},
        {"Pow", 12, {F({2}, {2, 3}), I({}, {2})}, {}, {F({2}, {4, 9})}},
        {"Pow", 13, {I({2}, {4, 10}), F({}, {0.5f})}, {}, {I({2}, {2, 3})}},
        {"Mod", 10, {I({2}, {-7, 7}), I({2}, {3, -3})}, {}, {I({2}, {2, -2})}},
        {"Mod", 10, {I({2}, {-7, 7}), I({2}, {3, -3})}, {Attribute("fmod", 1)}, {I({2}, {-1, 1})}},
        {"Mod", 13, {F({2}, {-5.5f, 5.5f}), F({}, {2})}, {Attribute("fmod", 1)}, {F({2}, {-1.5f, 1.5f})}},
        {"Max", 8, {F({2}, {1, 5}), F({}, {3}), F({1}, {2})}, {}, {F({2}, {3, 5})}},
        {"Max", 12, {I({2}, {1, 5}), I({}, {3})}, {}, {I({2}, {3, 5})}},
        {"Min", 6, {F({2}, {1, 5}), F({2}, {3, 4})}, {}, {F({2}, {1, 4})}},
        {"Sum", 8, {F({2}, {1, 5}), F({}, {3})}, {}, {F({2}, {4, 8})}},
        {"Mean", 13, {F({2}, {1, 5}), F({}, {3})}, {}, {F({2}, {2, 4})}},
        {"Sum", 13, {x}, {}, {x}},
        {"BitShift",
         11,
         {Of<uint8_t>({2}, {1, 200}), Of<uint8_t>({2}, {3, 1})},
         {Attribute("direction", "RIGHT")},
         {Of<uint8_t>({2}, {0, 100})}},
        {"BitShift",
         11,
         {Of<uint8_t>({2}, {1, 200}), Of<uint8_t>({2}, {3, 1})},
         {Attribute("direction", "LEFT")},
         {Of<uint8_t>({2}, {8, 144})}},
        {"Equal", 7, {I({2}, {1, 2}), I({}, {2})}, {}, {B({2}, {false, true})}},
        {"Equal", 13, {F({2}, {1, 2}), F({}, {2})}, {}, {B({2}, {false, true})}},
        {"Greater",
         1,
         {x, F({2}, {2, 5})},
         {broadcast, Attribute("axis", 0)},
         {B({2, 3}, {false, false, true, false, false, true})}},
        {"And", 1, {B({1, 2}, {true, false}), B({2}, {true, true})}, {broadcast}, {B({1, 2}, {true, false})}},
        {"Xor", 7, {B({2}, {true, false}), B({}, {true})}, {}, {B({2}, {false, true})}},
        {"Where", 9, {B({2, 1}, {true, false}), F({2}, {1, 2}), F({}, {9})}, {}, {F({2, 2}, {1, 2, 9, 9})}},
        {"IsInf",
         10,
         {F({3}, {INFINITY, -INFINITY, 1})},
         {Attribute("detect_negative", 0)},
         {B({3}, {true, false, false})}},
        {"IsInf", 10, {F({3}, {INFINITY, -INFINITY, 1})}, {}, {B({3}, {true, true, false})}},
        {"IsNaN", 9, {F({2}, {std::nanf(""), 1})}, {}, {B({2}, {true, false})}},
        {"Round", 11, {F({4}, {0.5f, 1.5f, -2.5f, 2.6f})}, {}, {F({4}, {0, 2, -2, 3})}},
        {"Cast", 6, {F({3}, {-1.7f, 2.7f, 0})}, {Attribute("to", 7)}, {I({3}, {-1, 2, 0})}},
        {"Cast", 13, {F({3}, {-1.7f, 0, std::nanf("")})}, {Attribute("to", 9)}, {B({3}, {true, false, true})}},
        {"CastLike", 15, {F({2}, {1.5f, -2}), Kept(I({0}, {}))}, {}, {I({2}, {1, -2})}},
        {"Not", 1, {B({2}, {true, false})}, {}, {B({2}, {false, true})}},
    });
}

TEST(OnnxVersions, Activations)
{
    const Operand x = F({1, 2, 1}, {-2, -4});
    Check({
        {"PRelu", 6, {x, F({2}, {0.5f, 0.25f})}, {}, {F({1, 2, 1}, {-1, -1})}},
        {"PRelu", 7, {x, F({2, 1}, {0.5f, 0.25f})}, {}, {F({1, 2, 1}, {-1, -1})}},
        {"PRelu", 16, {x, F({}, {0.5f})}, {}, {F({1, 2, 1}, {-1, -2})}},
        {"LeakyRelu", 1, {F({2}, {-100, 1})}, {}, {F({2}, {-1, 1})}},
        {"HardSigmoid", 6, {F({3}, {-10, 0, 1})}, {}, {F({3}, {0, 0.5f, 0.7f})}},
        {"HardSwish", 14, {F({3}, {-4, 0, 3})}, {}, {F({3}, {0, 0, 3})}},
        {"Gelu", 20, {F({1}, {1})}, {}, {F({1}, {0.8413447f})}},
        {"Gelu", 20, {F({1}, {1})}, {Attribute("approximate", "tanh")}, {F({1}, {0.8411920f})}},
        {"Selu", 6, {F({2}, {0, 1})}, {}, {F({2}, {0, 1.0507010f})}},
        {"ThresholdedRelu", 10, {F({3}, {1, 1.5f, -1})}, {}, {F({3}, {0, 1.5f, 0})}},
        {"Shrink", 9, {F({3}, {-1, 0.25f, 1})}, {Attribute("bias", 0.5f)}, {F({3}, {-0.5f, 0, 0.5f})}},
    });
}

TEST(OnnxVersions, Products)
{
    const Operand a = F({1, 2}, {1, 2});
    const Operand b = F({2, 2}, {1, 2, 3, 4});
    Check({
        {"Gemm", 6, {a, b, F({2}, {10, 20})}, {Attribute("broadcast", 1)}, {F({1, 2}, {17, 30})}},
        {"Gemm", 7, {a, Kept(b), Kept(F({2}, {10, 20}))}, {}, {F({1, 2}, {17, 30})}},
        {"Gemm",
         9,
         {a, b, F({}, {1})},
         {Attribute("alpha", 2.0f), Attribute("beta", 3.0f), Attribute("transB", 1)},
         {F({1, 2}, {13, 25})}},
        {"Gemm", 11, {F({2, 1}, {1, 2}), b}, {Attribute("transA", 1)}, {F({1, 2}, {7, 10})}},
        {"MatMul", 1, {F({2}, {1, 2}), F({2}, {3, 4})}, {}, {F({}, {11})}},
        {"MatMul", 9, {a, F({2}, {3, 4})}, {}, {F({1}, {11})}},
        {"Einsum", 12, {a, b}, {Attribute("equation", "ij,jk->ik")}, {F({1, 2}, {7, 10})}},
        {"Einsum", 12, {b}, {Attribute("equation", "...ij -> ...ji")}, {F({2, 2}, {1, 3, 2, 4})}},
        {"Conv", 1, {F({1, 1, 3}, {1, 2, 3}), Kept(F({1, 1, 2}, {1, 10}))}, {}, {F({1, 1, 2}, {21, 32})}},
        {"Conv",
         11,
         {F({1, 1, 3}, {1, 2, 3}), Kept(F({1, 1, 2}, {1, 10})), Kept(F({1}, {5}))},
         {Attribute("auto_pad", "SAME_UPPER")},
         {F({1, 1, 3}, {26, 37, 8})}},
        {"Conv",
         22,
         {F({1, 1, 3}, {1, 2, 3}), Kept(F({1, 1, 2}, {1, 10}))},
         {Attribute("auto_pad", "SAME_LOWER")},
         {F({1, 1, 3}, {10, 21, 32})}},
        // By a convolution: windows that move by one element, and groups; then by the layer.
        {"ConvTranspose",
         11,
         {F({1, 1, 2}, {1, 2}), Kept(F({1, 1, 3}, {1, 10, 100}))},
         {},
         {F({1, 1, 4}, {1, 12, 120, 200})}},
        {"ConvTranspose",
         11,
         {F({1, 4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), Kept(F({4, 1, 2}, {1, 10, 1, 10, 1, 10, 1, 10}))},
         {Attribute("group", 4), Attribute("strides", Sizes{2})},
         {F({1, 4, 4}, {1, 10, 2, 20, 3, 30, 4, 40, 5, 50, 6, 60, 7, 70, 8, 80})},
         NeedsSizes},
        {"ConvTranspose",
         11,
         {F({1, 1, 2}, {1, 2}), Kept(F({1, 1, 3}, {1, 10, 100}))},
         {Attribute("strides", Sizes{2}), Attribute("output_padding", Sizes{1})},
         {F({1, 1, 6}, {1, 10, 102, 20, 200, 0})},
         NeedsSizes},
    });
}

TEST(OnnxVersions, Images)
{
    const Operand x = F({1, 1, 1, 2}, {1, 2});
    const Operand twice = Kept(F({4}, {1, 1, 1, 2}));
    const Operand repeated = F({1, 1, 1, 4}, {1, 1, 2, 2});
    const Wire linear = Attribute("mode", "linear");
    const Operand square = F({1, 1, 2, 2}, {1, 2, 3, 4});
    const Operand box = Kept(F({1, 4}, {0, 0, 2, 2}));
    Check({
        {"Upsample", 1, {x}, {Attribute("height_scale", 1.0f), Attribute("width_scale", 2.0f)}, {repeated}},
        {"Upsample", 7, {x}, {Attribute("scales", std::vector<float>{1, 1, 1, 2})}, {repeated}},
        {"Upsample", 9, {x, twice}, {}, {repeated}},
        {"Upsample", 9, {x, twice}, {linear}, {F({1, 1, 1, 4}, {1, 1.5f, 2, 2})}},
        {"Resize", 10, {x, twice}, {}, {repeated}},
        {"Resize", 10, {x, F({4}, {1, 1, 1, 2})}, {linear}, {F({1, 1, 1, 4}, {1, 1.5f, 2, 2})}},
        {"Resize", 11, {x, None(), twice}, {}, {repeated}},
        {"Resize", 11, {x, Kept(F({0}, {})), twice}, {linear}, {F({1, 1, 1, 4}, {1, 1.25f, 1.75f, 2})}},
        {"Resize",
         13,
         {x, None(), None(), Kept(I({4}, {1, 1, 1, 4}))},
         {linear, Attribute("coordinate_transformation_mode", "align_corners")},
         {F({1, 1, 1, 4}, {1, 4.0f / 3, 5.0f / 3, 2})}},
        {"Resize",
         13,
         {x, None(), None(), I({4}, {1, 1, 1, 4})},
         {linear, Attribute("coordinate_transformation_mode", "asymmetric")},
         {F({1, 1, 1, 4}, {1, 1.5f, 2, 2})}},
        {"Resize",
         18,
         {x, None(), Kept(F({1}, {2}))},
         {linear, Attribute("axes", Sizes{-1})},
         {F({1, 1, 1, 4}, {1, 1.25f, 1.75f, 2})}},
        {"RoiAlign", 10, {square, box, Kept(I({1}, {0}))}, {Attribute("sampling_ratio", 1)}, {F({1, 1, 1, 1}, {4})}},
        {"RoiAlign", 16, {square, box, Kept(I({1}, {0}))}, {Attribute("sampling_ratio", 1)}, {F({1, 1, 1, 1}, {2.5f})}},
        {"RoiAlign",
         16,
         {square, box, Kept(I({1}, {0}))},
         {Attribute("sampling_ratio", 1), Attribute("coordinate_transformation_mode", "output_half_pixel")},
         {F({1, 1, 1, 1}, {4})}},
        {"GridSample",
         16,
         {x, F({1, 1, 1, 2}, {0, 0})},
         {Attribute("mode", "bilinear"), Attribute("align_corners", 1)},
         {F({1, 1, 1, 1}, {1.5f})}},
        {"GridSample",
         20,
         {x, F({1, 1, 1, 2}, {0, 0})},
         {Attribute("mode", "linear"), Attribute("align_corners", 1)},
         {F({1, 1, 1, 1}, {1.5f})}},
    });
}

} // namespace tenon::test::onnx_versions_test
