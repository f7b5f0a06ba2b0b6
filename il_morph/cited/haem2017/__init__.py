"""HAEM-2017: edits that read what was written, deleted and done."""
