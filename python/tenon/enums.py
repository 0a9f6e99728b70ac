# SPDX-License-Identifier: Apache-2.0
# Written by scripts/python_enums.py; do not edit.
"""Enumerations for attributes of layers: ``{"Operation": tenon.enums.UnaryOperation.Neg}``."""

from enum import IntEnum


class DataType(IntEnum):
    """Element types. Q types carry a scale and a zero point: real = scale * (stored - zero point). S types are
    symmetric (zero point 0). An 8- or 16-bit tensor without a scale holds plain integers.

    Values of the attributes ``IndexType`` of TopK, Unique; ``Output_Type`` of ArgMinMax.
    """

    Float16 = 0
    Float32 = 1
    QAsymmU8 = 2
    Signed32 = 3
    Boolean = 4
    """one byte an element, 0 or 1"""
    QSymmS16 = 5
    QSymmS8 = 6
    """weights; per axis when the info has several scales"""
    QAsymmS8 = 7
    BFloat16 = 8
    Signed64 = 9
    Float64 = 10
    Signed8 = 11
    Signed16 = 12
    Unsigned8 = 13
    Unsigned16 = 14
    Unsigned32 = 15
    Unsigned64 = 16
    QSymmS4 = 17
    """two elements a byte, the first in the low half; -8..7"""
    Complex64 = 18
    """two float32: real, imaginary"""
    Complex128 = 19
    """two float64: real, imaginary"""


class DataLayout(IntEnum):
    """Order of the dimensions. NCHW is the descriptors' default.

    Values of the attributes ``DataLayout`` of SpaceToDepth, SpaceToBatchNd, BatchToSpaceNd, Convolution2d,
    Convolution3d, DepthwiseConvolution2d, TransposeConvolution2d, TransposeConvolution3d, Normalization,
    L2Normalization, BatchNormalization, InstanceNormalization, Pooling2d, Pooling3d, StridedSlice, Resize;
    ``DataLayoutX`` of BatchMatMul; ``DataLayoutY`` of BatchMatMul.
    """

    NCHW = 1
    NHWC = 2
    NDHWC = 3
    NCDHW = 4


class ActivationFunction(IntEnum):
    """Values of the attribute ``Function`` of Activation."""

    Sigmoid = 0
    TanH = 1
    """a * tanh(b * x)"""
    Linear = 2
    """a * x + b"""
    ReLu = 3
    """max(0, x)"""
    BoundedReLu = 4
    """min(a, max(b, x))"""
    SoftReLu = 5
    """log(1 + exp(x))"""
    LeakyReLu = 6
    """x > 0 ? x : a * x"""
    Abs = 7
    Sqrt = 8
    Square = 9
    Elu = 10
    """x >= 0 ? x : a * (exp(x) - 1)"""
    HardSwish = 11
    """x * min(6, max(0, x + 3)) / 6"""
    Gelu = 12
    """0.5 x (1 + erf(x / sqrt(2))); a != 0 selects the tanh approximation"""
    Swish = 13
    """x / (1 + exp(-a * x)); SiLu where a is 1"""
    Mish = 14
    """x * tanh(log(1 + exp(x)))"""


class ComplexComponent(IntEnum):
    """The part of a complex number that ComplexPart gives.

    Values of the attribute ``Component`` of ComplexPart.
    """

    Real = 0
    Imaginary = 1
    Magnitude = 2


class ArgMinMaxFunction(IntEnum):
    """Values of the attribute ``Function`` of ArgMinMax."""

    Min = 0
    Max = 1


class ComparisonOperation(IntEnum):
    """Values of the attribute ``Operation`` of Comparison."""

    Equal = 0
    Greater = 1
    GreaterOrEqual = 2
    Less = 3
    LessOrEqual = 4
    NotEqual = 5


class LogicalBinaryOperation(IntEnum):
    """Values of the attribute ``Operation`` of LogicalBinary."""

    LogicalAnd = 0
    LogicalOr = 1


class UnaryOperation(IntEnum):
    """Values of the attribute ``Operation`` of ElementwiseUnary."""

    Abs = 0
    Exp = 1
    Sqrt = 2
    Rsqrt = 3
    Neg = 4
    LogicalNot = 5
    Log = 6
    Sin = 7
    Ceil = 8
    Cos = 9
    Round = 10
    """to the nearest integer, half to the even one"""
    Sign = 11
    """-1, 0 or 1; NaN stays"""
    Erf = 12
    """the error function"""
    Tan = 13
    Asin = 14
    Acos = 15
    Atan = 16
    Sinh = 17
    Cosh = 18
    Asinh = 19
    Acosh = 20
    Atanh = 21


