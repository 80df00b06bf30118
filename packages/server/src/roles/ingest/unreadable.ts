/**
 * What never became a request: broken HTTP, headers past their bound, a body in broken chunks or too slow to come. Collection
 * clients get the usual shape and CORS headers, so that a browser shows its script the reason; others Node's own answer.
 */
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { COLLECTION_ERRORS, type CollectionErrorCode } from '../../http/errors.ts';
import { jsonHeaderLines } from './answers.ts';

interface ClientError extends Error {
  code?: string;
  /** The bytes that could not be read; the request line is among them unless it came before. */
  rawPacket?: Buffer;
}
interface Answer {
  status: string;
  code: CollectionErrorCode;
  message: string;
}
const BROKEN: Answer = { status: '400 Bad Request', code: 'validation_failed', message: 'The request is not valid HTTP.' };
const ANSWERS: Readonly<Record<string, Answer>> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    code: 'payload_too_large',
    message: 'The address and the headers of a request may have 16 KB.',
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: '413 Payload Too Large',
    code: 'payload_too_large',
    message: COLLECTION_ERRORS.payload_too_large.message,
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: '408 Request Timeout', code: 'validation_failed', message: 'The request did not come in time.' },
};
const COLLECTION_PATH = /^\/v1\/(?!admin(?:\/|$))/;

export function answerUnreadable(error: ClientError, socket: Duplex): void {
  // Node keeps the answer under way here; one whose head is out cannot be taken back.
  const { _httpMessage: underWay } = socket as Duplex & { _httpMessage?: ServerResponse | null };
  if (socket.writable && underWay?.headersSent !== true) {
    const answer = ANSWERS[error.code ?? ''] ?? BROKEN;
    const path = underWay?.req.url ?? requestLine(error.rawPacket)?.[1] ?? '';
    socket.write(
      COLLECTION_PATH.test(path) ? shaped(answer, underWay?.req.headers.origin) : `HTTP/1.1 ${answer.status}\r\nConnection: close\r\n\r\n`,
    );
  }
  socket.destroy(error);
}

function requestLine(packet: Buffer | undefined): RegExpExecArray | null {
  return /^[A-Z]{1,20} (\/\S*)/.exec(packet?.toString('latin1', 0, 200) ?? '');
}
function shaped({ status, code, message }: Answer, origin: string | undefined): string {
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
