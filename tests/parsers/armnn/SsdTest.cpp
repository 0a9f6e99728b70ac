// SPDX-License-Identifier: Apache-2.0
// A network of about a hundred layers like MobileNet-SSD, as .tflite and as .armnn of the first and the last features:
// all give the same boxes, bit for bit.
#include "ArmnnRun.hpp"
#include "ArmnnWriter.hpp"
#include "parsers/ModelBuilder.hpp"

#include <flatbuffers/flexbuffers.h>

#include <random>
#include <set>

namespace tenon::test::armnn_ssd_test
{

namespace
{

namespace tflite = tenon::tflite::schema;
using Op = tflite::BuiltinOperator;
using Type = tflite::TensorType;

/// A picture as the network passes it on.
struct Feature
{
    int32_t m_Tensor;
    int32_t m_Size; ///< height and width
    int32_t m_Channels;
};

class SsdBuilder
{
public:
    static constexpr int32_t NumClasses = 3;   ///< and background
    static constexpr int32_t BoxesOfPlace = 3; ///< of each place of a feature map
    static constexpr int32_t PictureSize = 64;

    std::vector<uint8_t> Build()
    {
        Feature x = {m_Model.AddInput("picture", {1, PictureSize, PictureSize, 3}), PictureSize, 3};
        x = Convolve(x, 4, 3, 2);
        // Strides and channels of the separable convolutions of MobileNet v1, with an eighth of its channels at most.
        const std::pair<int32_t, int32_t> blocks[] = {{1, 8},  {2, 12}, {1, 12}, {2, 16}, {1, 16}, {2, 24}, {1, 24},
                                                      {1, 24}, {1, 24}, {1, 24}, {1, 24}, {2, 32}, {1, 32}};
        std::vector<Feature> maps;
        for (size_t i = 0; i < std::size(blocks); ++i)
        {
            x = Separate(x, blocks[i].second, blocks[i].first);
            constexpr size_t firstMap = 10;
            if (i == firstMap || i + 1 == std::size(blocks))
            {
                maps.push_back(x);
            }
        }
        for (int32_t i = 0; i < 4; ++i)
        {
            x = Convolve(Convolve(x, 8, 1, 1), 16, 3, 2);
            maps.push_back(x);
        }
        std::vector<int32_t> boxes;
        std::vector<int32_t> scores;
        int32_t numBoxes = 0;
        for (const Feature& map : maps)
        {
            const int32_t count = map.m_Size * map.m_Size * BoxesOfPlace;
            boxes.push_back(Head(map, count, 4));
            scores.push_back(Head(map, count, NumClasses + 1));
            numBoxes += count;
        }
        const int32_t allBoxes = Join(boxes, numBoxes, 4);
        const int32_t allScores = m_Model.AddTensor(Name("scores"), {1, numBoxes, NumClasses + 1});
        m_Model.AddOperator(Op::LOGISTIC, {Join(scores, numBoxes, NumClasses + 1)}, {allScores});
        Detect(allBoxes, allScores, numBoxes);
        return m_Model.Build();
    }

private:
    std::string Name(const std::string& base) { return base + std::to_string(m_Count++); }

    int32_t Weights(std::vector<int32_t> shape, float range)
    {
        size_t count = 1;
        for (const int32_t size : shape)
        {
            count *= static_cast<size_t>(size);
        }
        std::vector<float> values(count);
        for (float& value : values)
        {
            value = static_cast<float>(m_Random() % 2001) / 1000 * range - range;
        }
        return m_Model.AddConstant(Name("weights"), std::move(shape), values, Type::FLOAT32);
    }

    static int32_t Strided(int32_t size, int32_t stride) { return (size + stride - 1) / stride; }

    Feature Convolve(const Feature& x, int32_t channels, int32_t window, int32_t stride, bool hasRelu = true)
    {
        const int32_t size = Strided(x.m_Size, stride);
        const int32_t out = m_Model.AddTensor(Name("convolved"), {1, size, size, channels});
        tflite::Conv2DOptionsT options;
        options.padding = tflite::Padding::SAME;
        options.stride_w = options.stride_h = stride;
        options.fused_activation_function =
            hasRelu ? tflite::ActivationFunctionType::RELU6 : tflite::ActivationFunctionType::NONE;
        const float range = 3.0f / static_cast<float>(window * window * x.m_Channels);
        m_Model.AddOperator(
            Op::CONV_2D,
            {x.m_Tensor, Weights({channels, window, window, x.m_Channels}, range * 2), Weights({channels}, 0.5f)},
            {out}, options);
        return {out, size, channels};
    }

