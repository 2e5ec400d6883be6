# The image for linux/amd64 and linux/arm64. Files alone go into the last stage and no command runs there, so a build
# for the other platform needs no emulation.
FROM --platform=$BUILDPLATFORM node:24-slim AS build
WORKDIR /service
COPY package.json package-lock.json ./
RUN npm ci --workspaces=false --ignore-scripts
COPY tsconfig.json ./
COPY packages ./packages
COPY src ./src
COPY scripts/bundle.js ./scripts/
RUN npm run build && mkdir data

# The production packages of the platform of the image, not of the one that builds.
FROM --platform=$BUILDPLATFORM node:24-slim AS production
ARG TARGETARCH
WORKDIR /service
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --workspaces=false --ignore-scripts \
      --os=linux --cpu="$([ "$TARGETARCH" = arm64 ] && echo arm64 || echo x64)"
# The lock file does not name the C library of a package, so npm installs those for musl as well.
RUN rm -r node_modules/@libsql/*-musl package-lock.json \
  && find node_modules -type f \( -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.map' \) -delete \
  && npm pkg delete workspaces devDependencies \
  && npm sbom --sbom-format=cyclonedx >sbom.cdx.json
COPY LICENSE ./
COPY scripts/write-notices.js ./scripts/
RUN node scripts/write-notices.js >THIRD-PARTY-NOTICES && rm -r scripts
# The bundles have the code of all packages but those of the native library.
RUN mv node_modules installed && mkdir node_modules \
  && mv installed/libsql installed/@libsql installed/@neon-rs installed/detect-libc node_modules && rm -r installed
COPY bin ./bin
RUN ln -s catalogue.js bin/catalogue
COPY config/default.json ./config/
COPY packages/pages/docs/index.html packages/pages/docs/base.css packages/pages/docs/docs.css ./packages/pages/docs/
COPY packages/pages/console/index.html packages/pages/console/console.css ./packages/pages/console/
COPY src/adapters/inbound/cli/samples.ndjson ./src/adapters/inbound/cli/
COPY --from=build /service/dist/bundle ./dist/bundle
COPY --from=build /service/dist/pages ./dist/pages

FROM node:24-slim
LABEL org.opencontainers.image.title="Product Catalogue Service" \
      org.opencontainers.image.description="A product catalogue API: durable, HTTPS, no lost updates" \
      org.opencontainers.image.licenses="Apache-2.0"
ENV NODE_ENV=production PATH=$PATH:/service/bin HOST=0.0.0.0 DATA_DIR=/data
WORKDIR /service
COPY --from=build --chown=1000:1000 /service/data /data
COPY --from=production /service ./
# The user `node` of the base image; as a number, so that Kubernetes can tell that it is not root.
USER 1000:1000
VOLUME /data
EXPOSE 8443 9464
HEALTHCHECK --interval=5s --timeout=3s --start-period=60s --retries=3 CMD [ "node", "-e", "\
    fetch(`http://127.0.0.1:${process.env.MANAGEMENT_PORT ?? 9464}/health/ready`)\
    .then((response) => process.exit(response.ok ? 0 : 1), () => process.exit(1))" ]
CMD ["node", "--max-semi-space-size=16", "dist/bundle/main.js"]
