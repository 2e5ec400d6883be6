#!/bin/sh
# Creates a certificate for localhost and its key, if there is none or it expires within 30 days. server.pem holds both,
# for the proxy. localhost.pem holds the certificate alone, for clients to trust. It is self-signed and no CA.
set -eu
umask 077
cd "${CERTIFICATE_FOLDER:-/certificates}"

if [ -f localhost.pem ] && openssl x509 -in localhost.pem -noout -checkend 2592000 >/dev/null; then
  exit 0
fi

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -days 397 \
  -config /dev/stdin -keyout key.new -out certificate.new 2>/dev/null <<CONFIG
[req]
prompt = no
distinguished_name = name
x509_extensions = extensions
[name]
CN = localhost
O = Product Catalogue
[extensions]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectAltName = DNS:localhost, IP:127.0.0.1, IP:::1
CONFIG

cat certificate.new key.new >server.new
chmod 644 certificate.new
[ -z "${CERTIFICATE_OWNER:-}" ] || chown "$CERTIFICATE_OWNER" server.new
mv server.new server.pem
mv certificate.new localhost.pem
rm key.new
