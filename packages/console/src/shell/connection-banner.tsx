import { Alert, Button, Group } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { clockTime } from '../format.ts';
import { live } from '../live/live.ts';
import { useLiveState } from '../live/use-live.ts';

/** Between two looks whether the service answers although the socket is away. */
const LOOK_EVERY_MS = 15_000;

/** A reconnect that takes no longer than this is not worth a word. */
const QUIET_MS = 3_000;

/** Says that the service cannot be reached and since when; reads everything anew once it is back. */
export function ConnectionBanner() {
  const { status, since } = useLiveState();
  const queries = useQueryClient();
  const [shown, setShown] = useState(false);
  const [answers, setAnswers] = useState(false);
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
  useEffect(() => {
    if (!shown) return;
    let isOver = false;
    const look = async () => {
      const answer = await fetch('/healthz').catch(() => undefined);
      if (!isOver) setAnswers(answer?.ok === true);
    };
    void look();
    const timer = setInterval(() => void look(), LOOK_EVERY_MS);
    return () => {
      isOver = true;
      clearInterval(timer);
      setAnswers(false);
    };
  }, [shown]);
  if (!shown) return null;
  // Only the socket is away, as behind a proxy that does not pass it on.
  if (answers)
    return (
      <Alert color="yellow" mb="md" role="alert" title="Live data is not connected">
        Numbers are read from the API instead, every 20 seconds, and new events do not appear by themselves. Connecting is tried again; a
        proxy must pass WebSockets on for <code>/v1/admin/debug/live</code>.
      </Alert>
    );
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
