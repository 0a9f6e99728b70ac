// SPDX-License-Identifier: Apache-2.0
// Networks of one layer that reduces, or normalizes over, some dimensions.
#include "NetworkMaker.hpp"

namespace tenon::bench
{

LayerNetwork MakeReduce(Element element, ReduceOperation operation, const char* name, const TensorShape& shape,
                        unsigned int axis)
{
    Maker maker(element, std::string(name) + "_axis" + std::to_string(axis) + "/" + ShapeName(shape));
    ReduceDescriptor descriptor;
    descriptor.m_ReduceOperation = operation;
    descriptor.m_vAxis = {axis};
    maker.SetLayer(maker.Network().AddReduceLayer(descriptor), {DataInfo(element, shape)});
    std::vector<unsigned int> output;
    for (unsigned int i = 0; i < shape.GetNumDimensions(); ++i)
    {
        if (i != axis)
        {
            output.push_back(shape[i]);
        }
    }
    // A sum of many numbers has a scale of its own, the largest of them the scale that they have.
    const float scale = operation == ReduceOperation::Sum ? 16 * DataScale : DataScale;
    return maker.Finish(TensorShape(shape.GetNumDimensions() - 1, output.data()), 0.0, scale);
}

LayerNetwork MakeMean(Element element, const TensorShape& shape)
{
    Maker maker(element, "mean_hw/" + ShapeName(shape));
    maker.SetLayer(maker.Network().AddMeanLayer(MeanDescriptor({1, 2}, false)), {DataInfo(element, shape)});
    return maker.Finish(TensorShape({shape[0], shape[3]}));
}

LayerNetwork MakeSoftmax(Element element, const TensorShape& shape)
{
    Maker maker(element, "softmax/" + ShapeName(shape));
    maker.SetLayer(maker.Network().AddSoftmaxLayer(SoftmaxDescriptor()), {DataInfo(element, shape)});
    return maker.Finish(shape, 0.0, 1.0f / 256.0f);
}

LayerNetwork MakeLogSoftmax(Element element, const TensorShape& shape)
{
    Maker maker(element, "logsoftmax/" + ShapeName(shape));
    maker.SetLayer(maker.Network().AddLogSoftmaxLayer(LogSoftmaxDescriptor()), {DataInfo(element, shape)});
    return maker.Finish(shape);
}

LayerNetwork MakeLayerNormalization(Element element, const TensorShape& shape)
{
    Maker maker(element, "layernorm/" + ShapeName(shape));
    maker.SetLayer(maker.Network().AddLayerNormalizationLayer(LayerNormalizationDescriptor()),
                   {DataInfo(element, shape)});
    maker.AddWeights({shape[shape.GetNumDimensions() - 1]}, 0);
    return maker.Finish(shape);
}

LayerNetwork MakeInstanceNormalization(Element element, const TensorShape& shape)
{
    Maker maker(element, "instancenorm/" + ShapeName(shape));
    InstanceNormalizationDescriptor descriptor;
    descriptor.m_DataLayout = DataLayout::NHWC;
    maker.SetLayer(maker.Network().AddInstanceNormalizationLayer(descriptor), {DataInfo(element, shape)});
    return maker.Finish(shape);
}

LayerNetwork MakeL2Normalization(Element element, const TensorShape& shape)
{
    Maker maker(element, "l2norm/" + ShapeName(shape));
    L2NormalizationDescriptor descriptor;
    descriptor.m_DataLayout = DataLayout::NHWC;
    maker.SetLayer(maker.Network().AddL2NormalizationLayer(descriptor), {DataInfo(element, shape)});
    return maker.Finish(shape);
}

} // namespace tenon::bench
