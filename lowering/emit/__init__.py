"""Printed text: one C-like printer for C, CUDA and Metal, and one spelling record a target."""
