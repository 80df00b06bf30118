/** The admin role: the management API and the debug socket, ready to be mounted on a listener. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { ApiError } from '../../http/errors.ts';
import type { OpenApiPaths } from '../../http/openapi.ts';
import { hideSecrets } from '../../snapshot/hide-secrets.ts';
import { lastMinutes } from '../../tap/counts.ts';
import { attachDebugSocket, type TokenCheck } from '../../tap/socket.ts';
import { buildAdminApp } from './app.ts';
import { liveApiTokens } from './auth/api-tokens.ts';
import { createIdentify } from './auth/identify.ts';
import type { AdminDeps } from './deps.ts';
import { readStatistics } from './routes/stats.ts';

export interface AdminRole {
  handle(req: IncomingMessage, res: ServerResponse): void;
  attach(server: Server): void;
  /** For connections that are about to be cut: closes the debug sockets, and ends waits for other changes. */
  detach(): void;
  stop(): Promise<void>;
}

export async function startAdmin(deps: AdminDeps, otherPaths: OpenApiPaths): Promise<AdminRole> {
  const closing = new AbortController();
  const app = buildAdminApp({ ...deps, closing: closing.signal });
  app.addToOpenApi(otherPaths);
  await app.ready();
  const identify = createIdentify(deps);
  let sockets: { close(): void } | undefined;

  async function checkToken(token: string): Promise<TokenCheck> {
    try {
      const user = await identify(`Bearer ${token}`);
      // The stream shows the whole organisation.
      if (user.pipeline_ids !== undefined) return { ok: false };
      return { ok: true, org_id: user.org_id, expires_at: user.expires_at, api_token_id: user.api_token_id };
    } catch (error) {
      if (error instanceof ApiError) return { ok: false };
      throw error;
    }
  }
  return {
    handle: (req, res) => app.routing(req, res),
    attach(server) {
      const { ephemeral, snapshots } = deps.operations;
      sockets = attachDebugSocket(server, {
        ephemeral,
        clock: deps.clock,
        checkToken,
        liveApiTokens: (ids) => liveApiTokens(deps.db, ids),
        readCounts: async (orgId, scope) =>
          JSON.parse(String(await readStatistics(deps, orgId, { ...scope, ...lastMinutes(deps.clock.now()) }))),
        hideSecrets: (frame) => hideSecrets(snapshots.current(), frame.pipeline_id, frame),
      });
    },
    detach() {
      closing.abort();
      sockets?.close();
    },
    stop: () => app.close(),
  };
}
