/**
 * Live debugging over WebSocket. A reader sees its own organisation's frames. A slow reader loses frames, gets their number, and never
 * slows the pipeline. A reader may also ask for live counts.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { apiErrorText } from '../http/api-error-reply.ts';
import { ApiError, type ApiErrorCode } from '../http/errors.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Ephemeral } from '../stores/ephemeral/port.ts';
import { Audience, FILTERS, type Filter, type Filters, MAX_BUFFERED_BYTES, TapBudget, Watcher } from './audience.ts';
import { type CountsScope, LiveCounts, MAX_SCOPES, type ReadCounts, readScopes } from './counts.ts';
import { TAP_STAGES } from './port.ts';
import { Revocations } from './revocations.ts';
import type { TimedFrame } from './tap.ts';

export const DEBUG_PATH = '/v1/admin/debug/live';
export const BAD_TOKEN = 4401;
export const EXPIRED_TOKEN = 4408;
export const TRY_LATER = 1013;
const MAX_INCOMING_BYTES = 16_384;
const STAGES: ReadonlySet<string> = new Set(TAP_STAGES);
const EXPECTED = `expected {"type":"filter", "pipeline_id"?, "integration_id"?, "stage"?, "event"?}, a stage being one of ${TAP_STAGES.join(', ')}; or {"type":"frames", "scopes":[…]} with at most ${MAX_SCOPES} such filters; or {"type":"counts", "scopes":[{"pipeline_id"?, "pipeline_ids"?, "group_by"?}]} with at most ${MAX_SCOPES} scopes`;
/** Messages kept while the token is checked. */
const MAX_EARLY = 4;
const MAX_SOCKETS_PER_ORGANISATION = 100;
/** Messages of a client between two heartbeats. A console sends a few; each costs time for parsing and an answer. */
export const MAX_MESSAGES = 1_000;
export const TOO_MANY_MESSAGES = 1008;
/** A user who is removed, disabled or signed out elsewhere is disconnected within this time. Revoked API tokens end sooner. */
const RECHECK_MS = 5_000;

/** Shorter than the idle timeout of common proxies. */
const HEARTBEAT_MS = 15_000;
const HEARTBEAT = JSON.stringify({ stage: 'heartbeat' });

export type TokenCheck = { ok: true; org_id: string; expires_at: number; api_token_id?: string | undefined } | { ok: false };
export interface DebugSocketDeps {
  ephemeral: Ephemeral;
  clock: Clock;
  checkToken(token: string): Promise<TokenCheck>;
  /** Those of the given API tokens that are still valid. */
  liveApiTokens(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** Masks secrets that a transformation may have copied into an event. */
  hideSecrets(frame: TimedFrame): TimedFrame;
  readCounts: ReadCounts;
}

export function attachDebugSocket(server: Server, deps: DebugSocketDeps): { close(): void } {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_INCOMING_BYTES,
    // Answered below: the library would queue a pong for every ping, without end for a client that does not read.
    autoPong: false,
    // The client sends `bearer, <token>`: select the first, never echo the token.
    handleProtocols: (protocols) => (protocols.has('bearer') ? 'bearer' : false),
  });
  const audiences = new Map<string, Audience>();
  const budget = new TapBudget(deps.clock);
  const revocations = new Revocations(deps.liveApiTokens);
  const counts = new LiveCounts(deps.readCounts, deps.clock);

  async function serve(socket: WebSocket, request: IncomingMessage, url: URL): Promise<void> {
    // Clients may send a filter right after `open`, while the token is still being checked: keep the newest messages until then.
    const early: string[] = [];
    const keepEarly = (data: RawData) => {
      if (early.push(String(data)) > MAX_EARLY) early.shift();
    };
    socket.on('message', keepEarly);
    const token = tokenOf(request, url);
    const checked = token === undefined ? undefined : await deps.checkToken(token);
    if (token === undefined || !checked?.ok) return socket.close(BAD_TOKEN, 'invalid token');
    if (socket.readyState !== socket.OPEN) return;
    const orgId = checked.org_id;
    let audience = audiences.get(orgId);
    if (audience && audience.size >= MAX_SOCKETS_PER_ORGANISATION) return socket.close(TRY_LATER, 'too many debug sockets');
    if (!audience) audiences.set(orgId, (audience = new Audience(deps.ephemeral, orgId, budget, deps.hideSecrets)));
    const asked = filterOf(Object.fromEntries(url.searchParams));
    if (asked === undefined) refuse(socket);
    const watcher = new Watcher(socket, url.searchParams.get('frames') === 'none' ? [] : [asked ?? {}]);
    audience.join(watcher);
    const revoked = () => socket.close(BAD_TOKEN, 'token no longer valid');
    const unwatch = checked.api_token_id === undefined ? undefined : revocations.watch(checked.api_token_id, revoked);
    // Pages of a browser see no protocol pings: a client that must know whether it is connected asks for messages.
    const wantsHeartbeat = url.searchParams.get('heartbeat') === 'true';
    if (wantsHeartbeat) socket.send(HEARTBEAT);
    let messages = 0;
    const heartbeat = setInterval(() => {
      messages = 0;
      socket.ping();
      if (wantsHeartbeat) socket.send(HEARTBEAT);
    }, HEARTBEAT_MS);
    const recheck = setInterval(() => {
      if (deps.clock.now() >= checked.expires_at) return socket.close(EXPIRED_TOKEN, 'token expired');
      deps.checkToken(token).then(
        (again) => again.ok || revoked(),
        // Without the database nobody can be checked; the token's expiry still bounds the connection.
        () => undefined,
      );
    }, RECHECK_MS);
    const expiry = setTimeout(
      () => socket.close(EXPIRED_TOKEN, 'token expired'),
      Math.min(checked.expires_at - deps.clock.now(), 2 ** 31 - 1),
    );
    const onMessage = (text: string) => {
      if (++messages > MAX_MESSAGES) return socket.close(TOO_MANY_MESSAGES, 'too many messages');
      const message = readMessage(text);
      if (message?.filters) audience.setFilters(watcher, message.filters);
      else if (message?.scopes) counts.ask(socket, orgId, message.scopes);
      else refuse(socket);
    };
    socket.off('message', keepEarly);
    socket.on('message', (data) => onMessage(String(data)));
    early.forEach(onMessage);
    socket.on('close', () => {
      counts.leave(socket);
      unwatch?.();
      clearInterval(heartbeat);
      clearInterval(recheck);
      clearTimeout(expiry);
      audience.leave(watcher);
      if (audience.size === 0) audiences.delete(orgId);
    });
  }

  const onUpgrade = (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    // Node removes its error listener from an upgraded socket. Without this one, a connection reset would crash the process.
    stream.on('error', () => stream.destroy());
    // `URL.parse`, not `new URL`: targets such as `//[` do not parse, and a throw in this listener would crash the process.
    const url = URL.parse(request.url ?? '/', 'http://localhost');
    if (url === null) return refuseUpgrade(stream, request, '400 Bad Request', 'INVALID_JSON', 'The URL is not valid.');
    if (url.pathname !== DEBUG_PATH)
      return refuseUpgrade(stream, request, '404 Not Found', 'NOT_FOUND', 'There is no WebSocket at this address.');
    sockets.handleUpgrade(request, stream, head, (socket) => {
      socket.on('error', () => socket.terminate());
      socket.on('ping', (data) => canSend(socket) && socket.pong(data));
      serve(socket, request, url).catch(() => socket.close(TRY_LATER, 'the token cannot be checked now'));
    });
  };
  sockets.on('wsClientError', (error, stream, request) =>
    refuseUpgrade(stream, request, '400 Bad Request', 'INVALID_JSON', `This is not a WebSocket handshake: ${error.message}.`),
  );
  server.on('upgrade', onUpgrade);
  return {
    close() {
      server.off('upgrade', onUpgrade);
      for (const socket of sockets.clients) socket.close(1001, 'going away');
      sockets.close();
    },
  };
}

