/**
 * Handles connections whose bytes never became a request: broken HTTP, oversized headers, broken chunks, a body that arrived too slowly.
 * Collection clients get the usual error shape with CORS headers, so that a browser shows the reason; others get a bare status.
 */
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { jsonHeaderLines } from './collection-reply.ts';
import { COLLECTION_ERRORS, type CollectionErrorCode } from './errors.ts';

interface ClientError extends Error {
  code?: string;
  /** The bytes that could not be parsed. They include the request line unless it was parsed before. */
  rawPacket?: Buffer;
}
interface Problem {
  status: string;
  code: CollectionErrorCode;
  message: string;
}
const BROKEN: Problem = { status: '400 Bad Request', code: 'validation_failed', message: 'The request is not valid HTTP.' };
const PROBLEMS: Readonly<Record<string, Problem>> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    code: 'payload_too_large',
    message: 'URL and headers together are limited to 16 KB.',
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: '413 Payload Too Large',
    code: 'payload_too_large',
    message: COLLECTION_ERRORS.payload_too_large.message,
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    code: 'validation_failed',
    message: 'The request did not arrive within 30 seconds.',
  },
};
const COLLECTION_PATH = /^\/(?:v1\/(?!admin(?:\/|$))|api\/s\/|beacon\/|sourceConfig)/;

/** For a listener's `clientError`. */
export function replyToMalformedRequest(error: ClientError, socket: Duplex): void {
  // Node keeps the response in progress here. Once its headers are sent, no other response is possible.
  const { _httpMessage: inProgress } = socket as Duplex & { _httpMessage?: ServerResponse | null };
  if (socket.writable && inProgress?.headersSent !== true) {
    const problem = PROBLEMS[error.code ?? ''] ?? BROKEN;
    const path = inProgress?.req.url ?? requestPath(error.rawPacket) ?? '';
    socket.write(
      COLLECTION_PATH.test(path)
        ? shapedReply(problem, inProgress?.req.headers.origin)
        : `HTTP/1.1 ${problem.status}\r\nConnection: close\r\n\r\n`,
    );
  }
  socket.destroy(error);
}

function requestPath(packet: Buffer | undefined): string | undefined {
  return /^[A-Z]{1,20} (\/\S*)/.exec(packet?.toString('latin1', 0, 200) ?? '')?.[1];
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
