"""Answers on the demo's page: Markdown as HTML, everything else escaped."""

from __future__ import annotations

import pytest

from app.demo.page_text import as_html


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("Yes,\n1 < 2.\n", "<p>Yes,<br>1 &lt; 2.</p>"),
        ("**Use a *small* one**", "<p><b>Use a </b><b><em>small</em></b><b> one</b></p>"),
        ("# Head\n\n1. `one`\n2. ~~two~~", "<p><b>Head</b></p><p>1. <code>one</code></p><p>2. <s>two</s></p>"),
        ("- a\n- b", "<p>• a</p><p>• b</p>"),
        ("```\n<b> & **raw**\n```", "<pre>&lt;b&gt; &amp; **raw**</pre>"),
        ("| a | b |\n|---|---|\n| 1 | **2** |", "<p>a · b<br>1 · <b>2</b></p>"),
        ("one\n\n---\n\ntwo", "<p>one</p><hr><p>two</p>"),
        ("**Use a", "<p>**Use a</p>"),
        ("<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"),
        ("[here](https://x.test)", "<p>here</p>"),
        ("", ""),
    ],
)
def test_markdown_becomes_html(markdown: str, html: str) -> None:
    assert as_html(markdown) == html
