const PATHS: Record<string, string> = { track: '/v1/t', page: '/v1/p', identify: '/v1/i', group: '/v1/g' };

/** The event as a request that can be sent again by hand, to the address and with the key of its pipeline. */
export function curlOf(to: { ingestUrl: string; key: string }, event: { type: string; received?: unknown; event: unknown }): string {
  const body = JSON.stringify(event.received ?? event.event, null, 2).replaceAll("'", "'\\''");
  return `curl ${to.ingestUrl}${PATHS[event.type] ?? '/v1/events'} \\\n  -H 'authorization: Bearer ${to.key}' \\\n  -H 'content-type: application/json' \\\n  -d '${body}'`;
}
