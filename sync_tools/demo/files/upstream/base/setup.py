from pathlib import Path

from setuptools import find_packages, setup

lines = (line.strip() for line in Path("requirements.txt").read_text().splitlines())

setup(
    name="slime",
    version="0.2.4",
    packages=find_packages(include=["slime*"]),
    install_requires=[line for line in lines if line and not line.startswith("#")],
    python_requires=">=3.10",
)
