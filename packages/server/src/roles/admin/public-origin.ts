import type { FastifyRequest } from 'fastify';

/** The public address: as set, else as the client reached us. */
export function publicOrigin(configured: string | undefined, request: Pick<FastifyRequest, 'protocol' | 'host'>): string {
  return configured ?? `${request.protocol}://${request.host}`;
}