    Feature Separate(const Feature& x, int32_t channels, int32_t stride)
    {
        const int32_t size = Strided(x.m_Size, stride);
        const int32_t out = m_Model.AddTensor(Name("depthwise"), {1, size, size, x.m_Channels});
        tflite::DepthwiseConv2DOptionsT options;
        options.padding = tflite::Padding::SAME;
        options.stride_w = options.stride_h = stride;
        options.depth_multiplier = 1;
        options.fused_activation_function = tflite::ActivationFunctionType::RELU6;
        m_Model.AddOperator(Op::DEPTHWISE_CONV_2D,
                            {x.m_Tensor, Weights({1, 3, 3, x.m_Channels}, 1.0f), Weights({x.m_Channels}, 0.5f)}, {out},
                            options);
        return Convolve({out, size, x.m_Channels}, channels, 1, 1);
    }

    int32_t Head(const Feature& map, int32_t count, int32_t values)
    {
        const Feature raw = Convolve(map, BoxesOfPlace * values, 1, 1, false);
        const int32_t out = m_Model.AddTensor(Name("head"), {1, count, values});
        tflite::ReshapeOptionsT options;
        options.new_shape = {1, count, values};
        m_Model.AddOperator(Op::RESHAPE, {raw.m_Tensor}, {out}, options);
        return out;
    }

    int32_t Join(const std::vector<int32_t>& parts, int32_t count, int32_t values)
    {
        const int32_t out = m_Model.AddTensor(Name("joined"), {1, count, values});
        tflite::ConcatenationOptionsT options;
        options.axis = 1;
        m_Model.AddOperator(Op::CONCATENATION, parts, {out}, options);
        return out;
    }

    void Detect(int32_t boxes, int32_t scores, int32_t numBoxes)
    {
        std::vector<float> anchors;
        for (int32_t i = 0; i < numBoxes; ++i)
        {
            for (const float value : {0.0f, 0.0f, 0.2f, 0.2f})
            {
                anchors.push_back(value + static_cast<float>(m_Random() % 800) / 1000);
            }
        }
        const int32_t stored = m_Model.AddConstant("anchors", {numBoxes, 4}, anchors, Type::FLOAT32);
        flexbuffers::Builder options;
        options.Map(
            [&]
            {
                options.Int("max_detections", 10);
                options.Int("max_classes_per_detection", 1);
                options.Int("detections_per_class", 10);
                options.Bool("use_regular_nms", true);
                options.Float("nms_score_threshold", 0.3f);
                options.Float("nms_iou_threshold", 0.6f);
                options.Int("num_classes", NumClasses);
                options.Float("y_scale", 10.0f);
                options.Float("x_scale", 10.0f);
                options.Float("h_scale", 5.0f);
                options.Float("w_scale", 5.0f);
            });
        options.Finish();
        std::vector<int32_t> results;
        for (const char* name : {"boxes", "classes", "scores of boxes", "count"})
        {
            results.push_back(m_Model.AddOutput(name, {}));
            m_Model.Tensor(results.back()).has_rank = false;
        }
        m_Model.AddOperator(Op::CUSTOM, {boxes, scores, stored}, results).custom_options = options.GetBuffer();
        m_Model.Model().operator_codes.back()->custom_code = "TFLite_Detection_PostProcess";
    }

    ModelBuilder m_Model;
    int m_Count = 0;
    std::mt19937 m_Random{20240611};
};

} // namespace

TEST(ArmnnSsd, GivesTheBoxesOfItsTfLiteTwin)
{
    const Parsed twin(SsdBuilder().Build());
    size_t numLayers = 0;
    for (const IConnectableLayer* layer : twin.m_Layers.m_All)
    {
        numLayers += layer->GetType() != LayerType::Constant ? 1 : 0;
    }
    EXPECT_GE(numLayers, 100u);
    const Results wanted = RunNetwork(*twin.m_Network);
    ASSERT_EQ(wanted.size(), 4u);
    // Something is found, and not the same everywhere.
    const Bytes& scores = wanted.at(2).second;
    std::set<float> differing;
    for (size_t i = 0; i < scores.size(); i += sizeof(float))
    {
        float score = 0.0f;
        std::memcpy(&score, scores.data() + i, sizeof(score));
        differing.insert(score);
    }
    EXPECT_GT(differing.size(), 4u);
    for (const ArmnnFeatures features : {ArmnnFeatures::First, ArmnnFeatures::Last})
    {
        const INetworkPtr network = ReadArmnn(WriteArmnn(*twin.m_Network, features));
        EXPECT_EQ(RunNetwork(*network), wanted) << static_cast<int>(features);
    }
}

} // namespace tenon::test::armnn_ssd_test
