// SPDX-License-Identifier: Apache-2.0
// Enumerations and small value types of the public API. Numbers and names are Arm NN's where it has them.
#pragma once

#include <tenon/Exceptions.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace tenon
{

/// The largest rank that a tensor may have.
constexpr unsigned int MaxNumOfTensorDimensions = 8U;

enum class Status
{
    Success = 0,
    Failure = 1
};

/// Element types. Q types carry a scale and a zero point: real = scale * (stored - zero point).
/// S types are symmetric (zero point 0). An 8- or 16-bit tensor without a scale holds plain integers.
enum class DataType : uint8_t // tensors are many, and each has one
{
    Float16 = 0,
    Float32 = 1,
    QAsymmU8 = 2,
    Signed32 = 3,
    Boolean = 4, ///< one byte an element, 0 or 1
    QSymmS16 = 5,
    QSymmS8 = 6, ///< weights; per axis when the info has several scales
    QAsymmS8 = 7,
    BFloat16 = 8,
    Signed64 = 9,
    Float64 = 10,
    Signed8 = 11,
    Signed16 = 12,
    Unsigned8 = 13,
    Unsigned16 = 14,
    Unsigned32 = 15,
    Unsigned64 = 16,
    QSymmS4 = 17,   ///< two elements a byte, the first in the low half; -8..7
    Complex64 = 18, ///< two float32: real, imaginary
    Complex128 = 19 ///< two float64: real, imaginary
};

/// Order of the dimensions. NCHW is the descriptors' default, as in Arm NN; the optimizer lowers it to NHWC.
enum class DataLayout
{
    NCHW = 1,
    NHWC = 2,
    NDHWC = 3,
    NCDHW = 4
};

enum class ActivationFunction
{
    Sigmoid = 0,
    TanH = 1,        ///< a * tanh(b * x)
    Linear = 2,      ///< a * x + b
    ReLu = 3,        ///< max(0, x)
    BoundedReLu = 4, ///< min(a, max(b, x))
    SoftReLu = 5,    ///< log(1 + exp(x))
    LeakyReLu = 6,   ///< x > 0 ? x : a * x
    Abs = 7,
    Sqrt = 8,
    Square = 9,
    Elu = 10,       ///< x >= 0 ? x : a * (exp(x) - 1)
    HardSwish = 11, ///< x * min(6, max(0, x + 3)) / 6
    Gelu = 12,      ///< 0.5 x (1 + erf(x / sqrt(2))); a != 0 selects the tanh approximation
    Swish = 13,     ///< x / (1 + exp(-a * x)); SiLu where a is 1
    Mish = 14       ///< x * tanh(log(1 + exp(x)))
};

/// The part of a complex number that ComplexPart gives.
enum class ComplexComponent
{
    Real = 0,
    Imaginary = 1,
    Magnitude = 2
};

enum class ArgMinMaxFunction
{
    Min = 0,
    Max = 1
};

enum class ComparisonOperation
{
    Equal = 0,
    Greater = 1,
    GreaterOrEqual = 2,
    Less = 3,
    LessOrEqual = 4,
    NotEqual = 5
};

enum class LogicalBinaryOperation
{
    LogicalAnd = 0,
    LogicalOr = 1
};

enum class UnaryOperation
{
    Abs = 0,
    Exp = 1,
    Sqrt = 2,
    Rsqrt = 3,
    Neg = 4,
    LogicalNot = 5,
    Log = 6,
    Sin = 7,
    Ceil = 8,
    Cos = 9,    ///< Tenon, as the following
    Round = 10, ///< to the nearest integer, half to the even one
    Sign = 11,  ///< -1, 0 or 1; NaN stays
    Erf = 12,   ///< the error function
    // The following functions take floats; angles are in radians.
    Tan = 13,
    Asin = 14,
    Acos = 15,
    Atan = 16,
    Sinh = 17,
    Cosh = 18,
    Asinh = 19,
    Acosh = 20,
    Atanh = 21
};

enum class BinaryOperation
{
    Add = 0,
    Div = 1,
    Maximum = 2,
    Minimum = 3,
    Mul = 4,
    Sub = 5,
    SqDiff = 6,   ///< (a - b)^2
    Power = 7,    ///< a ^ b
    FloorDiv = 8, ///< floor(a / b), as TFLite's FLOOR_DIV
    FloorMod = 9, ///< a - floor(a / b) * b, as TFLite's FLOOR_MOD
    Atan2 = 10,   ///< the angle of the point (b, a); floats
    // The following operations take integers and Boolean; tensors with a scale are taken as the integers that are
    // stored.
    BitwiseAnd = 11,
    BitwiseOr = 12,
    BitwiseXor = 13,
    // Shifts take integers; tensors with a scale are taken likewise. The amount b is a number, not a bit pattern.
    ShiftLeft = 14,  ///< 0 where the amount is negative or as large as the type has bits
    ShiftRight = 15, ///< keeps the sign; amounts are kept within 0 and the type's bits - 1
    Remainder = 16   ///< a - trunc(a / b) * b, as C's fmod; has the sign of a
};

enum class PoolingAlgorithm
{
    Max = 0,
    Average = 1,
    L2 = 2
};

enum class ReduceOperation
{
    Sum = 0,
    Max = 1,
    Mean = 2,
    Min = 3,
    Prod = 4,
    All = 5, ///< Tenon: of Booleans
    Any = 6  ///< Tenon: of Booleans
};

enum class ResizeMethod
{
    Bilinear = 0,
    NearestNeighbor = 1
};

enum class Dimensionality : uint8_t
{
    NotSpecified = 0, ///< the rank is unknown
    Specified = 1,
    Scalar = 2 ///< rank 0, one element
};

/// The elements that a pool's divisor counts.
enum class PaddingMethod
{
    IgnoreValue = 0, ///< padded elements count in the divisor
    Exclude = 1      ///< they do not
};

/// Where the paddings of a convolution or pool come from (Tenon). Same is computed whenever shapes are: the output is
/// ceil(input / stride), the odd element goes to the bottom and right, as TFLite does. Valid is no padding.
enum class PaddingScheme
{
    Explicit = 0, ///< the descriptor's m_Pad fields
    Same = 1,
    Valid = 2
};

/// How a layer makes the stored numbers of a quantized output (Tenon). Layers whose output is not quantized ignore it.
enum class RequantizationMode
{
    /// As TFLite's reference kernels: scales become fixed-point multipliers of 31 bits, or doubles, as the operator has
    /// them. Quantize divides floats by the scale and rounds halves away from zero.
    FixedPoint = 0,
    /// As ONNX Runtime's quantized operators: rounded once, from Float32, halves to even, and saturated.
    /// - Quantize, Activation, ElementwiseBinary: the layer on real numbers scale * (stored - zero point), each
    ///   operation in Float32; the result is divided by the output's scale. L2 Pooling2d: so is the root of the mean
    ///   square.
    /// - Convolution2d, DepthwiseConvolution2d, TransposeConvolution2d, FullyConnected, BatchMatMul: the exact sum of
    ///   products and bias becomes Float32 and is multiplied by the Float32 number
    ///   (scale of the data * scale of the weights) / scale of the output.
    /// - Mean, average Pooling2d: the exact sum of (stored - zero point) becomes Float32 and is multiplied by the
    ///   Float32 number scale of the input / (scale of the output * number of elements).
    /// - Maximum Pooling2d: stored numbers are compared, as in fixed point.
    ///
    /// A factor above the finite numbers becomes the largest of them. The output's zero point is added after rounding.
    FloatHalfEven = 1
};

enum class PaddingMode
{
    Constant = 0,
    Reflect = 1,
    Symmetric = 2,
    Edge = 3, ///< Tenon: the first and the last element, repeated
    Wrap = 4  ///< Tenon: from the other end on, as if the tensor were repeated
};

enum class NormalizationAlgorithmChannel
{
    Across = 0,
    Within = 1
};

enum class NormalizationAlgorithmMethod
{
    LocalBrightness = 0, ///< Krichevsky 2012
    LocalContrast = 1    ///< Jarret 2009
};

enum class OutputShapeRounding
{
    Floor = 0,
    Ceiling = 1
};

enum class ScatterNdFunction
{
    Update = 0,
    Add = 1,
    Sub = 2,
    Max = 3,
    Min = 4,
    Mul = 5 ///< Tenon
};

/// The function by which ReduceWindow combines the elements of a window (Tenon). On Boolean tensors Add, Max and Any
/// are "or", Mul, Min and All are "and".
enum class ReduceWindowFunction
{
    Add = 0,
    Mul = 1,
    Min = 2,
    Max = 3,
    All = 4, ///< 1 where no element is 0, else 0
    Any = 5  ///< 1 where some element is not 0, else 0
};

/// How Interpolate and GridSample make a value between elements (Tenon).
enum class InterpolationMode
{
    Nearest = 0, ///< the nearest element's
    Linear = 1,  ///< between 2 elements of each dimension
    Cubic = 2    ///< between 4 elements of each dimension
};

/// Where Interpolate finds element x of its output in its input (Tenon). n is the input's size, m the output's, and s
/// the scale.
enum class InterpolationCoordinates
{
    HalfPixel = 0,          ///< (x + 0.5) / s - 0.5
    HalfPixelSymmetric = 1, ///< the same, moved by n / 2 * (1 - m / (n * s))
    PytorchHalfPixel = 2,   ///< the same as HalfPixel, but 0 where m is 1
    AlignCorners = 3,       ///< x * (n - 1) / (m - 1)
    Asymmetric = 4,         ///< x / s
    TfHalfPixelForNn = 5,   ///< (x + 0.5) / s
    TfCropAndResize = 6     ///< from start to end of a region of the input
};

/// Which of two elements is the nearest (Tenon).
enum class NearestRounding
{
    PreferFloor = 0, ///< to the nearest, halves down
    PreferCeil = 1,  ///< to the nearest, halves up
    Floor = 2,
    Ceil = 3
};

/// The meaning of target sizes in Interpolate (Tenon).
enum class AspectRatioPolicy
{
    Stretch = 0,   ///< each dimension gets its own
    NotLarger = 1, ///< all get the same scale, the largest one with which none exceeds its target
    NotSmaller = 2 ///< all get the same scale, the smallest one with which none falls below its target
};

/// The values that GridSample takes outside of its input (Tenon).
enum class GridPadding
{
    Zeros = 0,
    Border = 1,    ///< the nearest element at the border
    Reflection = 2 ///< the image mirrored at its border, repeatedly
};

/// The function that PoolingNd applies to the elements of a window (Tenon).
enum class PoolingNdFunction
{
    Max = 0,
    Average = 1,
    Lp = 2 ///< the p-th root of the sum of the p-th powers of their absolute values
};

/// Distribution of random numbers (Tenon).
enum class RandomDistribution
{
    Uniform = 0,       ///< in [0, 1)
    StandardNormal = 1 ///< mean 0, variance 1
};

/// Generator of random bits (Tenon).
enum class RngAlgorithm
{
    Default = 0, ///< Philox
    Philox = 1,  ///< Philox4x32-10
    ThreeFry = 2 ///< ThreeFry2x32-20
};

/// How EmbeddingLookupSparse joins the weighted rows of a bag (Tenon).
enum class EmbeddingCombiner
{
    Sum = 0,
    Mean = 1, ///< divided by the sum of the weights
    SqrtN = 2 ///< divided by the root of the sum of the weights' squares
};

/// The cell of a RecurrentSequence (Tenon).
enum class RecurrentCell
{
    Rnn = 0,
    Gru = 1,
    Lstm = 2
};

/// The order in which a RecurrentSequence takes the steps of a sequence (Tenon).
enum class SequenceDirection
{
    Forward = 0,
    Reverse = 1,      ///< from the last step to the first
    Bidirectional = 2 ///< both, each with weights and states of its own
};

/// Functions of the gates of a RecurrentSequence (Tenon): those of ONNX's recurrent operators. a and b are the gate's
/// m_Alphas and m_Betas.
enum class RecurrentActivation
{
    Relu = 0, ///< max(0, x)
    Tanh = 1,
    Sigmoid = 2,
    Affine = 3,          ///< a * x + b
    LeakyRelu = 4,       ///< x >= 0 ? x : a * x
    ThresholdedRelu = 5, ///< x >= a ? x : 0
    ScaledTanh = 6,      ///< a * tanh(b * x)
    HardSigmoid = 7,     ///< min(1, max(0, a * x + b))
    Elu = 8,             ///< x >= 0 ? x : a * (exp(x) - 1)
    Softsign = 9,        ///< x / (1 + |x|)
    Softplus = 10        ///< log(1 + exp(x))
};

/// The function of a SignalFeature (Tenon): an operator of TFLM's signal library each.
enum class SignalFeatureFunction
{
    Window = 0,     ///< samples, multiplied by the weights of a window
    AutoScale = 1,  ///< samples, shifted left by as many bits as the largest one allows
    Energy = 2,     ///< the squared magnitudes of frequencies
    FilterBank = 3, ///< the weighted sums of energies in channels, whose triangles overlap
    SquareRoot = 4, ///< roots of energies, shifted right
    Gain = 5,       ///< channels, divided by a power of their noise and compressed (PCAN)
    Log = 6         ///< logarithms
};

/// The function of SignalFrames (Tenon): an operator of TFLM's signal library each.
enum class SignalFramesFunction
{
    Cut = 0,       ///< samples into overlapping frames
    Stack = 1,     ///< frames into stacks of neighbours
    OverlapAdd = 2 ///< overlapping frames into samples
};

enum class FusedKernelType
{
    AddMulAdd = 0
};

/// How Optimize() treats declared output shapes. Both infer what is not declared.
enum class ShapeInferenceMethod
{
    ValidateOnly = 0,    ///< a declared shape that contradicts the inferred one is a LayerValidationException
    InferAndValidate = 1 ///< the inferred shape wins; each contradiction is reported as a message
};

/// Where memory comes from; may be combined.
enum class MemorySource : uint32_t
{
    Undefined = 0,
    Malloc = 1,
    DmaBuf = 2,
    DmaBufProtected = 4,
    Gralloc = 8
};
using MemorySourceFlags = unsigned int;

enum class MemBlockStrategyType
{
    SingleAxisPacking = 0,
    MultiAxisPacking = 1
};

enum class BackendCapability : uint32_t
{
    NonConstWeights,
    AsyncExecution
};

enum class ProfilingDetailsMethod
{
    Undefined = 0,
    DetailsWithEvents = 1,
    DetailsOnly = 2
};

/// Every layer type, one enumerator per row of ops.def. Deprecated and reserved names stand so that old code compiles;
/// no layer ever has one of them: the Add... methods of deprecated ones make layers of the family.
enum class LayerType
{
#define TENON_OP(name, ...) name,
#define TENON_DEPRECATED_OP(name) name,
#define TENON_RESERVED_OP(name) name,
#include <tenon/ops.def>
    FirstLayer = Activation,
    LastLayer = Debug
};

/// Number that names an input or output of a network; chosen by whoever builds it.
using LayerBindingId = int;

/// Names a layer; unique within the process.
class LayerGuid
{
public:
    constexpr LayerGuid() = default;
    constexpr explicit LayerGuid(uint64_t value) : m_Value(value) {}
    constexpr operator uint64_t() const { return m_Value; } // NOLINT: prints and compares as a number, as Arm NN's

private:
    uint64_t m_Value = 0;
};

/// An ordering of dimensions; at most MaxNumOfTensorDimensions of them.
class TENON_API PermutationVector
{
public:
    using ValueType = unsigned int;
    using SizeType = unsigned int;
    using ArrayType = std::array<ValueType, MaxNumOfTensorDimensions>;
    using ConstIterator = const ValueType*;

    PermutationVector() = default;
    /// Throws InvalidArgumentException unless `mappings` holds each of 0..size-1 once.
    PermutationVector(const ValueType* mappings, SizeType size);
    PermutationVector(std::initializer_list<ValueType> mappings);

    /// Throws std::out_of_range from MaxNumOfTensorDimensions on.
    ValueType operator[](SizeType i) const { return m_Mappings.at(i); }
    SizeType GetSize() const { return m_Size; }
    ConstIterator begin() const { return m_Mappings.data(); }
    ConstIterator end() const { return m_Mappings.data() + m_Size; }
    ConstIterator cbegin() const { return begin(); }
    ConstIterator cend() const { return end(); }

    bool IsEqual(const PermutationVector& other) const;
    /// Whether applying one after the other changes nothing.
    bool IsInverse(const PermutationVector& other) const;
    PermutationVector Inverse() const;

    friend bool operator==(const PermutationVector& a, const PermutationVector& b) { return a.IsEqual(b); }
    friend bool operator!=(const PermutationVector& a, const PermutationVector& b) { return !a.IsEqual(b); }

private:
    ArrayType m_Mappings{};
    SizeType m_Size = 0;
};

class ITensorHandle;
/// Called with each value of a run of a network that was optimized with SetDebugEnabled(true): the inputs, then the
/// outputs of layers, those of nested networks included. `guid` and `slotIndex` name the layer and its output. The
/// tensor, a ConstTensorHandle of <tenon/TensorHandle.hpp>, is valid during the call. Runs in several threads call it
/// at the same time.
using DebugCallbackFunction = std::function<void(LayerGuid guid, unsigned int slotIndex, ITensorHandle* tensor)>;

} // namespace tenon

namespace std
{
template <>
struct hash<tenon::LayerGuid>
{
    size_t operator()(const tenon::LayerGuid& guid) const noexcept { return hash<uint64_t>()(guid); }
};
} // namespace std
