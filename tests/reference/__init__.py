"""The second evaluator of the .pipe language.

It is written from the language's two pages (the language and its fine print) alone and shares no
code and no table with the compiler, so that a misreading in one of the two shows as a difference.
It favours plain code over speed: every image is a Python list per component, every operation
works on whole lists.
"""
