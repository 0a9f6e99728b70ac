// SPDX-License-Identifier: Apache-2.0
// Networks of one layer that computes each element by itself.
#include "NetworkMaker.hpp"
#include "RandomValues.hpp"

#include <random>

namespace tenon::bench
{

LayerNetwork MakeBinary(Element element, BinaryOperation operation, const char* name, const TensorShape& shape,
                        const TensorShape& other)
{
    Maker maker(element, std::string(name) + "/" + ShapeName(shape) + (other == shape ? "" : "/by ") +
                             (other == shape ? "" : ShapeName(other)));
    maker.SetLayer(maker.Network().AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(operation)),
                   {DataInfo(element, shape), DataInfo(element, other)});
    return maker.Finish(shape, 0.0, 2 * DataScale);
}

LayerNetwork MakeActivation(Element element, const ActivationDescriptor& descriptor, const char* name,
                            const TensorShape& shape)
{
    Maker maker(element, std::string(name) + "/" + ShapeName(shape));
    maker.SetLayer(maker.Network().AddActivationLayer(descriptor), {DataInfo(element, shape, 8 * DataScale)});
    const TensorInfo info = DataInfo(element, shape);
    if (!IsQuantized(element))
    {
        return maker.Finish({info});
    }
    // What TFLite has for functions of a known range.
    const bool isUnsigned = element == Element::UInt8;
    switch (descriptor.m_Function)
    {
    case ActivationFunction::Sigmoid:
        return maker.Finish({TensorInfo(shape, info.GetDataType(), 1.0f / 256.0f, isUnsigned ? 0 : -128)});
    case ActivationFunction::TanH:
        return maker.Finish({TensorInfo(shape, info.GetDataType(), 1.0f / 128.0f, isUnsigned ? 128 : 0)});
    default: return maker.Finish({info});
    }
}

LayerNetwork MakePrelu(Element element, const TensorShape& shape)
{
    Maker maker(element, "prelu/" + ShapeName(shape));
    maker.SetLayer(maker.Network().AddPreluLayer(), {DataInfo(element, shape)});
    const TensorInfo slopes = DataInfo(element, {1, 1, shape[3]});
    std::vector<char> bytes(slopes.GetNumBytes());
    std::mt19937 random(11);
    FillRandom(slopes.GetDataType(), bytes.data(), bytes.size(), random);
    maker.AddConstant(1, slopes, bytes);
    return maker.Finish(shape);
}

LayerNetwork MakeComparison(Element element, const TensorShape& shape)
{
    Maker maker(element, "greater/" + ShapeName(shape));
    const TensorInfo info = DataInfo(element, shape);
    maker.SetLayer(maker.Network().AddComparisonLayer(ComparisonDescriptor(ComparisonOperation::Greater)),
                   {info, info});
    return maker.Finish({TensorInfo(shape, DataType::Boolean)});
}

LayerNetwork MakeSelect(Element element, const TensorShape& shape)
{
    Maker maker(element, "select/" + ShapeName(shape));
    const TensorInfo info = DataInfo(element, shape);
    maker.SetLayer(maker.Network().AddSelectLayer(SelectDescriptor()),
                   {TensorInfo(shape, DataType::Boolean), info, info});
    return maker.Finish(shape);
}

LayerNetwork MakeQuantize(Element element, const TensorShape& shape)
{
    Maker maker(element, "quantize/" + ShapeName(shape), std::string("f32 to ") + GetName(element));
    maker.SetLayer(maker.Network().AddQuantizeLayer(), {TensorInfo(shape, DataType::Float32)});
    return maker.Finish(shape);
}

LayerNetwork MakeDequantize(Element element, const TensorShape& shape)
{
    Maker maker(element, "dequantize/" + ShapeName(shape), std::string(GetName(element)) + " to f32");
    maker.SetLayer(maker.Network().AddDequantizeLayer(), {DataInfo(element, shape)});
    return maker.Finish({TensorInfo(shape, DataType::Float32)});
}

LayerNetwork MakeCast(DataType from, DataType to, const TensorShape& shape)
{
    Maker maker(Element::Float32, "cast/" + ShapeName(shape),
                std::string(GetDataTypeName(from)) + " to " + GetDataTypeName(to));
    maker.SetLayer(maker.Network().AddCastLayer(), {TensorInfo(shape, from)});
    return maker.Finish({TensorInfo(shape, to)});
}

} // namespace tenon::bench
