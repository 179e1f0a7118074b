"""The keyword index: a memtable, tables on flash, merging."""
