import { hash } from 'node:crypto';
import { hasOutlived, LINK_KEPT_MS, SESSION_KEPT_MS } from '@firsthand/core/process/visitor.ts';
import { headers, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node';
import { JetStreamApi, orNone } from '../event-log/jetstream/api.ts';
import { persistAtStart } from '../event-log/jetstream/at-start.ts';
import { Publisher, WrongLastSequence } from '../event-log/jetstream/publisher.ts';
import type { VisitorState, VisitorStore } from './port.ts';
import { isState, type OnUnreadable, storedState } from './stored-state.ts';

const NAME = 'firsthand-visitors';
const STREAM = `KV_${NAME}`;
const TIMEOUT_MS = 2_500;
/** Size of the cache of visitors whose user link is already written. */
const MOST_LINKS = 20_000;
/** A link is rewritten after this time, so that it is never much older than the state that depends on it. */
const LINK_RENEWED_MS = 30 * 86_400_000;
const MAX_AGE_NS = (LINK_KEPT_MS + LINK_RENEWED_MS + 86_400_000) * 1_000_000;
const SWEPT_AT_ONCE = 2_000;
/** A broker takes 1 MB by default. */
const MAX_STATE_BYTES = 1_000_000;
const READ_AT_ONCE = 500;

/**
 * Visitors in a NATS key-value bucket. `v.<org>.<visitor>` holds the state. `u.<org>.<user>.<visitor>` maps a user to the anonymous ids
 * once linked to it, and is verified against the state before use. Keys are digests because ids may contain any character. States are
 * always read from the stream's leader and never cached here: the process that owns a visitor may change, and it keeps its own cache while
 * it owns the visitor.
 *
 * One message per key means that the stream is ordered by last write: the visitor inactive for longest comes first.
 */
export async function openKvVisitors(options: {
  connection: NatsConnection;
  replicas: number;
  onUnreadable?: OnUnreadable;
}): Promise<VisitorStore> {
  const { connection, onUnreadable = () => undefined } = options;
  const api = new JetStreamApi(connection, TIMEOUT_MS);
  const publisher = new Publisher(connection, TIMEOUT_MS, () => {});
  const linked = new Map<string, { user: string; at: number }>();
  let swept = 1;
  await persistAtStart(connection, () => api.ensureBucket(NAME, options.replicas, MAX_AGE_NS));

  async function find(subject: string): Promise<{ seq: number; data: Buffer } | undefined> {
    const found = await orNone(api.call<{ message: Message }>(`STREAM.MSG.GET.${STREAM}`, { last_by_subj: subject }));
    return found && { seq: found.message.seq, data: Buffer.from(found.message.data ?? '', 'base64') };
  }
  async function read(subject: string): Promise<Buffer | undefined> {
    return (await find(subject))?.data;
  }
  async function load(orgId: string, anonymousId: string): Promise<VisitorState | undefined> {
    const json = await read(visitorSubject(orgId, anonymousId));
    return json && storedState(json, onUnreadable);
  }
  async function save(orgId: string, anonymousId: string, state: VisitorState, meta?: MsgHdrs): Promise<void> {
    const subject = visitorSubject(orgId, anonymousId);
    const { user_id } = state;
    // Write the user link first: a state that an erasure of its user could not find must never exist.
    const now = Date.now();
    const known = linked.get(subject);
    if (user_id !== undefined && (known?.user !== user_id || now - known.at > LINK_RENEWED_MS)) {
      await publisher.publish(userSubject(orgId, user_id, anonymousId), Buffer.from(anonymousId), undefined);
      linked.set(subject, { user: user_id, at: now });
      if (linked.size > MOST_LINKS) for (const oldest of linked.keys()) if (linked.delete(oldest)) break;
    }
    await publisher.publish(subject, encodeState(state), meta);
  }
  async function replace(orgId: string, anonymousId: string, before: VisitorState, state: VisitorState): Promise<boolean> {
    const found = await find(visitorSubject(orgId, anonymousId));
    if (!isState(found && storedState(found.data, onUnreadable), before)) return false;
    const unchanged = headers();
    unchanged.set('Nats-Expected-Last-Subject-Sequence', String(found?.seq ?? 0));
    try {
      await save(orgId, anonymousId, state, unchanged);
    } catch (error) {
      if (error instanceof WrongLastSequence) return false;
      throw error;
    }
    return true;
  }
  const purge = (subject: string) => api.call(`STREAM.PURGE.${STREAM}`, { filter: subject });

  return {
    async load(orgId, anonymousIds) {
      return Promise.all(anonymousIds.map((anonymousId) => load(orgId, anonymousId)));
    },
    async save(orgId, entries) {
      await Promise.all(entries.map(([anonymousId, state]) => save(orgId, anonymousId, state)));
    },
    replace: (orgId, entries) => Promise.all(entries.map((entry) => replace(orgId, ...entry))),
    async erase(orgId, who) {
      const erased = { links: 0, sessions: 0, anonymous_ids: [] as string[] };
      const found = 'anonymous_id' in who ? [who.anonymous_id] : await linkedTo(orgId, who.user_id);
      for (const anonymousId of found) {
        const state = await load(orgId, anonymousId);
        const isTheirs = state !== undefined && ('anonymous_id' in who || state.user_id === who.user_id);
        if (isTheirs) {
          await purge(visitorSubject(orgId, anonymousId));
          if (state.user_id !== undefined) {
            await purge(userSubject(orgId, state.user_id, anonymousId));
            erased.links++;
          }
          if (state.session !== undefined) erased.sessions++;
          erased.anonymous_ids.push(anonymousId);
        }
        if ('user_id' in who) await purge(userSubject(orgId, who.user_id, anonymousId));
        linked.delete(visitorSubject(orgId, anonymousId));
      }
      return erased;
    },
    async sweep(now) {
      let removed = 0;
      for (let i = 0; i < SWEPT_AT_ONCE; i++) {
        const request = { seq: swept, next_by_subj: `$KV.${NAME}.v.>` };
        const found = await orNone(api.call<{ message: Message }>(`STREAM.MSG.GET.${STREAM}`, request));
        if (found === undefined || now - Date.parse(found.message.time) <= SESSION_KEPT_MS) {
          swept = 1;
          break;
        }
        const { seq, data = '' } = found.message;
        swept = seq + 1;
        const state = storedState(Buffer.from(data, 'base64'), onUnreadable);
        if (state !== undefined && !hasOutlived(state, now)) continue;
        // Delete by sequence: a visitor who returned in the meantime has a new one.
        if (await orNone(api.call(`STREAM.MSG.DELETE.${STREAM}`, { seq, no_erase: true }))) removed++;
      }
      return removed;
    },
    async close() {
      publisher.close();
    },
  };

  async function linkedTo(orgId: string, userId: string): Promise<string[]> {
    const info = await api.streamInfo(STREAM, { subjects_filter: userSubject(orgId, userId, undefined) });
    const subjects = Object.keys(info.state.subjects ?? {});
    const ids: string[] = [];
    for (let from = 0; from < subjects.length; from += READ_AT_ONCE)
      for (const id of await Promise.all(subjects.slice(from, from + READ_AT_ONCE).map(read)))
        if (id !== undefined) ids.push(id.toString('utf8'));
    return ids;
  }
}

interface Message {
  seq: number;
  time: string;
  data?: string;
}

function digest(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 27);
}
function visitorSubject(orgId: string, anonymousId: string): string {
  return `$KV.${NAME}.v.${digest(orgId)}.${digest(anonymousId)}`;
}
function userSubject(orgId: string, userId: string, anonymousId: string | undefined): string {
  return `$KV.${NAME}.u.${digest(orgId)}.${digest(userId)}.${anonymousId === undefined ? '*' : digest(anonymousId)}`;
}

/** Versions that remembered traits of any size made states that the broker refuses, and repeated their events for ever. */
function encodeState(state: VisitorState): Buffer {
  const bytes = Buffer.from(JSON.stringify(state));
  if (bytes.length <= MAX_STATE_BYTES) return bytes;
  const { traits: _traits, ...rest } = state;
  return Buffer.from(JSON.stringify(rest));
}
