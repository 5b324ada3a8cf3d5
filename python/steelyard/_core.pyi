from collections.abc import Callable, Mapping, Sequence
import enum
from typing import Any, overload


class Unit(enum.Enum):
    """What a number measures."""

    NONE = 0

    COUNT = 1

    BYTES = 2

    TRAFFIC = 3

    FLOPS = 4

    MACS = 5

    BYTES_PER_SECOND = 6

    FLOPS_PER_SECOND = 7

    FLOPS_PER_BYTE = 8

    SECONDS = 9

    PERCENT = 10

    BITS = 11

    RATIO = 12

class UnitStyle(enum.Enum):
    """How much of a number is shown."""

    AUTO = 0

    DECIMAL = 1

    EXACT = 2

class Sign(enum.Enum):
    IF_NEGATIVE = 0

    ALWAYS = 1

class Claim(enum.Enum):
    EXACT = 0

    AT_LEAST = 1

    ESTIMATED = 2

class Quantity:
    """A number and all that is needed to write it."""

    @property
    def value(self) -> int | float: ...

    @property
    def unit(self) -> Unit: ...

    @property
    def claim(self) -> Claim: ...

    @property
    def sign(self) -> Sign: ...

@overload
def format(value: int, unit: Unit, style: UnitStyle = UnitStyle.AUTO, sign: Sign = Sign.IF_NEGATIVE) -> str:
    """The number with its unit, as reports write it."""

@overload
def format(value: float, unit: Unit, style: UnitStyle = UnitStyle.AUTO, sign: Sign = Sign.IF_NEGATIVE) -> str: ...

def parse_bytes(text: str) -> int | None:
    """The bytes that a text such as 80GiB says, or None."""

class DType(enum.Enum):
    """The type of a tensor's elements."""

    BOOL = 0

    INT4 = 1

    UINT4 = 2

    INT8 = 3

    UINT8 = 4

    INT16 = 5

    UINT16 = 6

    INT32 = 7

    UINT32 = 8

    INT64 = 9

    UINT64 = 10

    FLOAT4_E2M1 = 11

    FLOAT6_E2M3 = 12

    FLOAT6_E3M2 = 13

    FLOAT8_E4M3 = 14

    FLOAT8_E5M2 = 15

    FLOAT8_E4M3FNUZ = 16

    FLOAT8_E5M2FNUZ = 17

    FLOAT8_E8M0 = 18

    FLOAT16 = 19

    BFLOAT16 = 20

    FLOAT32 = 21

    FLOAT64 = 22

    COMPLEX32 = 23

    COMPLEX64 = 24

    COMPLEX128 = 25

def dtype_named(name: str) -> DType | None:
    """The dtype of PyTorch's name, or None."""

class Dim:
    """A size of a program that is built: a number or symbolic."""

class Program:
    """A model: its graph, as a file or a builder has it."""

    @property
    def name(self) -> str: ...

    @property
    def calls(self) -> int:
        """How many operators its main graph calls."""

    def add_note(self, text: str) -> None:
        """Has reports say something, a line."""

    def learned_size(self) -> tuple[int, int]:
        """
        How many floating-point numbers its parameters are, tied ones once, and their bytes: known whatever sizes of inputs are open.
        """

class KnownOp:
    """One operator of the table."""

    @property
    def name(self) -> str: ...

    @property
    def signature(self) -> str: ...

    @property
    def family(self) -> str: ...

    @property
    def summary(self) -> str: ...

    @property
    def example(self) -> str: ...

    @property
    def is_kernel(self) -> bool: ...

def known_ops() -> list[KnownOp]:
    """The operators that are modelled, by family."""

class InputShape:
    def __init__(self, name: str, sizes: Sequence[int]) -> None: ...

    @property
    def name(self) -> str: ...

    @name.setter
    def name(self, arg: str, /) -> None: ...

    @property
    def sizes(self) -> list[int]: ...

    @sizes.setter
    def sizes(self, arg: Sequence[int], /) -> None: ...

class SymbolSize:
    def __init__(self, name: str, size: int) -> None: ...

    @property
    def name(self) -> str: ...

    @name.setter
    def name(self, arg: str, /) -> None: ...

    @property
    def size(self) -> int: ...

    @size.setter
    def size(self, arg: int, /) -> None: ...

class BindOptions:
    def __init__(self) -> None: ...

    @property
    def inputs(self) -> list[InputShape]: ...

    @inputs.setter
    def inputs(self, arg: Sequence[InputShape], /) -> None: ...

    @property
    def sizes(self) -> list[SymbolSize]: ...

    @sizes.setter
    def sizes(self, arg: Sequence[SymbolSize], /) -> None: ...

    @property
    def batch(self) -> int | None: ...

    @batch.setter
    def batch(self, arg: int | None, /) -> None: ...

    @property
    def seq(self) -> int | None: ...

    @seq.setter
    def seq(self, arg: int | None, /) -> None: ...

