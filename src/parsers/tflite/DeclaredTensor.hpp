// SPDX-License-Identifier: Apache-2.0
// DeclaredTensor: the unchecked declaration of a tensor from a model file (TensorTable) or from an interpreter (the
// delegate). FillView checks it and makes a TensorView.
#pragma once

#include "common/ModelBytes.hpp"
#include "parsers/common/OperatorView.hpp"
#include "parsers/tflite/Quantization.hpp"
#include "parsers/tflite/Sparsity.hpp"

#include <tenon/Limits.hpp>
#include <tenon/Span.hpp>

#include <cstdint>
#include <optional>

namespace tenon::tflite
{

using parsers::TensorView;

struct DeclaredTensor
{
    schema::TensorType m_Type{};
    Span<const int32_t> m_Sizes;     ///< -1: not known; none: a scalar, or the rank is not known
    Span<const int32_t> m_Signature; ///< -1 if the size varies from run to run; none: as m_Sizes
    bool m_HasRank = false;          ///< a tensor without sizes is a scalar
    bool m_IsInput = false;          ///< no operator computes it
    bool m_IsVariable = false;
    DeclaredQuantization m_Quantization;
    std::optional<DeclaredSparsity> m_Sparsity; ///< sparsity of m_Data
    Span<const uint8_t> m_Data;                 ///< none: not a constant
    std::optional<uint32_t> m_Buffer;           ///< the number of m_Data in the file, for messages
};

/// Fills in all members except index and name. An input of the graph keeps the declared sizes; with `inferShapes`
/// computed tensors are left without a shape. Throws ParseException for a tensor that contradicts itself,
/// UnimplementedException for a type that no layer can have.
void FillView(TensorView& view, const DeclaredTensor& tensor, bool inferShapes, const Limits& limits,
              ReadBudget& budget);

} // namespace tenon::tflite
