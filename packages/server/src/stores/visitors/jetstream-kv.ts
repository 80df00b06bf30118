import { hash } from 'node:crypto';
import type { NatsConnection } from '@nats-io/transport-node';
import { JetStreamApi, orNone, type StreamInfo } from '../event-log/jetstream/api.ts';
import { Publisher } from '../event-log/jetstream/publisher.ts';
import type { VisitorState, VisitorStore } from './port.ts';

const NAME = 'firsthand-visitors';
const STREAM = `KV_${NAME}`;
const TIMEOUT_MS = 2_500;
/** Visitors whose user is known to be indexed already. */
const MOST_LINKS = 20_000;

/**
 * Visitors in a NATS key-value bucket: `v.<org>.<visitor>` holds the state, `u.<org>.<user>.<visitor>` leads from a user to
 * the anonymous ids once linked to it, and is checked against the state before it is believed. Keys are digests, for ids
 * may hold anything. States are always read from the stream's leader and never kept here: who processes a visitor may
 * change, and keeps its own cache for as long as the visitor is its own.
 */
export async function openKvVisitors(options: { connection: NatsConnection; replicas: number }): Promise<VisitorStore> {
  const { connection } = options;
  const api = new JetStreamApi(connection, TIMEOUT_MS);
  const publisher = new Publisher(connection, TIMEOUT_MS, () => {});
  const linked = new Map<string, string>();
  let made: Promise<void> | undefined;

  function ensure(): Promise<void> {
    made ??= makeBucket(api, options.replicas).catch((error) => {
      made = undefined;
      throw error;
    });
    return made;
  }
  await ensure();

  async function read(subject: string): Promise<string | undefined> {
    const found = await orNone(api.call<{ message: { data?: string } }>(`STREAM.MSG.GET.${STREAM}`, { last_by_subj: subject }));
    return found && Buffer.from(found.message.data ?? '', 'base64').toString('utf8');
  }
  async function load(orgId: string, anonymousId: string): Promise<VisitorState | undefined> {
    const text = await read(visitorSubject(orgId, anonymousId));
    return text === undefined ? undefined : (JSON.parse(text) as VisitorState);
  }
  async function save(orgId: string, anonymousId: string, state: VisitorState): Promise<void> {
    const subject = visitorSubject(orgId, anonymousId);
    const { user_id } = state;
    // The way back first: a state that no erasure of its user could find must not exist.
    if (user_id !== undefined && linked.get(subject) !== user_id) {
      await publisher.publish(userSubject(orgId, user_id, anonymousId), Buffer.from(anonymousId), undefined);
      linked.set(subject, user_id);
      if (linked.size > MOST_LINKS) for (const oldest of linked.keys()) if (linked.delete(oldest)) break;
    }
    await publisher.publish(subject, Buffer.from(JSON.stringify(state)), undefined);
  }
  const purge = (subject: string) => api.call(`STREAM.PURGE.${STREAM}`, { filter: subject });

  return {
    async load(orgId, anonymousIds) {
      return Promise.all(anonymousIds.map((anonymousId) => load(orgId, anonymousId)));
    },
    async save(orgId, entries) {
      await Promise.all(entries.map(([anonymousId, state]) => save(orgId, anonymousId, state)));
    },
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
    async close() {
      publisher.close();
    },
  };

  async function linkedTo(orgId: string, userId: string): Promise<string[]> {
    const info = await api.call<StreamInfo>(`STREAM.INFO.${STREAM}`, { subjects_filter: userSubject(orgId, userId, undefined) });
    const ids = await Promise.all(Object.keys(info.state.subjects ?? {}).map(read));
    return ids.filter((id) => id !== undefined);
  }
}

async function makeBucket(api: JetStreamApi, replicas: number): Promise<void> {
  if (await orNone(api.call(`STREAM.INFO.${STREAM}`))) return;
  await api.call(`STREAM.CREATE.${STREAM}`, {
    name: STREAM,
    subjects: [`$KV.${NAME}.>`],
    retention: 'limits',
    storage: 'file',
    discard: 'new',
    num_replicas: replicas,
    max_msgs_per_subject: 1,
    max_age: 0,
    duplicate_window: 1_000_000_000,
    max_bytes: -1,
    max_msgs: -1,
    max_consumers: -1,
    max_msg_size: -1,
    allow_rollup_hdrs: true,
  });
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