class OptimizerOption:
    def __init__(self, name: str, value: str) -> None: ...

    @property
    def name(self) -> str: ...

    @name.setter
    def name(self, arg: str, /) -> None: ...

    @property
    def value(self) -> str: ...

    @value.setter
    def value(self, arg: str, /) -> None: ...

class ParameterGroup:
    def __init__(self, pattern: str, optimizer: str, options: Sequence[OptimizerOption]) -> None: ...

    @property
    def pattern(self) -> str: ...

    @pattern.setter
    def pattern(self, arg: str, /) -> None: ...

    @property
    def optimizer(self) -> str: ...

    @optimizer.setter
    def optimizer(self, arg: str, /) -> None: ...

    @property
    def options(self) -> list[OptimizerOption]: ...

    @options.setter
    def options(self, arg: Sequence[OptimizerOption], /) -> None: ...

class ShardPrecision:
    def __init__(self) -> None: ...

    @property
    def param(self) -> DType | None: ...

    @param.setter
    def param(self, arg: DType | None, /) -> None: ...

    @property
    def reduce(self) -> DType | None: ...

    @reduce.setter
    def reduce(self, arg: DType | None, /) -> None: ...

    @property
    def output(self) -> DType | None: ...

    @output.setter
    def output(self, arg: DType | None, /) -> None: ...

    @property
    def cast_inputs(self) -> bool: ...

    @cast_inputs.setter
    def cast_inputs(self, arg: bool, /) -> None: ...

class LayerPlan:
    def __init__(self, pattern: str, style: str) -> None: ...

    @property
    def pattern(self) -> str: ...

    @pattern.setter
    def pattern(self, arg: str, /) -> None: ...

    @property
    def style(self) -> str: ...

    @style.setter
    def style(self, arg: str, /) -> None: ...

class ParallelOptions:
    def __init__(self) -> None: ...

    @property
    def wrapper(self) -> str: ...

    @wrapper.setter
    def wrapper(self, arg: str, /) -> None: ...

    @property
    def bucket_mib(self) -> int: ...

    @bucket_mib.setter
    def bucket_mib(self, arg: int, /) -> None: ...

    @property
    def bucket_views(self) -> bool: ...

    @bucket_views.setter
    def bucket_views(self, arg: bool, /) -> None: ...

    @property
    def find_unused(self) -> bool: ...

    @find_unused.setter
    def find_unused(self, arg: bool, /) -> None: ...

    @property
    def static_graph(self) -> bool: ...

    @static_graph.setter
    def static_graph(self, arg: bool, /) -> None: ...

    @property
    def units(self) -> list[str]: ...

    @units.setter
    def units(self, arg: Sequence[str], /) -> None: ...

    @property
    def keep_gathered(self) -> bool: ...

    @keep_gathered.setter
    def keep_gathered(self, arg: bool, /) -> None: ...

    @property
    def precision(self) -> ShardPrecision: ...

    @precision.setter
    def precision(self, arg: ShardPrecision, /) -> None: ...

    @property
    def plan(self) -> list[LayerPlan]: ...

    @plan.setter
    def plan(self, arg: Sequence[LayerPlan], /) -> None: ...

    @property
    def parameter_views(self) -> bool: ...

    @parameter_views.setter
    def parameter_views(self, arg: bool, /) -> None: ...

    @property
    def rank(self) -> int | None: ...

    @rank.setter
    def rank(self, arg: int | None, /) -> None: ...

    @property
    def arguments(self) -> list[OptimizerOption]: ...

    @arguments.setter
    def arguments(self, arg: Sequence[OptimizerOption], /) -> None: ...

def shards(options: ParallelOptions) -> bool: ...

def partitions(options: ParallelOptions) -> bool: ...

def zero_stage(options: ParallelOptions) -> int: ...

def shares_layers(options: ParallelOptions) -> bool: ...

