#!/bin/sh
# Makes the passwords of the databases at the first start, each in the volume of those that read it, and the settings of
# the service with them. A password that exists stays.
set -eu
cd "${SECRETS_FOLDER:-/secrets}"

# password FILE [FIRST]: prints the password in FILE; at the first start it is FIRST, or random.
password() {
  if [ ! -s "$1" ]; then
    printf %s "${2:-$(openssl rand -hex 24)}" >"$1.new"
    mv "$1.new" "$1"
  fi
  cat "$1"
}

redis=$(password redis/password)
mongo=$(password mongo/catalogue)
password mongo/admin >/dev/null
# By this key a member knows the others of its replica set. MongoDB wants that only its user can read it.
if [ ! -s mongo/key ]; then
  openssl rand -base64 756 >mongo/key.new
  chmod 400 mongo/key.new
  chown "${MONGO_OWNER:-999:999}" mongo/key.new
  mv mongo/key.new mongo/key
fi
# Only there with deploy/compose/postgresql.yml.
[ ! -d postgresql ] || postgresql=$(password postgresql/password "${POSTGRES_PASSWORD:-}")

cat >settings/settings.new <<SETTINGS
{
  "REDIS_URL": "redis://:$redis@redis:6379",
  "MONGODB_URL": "mongodb://catalogue:$mongo@mongo:27017/catalogue?replicaSet=rs0&authSource=admin",
  "POSTGRESQL_URL": "postgresql://catalogue:${postgresql:-}@postgresql/catalogue?sslmode=disable"
}
SETTINGS
mv settings/settings.new settings/settings.json
