import { hash } from 'node:crypto';
import type { LmdbLog } from '../event-log/lmdb.ts';
import type { VisitorState, VisitorStore } from './port.ts';

/**
 * Visitors in the log's own environment: a second one would flush the disk a second time for every batch.
 * `visitors` holds the state under a digest, for keys are short and anonymous ids are not; `visitor-users` leads from a
 * user to the anonymous ids once linked to it, and is checked against the state before it is believed.
 */
export function openLmdbVisitors(log: Pick<LmdbLog, 'environment' | 'write'>): VisitorStore {
  const visitors = log.environment.store('visitors');
  const users = log.environment.store('visitor-users');

  function read(key: Buffer): VisitorState | undefined {
    const value = visitors.get(key);
    return value && (JSON.parse(value.toString('utf8')) as VisitorState);
  }

  function linkedTo(orgId: string, userId: string): { anonymousId: string; link: Buffer }[] {
    const start = digest(orgId, userId);
    const end = Buffer.concat([start, Buffer.alloc(DIGEST, 0xff)]);
    const found: { anonymousId: string; link: Buffer }[] = [];
    for (const { key, value } of users.getRange({ start, end })) found.push({ anonymousId: value.toString('utf8'), link: key });
    return found;
  }

  return {
    async load(orgId, anonymousIds) {
      return anonymousIds.map((anonymousId) => read(digest(orgId, anonymousId)));
    },
    async save(orgId, entries) {
      if (entries.length === 0) return;
      const writes = entries.map(([anonymousId, state]) => ({
        anonymousId,
        state,
        key: digest(orgId, anonymousId),
        value: Buffer.from(JSON.stringify(state)),
      }));
      await log.write(() => {
        const known = writes.map(({ key }) => read(key)?.user_id);
        return () => {
          writes.forEach(({ anonymousId, state, key, value }, i) => {
            visitors.put(key, value);
            const before = known[i];
            if (state.user_id === before) return;
            if (before !== undefined) users.remove(link(orgId, before, anonymousId));
            if (state.user_id !== undefined) users.put(link(orgId, state.user_id, anonymousId), Buffer.from(anonymousId));
          });
        };
      });
    },
    async erase(orgId, who) {
      const erased = { links: 0, sessions: 0, anonymous_ids: [] as string[] };
      await log.write(() => {
        const gone: Buffer[] = [];
        const links: Buffer[] = [];
        const forget = (anonymousId: string) => {
          const key = digest(orgId, anonymousId);
          const state = read(key);
          if (state === undefined) return;
          if ('user_id' in who && state.user_id !== who.user_id) return;
          gone.push(key);
          if (state.user_id !== undefined) links.push(link(orgId, state.user_id, anonymousId));
          if (state.user_id !== undefined) erased.links++;
          if (state.session !== undefined) erased.sessions++;
          erased.anonymous_ids.push(anonymousId);
        };
        if ('anonymous_id' in who) forget(who.anonymous_id);
        else
          for (const { anonymousId, link: found } of linkedTo(orgId, who.user_id)) {
            forget(anonymousId);
            links.push(found);
          }
        return () => {
          for (const key of gone) visitors.remove(key);
          for (const key of links) users.remove(key);
        };
      });
      return erased;
    },
    // The log owns the environment.
    async close() {},
  };
}

const DIGEST = 20;
function digest(orgId: string, id: string): Buffer {
  return hash('sha256', `${orgId}\0${id}`, 'buffer').subarray(0, DIGEST);
}
function link(orgId: string, userId: string, anonymousId: string): Buffer {
  return Buffer.concat([digest(orgId, userId), digest(orgId, anonymousId)]);
}
