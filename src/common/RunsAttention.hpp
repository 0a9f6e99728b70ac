// SPDX-License-Identifier: Apache-2.0
// IRunsAttention: which workloads a plan may have the rest of an attention done by.
#pragma once

#include <tenon/backend/IWorkload.hpp>

#include <memory>

namespace tenon
{

/// What follows the product of queries and keys in an attention: softmax(beta * (scores + added)) * values.
struct AttentionRest
{
    const TensorInfo* m_Added = nullptr; ///< broadcast to the scores, as a mask is; null: nothing is added
    float m_Beta = 1.0f;                 ///< of the softmax, along the last dimension
    bool m_IsShared = false;             ///< several threads may share its work, each with scratch memory of its own
    const ReshapeArgs& m_Product;        ///< of the BatchMatMul of the softmax and the values
};

/// A shaped workload of a BatchMatMul that may do the layers of an attention after it as well: row by row, so that
/// scores stay in the first-level cache. An interface of its own, since IShapedWorkload is one that backends of others
/// implement.
class IRunsAttention
{
public:
    virtual ~IRunsAttention() = default;
    /// A workload of all of these layers. Its inputs are those of this one, then what is added if anything is, then the
    /// values; its output is the second product's. Sums may be taken in another order than the layers take them one
    /// after the other, but in the same one for any number of threads. Null where there is none.
    virtual std::unique_ptr<IShapedWorkload> MakeAttention(const AttentionRest& rest) const = 0;
};

} // namespace tenon
