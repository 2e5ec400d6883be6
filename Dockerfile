FROM node:24-slim AS build
WORKDIR /service
COPY package.json package-lock.json ./
RUN npm ci
COPY tsconfig.json ./
COPY src ./src
COPY browser ./browser
RUN npm run build

FROM node:24-slim
ENV NODE_ENV=production
WORKDIR /service
COPY package.json package-lock.json ./
RUN npm ci --omit=dev && npm cache clean --force
COPY config ./config
COPY browser/docs/index.html browser/docs/docs.css ./browser/docs/
COPY --from=build /service/dist ./dist
RUN mkdir /data && chown node:node /data
USER node
CMD ["node", "dist/main.js"]
