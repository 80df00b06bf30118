/** The admin role: the management API and the debug socket, ready to be mounted on a listener. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { ApiError } from '../../http/errors.ts';
import type { OpenApiPaths } from '../../http/openapi.ts';
import { deriveKey } from '../../secrets/keys.ts';
import { findSessionUser } from '../../stores/config/sessions.ts';
import { attachDebugSocket, type TokenCheck } from '../../tap/socket.ts';
import { buildAdminApp } from './app.ts';
import { createTokenReader } from './auth/tokens.ts';
import type { AdminDeps } from './deps.ts';

export interface AdminRole {
  handle(req: IncomingMessage, res: ServerResponse): void;
  attach(server: Server): void;
  stop(): Promise<void>;
}

export async function startAdmin(deps: AdminDeps, otherPaths: OpenApiPaths): Promise<AdminRole> {
  const app = buildAdminApp(deps);
  app.addToOpenApi(otherPaths);
  await app.ready();
  const readToken = createTokenReader(deriveKey(deps.secretKey, 'access-token'));
  let sockets: { close(): void } | undefined;

  async function checkToken(token: string): Promise<TokenCheck> {
    try {
      const claims = await readToken(`Bearer ${token}`, deps.clock.now());
      const user = await findSessionUser(deps.db, claims.session_id, claims.user_id);
      return user === undefined ? { ok: false } : { ok: true, org_id: user.org_id, expires_at: claims.expires_at };
    } catch (error) {
      if (error instanceof ApiError) return { ok: false };
      throw error;
    }
  }
  return {
    handle: (req, res) => app.routing(req, res),
    attach(server) {
      sockets = attachDebugSocket(server, { ephemeral: deps.operations.ephemeral, clock: deps.clock, checkToken });
    },
    async stop() {
      sockets?.close();
      await app.close();
    },
  };
}