class TrainOptions:
    def __init__(self) -> None: ...

    @property
    def optimizer(self) -> str: ...

    @optimizer.setter
    def optimizer(self, arg: str, /) -> None: ...

    @property
    def options(self) -> list[OptimizerOption]: ...

    @options.setter
    def options(self, arg: Sequence[OptimizerOption], /) -> None: ...

    @property
    def groups(self) -> list[ParameterGroup]: ...

    @groups.setter
    def groups(self, arg: Sequence[ParameterGroup], /) -> None: ...

    @property
    def freeze(self) -> list[str]: ...

    @freeze.setter
    def freeze(self, arg: Sequence[str], /) -> None: ...

    @property
    def loss(self) -> str: ...

    @loss.setter
    def loss(self, arg: str, /) -> None: ...

    @property
    def loss_output(self) -> int: ...

    @loss_output.setter
    def loss_output(self, arg: int, /) -> None: ...

    @property
    def accumulate(self) -> int: ...

    @accumulate.setter
    def accumulate(self, arg: int, /) -> None: ...

    @property
    def unroll(self) -> bool: ...

    @unroll.setter
    def unroll(self, arg: bool, /) -> None: ...

    @property
    def clip_norm(self) -> float | None: ...

    @clip_norm.setter
    def clip_norm(self, arg: float | None, /) -> None: ...

    @property
    def clip_value(self) -> float | None: ...

    @clip_value.setter
    def clip_value(self, arg: float | None, /) -> None: ...

    @property
    def keep_gradients(self) -> bool: ...

    @keep_gradients.setter
    def keep_gradients(self, arg: bool, /) -> None: ...

    @property
    def first_step(self) -> bool: ...

    @first_step.setter
    def first_step(self, arg: bool, /) -> None: ...

    @property
    def step(self) -> int | None: ...

    @step.setter
    def step(self, arg: int | None, /) -> None: ...

    @property
    def recompute(self) -> list[str]: ...

    @recompute.setter
    def recompute(self, arg: Sequence[str], /) -> None: ...

    @property
    def recompute_reentrant(self) -> bool: ...

    @recompute_reentrant.setter
    def recompute_reentrant(self, arg: bool, /) -> None: ...

    @property
    def inplace(self) -> list[str]: ...

    @inplace.setter
    def inplace(self, arg: Sequence[str], /) -> None: ...

    @property
    def fused_loss(self) -> int: ...

    @fused_loss.setter
    def fused_loss(self, arg: int, /) -> None: ...

    @property
    def ranks(self) -> int: ...

    @ranks.setter
    def ranks(self, arg: int, /) -> None: ...

    @property
    def parallel(self) -> ParallelOptions: ...

    @parallel.setter
    def parallel(self, arg: ParallelOptions, /) -> None: ...

    @property
    def makes_engine(self) -> bool: ...

    @makes_engine.setter
    def makes_engine(self, arg: bool, /) -> None: ...

class CastOverride:
    def __init__(self, of: str, dtype: DType) -> None: ...

    @property
    def of(self) -> str: ...

    @of.setter
    def of(self, arg: str, /) -> None: ...

    @property
    def dtype(self) -> DType: ...

    @dtype.setter
    def dtype(self, arg: DType, /) -> None: ...

class CastPolicy(enum.Enum):
    TORCH = 0

    RAF = 1

class AmpOptions:
    def __init__(self) -> None: ...

    @property
    def dtype(self) -> DType | None: ...

    @dtype.setter
    def dtype(self, arg: DType | None, /) -> None: ...

    @property
    def policy(self) -> CastPolicy: ...

    @policy.setter
    def policy(self, arg: CastPolicy, /) -> None: ...

    @property
    def results(self) -> DType | None: ...

    @results.setter
    def results(self, arg: DType | None, /) -> None: ...

    @property
    def casts(self) -> list[CastOverride]: ...

    @casts.setter
    def casts(self, arg: Sequence[CastOverride], /) -> None: ...

MOST_LOSS_CHUNKS: int = 65536

MOST_BUCKET_MIB: int = 1048576

class ModelMode(enum.Enum):
    EXPORTED = 0

    TRAIN = 1

    EVAL = 2

def optimizers() -> list[str]:
    """The optimizers that a training step may end with."""

def losses() -> list[str]:
    """The losses that a training step may append."""

VERSION: str = '0.1.0'

REPORT_SCHEMA: str = 'steelyard.report/1'

class Style(enum.Enum):
    PLAIN = 0

    STRONG = 1

    DIM = 2

    WARNING = 3

    BLUE = 4

    GREEN = 5

    YELLOW = 6

    RED = 7

class Align(enum.Enum):
    LEFT = 0

    RIGHT = 1

class Span:
    """A piece of text or a number."""

    @property
    def content(self) -> str | Quantity: ...

    @property
    def style(self) -> Style: ...

class Headline:
    @property
    def title(self) -> str: ...

    @property
    def text(self) -> list[Span]: ...

class Paragraph:
    @property
    def text(self) -> list[Span]: ...

    @property
    def level(self) -> int: ...

