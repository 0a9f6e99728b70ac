// SPDX-License-Identifier: Apache-2.0
// For backends written for releases of Arm NN that have this header here.
#pragma once

#include <armnn/backends/WorkloadFactory.hpp>
