"""What hinders learning, as checks of runs, data and networks.

from rookery import checks

report = checks.look("runs/pylos_quick")
for found in report.findings:
    print(found.verdict, found.name, found.measured, found.hint)
"""

from rookery.checks.catalogue import CATALOGUE
from rookery.checks.finding import Finding, Sample, Verdict
from rookery.checks.look import Report, look

__all__ = ["CATALOGUE", "Finding", "Report", "Sample", "Verdict", "look"]