class Bar:
    @property
    def label(self) -> str: ...

    @property
    def amount(self) -> Quantity: ...

    @property
    def fraction(self) -> float: ...

    @property
    def rate(self) -> list[Span]: ...

    @property
    def note(self) -> list[Span]: ...

    @property
    def style(self) -> Style: ...

class BarList:
    @property
    def bars(self) -> list[Bar]: ...

class ChartPoint:
    @property
    def x(self) -> float: ...

    @property
    def value(self) -> int: ...

class ChartSeries:
    @property
    def name(self) -> str: ...

    @property
    def points(self) -> list[ChartPoint]: ...

    @property
    def style(self) -> Style: ...

class Chart:
    @property
    def unit(self) -> Unit: ...

    @property
    def baseline(self) -> int: ...

    @property
    def series(self) -> list[ChartSeries]: ...

class NoteList:
    @property
    def notes(self) -> list[list[Span]]: ...

    @property
    def style(self) -> Style: ...

class Column:
    @property
    def key(self) -> str: ...

    @property
    def header(self) -> str: ...

    @property
    def unit(self) -> Unit: ...

    @property
    def align(self) -> Align: ...

class Row:
    @property
    def cells(self) -> list[Span]: ...

    @property
    def level(self) -> int: ...

class Table:
    @property
    def columns(self) -> list[Column]: ...

    @property
    def rows(self) -> list[Row]: ...

    @property
    def level(self) -> int: ...

class RenderOptions:
    def __init__(self) -> None: ...

    @property
    def width(self) -> int: ...

    @width.setter
    def width(self, arg: int, /) -> None: ...

    @property
    def colour(self) -> bool: ...

    @colour.setter
    def colour(self, arg: bool, /) -> None: ...

    @property
    def unicode(self) -> bool: ...

    @unicode.setter
    def unicode(self, arg: bool, /) -> None: ...

    @property
    def units(self) -> UnitStyle: ...

    @units.setter
    def units(self, arg: UnitStyle, /) -> None: ...

    @property
    def table(self) -> str: ...

    @table.setter
    def table(self, arg: str, /) -> None: ...

class Document:
    """A report: data for programs, blocks for people."""

    @property
    def body(self) -> list[Headline | Paragraph | BarList | Chart | Table | NoteList]: ...

    def render(self, format: str, options: RenderOptions) -> str: ...

class ModuleFacts:
    """What is known of a module at hand."""

    def __init__(self, stored: Mapping[str, str], let_go: Sequence[tuple[int, Sequence[str]]] | None = None, kept: Sequence[tuple[str, int]] = [], keeps: Sequence[str] = [], given: Sequence[tuple[int, Sequence[str]]] = [], requires_gradient: Sequence[tuple[int, str]] = []) -> None:
        """
        Where tensors lie, by their names; after which nodes which values are let go; what it holds of its last call, by names and in bytes, and which values it keeps; by the last nodes of checkpointed functions what these are given; and before which nodes which values begin to require a gradient.
        """

    @property
    def sizes(self) -> dict[str, int]:
        """
        What sizes that only the data tell were for the example inputs, by their symbols.
        """

    @sizes.setter
    def sizes(self, arg: Mapping[str, int], /) -> None: ...

def import_file(path: str, importer: str = '', as_module: bool = False, module: ModuleFacts | None = None) -> Program:
    """The model in a file."""

def importers() -> list[str]:
    """The formats that can be read."""

class StageTime:
    """How long a part of a weighing took."""

    @property
    def stage(self) -> str: ...

    @property
    def seconds(self) -> float: ...

class Baseline:
    """What the same costs without mixed precision."""

    @property
    def peak_bytes(self) -> int: ...

    @property
    def at_peak(self) -> dict[str, int]: ...

    @property
    def moved_bytes(self) -> int: ...

class Fit:
    """What a search for the largest size that fits has found."""

    @property
    def limit(self) -> int: ...

    @property
    def dimension(self) -> str: ...

    @property
    def place(self) -> str: ...

    @property
    def size(self) -> int: ...

    @property
    def next_size(self) -> int: ...

    @property
    def next_peak(self) -> int: ...

    @property
    def refusal(self) -> str: ...

    @property
    def weighings(self) -> int: ...

class Advice:
    """A change of a training step, and what it is with it."""

    @property
    def change(self) -> str: ...

    @property
    def words(self) -> str: ...

    @property
    def peak(self) -> int: ...

    @property
    def less(self) -> int: ...

    @property
    def extra_flops(self) -> int: ...

    @property
    def executed_flops(self) -> int: ...

    @property
    def changes_training(self) -> bool: ...

