import { Button, CopyButton } from '@mantine/core';

const PATHS: Record<string, string> = { track: '/v1/t', page: '/v1/p', identify: '/v1/i', group: '/v1/g' };

/** The event as a request that can be sent again by hand; the key is left to fill in. */
export function curlOf(origin: string, event: { type: string; received: unknown; event: unknown }): string {
  const body = JSON.stringify(event.received ?? event.event, null, 2).replaceAll("'", "'\\''");
  return `curl ${origin}${PATHS[event.type] ?? '/v1/events'} \\\n  -H 'authorization: Bearer <pipeline key>' \\\n  -H 'content-type: application/json' \\\n  -d '${body}'`;
}

export function CopyAsCurl({ event }: { event: { type: string; received?: unknown; event: unknown } }) {
  return (
    <CopyButton value={curlOf(location.origin, { received: undefined, ...event })}>
      {({ copied, copy }) => (
        <Button variant="default" onClick={copy}>
          {copied ? 'Copied' : 'Copy as curl'}
        </Button>
      )}
    </CopyButton>
  );
}
