import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../../http/errors.ts';

const NAME = 'firsthand_session';
/** The browser sends the cookie to these routes and to no other. */
const PATH = '/v1/admin/auth/session';

export function isSecure({ protocol }: Pick<FastifyRequest, 'protocol'>, baseUrl: string | undefined): boolean {
  return protocol === 'https' || baseUrl?.startsWith('https:') === true;
}

export function readSessionCookie({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
  for (const part of (headers.cookie ?? '').split(';')) {
    const [name, value] = part.trim().split('=', 2);
    if (name === NAME && value !== undefined && value !== '') return value;
  }
  return undefined;
}

export function setSessionCookie(reply: FastifyReply, token: string, ttlMs: number, secure: boolean): void {
  void reply.header('set-cookie', cookie(token, Math.floor(ttlMs / 1000), secure));
}
export function clearSessionCookie(reply: FastifyReply, secure: boolean): void {
  void reply.header('set-cookie', cookie('', 0, secure));
}

function cookie(value: string, maxAgeS: number, secure: boolean): string {
  return `${NAME}=${value}; Path=${PATH}; Max-Age=${maxAgeS}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;
}

/**
 * SameSite=Strict keeps other sites out; this also keeps out other origins of the same site, such as a neighbouring subdomain. Clients
 * that are no browsers send neither header.
 */
export function requireSameOrigin(request: Pick<FastifyRequest, 'headers' | 'host'>): void {
  const { origin, 'sec-fetch-site': site } = request.headers;
  const foreign =
    typeof site === 'string' ? site !== 'same-origin' && site !== 'none' : origin !== undefined && hostOf(origin) !== request.host;
  if (foreign) throw new ApiError('FORBIDDEN', { message: 'Sessions are for the console: this request comes from another origin.' });
}
function hostOf(origin: string): string | undefined {
  return URL.parse(origin)?.host;
}
