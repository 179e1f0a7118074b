"""Evaluation of search: share of questions whose answering turns are found."""
