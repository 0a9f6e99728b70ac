// SPDX-License-Identifier: Apache-2.0
// RoiAlign: averages and maxima of points in the cells of regions, against the definition.
#include "ops/ElementwiseOracle.hpp"
#include "ops/InferCases.hpp"

#include <tenon/descriptors/Vision.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tenon::test::roi_align_test
{

namespace
{

using Sizes = std::vector<unsigned int>;

/// Where a point lies along a dimension: an element and how far it is on the way to the next one.
struct Place
{
    bool m_IsInside;
    unsigned int m_Element;
    double m_Part;

    Place(double at, unsigned int size) : m_IsInside(at >= -1 && at <= size)
    {
        at = std::clamp(at, 0.0, size - 1.0);
        m_Element = static_cast<unsigned int>(at);
        m_Part = at - m_Element;
    }
};

/// The points of cell `cell` of `cells`.
std::vector<Place> FindPlaces(const RoiAlignDescriptor& d, double from, double to, unsigned int cell,
                              unsigned int cells, unsigned int size)
{
    const double start = from * static_cast<double>(d.m_SpatialScale) - (d.m_HalfPixel ? 0.5 : 0);
    const double end = to * static_cast<double>(d.m_SpatialScale) - (d.m_HalfPixel ? 0.5 : 0);
    const double extent = d.m_HalfPixel ? end - start : std::max(end - start, 1.0);
    const auto points = d.m_SamplingRatio != 0 ? d.m_SamplingRatio : std::ceil(std::max(extent / cells, 0.0));
    std::vector<Place> places;
    for (double i = 0; i < points; ++i)
    {
        places.emplace_back(start + (cell + (i + 0.5) / points) * extent / cells, size);
    }
    return places;
}

double PoolCell(const RoiAlignDescriptor& d, const RealTensor& images, unsigned int image, unsigned int channel,
                const std::vector<Place>& rows, const std::vector<Place>& columns)
{
    std::vector<double> products;
    for (const Place& y : rows)
    {
        for (const Place& x : columns)
        {
            for (unsigned int corner = 0; corner < 4; ++corner)
            {
                const unsigned int row = std::min(y.m_Element + corner / 2, images.Dim(2) - 1);
                const unsigned int column = std::min(x.m_Element + corner % 2, images.Dim(3) - 1);
                const double weight =
                    (corner / 2 == 1 ? y.m_Part : 1 - y.m_Part) * (corner % 2 == 1 ? x.m_Part : 1 - x.m_Part);
                products.push_back(y.m_IsInside && x.m_IsInside ? weight * images.At(image, channel, row, column) : 0);
            }
        }
    }
    if (products.empty())
    {
        return 0;
    }
    if (d.m_PoolType == PoolingAlgorithm::Max)
    {
        return *std::max_element(products.begin(), products.end());
    }
    double sum = 0;
    for (double product : products)
    {
        sum += product;
    }
    return sum / (static_cast<double>(products.size()) / 4);
}

OpCase MakeCase(const RoiAlignDescriptor& descriptor, const Sizes& input, const std::vector<double>& regions,
                const std::vector<double>& images, DataType type = DataType::Float32,
                DataType indexType = DataType::Signed64)
{
    const auto count = static_cast<unsigned int>(images.size());
    const TensorInfo out(ShapeOf({count, input[1], descriptor.m_OutputHeight, descriptor.m_OutputWidth}), type);
    OpCase op{
        "of " + ShapeOf(input).ToString() + " to " + out.ToString(),
        LayerType::RoiAlign,
        MakeDescriptor(descriptor),
        {Random(TensorInfo(ShapeOf(input), type), 5), Values(TensorInfo(ShapeOf({count, 4}), type), regions),
         Stored(TensorInfo(ShapeOf({count}), indexType), images)},
        out,
        [=](const std::vector<RealTensor>& in)
        {
            std::vector<double> values;
            for (unsigned int region = 0; region < count; ++region)
            {
                for (unsigned int channel = 0; channel < input[1]; ++channel)
                {
                    for (unsigned int y = 0; y < descriptor.m_OutputHeight; ++y)
                    {
                        for (unsigned int x = 0; x < descriptor.m_OutputWidth; ++x)
                        {
                            const double* corners = &in[1].m_Values[size_t{region} * 4];
                            values.push_back(PoolCell(
                                descriptor, in[0], static_cast<unsigned int>(images[region]), channel,
                                FindPlaces(descriptor, corners[1], corners[3], y, descriptor.m_OutputHeight, input[2]),
                                FindPlaces(descriptor, corners[0], corners[2], x, descriptor.m_OutputWidth, input[3])));
                        }
                    }
                }
            }
            return values;
        }};
    op.m_Relative = op.m_Absolute = std::max(1e-5, GetRounding(type));
    return op;
}

/// Regions inside, across an edge, outside, and turned around; of three images.
const std::vector<double> Regions = {1, 1, 6, 5, 0, 0, 9, 9, -3, -2, 4, 3, 20, 20, 24, 26, 5, 5, 2, 1, 3, 3, 3.25, 3.5};
const std::vector<double> Images = {0, 2, 1, 0, 2, 1};

} // namespace

ISA_TEST(RoiAlign, ModesAndSampling)
{
    for (const PoolingAlgorithm pool : {PoolingAlgorithm::Average, PoolingAlgorithm::Max})
    {
        for (const bool halfPixel : {true, false})
        {
            for (const uint32_t ratio : {0U, 1U, 2U, 3U})
            {
                RoiAlignDescriptor descriptor;
                descriptor.m_PoolType = pool;
                descriptor.m_HalfPixel = halfPixel;
                descriptor.m_SamplingRatio = ratio;
                CheckOp(MakeCase(descriptor, {3, 2, 6, 7}, Regions, Images));
                descriptor.m_OutputHeight = 3;
                descriptor.m_OutputWidth = 2;
                descriptor.m_SpatialScale = 0.5f;
                CheckOp(MakeCase(descriptor, {3, 2, 6, 7}, Regions, Images));
            }
        }
    }
}

ISA_TEST(RoiAlign, Types)
{
    for (const DataType type : {DataType::Float16, DataType::BFloat16, DataType::Float64})
    {
        RoiAlignDescriptor descriptor;
        descriptor.m_OutputHeight = 2;
        CheckOp(MakeCase(descriptor, {3, 4, 5, 5}, Regions, Images, type, DataType::Signed32));
    }
}

// More points in a cell than are summed at once, and more channels than are pooled at once.
ISA_TEST(RoiAlign, ManyPointsAndChannels)
{
    RoiAlignDescriptor descriptor;
    CheckOp(MakeCase(descriptor, {1, 70, 12, 13}, {0, 0, 12, 11, 1, 2, 9, 4}, {0, 0}));
    descriptor.m_SamplingRatio = 10;
    CheckOp(MakeCase(descriptor, {1, 3, 12, 13}, {0, 0, 12, 11, 1, 2, 9, 4}, {0, 0}));
    descriptor.m_PoolType = PoolingAlgorithm::Max;
    CheckOp(MakeCase(descriptor, {1, 70, 12, 13}, {0, 0, 12, 11, 1, 2, 9, 4}, {0, 0}));
}

ISA_TEST(RoiAlign, NoRegions)
{
    CheckOp(MakeCase({}, {3, 2, 6, 7}, {}, {}));
}

ISA_TEST(RoiAlign, RefusesWhatDoesNotFit)
{
    OpCase channels = MakeCase({}, {3, 2, 6, 7}, Regions, Images);
    channels.m_Output.SetShape(TensorShape({6, 3, 1, 1}));
    CheckRejectsShapes(channels, "as many channels");

    OpCase corners = MakeCase({}, {3, 2, 6, 7}, Regions, Images);
    corners.m_Inputs[1] = Random(TensorInfo(TensorShape({6, 5}), DataType::Float32), 1);
    CheckRejectsShapes(corners, "24 elements are wanted");

    RoiAlignDescriptor pool;
    pool.m_PoolType = PoolingAlgorithm::L2;
    CheckUnsupported(MakeCase(pool, {3, 2, 6, 7}, Regions, Images), SupportCode::UnsupportedParameters,
                     "Average or Max");
    CheckUnsupported(MakeCase({}, {3, 2, 6, 7}, Regions, Images, DataType::Float32, DataType::Float32),
                     SupportCode::UnsupportedType, "indices are");
}

TEST(RoiAlign, RefusesImagesThatAreNotThere)
{
    const OpCase op = MakeCase({}, {2, 2, 6, 7}, {1, 1, 2, 2}, {2});
    EXPECT_THROW(RunOp(*GetTestBackends()[0], op, {}), RuntimeException);
}

static InferCases MakeRoiAlignCases()
{
    constexpr LayerType type = LayerType::RoiAlign;
    const auto cells = Made<RoiAlignDescriptor>(
        [](auto& d)
        {
            d.m_OutputHeight = 7;
            d.m_OutputWidth = 5;
        });
    const auto norm = Made<RoiAlignDescriptor>([](auto& d) { d.m_PoolType = PoolingAlgorithm::L2; });
    return {
        Case(type, "regions", cells, {T({2, 3, 4, 5}), T({6, 4}), T({6})}).Gives({"[6,3,7,5]"}),
        Case(type, "rank", cells, {T({3, 4, 5}), T({6, 4}), T({6})}).Rejects("4 dimensions"),
        Case(type, "corners", cells, {T({2, 3, 4, 5}), T({6, 5}), T({6})}).Rejects("4 numbers"),
        Case(type, "indices", cells, {T({2, 3, 4, 5}), T({6, 4}), T({5})}).Rejects("6 regions"),
        Case(type, "nothing", cells, {T({2, 3, 0, 5}), T({6, 4}), T({6})}).Rejects("no elements"),
        Case(type, "points", Made<RoiAlignDescriptor>([](auto& d) { d.m_SamplingRatio = 1025; }),
             {T({2, 3, 4, 5}), T({6, 4}), T({6})})
            .Rejects("sampling ratio of 1025"),
        Case(type, "pool", norm, {T({2, 3, 4, 5}), T({6, 4}), T({6})}).Rejects("not by L2"),
    };
}
static const InferTable roiAlign(MakeRoiAlignCases);

} // namespace tenon::test::roi_align_test
