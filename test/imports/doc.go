// Package imports keeps the repository in the shape that docs/architecture.md describes. It has tests only.
//
// They own the table of who may import whom (layers.txt) and the rules that a compiler doesn't know: what a
// program links, how packages are named and documented, how long files get, who touches reference counts. They read
// source text and know nothing of what the packages do. Each rule is also run over a small made-up tree that breaks
// it, so that a rule which no longer finds anything is noticed.
package imports