class GenerateOptions:
    """Text that a model writes after a prompt, token by token."""

    def __init__(self) -> None: ...

    @property
    def prompt(self) -> int: ...

    @prompt.setter
    def prompt(self, arg: int, /) -> None: ...

    @property
    def tokens(self) -> int: ...

    @tokens.setter
    def tokens(self, arg: int, /) -> None: ...

    @property
    def beams(self) -> int: ...

    @beams.setter
    def beams(self, arg: int, /) -> None: ...

    @property
    def store(self) -> str: ...

    @store.setter
    def store(self, arg: str, /) -> None: ...

    @property
    def numbers(self) -> str: ...

    @numbers.setter
    def numbers(self, arg: str, /) -> None: ...

    @property
    def block(self) -> int: ...

    @block.setter
    def block(self, arg: int, /) -> None: ...

    @property
    def shared_prefix(self) -> int: ...

    @shared_prefix.setter
    def shared_prefix(self, arg: int, /) -> None: ...

    @property
    def bandwidth(self) -> float: ...

    @bandwidth.setter
    def bandwidth(self, arg: float, /) -> None: ...

    @property
    def operations(self) -> float: ...

    @operations.setter
    def operations(self, arg: float, /) -> None: ...

class WeighOptions:
    """What is weighed, and how it is counted."""

    def __init__(self) -> None: ...

    @property
    def path(self) -> str: ...

    @path.setter
    def path(self, arg: str, /) -> None: ...

    @property
    def importer(self) -> str: ...

    @importer.setter
    def importer(self, arg: str, /) -> None: ...

    @property
    def dtype(self) -> DType | None: ...

    @dtype.setter
    def dtype(self, arg: DType | None, /) -> None: ...

    @property
    def attention(self) -> str: ...

    @attention.setter
    def attention(self, arg: str, /) -> None: ...

    @property
    def use_cache(self) -> bool: ...

    @use_cache.setter
    def use_cache(self, arg: bool, /) -> None: ...

    @property
    def generate(self) -> GenerateOptions | None: ...

    @generate.setter
    def generate(self, arg: GenerateOptions | None, /) -> None: ...

    @property
    def bind(self) -> BindOptions: ...

    @bind.setter
    def bind(self, arg: BindOptions, /) -> None: ...

    @property
    def mode(self) -> ModelMode: ...

    @mode.setter
    def mode(self, arg: ModelMode, /) -> None: ...

    @property
    def train(self) -> TrainOptions: ...

    @train.setter
    def train(self, arg: TrainOptions, /) -> None: ...

    @property
    def amp(self) -> AmpOptions: ...

    @amp.setter
    def amp(self, arg: AmpOptions, /) -> None: ...

    @property
    def runtime(self) -> str: ...

    @runtime.setter
    def runtime(self, arg: str, /) -> None: ...

    @property
    def schedule(self) -> str: ...

    @schedule.setter
    def schedule(self, arg: str, /) -> None: ...

    @property
    def budget(self) -> int | None: ...

    @budget.setter
    def budget(self, arg: int | None, /) -> None: ...

    @property
    def progress(self) -> Callable[[int, int], None]: ...

    @progress.setter
    def progress(self, arg: Callable[[int, int], None], /) -> None: ...

    @property
    def count(self) -> str: ...

    @count.setter
    def count(self, arg: str, /) -> None: ...

    @property
    def at(self) -> str: ...

    @at.setter
    def at(self, arg: str, /) -> None: ...

    @property
    def strict(self) -> bool: ...

    @strict.setter
    def strict(self, arg: bool, /) -> None: ...

    @property
    def fit(self) -> int | None: ...

    @fit.setter
    def fit(self, arg: int | None, /) -> None: ...

    @property
    def devices(self) -> list[str]: ...

    @devices.setter
    def devices(self, arg: Sequence[str], /) -> None: ...

    @property
    def alloc_conf(self) -> list[str]: ...

    @alloc_conf.setter
    def alloc_conf(self, arg: Sequence[str], /) -> None: ...

    @property
    def segments(self) -> bool: ...

    @segments.setter
    def segments(self, arg: bool, /) -> None: ...

    @property
    def as_module(self) -> bool: ...

    @as_module.setter
    def as_module(self, arg: bool, /) -> None: ...

    @property
    def hold_variables(self) -> bool: ...

    @hold_variables.setter
    def hold_variables(self, arg: bool, /) -> None: ...

    @property
    def advise(self) -> bool: ...

    @advise.setter
    def advise(self, arg: bool, /) -> None: ...

    @property
    def device(self) -> str:
        """One of `target_names`; sets what is said of a device anew."""

    @device.setter
    def device(self, arg: str, /) -> None: ...

    @property
    def device_memory(self) -> int:
        """Bytes that programs may take of the device; 0 of a cpu."""

    @property
    def cudnn_attention(self) -> bool: ...

    @cudnn_attention.setter
    def cudnn_attention(self, arg: bool, /) -> None: ...

    @property
    def deterministic(self) -> bool: ...

    @deterministic.setter
    def deterministic(self, arg: bool, /) -> None: ...

    @property
    def torch_release(self) -> str:
        """One of `torch_releases`: whose code of CUDA runs."""

    @torch_release.setter
    def torch_release(self, arg: str, /) -> None: ...

