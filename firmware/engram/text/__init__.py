"""Text: all that board and host have to do alike with it, behind one import.

words, terms, index_terms             what a query asks for and an index holds    engram.text.tokenizer
STOP_WORDS, MAX_TERM
dumps, dumps_fields, loads            JSON in one form, read strictly             engram.text.strict_json
object_in, part
encode, decode, is_valid              UTF-8 as the standard has it                engram.text.utf8
tokens, cut, cut_bytes, printable     how much, how far, and what to show         engram.text.cutting
"""

# Leaves first: an import within an import takes of the stack, which is short on a chip.
# isort: off
from engram import native  # noqa: F401
from engram.text.utf8 import REPLACEMENT, code_at, decode, encode, is_valid  # noqa: F401
from engram.text.strict_json import dumps, dumps_fields, loads, object_in, part  # noqa: F401
from engram.text import unicode_fold  # noqa: F401
from engram.text.tokenizer import MAX_TERM, STOP_WORDS, index_terms, terms, words  # noqa: F401
from engram.text.cutting import cut, cut_bytes, printable, token_quarters, tokens  # noqa: F401
# isort: on
