"""Tests of sweep, explore and calibrate."""
