import type { FastifyRequest } from 'fastify';
import type { Settings } from '../../config.ts';

type Addresses = Pick<Settings, 'ingestUrl' | 'ingestPort'> & Partial<Pick<Settings, 'baseUrl'>>;

/**
 * The public address of the collection endpoints: as set, else as the client reached us, on the port they listen on. Where they share
 * the management API's listener, they share its public address too.
 */
export function ingestOrigin(
  { ingestUrl, ingestPort, baseUrl }: Addresses,
  { protocol, host }: Pick<FastifyRequest, 'protocol' | 'host'>,
): string {
  if (ingestUrl !== undefined) return ingestUrl;
  const reached = `${protocol}://${host}`;
  if (ingestPort === undefined) return baseUrl ?? reached;
  // Port 0 is any that is free: nobody knows it here. A Host header that is none stays as it came.
  if (ingestPort === 0 || !URL.canParse(reached)) return reached;
  const url = new URL(reached);
  url.port = String(ingestPort);
  return url.origin;
}
