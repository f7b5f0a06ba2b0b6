"""What `il-morph table --format=tsv` prints, as the paper's tables are laid out: a figure of a system by column."""
from __future__ import annotations


def tsv_rows(text: str) -> list[dict[str, str]]:
    header, *lines = [line.split("\t") for line in text.splitlines()]
    assert all(len(line) == len(header) for line in lines)
    return [dict(zip(header, line)) for line in lines]


def rounded(cell: str, shape: str) -> str:
    return cell if cell == "-" else format(float(cell), shape)


def figures_by_column(text: str) -> dict[tuple[str, str, str], dict[str, str]]:
    """(source, system, figure) -> column -> cell, rounded as people read it."""
    found: dict[tuple[str, str, str], dict[str, str]] = {}
    for row in tsv_rows(text):
        cells = {"": row["figure"]} if row["source"] == "paper" else {
            row["kind"]: rounded(row["figure"], ".1f"), "difference": rounded(row["difference"], "+.1f"),
            "published": rounded(row["published"], ".1f"), "single mean": rounded(row["single_mean"], ".1f"),
            "single sd": rounded(row["single_sd"], ".2f"), "runs": f"{row['runs']}/{row['expected']}"}
        for figure, cell in cells.items():
            found.setdefault((row["source"], row["system"], figure), {})[row["column"]] = cell
    return found
