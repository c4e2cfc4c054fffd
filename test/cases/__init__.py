"""Small programs on which compilers are known to have differed from eager, each run three times and compared."""
