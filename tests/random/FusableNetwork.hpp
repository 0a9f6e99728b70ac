// SPDX-License-Identifier: Apache-2.0
// FusableNetwork: a random network of the pieces that CpuAcc, the optimizer and the runtime do several layers at once
// of, in tensors that are large enough for it: chains of elementwise layers, normalizations, attentions, residual sums,
// joined convolutions, strips. Views, broadcasts, constants, tensors that several layers read and outputs of the
// network are in every place of them. One seed gives one network everywhere.
#pragma once

#include "harness/NetworkCase.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace tenon::test
{

class FusableNetwork
{
public:
    explicit FusableNetwork(uint32_t seed);

    /// Most cases have two runs, whose inputs differ in one size.
    const NetworkCase& Case() const { return m_Case; }
    /// What was made, for messages and for counting.
    const std::vector<std::string>& Motifs() const { return m_Made; }
    static std::vector<std::string> AllMotifs();

private:
    static constexpr size_t NumRuns = 2;
    using RunShapes = std::array<TensorShape, NumRuns>; ///< of one tensor

    /// A tensor that further layers may read.
    struct Tensor
    {
        IOutputSlot* m_Slot = nullptr;
        RunShapes m_Shapes;
        DataType m_Type = DataType::Float32;
        /// All right implementations give the same bytes, so that layers which jump (Quantize, comparisons) may read
        /// it.
        bool m_IsExact = true;
        double m_Bound = 1.0; ///< no value's magnitude is larger, of quantized types the real one

        const TensorShape& Shape() const { return m_Shapes[0]; }
        unsigned int Rank() const { return m_Shapes[0].GetNumDimensions(); }
        size_t Elements() const { return m_Shapes[0].GetNumElements(); }
        bool IsFree(unsigned int axis) const { return m_Shapes[0][axis] != m_Shapes[1][axis]; }
        bool IsSameShape(const Tensor& other) const { return m_Shapes == other.m_Shapes; }
    };
    struct Motif
    {
        const char* m_Name;
        bool (FusableNetwork::*m_Make)();
        unsigned int m_Weight;
    };
    static const std::vector<Motif>& Table();

    /// Floats of a shape that is set later.
    static TensorInfo Float() { return TensorInfo(TensorShape(), DataType::Float32); }
    unsigned int Roll(unsigned int sides) { return static_cast<unsigned int>(m_Random() % sides); }
    bool OneIn(unsigned int sides) { return Roll(sides) == 0; }
    template <typename T>
    T OneOf(std::initializer_list<T> values)
    {
        return *(values.begin() + Roll(static_cast<unsigned int>(values.size())));
    }

    // FusableNetwork.cpp
    void ChooseSizes();
    void AddInputs();
    void AddOutputs();
    std::string NextName(const std::string& what);
    Tensor AddInput(const RunShapes& shapes, const TensorInfo& type, const ValueRange& range, double bound);
    Tensor FloatInput(const RunShapes& shapes, double bound);
    Tensor Constant(const TensorShape& shape, DataType type, const ValueRange& range);
    Tensor QuantizedConstant(const TensorShape& shape, const TensorInfo& type);
    Tensor Ints(const std::vector<int32_t>& values, const TensorShape& shape);
    Tensor AddMade(IOutputSlot& slot, const RunShapes& shapes, TensorInfo type, bool isExact, double bound);
    /// Connects the inputs and infers the shapes of the outputs, of which the first is given back. `type` says type and
    /// quantization.
    Tensor Finish(IConnectableLayer* layer, const std::vector<Tensor>& inputs, const TensorInfo& type, bool isExact,
                  double bound);
    Tensor FinishAs(IConnectableLayer* layer, const std::vector<Tensor>& inputs, const RunShapes& shapes,
                    const TensorInfo& type, bool isExact, double bound);
    /// The same of a layer that moves the values of its first input.
    Tensor Move(IConnectableLayer* layer, const std::vector<Tensor>& inputs);
    static TensorInfo TypeOf(const Tensor& tensor);
    const Tensor* Find(const std::function<bool(const Tensor&)>& fits);
    const Tensor* FindFloat(size_t maxElements = SIZE_MAX);

    // FusableViews.cpp
    Tensor View(const Tensor& input);
    Tensor MaybeView(const Tensor& input) { return OneIn(4) ? View(input) : input; }
    Tensor Reshape(const Tensor& input, const RunShapes& shapes);
    bool Merge(const Tensor& input, RunShapes& shapes);
    bool Cut(const Tensor& input, RunShapes& shapes);

    // FusableChains.cpp
    Tensor Unary(const Tensor& input, UnaryOperation operation);
    Tensor Activate(const Tensor& input, ActivationFunction function, float a = 1.0f, float b = 1.0f);
    Tensor Binary(BinaryOperation operation, const Tensor& a, const Tensor& b);
    Tensor Limit(const Tensor& input);
    Tensor ChooseOperand(const Tensor& neighbour, const std::vector<Tensor>& before);
    TensorShape BroadcastShape(const Tensor& to);
    Tensor StepOfChain(const Tensor& input, const std::vector<Tensor>& before);
    Tensor RandomUnary(const Tensor& input);
    Tensor RandomActivation(const Tensor& input);
    Tensor RandomBinary(const Tensor& input, const std::vector<Tensor>& before);
    Tensor Choose(const Tensor& input, const std::vector<Tensor>& before);
    Tensor Chain(const Tensor& start, unsigned int length);
    TensorInfo RandomQuantization(DataType type);
    Tensor QuantizedStep(const Tensor& input);
    bool FloatChain();
    bool F16Chain();
    bool QuantizedChain();
    bool IntegerChain();

    // FusableBlocks.cpp
    bool RmsNormalization();
    bool LayerNormalizationLongForm();
    bool LayerNormalizationLayer();
    bool SoftmaxLayer();
    bool Attention();
    bool TiledLayers();
    bool Residual();
    Tensor Normalize(const Tensor& input, const Tensor& squares);
    Tensor Average(const Tensor& input, bool keepDims, bool asSum);

    // FusableImages.cpp
    bool ConvolutionBlock();
    bool JoinedConvolutions();
    bool SplitAndJoin();
    bool Rows();
    bool Moves();
    Tensor Image();
    Tensor Convolve(const Tensor& image, unsigned int channels, bool isDepthwise);
    Tensor Pool(const Tensor& image);
    Tensor Join(const std::vector<Tensor>& parts, unsigned int axis);

    std::mt19937 m_Random;
    NetworkCase m_Case;
    std::vector<Tensor> m_Tensors;
    std::vector<std::string> m_Made;
    std::array<unsigned int, NumRuns> m_Batch{};
    std::vector<unsigned int> m_BaseSizes; ///< of most tensors, behind the batch
    bool m_IsBatchUnknown = false;         ///< when the network is loaded
    bool m_IsLarge = false;                ///< for strips
    size_t m_Work = 0;                     ///< elements that were made, and products
    unsigned int m_NumNames = 0;
    LayerBindingId m_NumInputs = 0;
};

} // namespace tenon::test
