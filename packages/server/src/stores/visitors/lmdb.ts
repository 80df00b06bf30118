import { hash } from 'node:crypto';
import { hasOutlived } from '@firsthand/core/process/visitor.ts';
import type { LmdbLog } from '../event-log/lmdb.ts';
import type { VisitorState, VisitorStore } from './port.ts';
import { isState, type OnUnreadable, storedState } from './stored-state.ts';

/**
 * Visitors in the log's own LMDB environment, because a second one would double the disk flushes per batch. `visitors` holds the state
 * under a digest, because LMDB keys are short and anonymous ids may be long. `visitor-users` maps a user to the anonymous ids once linked
 * to it, and is verified against the state before use.
 */
export function openLmdbVisitors(log: Pick<LmdbLog, 'environment' | 'write'>, onUnreadable: OnUnreadable = () => undefined): VisitorStore {
  const visitors = log.environment.store('visitors');
  const users = log.environment.store('visitor-users');
  const rounds = { visitors: Buffer.alloc(0), users: Buffer.alloc(0) };
  /** Keys that the running sweep is about to remove. A concurrent save takes its key out. */
  const condemned = new Set<string>();
  const spare = (key: Buffer) => condemned.delete(key.toString('latin1'));
  /** Saves and erasures under way: a commit reads before it writes, so what it contains is not found. */
  const saving = new Map<string, number>();
  let erasing = 0;

  function read(key: Buffer): VisitorState | undefined {
    const value = visitors.get(key);
    return value && storedState(value, onUnreadable);
  }

  function linkedTo(orgId: string, userId: string): { anonymousId: string; link: Buffer }[] {
    const start = digest(orgId, userId);
    const end = Buffer.concat([start, Buffer.alloc(DIGEST, 0xff)]);
    const found: { anonymousId: string; link: Buffer }[] = [];
    for (const { key, value } of users.getRange({ start, end })) found.push({ anonymousId: value.toString('utf8'), link: key });
    return found;
  }

  interface Write {
    anonymousId: string;
    state: VisitorState;
    key: Buffer;
    value: Buffer;
  }
  function writeOf(orgId: string, anonymousId: string, state: VisitorState): Write {
    const key = digest(orgId, anonymousId);
    if (condemned.size > 0) {
      spare(key);
      if (state.user_id !== undefined) spare(link(orgId, state.user_id, anonymousId));
    }
    return { anonymousId, state, key, value: Buffer.from(JSON.stringify(state)) };
  }
  /** Call before the commit that puts them. */
  function prepare(orgId: string, writes: readonly Write[]): () => void {
    const known = writes.map(({ key }) => read(key)?.user_id);
    return () =>
      writes.forEach(({ anonymousId, state, key, value }, i) => {
        visitors.put(key, value);
        const before = known[i];
        if (state.user_id === before) return;
        if (before !== undefined) users.remove(link(orgId, before, anonymousId));
        if (state.user_id !== undefined) users.put(link(orgId, state.user_id, anonymousId), Buffer.from(anonymousId));
      });
  }
  function count(writes: readonly Write[], change: 1 | -1): void {
    for (const { key } of writes) {
      const name = key.toString('latin1');
      const now = (saving.get(name) ?? 0) + change;
      if (now === 0) saving.delete(name);
      else saving.set(name, now);
    }
  }

  return {
    async load(orgId, anonymousIds) {
      return anonymousIds.map((anonymousId) => read(digest(orgId, anonymousId)));
    },
    async save(orgId, entries) {
      if (entries.length === 0) return;
      const writes = entries.map(([anonymousId, state]) => writeOf(orgId, anonymousId, state));
      count(writes, 1);
      try {
        await log.write(() => prepare(orgId, writes));
      } finally {
        count(writes, -1);
      }
    },
    async replace(orgId, entries) {
      const writes = entries.map(([anonymousId, before, state]) => ({ ...writeOf(orgId, anonymousId, state), before }));
      let unchanged: boolean[] = [];
      await log.write(() => {
        unchanged = writes.map(({ key, before }) => erasing === 0 && !saving.has(key.toString('latin1')) && isState(read(key), before));
        return prepare(
          orgId,
          writes.filter((_, i) => unchanged[i]),
        );
      });
      return unchanged;
    },
    async erase(orgId, who) {
      const erased = { links: 0, sessions: 0, anonymous_ids: [] as string[] };
      erasing += 1;
      const erasure = log.write(() => {
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
      await erasure.finally(() => {
        erasing -= 1;
      });
      return erased;
    },
    async sweep(now) {
      // An empty commit: earlier saves are stored when it resolves.
      await log.write(() => () => undefined);
      const old = next('visitors').filter(({ value }) => {
        const state = storedState(value, onUnreadable);
        return state === undefined || hasOutlived(state, now);
      });
      const loose = next('users').filter(({ key }) => !visitors.doesExist(key.subarray(DIGEST)));
      if (old.length === 0 && loose.length === 0) return 0;
      for (const { key } of [...old, ...loose]) condemned.add(key.toString('latin1'));
      let removed = 0;
      try {
        await log.write(() => {
          const still = ({ key }: { key: Buffer }) => condemned.has(key.toString('latin1'));
          return () => {
            const going = old.filter(still);
            removed = going.length;
            for (const { key } of going) visitors.remove(key);
            for (const { key } of loose.filter(still)) users.remove(key);
          };
        });
      } finally {
        condemned.clear();
      }
      return removed;
    },
    // The log owns the environment.
    async close() {},
  };

  /** The next few entries, starting over at the end. */
  function next(which: 'visitors' | 'users'): { key: Buffer; value: Buffer }[] {
    const entries = [...(which === 'visitors' ? visitors : users).getRange({ start: rounds[which], limit: SWEPT_AT_ONCE })];
    const last = entries.length < SWEPT_AT_ONCE ? undefined : entries.at(-1);
    rounds[which] = last === undefined ? Buffer.alloc(0) : Buffer.concat([last.key, Buffer.alloc(1)]);
    return entries;
  }
}

const SWEPT_AT_ONCE = 1_000;

const DIGEST = 20;
function digest(orgId: string, id: string): Buffer {
  return hash('sha256', `${orgId}\0${id}`, 'buffer').subarray(0, DIGEST);
}
function link(orgId: string, userId: string, anonymousId: string): Buffer {
  return Buffer.concat([digest(orgId, userId), digest(orgId, anonymousId)]);
}