class BinaryOperation(IntEnum):
    """Values of the attribute ``Operation`` of ElementwiseBinary."""

    Add = 0
    Div = 1
    Maximum = 2
    Minimum = 3
    Mul = 4
    Sub = 5
    SqDiff = 6
    """(a - b)^2"""
    Power = 7
    """a ^ b"""
    FloorDiv = 8
    """floor(a / b), as TFLite's FLOOR_DIV"""
    FloorMod = 9
    """a - floor(a / b) * b, as TFLite's FLOOR_MOD"""
    Atan2 = 10
    """the angle of the point (b, a); floats"""
    BitwiseAnd = 11
    BitwiseOr = 12
    BitwiseXor = 13
    ShiftLeft = 14
    """0 where the amount is negative or as large as the type has bits"""
    ShiftRight = 15
    """keeps the sign; amounts are kept within 0 and the type's bits - 1"""
    Remainder = 16
    """a - trunc(a / b) * b, as C's fmod; has the sign of a"""


class PoolingAlgorithm(IntEnum):
    """Values of the attribute ``PoolType`` of Pooling2d, Pooling3d, RoiAlign."""

    Max = 0
    Average = 1
    L2 = 2


class ReduceOperation(IntEnum):
    """Values of the attributes ``ReduceOperation`` of Reduce; ``Operation`` of CumSum, UnsortedSegment."""

    Sum = 0
    Max = 1
    Mean = 2
    Min = 3
    Prod = 4
    All = 5
    """of Booleans"""
    Any = 6
    """of Booleans"""


class ResizeMethod(IntEnum):
    """Values of the attribute ``Method`` of Resize."""

    Bilinear = 0
    NearestNeighbor = 1


class PaddingMethod(IntEnum):
    """The elements that a pool's divisor counts.

    Values of the attribute ``PaddingMethod`` of Pooling2d, Pooling3d, PoolingNd.
    """

    IgnoreValue = 0
    """padded elements count in the divisor"""
    Exclude = 1
    """they do not"""


class PaddingScheme(IntEnum):
    """Where the paddings of a convolution or pool come from. Same is computed whenever shapes are: the output is
    ceil(input / stride), the odd element goes to the bottom and right, as TFLite does. Valid is no padding.

    Values of the attribute ``PaddingScheme`` of Convolution2d, Convolution3d, DepthwiseConvolution2d,
    TransposeConvolution2d, TransposeConvolution3d, Pooling2d, Pooling3d, PoolingNd, MaxPool2dWithIndices.
    """

    Explicit = 0
    """the descriptor's Pad fields"""
    Same = 1
    Valid = 2


class RequantizationMode(IntEnum):
    """How a layer makes the stored numbers of a quantized output. Layers whose output is not quantized ignore it.

    Values of the attribute ``Requantization`` of Convolution2d, DepthwiseConvolution2d, TransposeConvolution2d,
    Activation, ElementwiseBinary, Quantize, Pooling2d, FullyConnected, BatchMatMul, Mean.
    """

    FixedPoint = 0
    FloatHalfEven = 1


class PaddingMode(IntEnum):
    """Values of the attribute ``PaddingMode`` of Pad."""

    Constant = 0
    Reflect = 1
    Symmetric = 2
    Edge = 3
    """the first and the last element, repeated"""
    Wrap = 4
    """from the other end on, as if the tensor were repeated"""


class NormalizationAlgorithmChannel(IntEnum):
    """Values of the attribute ``NormChannelType`` of Normalization."""

    Across = 0
    Within = 1


class NormalizationAlgorithmMethod(IntEnum):
    """Values of the attribute ``NormMethodType`` of Normalization."""

    LocalBrightness = 0
    """Krichevsky 2012"""
    LocalContrast = 1
    """Jarret 2009"""


class OutputShapeRounding(IntEnum):
    """Values of the attribute ``OutputShapeRounding`` of Pooling2d, Pooling3d, PoolingNd."""

    Floor = 0
    Ceiling = 1


class ScatterNdFunction(IntEnum):
    """Values of the attribute ``Function`` of ScatterNd, ScatterElements, StablehloScatter."""

    Update = 0
    Add = 1
    Sub = 2
    Max = 3
    Min = 4
    Mul = 5


class ReduceWindowFunction(IntEnum):
    """The function by which ReduceWindow combines the elements of a window. On Boolean tensors Add, Max and Any are
    "or", Mul, Min and All are "and".

    Values of the attribute ``Function`` of ReduceWindow.
    """

    Add = 0
    Mul = 1
    Min = 2
    Max = 3
    All = 4
    """1 where no element is 0, else 0"""
    Any = 5
    """1 where some element is not 0, else 0"""


class InterpolationMode(IntEnum):
    """How Interpolate and GridSample make a value between elements.

    Values of the attribute ``Mode`` of Interpolate, GridSample.
    """

    Nearest = 0
    """the nearest element's"""
    Linear = 1
    """between 2 elements of each dimension"""
    Cubic = 2
    """between 4 elements of each dimension"""


class InterpolationCoordinates(IntEnum):
    """Where Interpolate finds element x of its output in its input. n is the input's size, m the output's, and s the
    scale.

    Values of the attribute ``Coordinates`` of Interpolate.
    """

    HalfPixel = 0
    """(x + 0.5) / s - 0.5"""
    HalfPixelSymmetric = 1
    """the same, moved by n / 2 * (1 - m / (n * s))"""
    PytorchHalfPixel = 2
    """the same as HalfPixel, but 0 where m is 1"""
    AlignCorners = 3
    """x * (n - 1) / (m - 1)"""
    Asymmetric = 4
    """x / s"""
    TfHalfPixelForNn = 5
    """(x + 0.5) / s"""
    TfCropAndResize = 6
    """from start to end of a region of the input"""


