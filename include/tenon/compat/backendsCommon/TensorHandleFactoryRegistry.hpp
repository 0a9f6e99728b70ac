// SPDX-License-Identifier: Apache-2.0
// For backends written for Arm NN, in which TensorHandleFactoryRegistry is an internal class.
#pragma once

#include <armnn/backends/TensorHandleFactoryRegistry.hpp>
