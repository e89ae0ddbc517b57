"""`python -m uncertain_botec` is `botec`."""

from uncertain_botec.cli import main

main()
