#!/usr/bin/env bash
# Checks docker-compose.yml, the Dockerfile and the manifests against the schemas of the oldest and of the newest
# Kubernetes for which they are checked, which come from a package of PyPI. Needs Go 1.25 or later and Python with venv.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
checkout=$PWD
folder=build/deployment-check
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet --upgrade --no-deps --target "$folder/schemas" kubernetes-validate==1.37.0
schemas=$checkout/$folder/schemas/kubernetes_validate/kubernetes-json-schema
cd campaigns/deployment-files
go run . "$checkout" "$schemas/v1.31.0-local-strict" "$schemas/v1.37.0-local-strict"
