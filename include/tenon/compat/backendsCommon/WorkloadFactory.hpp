// SPDX-License-Identifier: Apache-2.0
// For backends written for Arm NN before 21.08, where the header stood here.
#pragma once

#include <armnn/backends/WorkloadFactory.hpp>
