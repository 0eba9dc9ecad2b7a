"""Port pull requests of an upstream project into a hard fork, with a ledger of every upstream line."""
