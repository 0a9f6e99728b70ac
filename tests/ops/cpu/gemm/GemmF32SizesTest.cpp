// SPDX-License-Identifier: Apache-2.0
// Sizes with different partitions in the float kernels: whole and partial vectors, tiles of one row and of many,
// several panels and blocks, windows at all borders. Convolutions, depthwise convolutions and fully connected layers of
// Float32 and BFloat16.
#include "ops/WeightedSumOracle.hpp"

#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Products.hpp>

#include <gtest/gtest.h>

namespace tenon::test::gemm_f32_sizes_test
{

namespace
{

struct Case
{
    TensorShape m_Data;
    TensorShape m_Weights; ///< [O, H, W, I], or [1, H, W, O]
    unsigned int m_Stride = 1;
    unsigned int m_Dilation = 1;
    unsigned int m_PadTop = 0; ///< rows and columns before the image
    unsigned int m_PadEnd = 0; ///< and after it
};

constexpr DataType Types[] = {DataType::Float32, DataType::BFloat16};

unsigned int GetOutputSize(const Case& c, unsigned int dimension)
{
    const unsigned int window = (c.m_Weights[dimension] - 1) * c.m_Dilation + 1;
    return (c.m_Data[dimension] + c.m_PadTop + c.m_PadEnd - window) / c.m_Stride + 1;
}

/// Random data, weights and bias of one type.
std::vector<TestTensor> MakeInputs(DataType type, const TensorShape& data, const TensorShape& weights,
                                   unsigned int channels)
{
    return {Random(TensorInfo(data, type), 1, -1, 1), Constant(Random(TensorInfo(weights, type), 2, -1, 1)),
            Constant(Random(TensorInfo(TensorShape({channels}), type), 3, -1, 1))};
}

void CheckSums(OpCase op)
{
    const bool isHalf = op.m_Output.GetDataType() == DataType::BFloat16;
    op.m_Relative = isHalf ? 4e-3 : 1e-5; // half a step of 8 bits, plus the rounding of the sum
    op.m_Absolute = isHalf ? 1e-3 : 5e-5; // of sums of up to 5,400 products of numbers up to 1
    CheckOp(op);
}

template <typename Descriptor>
void CheckWindows(LayerType layer, const Case& c, bool isDepthwise)
{
    Descriptor descriptor;
    descriptor.m_StrideX = descriptor.m_StrideY = c.m_Stride;
    descriptor.m_DilationX = descriptor.m_DilationY = c.m_Dilation;
    descriptor.m_PadTop = descriptor.m_PadLeft = c.m_PadTop;
    descriptor.m_PadBottom = descriptor.m_PadRight = c.m_PadEnd;
    descriptor.m_BiasEnabled = true;
    descriptor.m_DataLayout = DataLayout::NHWC;
    const unsigned int channels = c.m_Weights[isDepthwise ? 3 : 0];
    WindowSum sum;
    sum.m_StrideY = sum.m_StrideX = c.m_Stride;
    sum.m_DilationY = sum.m_DilationX = c.m_Dilation;
    sum.m_PadTop = sum.m_PadLeft = c.m_PadTop;
    sum.m_Depthwise = isDepthwise;
    sum.m_Output = TensorShape({c.m_Data[0], GetOutputSize(c, 1), GetOutputSize(c, 2), channels});
    for (const DataType type : Types)
    {
        CheckSums({c.m_Data.ToString() + " by " + c.m_Weights.ToString(), layer, MakeDescriptor(descriptor),
                   MakeInputs(type, c.m_Data, c.m_Weights, channels), TensorInfo(sum.m_Output, type), sum});
    }
}

} // namespace

ISA_TEST(GemmF32Sizes, ConvolutionsOfManySizes)
{
    const Case cases[] = {
        {{1, 7, 7, 16}, {64, 1, 1, 16}},              // whole vectors, 49 pixels
        {{1, 5, 9, 24}, {144, 1, 1, 24}},             // panels of equal width
        {{2, 3, 3, 33}, {65, 1, 1, 33}},              // an odd depth, a column over
        {{1, 1, 1, 40}, {17, 1, 1, 40}},              // one pixel
        {{1, 28, 28, 3}, {19, 3, 3, 3}, 2, 1, 0, 1},  // few channels, read row by row
        {{1, 9, 11, 3}, {8, 5, 3, 3}, 1, 2, 3, 2},    // few channels, dilated
        {{2, 6, 5, 12}, {20, 3, 3, 12}, 1, 1, 1, 1},  // several images
        {{1, 7, 6, 9}, {33, 3, 2, 9}, 2, 2, 2, 2},    // dilation and stride
        {{1, 3, 4, 600}, {5, 3, 3, 600}, 1, 1, 1, 1}, // a depth of several slices
        {{1, 4, 4, 2600}, {70, 1, 1, 2600}},          // the same in one tap
        {{1, 5, 5, 24}, {36, 3, 3, 8}, 1, 1, 1, 1},   // three groups
        {{1, 6, 6, 4}, {8, 3, 3, 2}, 1, 1, 1, 1},     // groups of few channels
        {{1, 40, 41, 5}, {2, 1, 1, 5}},               // many blocks of pixels
        {{1, 4, 5, 16}, {16, 1, 1, 16}, 2, 1, 0, 0},  // strided pixels
        {{1, 2, 2, 8}, {4, 3, 3, 8}, 1, 1, 2, 2},     // windows that see padding alone
    };
    for (const Case& c : cases)
    {
        CheckWindows<Convolution2dDescriptor>(LayerType::Convolution2d, c, false);
    }
}

ISA_TEST(GemmF32Sizes, DepthwiseConvolutionsOfManySizes)
{
    const Case cases[] = {
        {{1, 8, 8, 16}, {1, 3, 3, 16}, 1, 1, 1, 1},  // whole tiles and vectors
        {{2, 7, 9, 21}, {1, 3, 3, 21}, 1, 1, 1, 1},  // an odd row, a broken tile and vector
        {{1, 9, 10, 40}, {1, 3, 3, 40}, 2, 1, 1, 1}, // stride 2
        {{1, 8, 7, 5}, {1, 3, 3, 5}, 2, 1, 0, 1},    // stride 2, padding at the end
        {{1, 3, 3, 18}, {1, 3, 3, 18}, 1, 1, 1, 1},  // narrower than a tile
        {{1, 9, 11, 33}, {1, 5, 5, 33}, 1, 1, 2, 2}, // 5x5
        {{1, 9, 12, 8}, {1, 5, 5, 8}, 2, 1, 2, 1},   // 5x5, stride 2
        {{2, 9, 12, 21}, {1, 2, 2, 21}, 1, 1, 1, 0}, // 2x2
        {{1, 4, 11, 40}, {1, 2, 2, 40}, 2, 1, 0, 1}, // 2x2, stride 2
        {{1, 6, 7, 19}, {1, 2, 4, 19}, 1, 1, 1, 0},  // any window
        {{1, 9, 9, 10}, {1, 3, 3, 10}, 1, 2, 2, 2},  // dilation
        {{1, 12, 12, 6}, {1, 3, 3, 6}, 3, 1, 1, 1},  // stride 3
        {{1, 6, 6, 3}, {1, 3, 3, 12}, 1, 1, 1, 1},   // channel multiplier
        {{2, 7, 9, 19}, {1, 3, 3, 38}, 1, 1, 1, 1},  // two outputs of each channel
        {{2, 9, 11, 3}, {1, 3, 3, 144}, 2, 1, 1, 1}, // whole vectors of them
        {{1, 5, 21, 2}, {1, 2, 3, 64}, 1, 2, 2, 1},  // the same, any window
        {{1, 10, 6, 1}, {1, 5, 5, 20}, 2, 1, 2, 2},  // one channel
        {{1, 1, 2, 4}, {1, 3, 3, 4}, 1, 1, 2, 2},    // padding alone
    };
    for (const Case& c : cases)
    {
        CheckWindows<DepthwiseConvolution2dDescriptor>(LayerType::DepthwiseConvolution2d, c, true);
    }
}

ISA_TEST(GemmF32Sizes, FullyConnectedOfManySizes)
{
    struct Sizes
    {
        unsigned int m_Rows;
        unsigned int m_Depth;
        unsigned int m_Columns;
    };
    for (const Sizes& s : std::initializer_list<Sizes>{
             {1, 100, 37}, {1, 7, 1}, {2, 33, 9}, {3, 16, 40}, {4, 65, 5}, {5, 50, 70}, {29, 31, 33}, {100, 12, 130}})
    {
        for (const bool isTransposed : {true, false})
        {
            FullyConnectedDescriptor descriptor;
            descriptor.m_TransposeWeightMatrix = isTransposed;
            descriptor.m_BiasEnabled = true;
            const TensorShape weights =
                isTransposed ? TensorShape({s.m_Columns, s.m_Depth}) : TensorShape({s.m_Depth, s.m_Columns});
            const auto oracle = [s, isTransposed](const std::vector<RealTensor>& in)
            {
                std::vector<double> out;
                for (size_t r = 0; r < s.m_Rows; ++r)
                {
                    for (size_t c = 0; c < s.m_Columns; ++c)
                    {
                        double sum = in[2].m_Values[c];
                        for (size_t k = 0; k < s.m_Depth; ++k)
                        {
                            sum += in[0].m_Values[r * s.m_Depth + k] *
                                   in[1].m_Values[isTransposed ? c * s.m_Depth + k : k * s.m_Columns + c];
                        }
                        out.push_back(sum);
                    }
                }
                return out;
            };
            for (const DataType type : Types)
            {
                CheckSums({"rows of " + weights.ToString(), LayerType::FullyConnected, MakeDescriptor(descriptor),
                           MakeInputs(type, TensorShape({s.m_Rows, s.m_Depth}), weights, s.m_Columns),
                           TensorInfo(TensorShape({s.m_Rows, s.m_Columns}), type), oracle});
            }
        }
    }
}

} // namespace tenon::test::gemm_f32_sizes_test
