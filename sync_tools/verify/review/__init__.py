"""Known ways in which ported code goes wrong, as advice: each rule one file, with its code, from a file to findings."""
