/**
 * Transport of the live debugger. A socket announces its organisation on the channel `watch` every two seconds. The roles build frames
 * only while such an announcement is fresh, so without watchers the cost is one map lookup.
 */
import type { Clock } from '../runtime/clock.ts';
import type { Ephemeral } from '../stores/ephemeral/port.ts';
import type { Tap, TapFrame } from './port.ts';

const FRESH_MS = 6_000;
const ANNOUNCE_EVERY_MS = 2_000;
const WATCH = 'watch';
const channelOf = (orgId: string) => `tap.${orgId}`;

export interface TimedFrame extends TapFrame {
  time: string;
}

export function createTap(ephemeral: Ephemeral, clock: Clock): Tap & { stop(): void } {
  const freshUntil = new Map<string, number>();
  const unsubscribe = ephemeral.subscribe(WATCH, (message) => {
    const orgId = (message as { org_id?: unknown }).org_id;
    if (typeof orgId === 'string') freshUntil.set(orgId, clock.monotonic() + FRESH_MS);
  });
  return {
    watched(orgId) {
      const until = freshUntil.get(orgId);
      if (until === undefined) return false;
      if (until > clock.monotonic()) return true;
      freshUntil.delete(orgId);
      return false;
    },
    emit(orgId, frame) {
      const timed: TimedFrame = { time: new Date(clock.now()).toISOString(), ...frame };
      ephemeral.publish(channelOf(orgId), timed, () => ({ ...timed, payload: null }));
    },
    stop: unsubscribe,
  };
}

/** Subscribes one watcher to one organisation's frames. */
export function watchTap(ephemeral: Ephemeral, orgId: string, onFrame: (frame: TimedFrame) => void): () => void {
  const unsubscribe = ephemeral.subscribe(channelOf(orgId), (message) => onFrame(message as TimedFrame));
  const announce = () => ephemeral.publish(WATCH, { org_id: orgId });
  announce();
  const timer = setInterval(announce, ANNOUNCE_EVERY_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    unsubscribe();
  };
}
