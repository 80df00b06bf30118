import { isObject, own } from '@firsthand/core/json.ts';
import type { Exchange } from './exchange.ts';

/** The challenge token inside an event or a batch: browsers can send it no other way. */
export function tokenOf(body: unknown): string | undefined {
  const context = isObject(body) ? own(body, 'context') : undefined;
  const token = isObject(context) ? own(context, 'challenge_token') : undefined;
  return typeof token === 'string' && token !== '' ? token : undefined;
}

/** The header counts where the body has none. */
export function challengeHolds(exchange: Exchange, inBody: string | undefined): boolean {
  const header = exchange.req.headers['x-challenge-token'];
  const token = inBody ?? (typeof header === 'string' ? header.trim() : undefined);
  return token !== undefined && token.length <= 4_096 && exchange.ctx.verifyChallengeToken(token, exchange.rules!.pipelineId);
}
