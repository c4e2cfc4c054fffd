"""Stages that take a level of the IR in and give a lower one out."""