class ReportOptions:
    """What of a weighing a report shows."""

    def __init__(self) -> None: ...

    @property
    def depth(self) -> int: ...

    @depth.setter
    def depth(self, arg: int, /) -> None: ...

    @property
    def top(self) -> int: ...

    @top.setter
    def top(self, arg: int, /) -> None: ...

    @property
    def classes(self) -> bool: ...

    @classes.setter
    def classes(self, arg: bool, /) -> None: ...

    @property
    def detailed(self) -> bool: ...

    @detailed.setter
    def detailed(self, arg: bool, /) -> None: ...

    @property
    def events(self) -> bool: ...

    @events.setter
    def events(self, arg: bool, /) -> None: ...

    @property
    def timings(self) -> bool: ...

    @timings.setter
    def timings(self, arg: bool, /) -> None: ...

    @property
    def table(self) -> str: ...

    @table.setter
    def table(self, arg: str, /) -> None: ...

class Totals:
    """
    Parameters, work of the forward pass, and memory of all that was weighed.
    """

    @property
    def parameter_count(self) -> int: ...

    @property
    def parameter_bytes(self) -> int: ...

    @property
    def buffer_bytes(self) -> int: ...

    @property
    def forward_macs(self) -> int: ...

    @property
    def forward_flops(self) -> int: ...

    @property
    def forward_flops_all(self) -> int: ...

    @property
    def resident_bytes(self) -> int: ...

    @property
    def peak_bytes(self) -> int: ...

    @property
    def operators(self) -> int: ...

    @property
    def modelled_operators(self) -> int: ...

    def __repr__(self) -> str: ...

class Weighing:
    """A weighed model."""

    @property
    def totals(self) -> Totals: ...

    @property
    def elapsed_seconds(self) -> float: ...

    @property
    def times(self) -> list[StageTime]: ...

    @property
    def fit(self) -> Fit | None: ...

    @property
    def baseline(self) -> Baseline | None: ...

    @property
    def advice(self) -> list[Advice]: ...

    def describe(self, options: ReportOptions) -> Document:
        """The report as a document."""

    def write_report(self, format: str, options: ReportOptions, render: RenderOptions) -> str:
        """The report in the format of that name."""

class CompareOptions:
    """Two files, and how they are weighed."""

    def __init__(self) -> None: ...

    @property
    def a(self) -> str: ...

    @a.setter
    def a(self, arg: str, /) -> None: ...

    @property
    def b(self) -> str: ...

    @b.setter
    def b(self, arg: str, /) -> None: ...

    @property
    def weigh(self) -> WeighOptions: ...

    @weigh.setter
    def weigh(self, arg: WeighOptions, /) -> None: ...

    @property
    def asked(self) -> list[str]: ...

    @asked.setter
    def asked(self, arg: Sequence[str], /) -> None: ...

    @property
    def depth(self) -> int: ...

    @depth.setter
    def depth(self, arg: int, /) -> None: ...

    @property
    def top(self) -> int: ...

    @top.setter
    def top(self, arg: int, /) -> None: ...

def compare(options: CompareOptions) -> Document:
    """Two models or reports side by side, as a document."""

def comparison_tables() -> list[str]: ...

@overload
def weigh(options: WeighOptions) -> Weighing:
    """Weighs the model in the file that the options name."""

@overload
def weigh(program: Program, options: WeighOptions) -> Weighing:
    """Weighs a program that is in memory."""

def report_formats() -> list[str]: ...

def report_tables() -> list[str]: ...

def counting_conventions() -> list[str]: ...

def runtimes() -> list[str]: ...

def schedules() -> list[str]: ...

def target_names() -> list[str]: ...

def torch_releases() -> list[str]: ...

def cache_stores() -> list[str]: ...

def cache_numbers() -> list[str]: ...

def format_of_file(path: str) -> str: ...

