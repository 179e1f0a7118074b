"""Rendering of answers: pieces become one text, and the text messages that grow by edits."""
