import { isObject, own } from '@firsthand/core/json.ts';
import type { IngestRules } from '../../snapshot/ingest-rules.ts';
import type { Exchange } from './exchange.ts';

const MAX_TOKEN_LENGTH = 4_096;

/** The challenge token inside an event or a batch: a browser can send it no other way. */
export function tokenOf(body: unknown): string | undefined {
  const context = isObject(body) ? own(body, 'context') : undefined;
  const token = isObject(context) ? own(context, 'challenge_token') : undefined;
  return typeof token === 'string' && token !== '' ? token : undefined;
}

/** Whether the token in the body, else in the header, is valid for this pipeline. */
export function hasChallengeToken({ ctx, headers }: Exchange, { pipelineId }: IngestRules, inBody: string | undefined): boolean {
  const token = inBody ?? headers['x-challenge-token']?.trim();
  return token !== undefined && token.length <= MAX_TOKEN_LENGTH && ctx.verifyChallengeToken(token, pipelineId);
}
