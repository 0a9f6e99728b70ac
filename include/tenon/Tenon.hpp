// SPDX-License-Identifier: Apache-2.0
// All of the public API but parsers and the headers for backend authors.
#pragma once

#include <tenon/BackendHelper.hpp>
#include <tenon/BackendId.hpp>
#include <tenon/BackendOptions.hpp>
#include <tenon/Descriptors.hpp>
#include <tenon/Exceptions.hpp>
#include <tenon/IConnectableLayer.hpp>
#include <tenon/INetwork.hpp>
#include <tenon/IOptimizedNetwork.hpp>
#include <tenon/IProfiler.hpp>
#include <tenon/IRuntime.hpp>
#include <tenon/IStrategy.hpp>
#include <tenon/Limits.hpp>
#include <tenon/Logging.hpp>
#include <tenon/LstmParams.hpp>
#include <tenon/Optional.hpp>
#include <tenon/Tensor.hpp>
#include <tenon/Types.hpp>
#include <tenon/Utils.hpp>
#include <tenon/Version.hpp>
