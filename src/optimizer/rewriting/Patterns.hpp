// SPDX-License-Identifier: Apache-2.0
// Tools of the fusing passes. Queries: the only reader or producer of a tensor, operations with a constant, products
// c * x1 * x2 ... Edits: ReplacePattern() puts one layer in the place of a matched pattern, if backends take it.
// ConstantBudget limits the bytes of new constants. Used by passes/.
//
//     x -> [first] -> ... -> [last] -> readers        `last` is the layer from which a pattern is matched upwards
//     x ------------> [new] ---------> readers        ReplacePattern(); RemoveUnused() then removes the pattern
#pragma once

#include "graph/Graph.hpp"
#include "optimizer/Pass.hpp"
#include "optimizer/rewriting/ShapeFacts.hpp"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

namespace tenon
{

/// The input that alone reads output 0 of `layer`, where its info is not overridden; else null.
InputSlot* GetSoleConsumer(const Layer& layer);
/// The layer before an input whose info is not overridden, where that layer feeds nothing else and is hinted to the
/// same backend, if to any; else null.
Layer* GetSoleProducer(const Layer& layer, unsigned int input);

/// Whether input `i` is connected and its info is the producer's.
bool IsPlainInput(const Layer& layer, unsigned int i);

/// The values of a constant Signed32 or Signed64 input of at most `maxElements` elements.
std::optional<std::vector<int64_t>> GetIntegers(const Layer& layer, unsigned int input, uint64_t maxElements);

/// The values of a constant Float32 input of `count` elements; nothing where it is something else.
std::optional<std::vector<double>> GetFloats(const Layer& layer, unsigned int input, uint64_t count);
/// The value of a constant Float32 input of one element.
std::optional<float> GetFloat(const Layer& layer, unsigned int input);
/// An ElementwiseBinary layer of this operation whose inputs are not overridden.
bool IsBinary(const Layer* layer, BinaryOperation operation);
bool IsUnary(const Layer* layer, UnaryOperation operation);

/// Whether the graph has a Quantize of RequantizationMode::FloatHalfEven, which FoldQuantization looks for.
bool HasHalfEvenQuantize(const Graph& graph);

/// An operation of a tensor with a constant of one element.
struct ScalarOperand
{
    float m_Value = 0.0f;
    unsigned int m_Data = 0; ///< which input is the tensor
};
/// Nothing where neither input is such a constant.
std::optional<ScalarOperand> GetScalarOperand(const Layer& layer);

/// a and b differ by float rounding only.
bool IsNear(double a, double b);

/// A product: m_Constant times the tensors of m_Factors, all of Float32 and, where constants are factors, of the shape
/// that they have without them.
struct Product
{
    double m_Constant = 1.0;
    std::vector<OutputSlot*> m_Factors;
    std::vector<const Layer*> m_Layers; ///< that multiply, or divide by a constant
};
/// The product that `last` and multiplications before it, which nothing else reads, are: at most six of them. No
/// factors where `last` is none.
Product GetProduct(const Layer& last, const ShapeFacts& shapeFacts);

/// Whether nothing but each other and `last` reads what these layers give, and all are hinted alike, so that they may
/// go with it.
bool FeedOnly(const std::vector<const Layer*>& layers, const Layer& last);

/// How many bytes of changed copies of constants a pass may make: a small file must not ask for much memory.
class ConstantBudget
{
public:
    explicit ConstantBudget(const Graph& graph);
    /// Takes `bytes`, or nothing and gives false.
    bool Take(uint64_t bytes);

private:
    uint64_t m_Left = 0;
};

/// A Constant layer of Float32 that owns its values.
Layer& AddFloats(Graph& graph, const TensorShape& shape, std::vector<float> values, const std::string& name);

/// Lets `input` read `source` in place of what it reads.
void Rewire(InputSlot& input, OutputSlot& source);

/// A layer like `old` with these parameters, which takes over its name, guid, inputs and output 0. `old` is left
/// without connections, for the caller to remove.
Layer& ReplaceLayer(Graph& graph, Layer& old, std::unique_ptr<BaseDescriptor> descriptor);

/// A layer that computes from `sources` what `last` and layers before it compute: it takes over name, guid and readers
/// of `last`, which is left for the caller to remove. Null, and nothing is changed, where backends that take `last` do
/// not take it.
Layer* ReplacePattern(Graph& graph, const PassContext& context, Layer& last, LayerType type,
                      std::unique_ptr<BaseDescriptor> descriptor, std::initializer_list<OutputSlot*> sources);

/// Calls `fold` for each layer in order of data flow and removes those for which it gives true: what they compute is
/// then computed otherwise.
void ReplaceInOrder(Graph& graph, const PassContext& context,
                    bool (*fold)(Graph& graph, const PassContext& context, Layer& last, const ShapeFacts& shapeFacts));

/// Removes these layers.
void RemoveUnused(Graph& graph, const std::vector<const Layer*>& layers);

} // namespace tenon