class NearestRounding(IntEnum):
    """Which of two elements is the nearest.

    Values of the attribute ``Rounding`` of Interpolate.
    """

    PreferFloor = 0
    """to the nearest, halves down"""
    PreferCeil = 1
    """to the nearest, halves up"""
    Floor = 2
    Ceil = 3


class AspectRatioPolicy(IntEnum):
    """The meaning of target sizes in Interpolate.

    Values of the attribute ``AspectRatioPolicy`` of Interpolate.
    """

    Stretch = 0
    """each dimension gets its own"""
    NotLarger = 1
    """all get the same scale, the largest one with which none exceeds its target"""
    NotSmaller = 2
    """all get the same scale, the smallest one with which none falls below its target"""


class GridPadding(IntEnum):
    """The values that GridSample takes outside of its input.

    Values of the attribute ``Padding`` of GridSample.
    """

    Zeros = 0
    Border = 1
    """the nearest element at the border"""
    Reflection = 2
    """the image mirrored at its border, repeatedly"""


class PoolingNdFunction(IntEnum):
    """The function that PoolingNd applies to the elements of a window.

    Values of the attribute ``Function`` of PoolingNd.
    """

    Max = 0
    Average = 1
    Lp = 2
    """the p-th root of the sum of the p-th powers of their absolute values"""


class RandomDistribution(IntEnum):
    """Distribution of random numbers.

    Values of the attribute ``Distribution`` of Random.
    """

    Uniform = 0
    """in [0, 1)"""
    StandardNormal = 1
    """mean 0, variance 1"""


class RngAlgorithm(IntEnum):
    """Generator of random bits.

    Values of the attribute ``Algorithm`` of RngBitGenerator.
    """

    Default = 0
    """Philox"""
    Philox = 1
    """Philox4x32-10"""
    ThreeFry = 2
    """ThreeFry2x32-20"""


class EmbeddingCombiner(IntEnum):
    """How EmbeddingLookupSparse joins the weighted rows of a bag.

    Values of the attribute ``Combiner`` of EmbeddingLookupSparse.
    """

    Sum = 0
    Mean = 1
    """divided by the sum of the weights"""
    SqrtN = 2
    """divided by the root of the sum of the weights' squares"""


class RecurrentCell(IntEnum):
    """The cell of a RecurrentSequence.

    Values of the attribute ``Cell`` of RecurrentSequence.
    """

    Rnn = 0
    Gru = 1
    Lstm = 2


class SequenceDirection(IntEnum):
    """The order in which a RecurrentSequence takes the steps of a sequence.

    Values of the attribute ``Direction`` of RecurrentSequence.
    """

    Forward = 0
    Reverse = 1
    """from the last step to the first"""
    Bidirectional = 2
    """both, each with weights and states of its own"""


class RecurrentActivation(IntEnum):
    """Functions of the gates of a RecurrentSequence: those of ONNX's recurrent operators. a and b are the gate's Alphas
    and Betas.

    Values of the attribute ``Activations`` of RecurrentSequence.
    """

    Relu = 0
    """max(0, x)"""
    Tanh = 1
    Sigmoid = 2
    Affine = 3
    """a * x + b"""
    LeakyRelu = 4
    """x >= 0 ? x : a * x"""
    ThresholdedRelu = 5
    """x >= a ? x : 0"""
    ScaledTanh = 6
    """a * tanh(b * x)"""
    HardSigmoid = 7
    """min(1, max(0, a * x + b))"""
    Elu = 8
    """x >= 0 ? x : a * (exp(x) - 1)"""
    Softsign = 9
    """x / (1 + |x|)"""
    Softplus = 10
    """log(1 + exp(x))"""


class SignalFeatureFunction(IntEnum):
    """The function of a SignalFeature: an operator of TFLM's signal library each.

    Values of the attribute ``Function`` of SignalFeature.
    """

    Window = 0
    """samples, multiplied by the weights of a window"""
    AutoScale = 1
    """samples, shifted left by as many bits as the largest one allows"""
    Energy = 2
    """the squared magnitudes of frequencies"""
    FilterBank = 3
    """the weighted sums of energies in channels, whose triangles overlap"""
    SquareRoot = 4
    """roots of energies, shifted right"""
    Gain = 5
    """channels, divided by a power of their noise and compressed (PCAN)"""
    Log = 6
    """logarithms"""


class SignalFramesFunction(IntEnum):
    """The function of SignalFrames: an operator of TFLM's signal library each.

    Values of the attribute ``Function`` of SignalFrames.
    """

    Cut = 0
    """samples into overlapping frames"""
    Stack = 1
    """frames into stacks of neighbours"""
    OverlapAdd = 2
    """overlapping frames into samples"""


class FusedKernelType(IntEnum):
    """Values of the attribute ``FusedKernelType`` of Fused."""

    AddMulAdd = 0
