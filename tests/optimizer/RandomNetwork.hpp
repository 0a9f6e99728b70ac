// SPDX-License-Identifier: Apache-2.0
// RandomNetwork: a network made of layers of many kinds, with diamonds, several outputs, constants, quantized islands
// and branches, for property tests. One seed gives one network everywhere.
#pragma once

#include <tenon/Tenon.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace tenon::test
{

class RandomNetwork
{
public:
    RandomNetwork(uint32_t seed, unsigned int numLayers);

    const INetwork& Network() const { return *m_Network; }
    /// Of the inputs 0, 1, ...; all Float32.
    const std::vector<TensorShape>& InputShapes() const { return m_InputShapes; }
    /// What was made, for messages and for counting kinds.
    const std::vector<std::string>& Kinds() const { return m_Kinds; }

    /// The names of all kinds that there are.
    static std::vector<std::string> AllKinds();

private:
    /// A tensor that further layers may read.
    struct Tensor
    {
        IOutputSlot* m_Slot = nullptr;
        TensorShape m_Shape;
        DataType m_Type = DataType::Float32;
        /// Every way to compute it gives the same bits, so that layers which jump (Floor, comparisons) may read it.
        bool m_IsExact = false;
        float m_Bound = 0.0f; ///< no value's magnitude is larger
    };
    using Maker = bool (RandomNetwork::*)();
    struct Kind
    {
        const char* m_Name;
        Maker m_Make;
    };
    static const std::vector<Kind>& Table();

    unsigned int Roll(unsigned int sides) { return static_cast<unsigned int>(m_Random() % sides); }
    bool Flip() { return Roll(2) == 0; }

    /// A random tensor that fits, or null.
    const Tensor* Find(const std::function<bool(const Tensor&)>& fits);
    const Tensor* FindFloat(bool exact = false, unsigned int rank = 0);
    const Tensor* FindType(DataType type, unsigned int rank = 0);

    /// Adds the output of a layer whose inputs are connected; the shape is inferred.
    void Finish(IConnectableLayer* layer, const std::vector<Tensor>& inputs, DataType type, bool exact, float bound,
                float scale = 0.0f, int32_t zeroPoint = 0);
    /// The same for a layer with one input that keeps type and values.
    void Move(IConnectableLayer* layer, const Tensor& input, float bound = -1.0f);
    Tensor AddFloats(const TensorShape& shape, std::vector<float> values, bool exact, float bound);
    Tensor Constant(const TensorShape& shape, float bound, bool exact);
    Tensor Scalar(float value);
    Tensor Ints(const std::vector<int32_t>& values, const TensorShape& shape);
    std::vector<unsigned int> RandomAxes(unsigned int rank);

    bool Activation();
    bool SmoothActivation();
    bool Unary();
    bool SmoothUnary();
    bool Round();
    bool AddOrSub();
    bool MinOrMax();
    bool Multiply();
    bool Clamp();
    bool ScaleShift();
    bool BroadcastAdd();
    bool Compare();
    bool Logic();
    bool Select();
    bool CastFloat();
    bool ArgMax();
    bool Convolution();
    bool Depthwise();
    bool TransposedConvolution();
    bool FullyConnected();
    bool MatMul();
    bool Pool();
    bool BatchNormalization();
    bool Softmax();
    bool L2Normalization();
    bool LayerNormalizationLongForm();
    bool HardSwishLongForm();
    bool Prelu();
    bool Mean();
    bool Reduce();
    bool CumSum();
    bool Reshape();
    bool Permute();
    bool Transpose();
    bool InversePermutes();
    bool Concat();
    bool Split();
    bool Stack();
    bool Slice();
    bool StridedSlice();
    bool Pad();
    bool Tile();
    bool BroadcastTo();
    bool Gather();
    bool Reverse();
    bool ExpandAndSqueeze();
    bool SpaceAndDepth();
    bool Resize();
    bool Quantize();
    bool QuantizedActivation();
    bool Requantize();
    bool Dequantize();
    bool ConstantIsland();
    bool Twin();
    bool Branch();

    std::mt19937 m_Random;
    INetworkPtr m_Network;
    std::vector<TensorShape> m_InputShapes;
    std::vector<Tensor> m_Tensors;
    std::vector<std::string> m_Kinds;
    std::deque<std::vector<float>> m_Kept; ///< values of constants that the network does not own
    std::string m_Name;                    ///< of the layers that are being made
};

} // namespace tenon::test
