# syntax=docker/dockerfile:1
# One image for every role. It runs as a user without rights and needs no writable file system besides DATA_DIR and /tmp.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY packages/cli/package.json packages/cli/
COPY packages/server/package.json packages/server/
COPY packages/core/package.json packages/core/
COPY packages/catalog/package.json packages/catalog/
COPY packages/collector/package.json packages/collector/
COPY packages/console/package.json packages/console/
RUN --mount=type=cache,target=/root/.npm npm ci --ignore-scripts
COPY . .
# Builds the console, then removes what only development needs, and the Node that the image brings itself.
RUN node scripts/build-console.ts \
    && npm prune --omit=dev --ignore-scripts \
    && rm -rf node_modules/node-linux-* e2e bench attack docs examples deploy

FROM node:24-bookworm-slim
ENV NODE_ENV=production MODE=production DATA_DIR=/data MALLOC_ARENA_MAX=2
WORKDIR /app
COPY --from=build --chown=root:root /app /app
# Node keeps a compile cache per user id: fill it as the user that runs the service, then make it read-only like the rest.
RUN install -d -o node -g node -m 0700 /data \
    && install -d -o node -g node node_modules/.cache \
    && setpriv --reuid=1000 --regid=1000 --clear-groups node scripts/warm-compile-cache.ts \
    && chown -R root:root node_modules/.cache \
    && chmod -R a+rX node_modules/.cache
# node, by number: Kubernetes checks runAsNonRoot against a number.
USER 1000
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
    CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT ?? 8080}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--max-semi-space-size=8", "--v8-pool-size=0", "packages/cli/src/firsthand.js"]
CMD ["start"]
