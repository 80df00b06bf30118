/** Forgets a person at once: links, sessions, traces and dead letters. The log ages out by itself. */
import { VISITORS_ERASED_CHANNEL, type VisitorsErased } from '../roles/process/ports.ts';
import { eraseDeadLetters } from '../stores/observe/dead-letters.ts';
import { eraseTraces } from '../stores/observe/traces.ts';
import type { Operations } from './operations.ts';

export interface Erased {
  identity_links: number;
  sessions: number;
  traces: number;
  dead_letters: number;
}

export async function erasePerson(
  operations: Pick<Operations, 'visitors' | 'observe' | 'ephemeral'>,
  orgId: string,
  who: { user_id: string } | { anonymous_id: string },
): Promise<Erased> {
  const { links, sessions, anonymous_ids } = await operations.visitors.erase(orgId, who);
  const anonymousIds = [...new Set([...anonymous_ids, ...('anonymous_id' in who ? [who.anonymous_id] : [])])];
  operations.ephemeral.publish(VISITORS_ERASED_CHANNEL, { org_id: orgId, anonymous_ids: anonymousIds } satisfies VisitorsErased);
  const whose = { ...('user_id' in who ? { user_id: who.user_id } : {}), anonymous_ids: anonymousIds };
  return {
    identity_links: links,
    sessions,
    traces: await eraseTraces(operations.observe, orgId, whose),
    dead_letters: await eraseDeadLetters(operations.observe, orgId, whose),
  };
}
