/** Two organisations in one partition: the code of the loud one finishes when the test says so. */
import type { Sandbox } from '../../../sandbox/sandbox.ts';
import type { Append } from '../../../stores/event-log/port.ts';
import { ingestAppend, Snapshots } from './bench.ts';

/** `pl_1` of the loud organisation runs code; `pl_2` of the quiet one does not. */
export function twoOrganisations(): Snapshots {
  const code = 'function transform(e) { return e }';
  const snapshots = new Snapshots({}, [{ id: 'pl_1', transformations: [{ kind: 'code', code }] }, { id: 'pl_2' }]);
  const current = snapshots.current();
  const organisations = new Map([...current.organisations, ['org_2', current.organisations.get('org_1')!]]);
  snapshots.current = () => ({ ...current, organisations });
  return snapshots;
}

export function gate(): { sandbox: Pick<Sandbox, 'run'>; release(): void } {
  let release = () => {};
  const opened = new Promise<void>((resolve) => {
    release = resolve;
  });
  const run: Sandbox['run'] = async ({ event }) => {
    await opened;
    return { kind: 'returned', value: event, logs: [] };
  };
  return { sandbox: { run }, release };
}

/** One visitor id, and so one partition, in both organisations. */
export function loud(from: number, count: number): Append[] {
  return Array.from({ length: count }, (_, i) =>
    ingestAppend(`loud-${from + i}`, { type: 'track', event: 'Loud', anonymousId: 'v', properties: { n: from + i } }),
  );
}
export function quiet(id: string): Append {
  return ingestAppend(id, { type: 'track', event: 'Quiet', anonymousId: 'v', properties: {} }, { org_id: 'org_2', pipeline_id: 'pl_2' });
}
export const loudIds = (count: number) => Array.from({ length: count }, (_, i) => `loud-${i}`);

/** The bound only ends a test that hangs. */
export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 90_000;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`timed out waiting until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
