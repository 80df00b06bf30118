/** Webhook sources of every kind, and what a test needs to send to them. */
import { createHmac } from 'node:crypto';
import type { WebhookSource } from '@firsthand/core/config/resources.ts';
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import type { DeadLetter } from '@firsthand/core/outcome/outcome.ts';
import Stripe from 'stripe';
import { aPipeline, aSnapshot, aSource, type Harness, startIngest } from './harness.ts';

export const SECRET = 'whsec_c2VjcmV0LW9mLXRoZS1zb3VyY2U=';
export const INGEST = 'https://in.shop.example';
const source = (id: string, over: Partial<WebhookSource>) => aSource({ id: `whs_${id}`, signing_secret: SECRET, ...over });
export const SOURCES = [
  source('stripe', { provider: 'stripe', source_type: 'payment_processor' }),
  source('shopify', { provider: 'shopify', source_type: 'ecommerce_platform' }),
  source('hubspot', { provider: 'hubspot', source_type: 'crm' }),
  source('typeform', { provider: 'typeform', source_type: 'form_service' }),
  source('intercom', { provider: 'intercom', source_type: 'messaging_service' }),
  source('github', { provider: 'github' }),
  source('svix', { provider: 'svix' }),
  source('hmac', {
    signature_method: 'hmac_sha256',
    signature_header: 'X-Sig',
    event_type_path: '$.kind',
    mappings: { 'properties.n': '$.n' },
  }),
  source('authorized', { signature_method: 'hmac_sha256', signature_header: 'Authorization', event_type_path: '$.kind' }),
  source('standard', { signature_method: 'standard_webhooks', event_type_path: '$.type' }),
  source('shared', { signature_method: 'shared_secret', signature_header: 'X-Token', event_type_path: '$.type' }),
  source('open', {
    signature_method: 'none',
    mappings: {
      event: "'Form Submitted'",
      userId: '$.user.id',
      messageId: '$.uid',
      'properties.emails': '$.people[*].email',
      'properties.first': '$.people[0].email',
      'properties.topic': '$headers.x-topic',
      'properties.fixed': "'yes'",
      'traits.name': '$.user.name',
    },
    timestamp_path: '$.at',
    timestamp_format: 'unix_seconds',
  }),
  source('off', { enabled: false }),
  source('orphan', { pipeline_id: 'pl_gone', signature_method: 'none', mappings: { event: "'X'" } }),
  source('disabled', { pipeline_id: 'pl_off', signature_method: 'none', mappings: { event: "'X'" } }),
];
export const snapshot = aSnapshot([aPipeline(), aPipeline({ id: 'pl_off', pipeline_key: 'pk_off', enabled: false })], SOURCES);

/** `null`: without INGEST_URL. */
export const startWebhooks = (ingestUrl: string | null = INGEST): Promise<Harness> =>
  startIngest(snapshot, { settings: { ingestUrl: ingestUrl ?? undefined, trustProxy: 1 }, watched: true });

export const hmac = (body: string | Buffer, encoding: 'hex' | 'base64', algorithm = 'sha256', secret = SECRET) =>
  createHmac(algorithm, secret).update(body).digest(encoding);
export const stripeHeader = (payload: string, timestamp?: number, secret = SECRET) =>
  new Stripe('sk_test_x').webhooks.generateTestHeaderString({ payload, secret, ...(timestamp === undefined ? {} : { timestamp }) });

export interface Delivered {
  status: number;
  answer: unknown;
  /** What is new in the log. */
  events: CanonicalEvent[];
  letters: DeadLetter[];
}
export async function deliver(
  harness: Harness,
  id: string,
  body: string | Buffer,
  headers: Record<string, string> = {},
): Promise<Delivered> {
  const before = new Set((await harness.stored()).map((each) => each.event.event_id));
  const letters = (await deadLetters(harness)).length;
  const response = await fetch(`${harness.url}/v1/webhook?source=whs_${id}`, { method: 'POST', headers, body });
  const answer: unknown = await response.json();
  const events = (await harness.stored()).filter((each) => !before.has(each.event.event_id)).map((each) => each.event);
  return { status: response.status, answer, events, letters: (await deadLetters(harness)).slice(letters) };
}
async function deadLetters(harness: Harness): Promise<DeadLetter[]> {
  return (await harness.outcomes()).flatMap((outcome) => (outcome.kind === 'dead_lettered' ? [outcome.dead_letter] : []));
}
