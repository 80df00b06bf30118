/** Errors of the management API that its router does not send: those of a listener, of a broken request and of a refused WebSocket. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { type ApiError, apiErrorBody } from './errors.ts';
import { requestId } from './request-id.ts';

const ADMIN_PATH = /^\/v1\/admin(?:[/?#]|$)/;
export function isAdminPath(url: string | undefined): boolean {
  return ADMIN_PATH.test(url ?? '');
}

export function writeApiError({ headers }: IncomingMessage, res: ServerResponse, error: ApiError): void {
  const { body, head } = replyOf(error, headers);
  res.writeHead(error.status, head).end(body);
}

/** The whole response as text, for a socket whose request Node did not hand over. `status` differs where the error table has no code for it. */
export function apiErrorText(error: ApiError, status: string, headers?: IncomingHttpHeaders): string {
  const { body, head } = replyOf(error, headers ?? {});
  const lines = Object.entries({ ...head, connection: 'close', 'content-length': String(Buffer.byteLength(body)) });
  return [`HTTP/1.1 ${status}`, ...lines.map(([name, value]) => `${name}: ${value}`), '', body].join('\r\n');
}

function replyOf(error: ApiError, headers: IncomingHttpHeaders): { body: string; head: Record<string, string> } {
  const id = requestId(headers['x-request-id']);
  const head = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', 'x-request-id': id, ...error.headers };
  return { body: JSON.stringify(apiErrorBody(error)), head };
}