class HeldTensor:
    """A tensor of PyTorch's, where its elements lie."""

    def __init__(self, name: str, dtype: DType, sizes: Sequence[int], address: int) -> None: ...

class RunOptions:
    """What runs, and how often."""

    def __init__(self) -> None: ...

    @property
    def weigh(self) -> WeighOptions: ...

    @weigh.setter
    def weigh(self, arg: WeighOptions, /) -> None: ...

    @property
    def device_at_hand(self) -> bool: ...

    @device_at_hand.setter
    def device_at_hand(self, arg: bool, /) -> None: ...

    @property
    def engine(self) -> str: ...

    @engine.setter
    def engine(self, arg: str, /) -> None: ...

    @property
    def threads(self) -> int: ...

    @threads.setter
    def threads(self, arg: int, /) -> None: ...

    @property
    def warmup(self) -> int: ...

    @warmup.setter
    def warmup(self, arg: int, /) -> None: ...

    @property
    def number(self) -> int: ...

    @number.setter
    def number(self, arg: int, /) -> None: ...

    @property
    def repeat(self) -> int: ...

    @repeat.setter
    def repeat(self, arg: int, /) -> None: ...

    @property
    def compare(self) -> list[str]: ...

    @compare.setter
    def compare(self, arg: Sequence[str], /) -> None: ...

    @property
    def peak_flops(self) -> list[float]: ...

    @peak_flops.setter
    def peak_flops(self, arg: Sequence[float], /) -> None: ...

    @property
    def leave_peak_out(self) -> bool: ...

    @leave_peak_out.setter
    def leave_peak_out(self, arg: bool, /) -> None: ...

def milliseconds(program: Program, options: RunOptions, weights: Sequence[HeldTensor], inputs: Sequence[HeldTensor]) -> list[float]:
    """
    What a run of a program takes in PyTorch, on tensors or, without them, on random numbers.
    """

def compared_runs(program: Program, options: RunOptions, weights: Sequence[HeldTensor], inputs: Sequence[HeldTensor], format: str) -> str:
    """The report of a program that ran in two precisions in turns."""

def input_names(arg: Program, /) -> list[str]: ...

class Category(enum.Enum):
    """Whose a stretch of memory is."""

    PARAMETERS = 0

    BUFFERS = 1

    INPUTS = 2

    GRADIENTS = 3

    OPTIMIZER_STATE = 4

    ACTIVATIONS = 5

    TEMPORARIES = 6

    OUTPUTS = 7

    CACHE = 8

    LIBRARIES = 9

class Observer:
    """Writes down what a program does while it runs."""

    def start(self, ops: bool, every: int, path: str | None = None, warmup: int | None = None, ring: int = 0) -> None: ...

    def start_profile(self, inputs: bool, memory: bool) -> None: ...

    def stop(self) -> None: ...

    def running(self) -> bool: ...

    def discard(self) -> None: ...

    def record(self) -> bytes: ...

    def add_module(self, module: int, id: int, parent: int | None, trains: bool, path: str, class_name: str) -> None: ...

    def add_place(self, id: int, parent: int, first: int, path: str, class_name: str) -> None: ...

    def alias_module(self, arg0: int, arg1: int, /) -> None: ...

    def forget_module(self, arg: int, /) -> None: ...

    def add_tensor(self, id: int, module: int, elements: int, bytes: int, tensor: int, category: Category, name: str, dtype: str) -> None: ...

    def add_optimizer(self, arg0: int, arg1: str, /) -> None: ...

    def fact(self, arg0: str, arg1: int, /) -> None: ...

    def remark(self, arg: str, /) -> None: ...

    def enter(self, arg: object, /) -> bool: ...

    def leave(self, arg: object, /) -> bool: ...

    def enter_optimizer(self, arg: int, /) -> None: ...

    def leave_optimizer(self, arg: int, /) -> None: ...

    def hear_cuda(self) -> bool: ...

    def hear_calls(self, arg: bool, /) -> None: ...

    def end_step(self, arg: int, /) -> None: ...

    def mark(self, storage: int, address: int, bytes: int, device: int, category: Category, tensor: int | None = None) -> None: ...

    def enter_range(self, arg: str, /) -> None: ...

    def leave_range(self, arg: str, /) -> None: ...

    def begin_functions(self, arg0: Sequence[str], arg1: str, /) -> None: ...

    def end_functions(self) -> None: ...

def load_observer(engine: str) -> Observer:
    """The observer of the engine at that path; "": beside the package."""

def kernel_chunks(record: bytes, trace: bytes, where: str) -> bytes:
    """
    What follows a record of what devices ran, from a trace that PyTorch's profiler wrote.
    """

