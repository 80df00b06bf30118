/**
 * Handles connections whose bytes never became a request: broken HTTP, oversized headers, broken chunks, a body that arrived too slowly.
 * Collection clients get the usual error shape with CORS headers, so that a browser shows the reason; clients of the management API get
 * its shape with a request id; others get a bare status.
 */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { apiErrorText, isAdminPath } from './api-error-reply.ts';
import { jsonHeaderLines } from './collection-reply.ts';
import { ApiError, type ApiErrorCode, type CollectionErrorCode } from './errors.ts';

interface ClientError extends Error {
  code?: string;
  /** The bytes that could not be parsed. They include the request line unless it was parsed before. */
  rawPacket?: Buffer;
}
interface Problem {
  status: string;
  code: CollectionErrorCode;
  apiCode: ApiErrorCode;
  message: string;
}
const BROKEN: Problem = {
  status: '400 Bad Request',
  code: 'validation_failed',
  apiCode: 'INVALID_JSON',
  message: 'The request is not valid HTTP.',
};
const PROBLEMS: Readonly<Record<string, Problem>> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    code: 'payload_too_large',
    apiCode: 'PAYLOAD_TOO_LARGE',
    message: 'URL and headers together are limited to 16 KB.',
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: '413 Payload Too Large',
    code: 'payload_too_large',
    apiCode: 'PAYLOAD_TOO_LARGE',
    message: 'The extensions of a chunk are limited to 16 KB.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    code: 'validation_failed',
    apiCode: 'INVALID_JSON',
    message: 'The request did not arrive within 30 seconds.',
  },
};
const COLLECTION_PATH = /^\/(?:v1\/|api\/s\/|beacon\/|sourceConfig)/;

/** For a listener's `clientError`. */
export function replyToMalformedRequest(error: ClientError, socket: Duplex): void {
  // Node keeps the response in progress here. Once its headers are sent, no other response is possible.
  const { _httpMessage: inProgress } = socket as Duplex & { _httpMessage?: ServerResponse | null };
  if (socket.writable && inProgress?.headersSent !== true) {
    const problem = PROBLEMS[error.code ?? ''] ?? BROKEN;
    const path = inProgress?.req.url ?? requestPath(error.rawPacket) ?? '';
    socket.write(replyTo(path, problem, inProgress?.req.headers ?? {}));
  }
  socket.destroy(error);
}

function requestPath(packet: Buffer | undefined): string | undefined {
  return /^[A-Z]{1,20} (\/\S*)/.exec(packet?.toString('latin1', 0, 200) ?? '')?.[1];
}
function replyTo(path: string, problem: Problem, headers: IncomingHttpHeaders): string {
  const { status, apiCode, message } = problem;
  if (isAdminPath(path)) return apiErrorText(new ApiError(apiCode, { message }), status, headers);
  if (COLLECTION_PATH.test(path)) return shapedReply(problem, headers.origin);
  return `HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`;
}
function shapedReply({ status, code, message }: Problem, origin: string | undefined): string {
  const body = JSON.stringify({ error: code, message });
  return [
    `HTTP/1.1 ${status}`,
    'Connection: close',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...jsonHeaderLines(origin),
    '',
    body,
  ].join('\r\n');
}
