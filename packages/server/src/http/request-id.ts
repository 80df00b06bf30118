import { randomUUID } from 'node:crypto';

const SANE = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's own id where it is harmless in a header and a log, else a new one. */
export function requestId(sent: string | string[] | undefined): string {
  return typeof sent === 'string' && SANE.test(sent) ? sent : randomUUID();
}
