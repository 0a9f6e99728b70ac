// SPDX-License-Identifier: Apache-2.0
// Out-of-line destructors of the public classes, so that their type information lives in this library alone.
#include <tenon/Exceptions.hpp>
#include <tenon/INetwork.hpp>
#include <tenon/IProfiler.hpp>
#include <tenon/IRuntime.hpp>
#include <tenon/IStrategy.hpp>
#include <tenon/Tensor.hpp>
#include <tenon/parsers/ITfLiteParser.hpp>
#include <tenon/serializer/IDeserializer.hpp>
#include <tenon/serializer/ISerializer.hpp>

namespace tenon
{

Exception::~Exception() = default;
BackendUnavailableException::~BackendUnavailableException() = default;
ClRuntimeUnavailableException::~ClRuntimeUnavailableException() = default;
InvalidArgumentException::~InvalidArgumentException() = default;
FileNotFoundException::~FileNotFoundException() = default;
ParseException::~ParseException() = default;
UnimplementedException::~UnimplementedException() = default;
LayerValidationException::~LayerValidationException() = default;
GraphValidationException::~GraphValidationException() = default;
BadOptionalAccessException::~BadOptionalAccessException() = default;
RuntimeException::~RuntimeException() = default;
CancelledException::~CancelledException() = default;
MemoryImportException::~MemoryImportException() = default;
MemoryExportException::~MemoryExportException() = default;
TimeoutException::~TimeoutException() = default;
PolymorphicDowncastException::~PolymorphicDowncastException() = default;
NullPointerException::~NullPointerException() = default;
BackendCapabilityException::~BackendCapabilityException() = default;
MemoryValidationException::~MemoryValidationException() = default;
LimitExceededException::~LimitExceededException() = default;

IInputSlot::~IInputSlot() = default;
IOutputSlot::~IOutputSlot() = default;
IConnectableLayer::~IConnectableLayer() = default;
INetwork::~INetwork() = default;
IDeviceSpec::~IDeviceSpec() = default;
IOptimizedNetwork::~IOptimizedNetwork() = default;
IProfiler::~IProfiler() = default;
IRuntime::~IRuntime() = default;
IStrategy::~IStrategy() = default;
ITfLiteParser::~ITfLiteParser() = default;
IDeserializer::~IDeserializer() = default;
ISerializer::~ISerializer() = default;

} // namespace tenon
