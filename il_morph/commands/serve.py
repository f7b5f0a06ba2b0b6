"""Serve a page to try words in: the best outputs with their edits, whole paradigms, sentences, files.

Usage:
  il-morph serve [options] MODEL...

MODEL is the f.model of a training run, or its folder; if there are several, the page lets you choose.
If it lemmatizes a treebank, the page takes sentences and CoNLL-U, too.
Only this machine can open the page, unless --host says otherwise: then everybody who can reach that
address can use it. Ctrl-C stops the server.

Options:
  --port=N          the port; 0 takes a free one [default: 8000]
  --host=ADDRESS    the address to serve on [default: 127.0.0.1]
  -h --help         show this text
"""
from __future__ import annotations

import contextlib
import logging

from il_morph.commands.arguments import integer, parse_arguments
from il_morph.report.answers import Answers
from il_morph.report.server import PageServer, is_loopback

log = logging.getLogger(__name__)


def run(argv: list[str]) -> int:
    args = parse_arguments(__doc__, argv)
    port, host = integer(args, "--port", 0, 65535), args["--host"]
    answers = Answers.load(args["MODEL"])
    with contextlib.suppress(KeyboardInterrupt), PageServer(host, port, answers) as server:
        if not is_loopback(host):
            log.warning("--host=%s: everybody who can reach this address can use the page, and its traffic is not "
                        "encrypted", host)
        log.info("serving %s (Ctrl-C stops it)", server.address)
        server.serve_forever()
    return 0
