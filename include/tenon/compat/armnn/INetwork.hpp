// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: the network builder, Optimize and the optimized network. It brings along what Arm
// NN's header of this name brings along.
#pragma once

#include <tenon/INetwork.hpp>

#include <armnn/BackendOptions.hpp>
#include <armnn/Deprecated.hpp>
#include <armnn/Descriptors.hpp>
#include <armnn/DescriptorsFwd.hpp>
#include <armnn/Exceptions.hpp>
#include <armnn/IStrategy.hpp>
#include <armnn/Logging.hpp>
#include <armnn/MemorySources.hpp>
#include <armnn/Namespace.hpp>
#include <armnn/NetworkFwd.hpp>
#include <armnn/Optional.hpp>
#include <armnn/Tensor.hpp>
#include <armnn/TensorFwd.hpp>
#include <armnn/TypesUtils.hpp>
#include <armnn/Utils.hpp>
#include <armnn/utility/Assert.hpp>
#include <armnn/utility/IgnoreUnused.hpp>
