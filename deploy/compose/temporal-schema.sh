#!/bin/sh
# Brings the tables of Temporal to the version of the image. A repeat changes
# nothing. SQL_* say where the databases are.
set -eu
update() { # database, schema
	temporal-sql-tool --database "$1" setup-schema --version 0.0
	temporal-sql-tool --database "$1" update-schema --schema-name "postgresql/v12/$2"
}
update temporal temporal
update temporal_visibility visibility
