// SPDX-License-Identifier: Apache-2.0
// Text for each kind of descriptor field, for dumps; that of enumerators is their name in files, too.
#pragma once

#include <tenon/Tensor.hpp>
#include <tenon/Types.hpp>
#include <tenon/descriptors/Slicing.hpp>

#include <string>
#include <utility>
#include <vector>

namespace tenon
{

std::string FieldToString(bool value);
std::string FieldToString(int32_t value);
std::string FieldToString(uint32_t value);
std::string FieldToString(int64_t value);
std::string FieldToString(float value);
std::string FieldToString(const std::string& value);
std::string FieldToString(const std::vector<uint8_t>& value);
std::string FieldToString(const std::vector<float>& value);
std::string FieldToString(const std::vector<int32_t>& value);
std::string FieldToString(const std::vector<uint32_t>& value);
std::string FieldToString(const std::vector<std::pair<unsigned int, unsigned int>>& value);
std::string FieldToString(const TensorShape& value);
std::string FieldToString(const PermutationVector& value);
std::string FieldToString(const OriginsDescriptor& value);
std::string FieldToString(DataType value);
std::string FieldToString(DataLayout value);
std::string FieldToString(ActivationFunction value);
std::string FieldToString(ArgMinMaxFunction value);
std::string FieldToString(ComplexComponent value);
std::string FieldToString(ComparisonOperation value);
std::string FieldToString(LogicalBinaryOperation value);
std::string FieldToString(UnaryOperation value);
std::string FieldToString(BinaryOperation value);
std::string FieldToString(PoolingAlgorithm value);
std::string FieldToString(ReduceOperation value);
std::string FieldToString(ResizeMethod value);
std::string FieldToString(PaddingMethod value);
std::string FieldToString(PaddingScheme value);
std::string FieldToString(RequantizationMode value);
std::string FieldToString(PaddingMode value);
std::string FieldToString(NormalizationAlgorithmChannel value);
std::string FieldToString(NormalizationAlgorithmMethod value);
std::string FieldToString(OutputShapeRounding value);
std::string FieldToString(ScatterNdFunction value);
std::string FieldToString(ReduceWindowFunction value);
std::string FieldToString(InterpolationMode value);
std::string FieldToString(InterpolationCoordinates value);
std::string FieldToString(NearestRounding value);
std::string FieldToString(AspectRatioPolicy value);
std::string FieldToString(GridPadding value);
std::string FieldToString(PoolingNdFunction value);
std::string FieldToString(RandomDistribution value);
std::string FieldToString(RngAlgorithm value);
std::string FieldToString(EmbeddingCombiner value);
std::string FieldToString(RecurrentCell value);
std::string FieldToString(SequenceDirection value);
std::string FieldToString(RecurrentActivation value);
std::string FieldToString(const std::vector<RecurrentActivation>& value);
std::string FieldToString(SignalFeatureFunction value);
std::string FieldToString(SignalFramesFunction value);
std::string FieldToString(FusedKernelType value);

} // namespace tenon
