"""albumen-opt: IR text in, named passes, IR text out, on xDSL's driver, with the flags of mlir-opt."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import IO

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline
from xdsl.utils.exceptions import ArgSpecParseError, DiagnosticException, ParseError, ShrinkException
from xdsl.xdsl_opt_main import xDSLOptMain

from ..dialects.errors import CompileError, OptionError
from ..lowering.levels import check_dominance, check_level
from ..lowering.options import closest
from ..lowering.passes import pass_loaders
from ..lowering.pipeline import STAGES
from ..lowering.reproducer import ModulePrinter, as_compile_error, write_reproducer
from ..transforms.eqsat.egraph_ops import copy_of
from .diagnostics import Diagnostic, expectations, from_compile_error, from_parse_error, unexpected, verify
from .located_parser import LocatedParser
from .model_file import decode
from .observers import Observer, PrintIR, TimePasses
from .registry import dialect_loaders

FLAGS = (
    ("--print-ir-before-all", "print the IR before each pass"),
    ("--print-ir-after-all", "print the IR after each pass"),
    ("--print-ir-after-change", "print the IR after each pass that changed it"),
    ("--print-ir-after-failure", "print the IR after a pass that failed"),
    ("--check-each", "evaluate the module before and after each pass on random inputs and compare"),
)


def check_input(one: ModulePass, module: ModuleOp) -> None:
    """Refuse a module that is not at the level which a stage of the compile takes. The passes from graph to graph run
    on any module."""
    target = getattr(one, "target", "")
    for stage in STAGES:
        lowers = (stage.level_before, stage.level_after) != ("graph", "graph")
        if stage.name == one.name and lowers and (target in stage.targets or not target):
            made_by = [other.name for other in STAGES if other.level_after == stage.level_before != "graph"]
            hint = f"run {made_by[0]} and what comes before it first" if made_by else ""
            check_level(module, stage.level_before, stage=stage.name, hint=hint)


class AlbumenOpt(xDSLOptMain):
    """The driver. `run_all` returns the exit code; every error of the input is printed as `file:line: error: ...`."""

    version_format = "albumen-opt (xDSL {xdsl_version})"

    def register_all_dialects(self) -> None:
        super().register_all_dialects()
        known = set(self.ctx.registered_dialect_names)
        for name, loader in dialect_loaders().items():
            if name not in known:
                self.ctx.register_dialect(name, loader)

    def register_all_passes(self) -> None:
        super().register_all_passes()
        for name, loader in pass_loaders().items():
            self.register_pass(name, loader)

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        super().register_all_arguments(arg_parser)
        for flag, text in FLAGS:
            arg_parser.add_argument(flag, action="store_true", help=text)
        for flag, text in (("--print-ir-before", "before"), ("--print-ir-after", "after")):
            arg_parser.add_argument(
                flag, action="append", default=[], metavar="PASS", help=f"print the IR {text} this pass (repeatable)"
            )
        arg_parser.add_argument("--seed", type=int, default=0, help="seed of the inputs of --check-each")
        arg_parser.add_argument(
            "--reproducer", metavar="FILE", help="where a failing pass writes the IR and the command that replay it"
        )

    def setup_pipeline(self) -> None:
        try:
            self.pipeline = PassPipeline.parse_spec(self.available_passes, self.args.passes)
        except ArgSpecParseError as error:
            raise OptionError(str(error)) from None
        except ValueError as error:
            raise OptionError(f"-p {self.args.passes}: {error}", hint=self._pass_hint()) from error

    def _pass_hint(self) -> str:
        names = [part.split("{")[0].strip() for part in self.args.passes.split(",")]
        unknown = [name for name in names if name and "=" not in name and name not in self.available_passes]
        return closest(unknown[0], self.available_passes) if unknown else ""

    def observers(self) -> list[Observer]:
        """What the flags ask to watch the pipeline with."""
        arguments = self.args
        printer = PrintIR(
            names_before=arguments.print_ir_before,
            names_after=arguments.print_ir_after,
            before_all=arguments.print_ir_before_all,
            after_all=arguments.print_ir_after_all or arguments.print_between_passes,
            after_change=arguments.print_ir_after_change,
            after_failure=arguments.print_ir_after_failure,
            locations=arguments.print_debuginfo,
        )
        watching: list[Observer] = [printer]
        if arguments.time_passes:
            watching.append(TimePasses())
        if arguments.check_each:
            from .check_each import CheckEach

            watching.append(CheckEach(seed=arguments.seed))
        return watching

    def parse_text(self, text: str, line_offset: int) -> ModuleOp:
        """Parse one piece of the input."""
        parser = LocatedParser(self.ctx, text, self.get_input_name(), line_offset)
        try:
            return parser.parse_module(not self.args.no_implicit_module)
        except ParseError as error:
            error.span = dataclasses.replace(error.span, line_offset=line_offset)
            raise

    def verify(self, module: ModuleOp) -> None:
        """Verify a module and, unless it holds an e-graph, that values are defined before they are used."""
        if self.args.disable_verify:
            return
        verify(module)
        if not any(op.name.startswith("equivalence.") for op in module.walk()):
            check_dominance(module)

    def apply_passes(self, prog: ModuleOp) -> None:
        watching = self.observers()
        passes = self.pipeline.passes
        start = copy_of(prog) if self.args.reproducer else None
        self.verify(prog)
        for observer in watching:
            observer.start(prog)
        for number, one in enumerate(passes, 1):
            try:
                self._apply(one, prog, watching)
            except ShrinkException:
                raise
            except Exception as error:
                known = as_compile_error(self._from_upstream(error), one.name)
                for observer in watching:
                    observer.failed(one, prog)
                if start is not None:
                    self._reproduce(start, passes[:number], known)
                raise known from error
        for observer in watching:
            observer.finish()

    def _apply(self, one: ModulePass, module: ModuleOp, watching: Sequence[Observer]) -> None:
        for observer in watching:
            observer.before(one, module)
        check_input(one, module)
        one.apply(self.ctx, module)
        self.verify(module)
        for observer in watching:
            observer.after(one, module)

    @staticmethod
    def _from_upstream(error: Exception) -> Exception:
        """xDSL's own passes refuse a module with a DiagnosticException; ours with a CompileError."""
        return CompileError(str(error)) if isinstance(error, DiagnosticException) else error

    def _reproduce(self, start: ModuleOp, passes: Sequence[ModulePass], error: CompileError) -> None:
        flags = f" --check-each --seed {self.args.seed}" if self.args.check_each else ""
        write_reproducer(Path(self.args.reproducer), self.ctx, start, passes, error, flags)

    def output_resulting_program(self, prog: ModuleOp) -> str:
        """The module as text; with locations by our printer, whose text parses back."""
        arguments = self.args
        if not arguments.print_debuginfo or arguments.print_op_generic or arguments.target != "mlir":
            return super().output_resulting_program(prog)
        stream = StringIO()
        printer = ModulePrinter(stream, print_debuginfo=True)
        printer.print_op(prog)
        printer.print_metadata(self.ctx.loaded_dialects)
        return f"{stream.getvalue()}\n"

    def run_piece(self, text: str, line_offset: int, output: IO[str]) -> list[Diagnostic]:
        """Process one piece of the input; what went wrong, against what it announces under --verify-diagnostics."""
        error: Diagnostic | None = None
        shown = self.args.verify_diagnostics
        try:
            module = self.parse_text(text, line_offset)
            self.apply_passes(module)
            output.write(self.output_resulting_program(module))
        except ParseError as found:
            error = from_parse_error(found)
            shown = shown or self.args.parsing_diagnostics
        except CompileError as found:
            error = from_compile_error(found, self.get_input_name())
        expected = expectations(text, line_offset) if self.args.verify_diagnostics else []
        if expected:
            return unexpected(error, expected, self.get_input_name())
        if error is not None and shown:
            output.write(f"{error}\n")
            return []
        return [error] if error is not None else []

    def run_all(self) -> int:
        """Process the whole input and print what went wrong; the exit code."""
        text = self.read_input()
        pieces = text.split("// -----") if self.args.split_input_file else [text]
        wrong: list[Diagnostic] = []
        output = self.prepare_output()
        line_offset = 0
        try:
            for number, piece in enumerate(pieces):
                if number:
                    output.write("// -----\n")
                wrong += self.run_piece(piece, line_offset, output)
                line_offset += piece.count("\n")
        finally:
            output.flush()
            if self.args.output_file is not None:
                output.close()
        for diagnostic in wrong:
            print(diagnostic, file=sys.stderr)
        return 1 if wrong else 0

    def read_input(self) -> str:
        """The whole input as text."""
        if self.args.input_file is None:
            return decode(sys.stdin.buffer.read(), self.get_input_name())
        return decode(Path(self.args.input_file).read_bytes(), self.get_input_name())


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. 0: done; 1: the input or the pipeline is wrong; 2: the command line is."""
    try:
        driver = AlbumenOpt(args=arguments)
        return driver.run_all()
    except CompileError as error:
        print(from_compile_error(error, "albumen-opt"), file=sys.stderr)
    except OSError as error:
        print(Diagnostic("albumen-opt", 0, f"{error.filename}: {error.strerror or error}"), file=sys.stderr)
    except ShrinkException:
        print("Success, can shrink")
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
