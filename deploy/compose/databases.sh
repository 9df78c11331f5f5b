#!/bin/sh
# Makes the databases of Temporal and of Longhaul, and their users. The image of
# PostgreSQL runs this once, when its volume is new.
set -eu
database() { # user, password, databases
	user=$1 password=$2
	shift 2
	# Not as arguments, which other processes can see.
	NEW_USER=$user NEW_PASSWORD=$password psql -q -v ON_ERROR_STOP=1 -U postgres -d postgres <<'END'
\getenv user NEW_USER
\getenv password NEW_PASSWORD
CREATE USER :"user" PASSWORD :'password';
END
	for name in "$@"; do
		createdb -U postgres -O "$user" "$name"
	done
}
database temporal "$TEMPORAL_DB_PASSWORD" temporal temporal_visibility
database longhaul "$LONGHAUL_DB_PASSWORD" longhaul
