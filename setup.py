import re
from pathlib import Path

from setuptools import find_packages, setup

PROJECT = Path(__file__).resolve().parent
VERSION = re.search(r'^__version__ = "(.+)"$', (PROJECT / "il_morph" / "__init__.py").read_text("utf-8"), re.M)[1]

# Where DyNet has no wheel il-morph installs without it and trains with its own engine.
DYNET_WHEELS = ('python_version < "3.14" and ('
                'sys_platform == "linux" and platform_machine == "x86_64"'
                ' or sys_platform == "linux" and platform_machine == "aarch64"'
                ' or sys_platform == "darwin" and platform_machine == "arm64"'
                ' or sys_platform == "win32" and platform_machine == "AMD64")')
EXTRAS = {
    "fast": ["numba", "threadpoolctl"],
    "report": ["jinja2", "matplotlib"],
    "office": ["openpyxl", "odfpy"],
    "experiments": ["pandas", "scipy", "matplotlib"],
}

setup(
    name="il-morph",
    version=VERSION,
    description="Imitation learning for neural morphological string transduction",
    long_description=(PROJECT / "README.md").read_text("utf-8"),
    long_description_content_type="text/markdown",
    author="il-morph developers",
    license="MIT",
    project_urls={"Paper": "https://aclanthology.org/D18-1314/"},
    classifiers=[
        "Development Status :: 5 - Production/Stable",
        "Intended Audience :: Science/Research",
        "License :: OSI Approved :: MIT License",
        "Operating System :: POSIX :: Linux",
        "Operating System :: MacOS",
        "Programming Language :: Python :: 3",
        *(f"Programming Language :: Python :: 3.{minor}" for minor in range(9, 14)),
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Topic :: Text Processing :: Linguistic",
        "Typing :: Typed",
    ],
    keywords="morphology inflection lemmatization SIGMORPHON imitation-learning DyNet",
    python_requires=">=3.9",
    packages=[*find_packages(include=["il_morph", "il_morph.*"]), "il_morph.experiments"],
    package_dir={"il_morph.experiments": "experiments"},
    package_data={"il_morph": ["py.typed"], "il_morph.sample": ["*.tsv"], "il_morph.report": ["pages/*"],
                  "il_morph.experiments": ["*/*.txt", "*/*.tsv"]},
    install_requires=["numpy", "editdistance", "docopt", "tqdm", f"dyNET38; {DYNET_WHEELS}"],
    extras_require={
        **EXTRAS,
        "plots": EXTRAS["report"],
        "test": ["pytest", "pytest-xdist", "hypothesis", "selenium", "scikit-learn", "dask", "ruff",
                 'mypy>=2; python_version >= "3.10"', *EXTRAS["fast"], *EXTRAS["report"], *EXTRAS["office"],
                 *EXTRAS["experiments"]],
    },
    entry_points={"console_scripts": ["il-morph = il_morph.__main__:run"]},
)
