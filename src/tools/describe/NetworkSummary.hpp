// SPDX-License-Identifier: Apache-2.0
// The layers of a network by operator, with their parameters and their work.
#pragma once

#include <tenon/IStrategy.hpp>
#include <tenon/Tensor.hpp>
#include <tenon/Types.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tenon::tools
{

/// Constants: weights, biases and tables.
struct Parameters
{
    uint64_t m_Tensors = 0;
    uint64_t m_Elements = 0;
    uint64_t m_Bytes = 0;

    void Add(const TensorInfo& info);
    void Add(const Parameters& other);
};

/// Sums over layers. A layer whose work is not known adds nothing but to the number of such layers.
struct WorkSum
{
    uint64_t m_Macs = 0;
    uint64_t m_Operations = 0;
    uint64_t m_NumWithoutMacs = 0;
    uint64_t m_NumWithoutOperations = 0;

    void Add(const WorkSum& other);
};

/// All layers of one operator.
struct OperatorSummary
{
    std::string m_Type; ///< "Convolution2d", "Custom 'Name'"
    uint64_t m_Count = 0;
    std::map<std::string, uint64_t> m_OutputTypes; ///< the number of layers by the type of their output 0
    Parameters m_Parameters;                       ///< shared ones count for the first layer
    WorkSum m_Work;
};

/// A network without the networks nested in it, of which it has the layers alone that run them.
struct NetworkSummary
{
    std::vector<OperatorSummary> m_Operators; ///< by multiply-accumulates, operations, parameters and count
    std::map<DataType, Parameters> m_Parameters;

    uint64_t CountLayers() const;
    Parameters SumParameters() const;
    WorkSum SumWork() const;
    /// Makes all work unknown.
    void ForgetWork();
};

/// Shapes of inputs by their binding ids.
using ShapesById = std::map<LayerBindingId, TensorShape>;
using VisitNetwork = std::function<void(IStrategy& strategy)>;

/// The summary of the network that `visit` walks over, with these shapes of inputs in place of its own. Shapes of other
/// tensors are inferred where the network leaves them open.
NetworkSummary Summarize(const VisitNetwork& visit, const ShapesById& inputShapes);

} // namespace tenon::tools
