import re
from pathlib import Path

from setuptools import find_packages, setup

PACKAGE = Path(__file__).resolve().parent / "il_morph"
VERSION = re.search(r'^__version__ = "(.+)"$', (PACKAGE / "__init__.py").read_text("utf-8"), re.M)[1]

# Where DyNet has no wheel il-morph installs without it: all commands but `train` still work.
DYNET_WHEELS = ('python_version < "3.14" and ('
                'sys_platform == "linux" and platform_machine == "x86_64"'
                ' or sys_platform == "linux" and platform_machine == "aarch64"'
                ' or sys_platform == "darwin" and platform_machine == "arm64"'
                ' or sys_platform == "win32" and platform_machine == "AMD64")')

setup(
    name="il-morph",
    version=VERSION,
    description="Imitation learning for neural morphological string transduction",
    author="il-morph developers",
    license="MIT",
    python_requires=">=3.9",
    packages=[*find_packages(include=["il_morph", "il_morph.*"]), "il_morph.experiments"],
    package_dir={"il_morph.experiments": "experiments"},
    package_data={"il_morph.sample": ["*.tsv"], "il_morph.experiments": ["*/*.txt", "*/*.tsv"]},
    install_requires=["numpy", "editdistance", "docopt", "tqdm", f"dyNET38; {DYNET_WHEELS}"],
    extras_require={"test": ["pytest", "hypothesis", "matplotlib"], "plots": ["matplotlib"]},
    entry_points={"console_scripts": ["il-morph = il_morph.commands:main"]},
)
