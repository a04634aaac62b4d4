# lit: text in, text out, checked by FileCheck. One folder per stage. Paths come from lit.site.cfg.py, made by CMake.
import os
import lit.formats

config.name = "TileFoundry"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".tir", ".test", ".ptx", ".py", ".c"]
config.excludes = ["Inputs", "lit.cfg.py", "tfcheck.py", "cudacheck.py", "check-rows.py"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.tf_binary_dir, "test", "lit")

config.environment["PATH"] = os.pathsep.join([config.llvm_tools_dir, config.environment.get("PATH", "")])
config.environment["PYTHONPATH"] = os.path.join(config.test_source_root, "Run")
config.environment["TF_CACHE"] = "off"
for variable in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "TFCHECK_OPTIONS"):
    if variable in os.environ:
        config.environment[variable] = os.environ[variable]

config.substitutions.append(("%tf-llc", config.tf_llc))
config.substitutions.append(("%tf-run", config.tf_run))
config.substitutions.append(("%python", config.python))
config.substitutions.append(("%kernels", os.path.join(config.tf_source_dir, "kernels")))
config.substitutions.append(("%examples", os.path.join(config.tf_source_dir, "examples")))
config.substitutions.append(("%docs", os.path.join(config.tf_source_dir, "docs")))

for tool in ("ptxas", "nvcc"):
    path = getattr(config, tool)
    if path:
        config.available_features.add(tool)
        config.substitutions.append(("%" + tool, path))
