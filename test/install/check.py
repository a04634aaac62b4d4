"""check.py PART CMAKE CC SOURCE BUILD LLVM-TOOLS: installs BUILD into a temporary prefix and checks one part of it.

    libraries   what the shared libraries export (exactly what the headers declare) and what they need
    pkgconfig   the examples, built by the compiler with pkg-config's flags, and run
    package     the same by find_package(TileFoundry)
    static      the same against the static libraries
    capi        the programs of docs/CAPI.md
    readme      the ways to use the libraries, as README.md has them
    aot         objects and headers: the example, names that C lacks, C++, the same bytes twice
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import aot
import capi
import numpy as np

part, cmake, cc, source, build, llvm_tools = sys.argv[1:]
source = pathlib.Path(source)
examples = source / "examples"


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=500, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


scratch = tempfile.TemporaryDirectory()
work = pathlib.Path(scratch.name)
prefix = work / "prefix"
run(cmake, "--install", build, "--prefix", prefix)
lib = next(prefix.rglob("libtilefoundry.so")).parent
# No driver, so that every machine checks the simulated device, and an empty cache.
cache = work / "cache"
environment = dict(os.environ, LD_LIBRARY_PATH=str(lib), PKG_CONFIG_PATH=str(lib / "pkgconfig"),
                   TF_CUDA_DRIVER="/nonexistent/libcuda.so.1", TF_CACHE=str(cache))

# ---- Exports and needs ----------------------------------------------------------------------------------------------


def declared(header):
    (work / "header.c").write_text(f"#include <tilefoundry/{header}>\n")
    text = run(cc, "-std=c17", "-E", "-P", f"-I{prefix / 'include'}", work / "header.c")
    return set(re.findall(r'visibility\("default"\)\)\)[^;{]*?\b(tf_\w+)\s*\(', text))


def exported(library):
    rows = [line.split() for line in run("nm", "-D", "--defined-only", lib / library).splitlines()]
    return {row[2] for row in rows if row[1] != "A"}


def needed(library):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", lib / library))


def same(library, found, wanted):
    if found != wanted:
        sys.exit(f"{library}: exported but not declared {sorted(found - wanted)}, declared but not exported {sorted(wanted - found)}")


def check_libraries():
    common = declared("Context.h") | declared("Diagnostics.h") | declared("Status.h")
    assert "tf_status_name" in common and len(declared("TileFoundry.h")) > 200, len(declared("TileFoundry.h"))
    same("libtilefoundry.so", exported("libtilefoundry.so"), declared("TileFoundry.h"))
    same("libtilefoundry-runtime.so", exported("libtilefoundry-runtime.so"), declared("Runtime.h") | common)
    own = [name for name in exported("libtfsim.so") if not name.startswith("cu")]
    assert sorted(own) == ["tf_sim_count_calls", "tf_sim_fail_calls"], own  # SimDriver.h
    assert any("LLVM" in name for name in needed("libtilefoundry.so"))
    for library in ("libtilefoundry-runtime.so", "libtfsim.so"):
        wrong = [name for name in needed(library) if re.search("LLVM|cuda|nvrtc|stdc", name)]
        loaded = run("ldd", lib / library)
        assert not wrong and "LLVM" not in loaded and "cuda" not in loaded, (library, wrong, loaded)
    for program in ("tf-llc", "tf-run"):
        assert "TileFoundry" in run(prefix / "bin" / program, "--version")
        assert (prefix / "share/man/man1" / f"{program}.1").is_file()


# ---- The examples ---------------------------------------------------------------------------------------------------


def flags(*packages):
    return run("pkg-config", "--cflags", "--libs", *packages, env=environment).split()


strict = [cc, "-std=c17", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def compile_with_pkgconfig():
    llvm = run(pathlib.Path(llvm_tools) / "llvm-config", "--includedir", "--ldflags", "--libs").split()
    include = f"-isystem{llvm.pop(0)}"
    run(*strict, examples / "c/saxpy.c", *flags("tilefoundry", "tilefoundry-runtime"), "-o", work / "saxpy")
    run(*strict, include, examples / "embed-llvm/embed.c", *flags("tilefoundry"), *llvm, "-o", work / "embed")
    run(*strict, examples / "driver-api/launch.c", "-ljansson", "-ldl", "-o", work / "launch")
    return work


def compile_with_cmake(*options):
    run(cmake, "-S", source / "test/install/project", "-B", work / "build", f"-DEXAMPLES={examples}",
        f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_COMPILER={cc}", *options)
    run(cmake, "--build", work / "build")
    return work / "build"


def check_embed(program):
    (work / "both.ptx").write_text(run(program, env=environment))
    x = np.random.default_rng(3).integers(-99, 99, (24, 64)).astype(np.float32)
    np.save(work / "x.npy", x)
    tool = [prefix / "bin/tf-run", "--device=sim", "--check=all"]
    run(*tool, "--kernel=column_sums", "--grid=1", "--block=64", "--arg", f"0=@{work / 'x.npy'}", "--type", "1=f32[64]",
        "--out", f"1={work / 'y.npy'}", work / "both.ptx")
    assert np.array_equal(np.load(work / "y.npy"), x.sum(axis=0))
    run(*tool, "--kernel=shift", "--grid=1", "--block=64", "--arg", f"0=@{work / 'x.npy'}", "--arg", "1=3.5",
        "--out", f"0={work / 'z.npy'}", work / "both.ptx")
    shifted = x.copy()
    shifted[0] += np.float32(3.5)
    assert np.array_equal(np.load(work / "z.npy"), shifted)


def check_saxpy(*program):
    """Twice: the second run finds the one executable that the first made. Returns what it said."""
    before, said = set(cache.glob("*")), run(*program, env=environment)
    made = {path: path.stat().st_ino for path in cache.glob("*.executable") if path not in before}
    assert len(made) == 1 and run(*program, env=environment) == said
    assert all(path.stat().st_ino == inode for path, inode in made.items())
    return said


def check_examples(programs):
    assert "1536 values" in check_saxpy(programs / "saxpy")
    check_embed(programs / "embed")
    kernel = source / "kernels/saxpy.tir"
    run(prefix / "bin/tf-llc", kernel, "-o", work / "saxpy.ptx")
    run(prefix / "bin/tf-llc", "--emit=manifest", kernel, "-o", work / "saxpy.json")
    assert "2560 values" in run(programs / "launch", work / "saxpy.ptx", work / "saxpy.json", env=environment)
    said = check_saxpy(sys.executable, examples / "python/saxpy.py")
    assert "18944 values" in said and said.count("refused:") == 2 and "typo.tir:12:16:" in said, said


def check_readme():
    """The commands of README.md, in a folder that looks like a clone with a build."""
    (block,) = re.findall(r"^```sh\n(.*?)^```$", (source / "README.md").read_text(), re.M | re.S)
    clone = work / "clone"
    clone.mkdir()
    (clone / "build").symlink_to(build)
    for name in ("examples", "kernels"):
        (clone / name).symlink_to(source / name)
    said = run("bash", "-euo", "pipefail", "-c", block, cwd=clone, env=dict(os.environ, HOME=str(work), TF_CUDA_DRIVER="/nonexistent", TF_CACHE="off"))
    for words in ("1536 values", "18944 values", "1000 values smoothed 7 times, 0 wrong", "2560 values"):
        assert words in said, (words, said)
    assert ".entry column_sums" in (pathlib.Path(build) / "both.ptx").read_text()


if part == "libraries":
    check_libraries()
elif part == "pkgconfig":
    check_examples(compile_with_pkgconfig())
elif part == "capi":
    both = flags("tilefoundry", "tilefoundry-runtime")
    capi.check(source, work, lambda code, program: run(*strict, code, *both, "-o", program), environment)
elif part == "aot":
    # Where only the static library is, as for a linker that finds no shared one.
    static = [str(lib / "libtilefoundry-runtime.a") if flag == "-ltilefoundry-runtime" else flag for flag in flags("--static", "tilefoundry-runtime")]
    aot.check(source, prefix, work, cc, run, flags("tilefoundry-runtime"), static, environment)
elif part == "readme":
    check_readme()
elif part == "package":
    check_examples(compile_with_cmake())
else:
    check_examples(compile_with_cmake("-DSTATIC=ON"))
