#!/bin/sh
# Writes random passwords and keys for docker-compose.yml into a file, .env by
# default. A file that exists is not changed: the databases know its passwords.
set -eu
cd "$(dirname "$0")/../.."
file=${1:-.env}
if [ -e "$file" ]; then
	echo "$file exists and stays as it is. To get new secrets, remove it and the volumes: docker compose down --volumes" >&2
	exit 1
fi
password() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }
umask 077
cat >"$file.new" <<END
# Secrets of docker-compose.yml. Keep a copy of LONGHAUL_SECRET_KEYS with the
# backups: without it stored secrets cannot be read.
POSTGRES_PASSWORD=$(password)
TEMPORAL_DB_PASSWORD=$(password)
LONGHAUL_DB_PASSWORD=$(password)
LONGHAUL_SECRET_KEYS=$(head -c 32 /dev/urandom | base64)
GRAFANA_PASSWORD=$(password)
END
mv "$file.new" "$file"
echo "Wrote $file. Grafana's user is admin, its password is GRAFANA_PASSWORD in there."
