"""What the tools take where nothing else is said: for commands, for options of pytest, and for functions."""

#: Whose credentials a program gets, and after how many seconds a run of it is given up.
ACCOUNT, TIMEOUT = "main", 120.0

#: How many seconds late a slow answer comes in a sweep.
SLOW = 30.0

#: How many workers a program has at a time that is explored, and how many runs are made at most.
ACTORS, MAX_RUNS = 2, 200

#: For how many seconds nothing has to come from a program, until those that wait are taken for all.
QUIET = 0.3

#: The same where the program is a function, whose threads can be seen to end.
QUIET_HERE = 0.1
