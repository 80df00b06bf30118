/**
 * Some servers issue a new refresh token with every use and invalidate the old one. The new token must survive this process and reach the
 * others. It is stored in the log, sealed under the plan it belongs to: only a holder of the integration's secrets can read it, and nobody
 * once those are deleted.
 */
import { hash } from 'node:crypto';
import type { TokenPlan } from '@firsthand/core/vendor/compiled.ts';
import { deriveKey } from '../secrets/keys.ts';
import { seal, unseal } from '../secrets/seal.ts';
import type { EventLog } from '../stores/event-log/port.ts';

export interface RotatedTokens {
  /** The newest refresh token; undefined if the configured one is still valid. */
  newest(plan: TokenPlan): Promise<string | undefined>;
  keep(plan: TokenPlan, token: string): Promise<void>;
}

/** Superseded tokens are useless and expire after this time. */
const KEEP_OLDER_MS = 60_000;

export function keepRotatedTokens(log: Pick<EventLog, 'append' | 'get' | 'read' | 'expire'>): RotatedTokens {
  return {
    async newest(plan) {
      const { topic, key } = placeOf(plan);
      for await (const { data } of log.read(topic, { limit: 1, reverse: true }))
        return unseal(key, topic, Buffer.from(data).toString('utf8'))?.toString('utf8');
      return undefined;
    },
    async keep(plan, token) {
      const { topic, key } = placeOf(plan);
      const data = Buffer.from(seal(key, topic, Buffer.from(token)));
      const [stored] = await log.append([{ topic, records: [{ id: `${topic}#${hash('sha256', token, 'base64url')}`, data }] }]);
      const newest = stored?.positions[0] === undefined ? undefined : await log.get(topic, stored.positions[0]);
      // By the log's own time: after a jump of this process's clock the newest token itself would be old.
      if (newest !== undefined) await log.expire(topic, new Date(newest.time - KEEP_OLDER_MS));
    },
  };
}

function placeOf(plan: TokenPlan): { topic: string; key: Buffer } {
  const text = JSON.stringify(plan);
  return {
    topic: `tokens.${hash('sha256', text, 'hex').slice(0, 32)}`,
    key: deriveKey(text, 'rotated-token'),
  };
}
