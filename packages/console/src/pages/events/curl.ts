/**
 * The event as a request that can be sent again by hand, to the address and with the key of its pipeline. The long paths take the type from
 * the path, so an event that an SDK sent without one (and a page without a name) is accepted again.
 */
export function curlOf(
  to: { ingestUrl: string; key: string },
  event: { type: string; original_type?: string | null | undefined; received?: unknown; event: unknown },
): string {
  const body = JSON.stringify(event.received ?? event.event, null, 2).replaceAll("'", "'\\''");
  const path = `/v1/${event.original_type ?? event.type}`;
  return `curl ${to.ingestUrl}${path} \\\n  -H 'authorization: Bearer ${to.key}' \\\n  -H 'content-type: application/json' \\\n  -d '${body}'`;
}
