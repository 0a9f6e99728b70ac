// SPDX-License-Identifier: Apache-2.0
// CompleteDescriptor: computes the parameters that Tenon computes later than Arm NN does.
#pragma once

#include <tenon/backend/LayerView.hpp>

namespace tenon
{

/// Sets paddings and target shapes in `base`, a copy of the descriptor of `view`. All tensors that a layer of its type
/// must have are there, with known shapes. Throws LayerValidationException where one has another rank than such a layer
/// takes.
void CompleteDescriptor(LayerType type, BaseDescriptor& base, const LayerView& view);

} // namespace tenon
