import type { WebhookProvider } from '@firsthand/core/config/resources.ts';
import type { SourceDefinition } from '@firsthand/core/inbound/source-definition.ts';
import { custom } from './custom.ts';
import { github } from './github.ts';
import { hubspot } from './hubspot.ts';
import { intercom } from './intercom.ts';
import { shopify } from './shopify.ts';
import { stripe } from './stripe.ts';
import { svix } from './svix.ts';
import { typeform } from './typeform.ts';

export const SOURCES: readonly SourceDefinition[] = [stripe, shopify, hubspot, typeform, intercom, github, svix, custom];
const BY_PROVIDER = new Map(SOURCES.map((source) => [source.provider, source]));

export function findSource(provider: WebhookProvider): SourceDefinition {
  return BY_PROVIDER.get(provider) ?? custom;
}
