# The image for linux/amd64 and linux/arm64. Files alone go into the last stage and no command runs there, so a build
# for the other platform needs no emulation.
FROM --platform=$BUILDPLATFORM node:24.21.0-slim AS build
WORKDIR /checkout
COPY package.json package-lock.json ./
RUN npm ci --workspaces=false --ignore-scripts
COPY . ./
RUN npm run build && node scripts/package.js

# The native package of the platform of the image, not of the one that builds.
FROM --platform=$BUILDPLATFORM node:24.21.0-slim AS production
ARG TARGETARCH
COPY --from=build /checkout/build/package /service
WORKDIR /service
# npm does not look at the C library when it chooses packages by --os and --cpu, so it installs those for musl as well.
RUN npm install --ignore-scripts --no-package-lock \
      --os=linux --cpu="$([ "$TARGETARCH" = arm64 ] && echo arm64 || echo x64)" \
  && rm -rf node_modules/@libsql/*-musl && ln -s catalogue.js bin/catalogue && mkdir /data

FROM node:24.21.0-slim
LABEL org.opencontainers.image.title="Product Catalogue Service" \
      org.opencontainers.image.description="A product catalogue API: durable, HTTPS, no lost updates" \
      org.opencontainers.image.licenses="Apache-2.0"
ENV NODE_ENV=production PATH=$PATH:/service/bin HOST=0.0.0.0 DATA_DIR=/data
WORKDIR /service
COPY --from=production --chown=1000:1000 /data /data
COPY --from=production /service ./
# The user `node` of the base image; as a number, so that Kubernetes can tell that it is not root.
USER 1000:1000
VOLUME /data
EXPOSE 8443 9464
HEALTHCHECK --interval=5s --timeout=3s --start-period=60s --retries=3 CMD [ "node", "-e", "\
    fetch(`http://127.0.0.1:${process.env.MANAGEMENT_PORT ?? 9464}/health/ready`)\
    .then((response) => process.exit(response.ok ? 0 : 1), () => process.exit(1))" ]
CMD ["node", "--max-semi-space-size=16", "dist/bundle/main.js"]
