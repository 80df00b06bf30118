import { Alert, Button, Group } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { clockTime } from '../format.ts';
import { live } from '../live/live.ts';
import { useLiveState } from '../live/use-live.ts';

/** A reconnect that takes no longer than this is not worth a word. */
const QUIET_MS = 3_000;

/** Says that the service cannot be reached and since when; reads everything anew once it is back. */
export function ConnectionBanner() {
  const { status, since } = useLiveState();
  const queries = useQueryClient();
  const [shown, setShown] = useState(false);
  const wasOffline = useRef(false);
  useEffect(() => {
    if (status === 'live') {
      if (wasOffline.current) void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'events' });
      wasOffline.current = false;
      setShown(false);
      return;
    }
    if (status !== 'offline') return;
    wasOffline.current = true;
    const timer = setTimeout(() => setShown(true), QUIET_MS);
    return () => clearTimeout(timer);
  }, [status, queries]);
  if (!shown) return null;
  return (
    <Alert color="yellow" mb="md" role="alert" title="No connection to the service">
      <Group gap="sm">
        <span>
          What you see is from {clockTime(new Date(since).toISOString()).slice(0, -4)} or before. It is tried again by itself; nothing you
          typed is lost.
        </span>
        <Button variant="default" onClick={() => live.retryNow()}>
          Try now
        </Button>
      </Group>
    </Alert>
  );
}
