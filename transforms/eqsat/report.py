"""What a saturation did, for people: rules that fired, proposals, sizes and times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class RegionReport:
    """The saturation of one region. Seconds are of this run; everything else is the same in every run."""

    region: str
    iterations: int = 0
    stopped: str = ""
    nodes: int = 0
    classes: int = 0
    members: int = 0
    matches: Counter[str] = field(default_factory=Counter[str])
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    asked: Counter[str] = field(default_factory=Counter[str])
    expanded: Counter[str] = field(default_factory=Counter[str])
    proposed: Counter[str] = field(default_factory=Counter[str])
    proved: Counter[str] = field(default_factory=Counter[str])
    phases: dict[str, float] = field(default_factory=dict[str, float])

    def note_rules(self, report: object) -> None:
        """Adds egglog's report of one iteration."""
        matches: dict[str, int] = getattr(report, "num_matches_per_rule")  # noqa: B009
        times: dict[str, object] = getattr(report, "search_and_apply_time_per_rule")  # noqa: B009
        for name, count in matches.items():
            self.matches[name] += count
        for name, time in times.items():
            spent = time.total_seconds() if hasattr(time, "total_seconds") else float(str(time))  # pyright: ignore
            self.seconds[name] = self.seconds.get(name, 0.0) + float(spent)  # pyright: ignore


def explain_report(reports: Sequence[RegionReport]) -> str:
    """The reports as a table of lines, the rules that matched most first."""
    lines: list[str] = []
    for one in reports:
        lines.append(f"region {one.region}: {one.stopped} after {one.iterations} iterations")
        lines.append(f"  {one.nodes} terms; reachable: {one.classes} classes, {one.members} members")
        spent = ", ".join(f"{name} {seconds * 1e3:.0f} ms" for name, seconds in one.phases.items())
        lines.append(f"  time: {spent}")
        for name, count in sorted(one.matches.items(), key=lambda item: (-item[1], item[0])):
            if count:
                lines.append(f"  {count:7} matches {one.seconds.get(name, 0.0) * 1e3:8.2f} ms  {name}")
        for title, counter in (
            ("asked", one.asked),
            ("expanded", one.expanded),
            ("proposed", one.proposed),
            ("proved", one.proved),
        ):
            for name, count in sorted(counter.items()):
                lines.append(f"  {count:7} {title} {name}")
    return "\n".join(lines)
