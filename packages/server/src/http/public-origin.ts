import type { FastifyRequest } from 'fastify';
import type { Settings } from '../config.ts';
import { ApiError } from './errors.ts';

export type Addresses = Pick<Settings, 'ingestUrl' | 'ingestPort' | 'baseUrl' | 'mode' | 'allowedHosts'>;
type Reached = Record<keyof Pick<FastifyRequest, 'protocol' | 'host'>, string>;

/**
 * Public address of the collection endpoints: as set, else as the client reached us, on their port. If they share the management API's
 * listener, they share its public address too.
 */
export function ingestOrigin(settings: Addresses, request: Reached): string {
  const { ingestUrl, ingestPort, baseUrl } = settings;
  if (ingestUrl !== undefined) return ingestUrl;
  if (ingestPort === undefined && baseUrl !== undefined) return baseUrl;
  const reached = reachedOrigin(settings, request);
  // Port 0 means any free port, which is not known here. An invalid Host header is returned unchanged.
  if (ingestPort === undefined || ingestPort === 0 || !URL.canParse(reached)) return reached;
  const url = new URL(reached);
  url.port = String(ingestPort);
  return url.origin;
}

/** Public address of the management API and the console. */
export function baseOrigin(settings: Addresses, request: Reached): string {
  return settings.baseUrl ?? reachedOrigin(settings, request);
}

function reachedOrigin(settings: Addresses, reached: Reached): string {
  if (mayUseHost(settings, reached)) return `${reached.protocol}://${reached.host}`;
  throw new ApiError('CONFLICT', {
    message: 'The public address is not known. Set BASE_URL and INGEST_URL, or list this host in ALLOWED_HOSTS.',
  });
}

/** In production an unverified Host header is not used in links, because the client chooses it. */
export function mayUseHost({ mode, allowedHosts }: Pick<Addresses, 'mode' | 'allowedHosts'>, { protocol, host }: Reached): boolean {
  return mode !== 'production' || isAllowed(`${protocol}://${host}`, allowedHosts);
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
function isAllowed(origin: string, allowedHosts: readonly string[] | undefined): boolean {
  if (!URL.canParse(origin)) return false;
  const { hostname } = new URL(origin);
  return LOOPBACK.has(hostname) || (allowedHosts?.includes(hostname) ?? false);
}
