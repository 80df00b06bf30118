/** The processes of an installation, by what each announces of itself. Without NATS there is one. */
import { PROCESS_CHANNEL, type ProcessNotice } from '../channels.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Ephemeral } from '../stores/ephemeral/port.ts';

const INTERVAL_MS = 5_000;

export type ProcessState = Omit<ProcessNotice, 'interval_ms' | 'left'>;

export interface Processes {
  /** This process first, then the others by start. One that was silent for three intervals is left out. */
  list(): ProcessState[];
  stop(): void;
}

export function watchProcesses({
  ephemeral,
  clock,
  describe,
}: {
  ephemeral: Ephemeral;
  clock: Clock;
  describe(): ProcessState;
}): Processes {
  const own = describe().id;
  const others = new Map<string, { state: ProcessState; until: number }>();
  const announce = (left?: true) =>
    ephemeral.publish(PROCESS_CHANNEL, { ...describe(), interval_ms: INTERVAL_MS, ...(left && { left }) } satisfies ProcessNotice);
  const unsubscribe = ephemeral.subscribe(PROCESS_CHANNEL, (message) => {
    const { interval_ms, left, ...state } = message as ProcessNotice;
    if (state.id === own) return;
    const isNew = !others.has(state.id);
    if (left) others.delete(state.id);
    else others.set(state.id, { state, until: clock.monotonic() + 3 * interval_ms });
    // A newcomer learns of this process at once.
    if (isNew && !left) announce();
  });
  const timer = setInterval(announce, INTERVAL_MS);
  timer.unref();
  announce();
  return {
    list() {
      const now = clock.monotonic();
      for (const [id, { until }] of others) if (until < now) others.delete(id);
      const heard = [...others.values()].map(({ state }) => state);
      return [describe(), ...heard.sort((a, b) => (a.started_at < b.started_at ? -1 : 1))];
    },
    stop() {
      clearInterval(timer);
      unsubscribe();
      announce(true);
    },
  };
}