class Watching:
    """What a program did while it was watched."""

    def describe(self, depth: int = 2, top: int = 10) -> Document: ...

def read_watch(record: bytes, where: str, count: str = 'torch', whole: bool = False) -> Watching:
    """
    What a record says, with work counted as that convention does; all of it as one step, or step by step.
    """

class KeyAverage:
    """Spans that are alike, summed."""

    @property
    def name(self) -> str: ...

    @property
    def is_user_annotation(self) -> bool: ...

    @property
    def inputs(self) -> str: ...

    @property
    def overload(self) -> str: ...

    @property
    def stack(self) -> list[str]: ...

    @property
    def module(self) -> str | None: ...

    @property
    def is_outermost(self) -> bool: ...

    @property
    def count(self) -> int: ...

    @property
    def microseconds(self) -> float: ...

    @property
    def own_microseconds(self) -> float: ...

    @property
    def device_microseconds(self) -> float: ...

    @property
    def own_device_microseconds(self) -> float: ...

    @property
    def on_device(self) -> bool: ...

    @property
    def bytes(self) -> int: ...

    @property
    def own_bytes(self) -> int: ...

    @property
    def flops(self) -> int: ...

class Profile:
    """What a program did, span by span."""

    @property
    def events(self) -> int: ...

    @property
    def spans(self) -> int: ...

    @property
    def lost(self) -> int: ...

    def averages(self, *, by_inputs: bool, stack_depth: int, by_module: bool, by_overload: bool, functions: bool) -> list[KeyAverage]: ...

    @property
    def names(self) -> list[str]: ...

    def span_rows(self, stacks: bool) -> list[Any]: ...

    def inputs_of(self, arg: int, /) -> list[Any]: ...

    def device_rows(self) -> list[Any]: ...

    def memory_outside(self) -> list[Any]: ...

    def trace(self, form: TraceForm, name: str, properties: Sequence[tuple[str, str]]) -> bytes: ...

    def write_trace(self, form: TraceForm, path: str, properties: Sequence[tuple[str, str]]) -> None: ...

    def stack_lines(self, *, on_device: bool) -> str: ...

class TraceForm(enum.Enum):
    """How a trace is written."""

    CHROME = 0

    PERFETTO = 1

class MemoryForm(enum.Enum):
    """What is written of memory over time."""

    SIZES = 0

    CHANGES = 1

    PAGE = 2

def memory_over_time(record: bytes, where: str, form: MemoryForm) -> str:
    """Memory that a record tells of."""

def read_profile(record: bytes, where: str, flops: bool = False) -> Profile:
    """A record, read as PyTorch's profiler would tell it."""

class Tensor:
    """A tensor of a program that is built."""

class Scope:
    """A module that calls run in, until its block ends."""

    def __enter__(self) -> object: ...

    def __exit__(self, type: object | None, value: object | None, traceback: object | None) -> None: ...

class Builder:
    """Writes a program by hand, in PyTorch's operators."""

    def __init__(self, name: str, class_name: str = '') -> None: ...

    def enter(self, name: str, class_name: str) -> Scope:
        """
        Calls the module of that name within the one that is entered: a context manager.
        """

    def symbol(self, name: str, example: int = -1, min: int = 1, max: int = 2147483648) -> Dim:
        """A size that is bound when the program is weighed."""

    def sum(self, a: int | Dim, b: int | Dim) -> Dim: ...

    def product(self, a: int | Dim, b: int | Dim) -> Dim: ...

    def quotient(self, a: int | Dim, b: int | Dim) -> Dim: ...

    def parameter(self, name: str, dtype: DType, sizes: Sequence[int | Dim], *, requires_grad: bool = True) -> Tensor:
        """A parameter, trained unless it has no gradient."""

    def tie(self, name: str, parameter: Tensor) -> Tensor:
        """Another name of a parameter: a tied weight."""

    def buffer(self, name: str, dtype: DType, sizes: Sequence[int | Dim], *, persistent: bool = True) -> Tensor: ...

    def input(self, name: str, dtype: DType, sizes: Sequence[int | Dim]) -> Tensor:
        """What the caller passes, in order."""

    def call(self, op: str, *args: object, **named: object) -> Tensor:
        """The result of an operator that has one."""

    def call_many(self, op: str, results: int, *args: object, **named: object) -> list[Tensor]:
        """The first results of an operator."""

    def returns(self, tensor: Tensor) -> None:
        """What the caller receives, in order."""

    def build(self) -> Program:
        """The program. Nothing can be built after it."""

def main(words: Sequence[str]) -> int:
    """
    Does what the words after the program's name ask for, as `steelyard` does; returns the exit status.
    """
