// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: all of its interface but parsers.
#pragma once

#include <armnn/BackendHelper.hpp>
#include <armnn/BackendId.hpp>
#include <armnn/BackendOptions.hpp>
#include <armnn/Deprecated.hpp>
#include <armnn/Descriptors.hpp>
#include <armnn/Exceptions.hpp>
#include <armnn/INetwork.hpp>
#include <armnn/IProfiler.hpp>
#include <armnn/IRuntime.hpp>
#include <armnn/IStrategy.hpp>
#include <armnn/Logging.hpp>
#include <armnn/LstmParams.hpp>
#include <armnn/Optional.hpp>
#include <armnn/QuantizedLstmParams.hpp>
#include <armnn/Tensor.hpp>
#include <armnn/Types.hpp>
#include <armnn/TypesUtils.hpp>
#include <armnn/Utils.hpp>
#include <armnn/Version.hpp>