function refuseUpgrade(stream: Duplex, request: IncomingMessage, status: string, code: ApiErrorCode, message: string): void {
  stream.end(apiErrorText(new ApiError(code, { message }), status, request.headers));
}

function tokenOf(request: IncomingMessage, url: URL): string | undefined {
  const fromQuery = url.searchParams.get('token');
  if (fromQuery) return fromQuery;
  const bearer = /^Bearer\s+(\S+)$/i.exec(request.headers.authorization ?? '');
  if (bearer) return bearer[1];
  const protocols = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((part) => part.trim());
  return protocols[0] === 'bearer' ? protocols[1] : undefined;
}

/** A filter that matches nothing would look like an idle pipeline. So it is rejected with a message, and the previous filter stays. */
function refuse(socket: WebSocket): void {
  if (canSend(socket)) socket.send(JSON.stringify({ stage: 'error', reason: EXPECTED }));
}
/** A client that does not read must not fill the memory with answers. */
function canSend(socket: WebSocket): boolean {
  return socket.bufferedAmount <= MAX_BUFFERED_BYTES;
}
function filterOf(fields: Record<string, unknown>): Filter | undefined {
  const filter: Filter = {};
  for (const name of FILTERS) {
    const value = fields[name];
    if (value === undefined || value === null || value === '') continue;
    if (typeof value !== 'string') return undefined;
    if (name === 'stage' && !STAGES.has(value)) return undefined;
    filter[name] = value;
  }
  return filter;
}
function filtersOf(scopes: unknown): Filters | undefined {
  if (!Array.isArray(scopes) || scopes.length > MAX_SCOPES) return undefined;
  const filters: Filter[] = [];
  for (const scope of scopes) {
    const filter = typeof scope === 'object' && scope !== null ? filterOf(scope as Record<string, unknown>) : undefined;
    if (filter === undefined) return undefined;
    filters.push(filter);
  }
  return filters;
}
function readMessage(text: string): { filters?: Filters | undefined; scopes?: CountsScope[] | undefined } | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    const fields = typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {};
    if (fields.type === 'filter') return { filters: filtersOf([fields]) };
    if (fields.type === 'frames') return { filters: filtersOf(fields.scopes) };
    return fields.type === 'counts' ? { scopes: readScopes(fields.scopes) } : undefined;
  } catch {
    return undefined;
  }
}
