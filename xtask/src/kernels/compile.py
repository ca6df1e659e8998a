"""Compiles CUDA sources with NVRTC, which needs neither a GPU nor a driver.

usage: compile.py LIBRARIES SOURCES ARCHITECTURE OUT NAME... [-- OPTION...]

LIBRARIES is the folder with libnvrtc.so.13, SOURCES the one with NAME.cu and the headers, OUT the
folder that NAME.ptx is written to. For a real architecture (sm_*) machine code is made too, so that
what only the assembler refuses is refused here.
"""

import ctypes
import pathlib
import sys


def check(library, code, act):
    if code != 0:
        library.nvrtcGetErrorString.restype = ctypes.c_char_p
        sys.exit(f"{act}: {library.nvrtcGetErrorString(code).decode()}")


def text(library, program, what):
    size = ctypes.c_size_t()
    check(library, getattr(library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)), what)
    buffer = ctypes.create_string_buffer(size.value)
    check(library, getattr(library, f"nvrtcGet{what}")(program, buffer), what)
    return buffer.raw[: size.value].rstrip(b"\0")


def compile_one(library, sources, name, options):
    headers = sorted(sources.glob("*.cuh"))
    texts = (ctypes.c_char_p * len(headers))(*(header.read_bytes() for header in headers))
    names = (ctypes.c_char_p * len(headers))(*(header.name.encode() for header in headers))
    program = ctypes.c_void_p()
    source = (sources / f"{name}.cu").read_bytes()
    created = library.nvrtcCreateProgram(
        ctypes.byref(program), source, f"{name}.cu".encode(), len(headers), texts, names
    )
    check(library, created, name)
    array = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    code = library.nvrtcCompileProgram(program, len(options), array)
    log = text(library, program, "ProgramLog").decode().strip()
    if log:
        print(log, file=sys.stderr)
    check(library, code, f"{name}.cu")
    if any("=sm_" in option for option in options):
        assert text(library, program, "CUBIN"), "no machine code"
    return text(library, program, "PTX")


def main():
    split = sys.argv.index("--")
    libraries, sources, architecture, out, *names = sys.argv[1:split]
    options = [f"--gpu-architecture={architecture}", *sys.argv[split + 1 :]]
    folder = pathlib.Path(libraries)
    # The compiler looks for this one by name, and finds it when it is loaded already.
    ctypes.CDLL(str(next(folder.glob("libnvrtc-builtins.so.*"))), mode=ctypes.RTLD_GLOBAL)
    library = ctypes.CDLL(str(folder / "libnvrtc.so.13"))
    for name in names:
        ptx = compile_one(library, pathlib.Path(sources), name, options)
        (pathlib.Path(out) / f"{name}.ptx").write_bytes(ptx + b"\n")


main()
